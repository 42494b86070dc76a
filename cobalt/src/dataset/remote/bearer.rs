//! A platform that is asked with one key, as the bearer of which the request is let in.

use reqwest::Url;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::FetchError;
use super::platform::{Platform, below};
use super::session::{FoundKey, Request, Session};
use crate::dataset::settings::Account;
use crate::redact::Secret;

/// What is said in code of how a platform is asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Access {
    pub(super) base_url: Option<String>,
    pub(super) key: Option<Secret>,
}

/// A platform, its key at hand.
#[derive(Debug)]
pub(super) struct Bearer<'a> {
    session: &'a Session<'a>,
    platform: &'static Platform,
    base_url: Url,
    /// What gives it.
    origin: String,
    key: FoundKey,
}

impl<'a> Bearer<'a> {
    /// `variable` holds the key where neither the code nor the configuration says one.
    pub(super) fn new(
        platform: &'static Platform,
        variable: &str,
        access: &Access,
        session: &'a Session<'a>,
    ) -> Result<Self, FetchError> {
        let (base_url, origin) = platform.address(session, access.base_url.as_deref())?;
        let configured = |account: &'a Account| account.key.as_ref();
        let key = platform.key(session, access.key.as_ref(), ("api-key", configured), &[variable])?;
        Ok(Self { session, platform, base_url, origin, key })
    }

    /// The answer at a path, whose parts may hold any character.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<T, FetchError> {
        self.ask(Request::get(below(&self.base_url, path, query))).await
    }

    /// The answer at a path to what is told in JSON.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: Value,
    ) -> Result<T, FetchError> {
        self.ask(Request::post(below(&self.base_url, path, &[]), body)).await
    }

    /// What a refusal means, and what to do about it.
    pub(super) fn explain(&self, error: FetchError) -> FetchError {
        self.platform.explain(error, (&self.base_url, &self.origin), &[&self.key])
    }

    async fn ask<T: DeserializeOwned>(&self, request: Request) -> Result<T, FetchError> {
        let request = request.secret("authorization", &format!("Bearer {}", self.key.secret.0))?;
        self.session.json(&request).await
    }
}
