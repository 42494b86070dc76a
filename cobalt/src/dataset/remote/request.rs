//! A request to a source.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde_json::Value;

use super::error::FetchError;
use crate::http::{self, Call, Redirects};

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    /// Those with a secret are marked as such.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    /// Sent as JSON.
    pub(super) body: Option<Value>,
}

impl Request {
    pub(super) fn get(url: Url) -> Self {
        Self { method: Method::GET, url, headers: Vec::new(), body: None }
    }

    pub(super) fn post(url: Url, body: Value) -> Self {
        Self { method: Method::POST, url, headers: Vec::new(), body: Some(body) }
    }

    /// With a header that holds a secret.
    pub(super) fn secret(mut self, name: &'static str, value: &str) -> Result<Self, FetchError> {
        let value = http::secret(value).map_err(FetchError::Problem)?;
        self.headers.push((HeaderName::from_static(name), value));
        Ok(self)
    }

    /// With a user and a password, or a public key and a secret one.
    pub(super) fn basic(self, user: &str, password: &str) -> Result<Self, FetchError> {
        let pair = BASE64_STANDARD.encode(format!("{user}:{password}"));
        self.secret(AUTHORIZATION.as_str(), &format!("Basic {pair}"))
    }

    /// The same, ready to be sent.
    pub(super) fn call(&self, redirects: Redirects) -> Call {
        let mut headers: HeaderMap = self.headers.iter().cloned().collect();
        if self.body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let body = self.body.as_ref().map(|body| body.to_string().into_bytes()).unwrap_or_default();
        Call { method: self.method.clone(), url: self.url.clone(), headers, body, redirects }
    }
}
