//! Answers with a tag, by which whoever has one already is told that it is still the same.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::FromRequestParts;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::ApiError;
use crate::serve::store::Store;

/// What an answer follows from: its address with all parameters, and the tags that are known already.
#[derive(Debug)]
pub(super) struct Asking {
    address: String,
    known: Vec<String>,
}

impl<S: Sync> FromRequestParts<S> for Asking {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self { address: parts.uri.to_string(), known: known(&parts.headers) })
    }
}

/// The tags of `If-None-Match`, without the mark of weak ones.
fn known(headers: &HeaderMap) -> Vec<String> {
    let lists = headers.get_all(IF_NONE_MATCH).iter().filter_map(|list| list.to_str().ok());
    let tags = lists.flat_map(|list| list.split(','));
    tags.map(|tag| tag.trim().trim_start_matches("W/").to_owned()).collect()
}

/// The tag of an answer.
#[derive(Clone, Debug)]
pub(super) struct Tag(String);

impl Tag {
    /// `state` is all that the answer follows from, beside the address.
    fn of(asking: &Asking, state: &str) -> Self {
        let hash = Sha256::digest(format!("{}\0{state}", asking.address));
        Self(hash[..16].iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// An answer that whoever asks has already.
    pub(super) fn unchanged(&self, asking: &Asking) -> Option<Response> {
        let mine = format!("\"{}\"", self.0);
        let is_known = asking.known.iter().any(|tag| *tag == mine || tag == "*");
        is_known.then(|| self.response(StatusCode::NOT_MODIFIED, Body::empty()))
    }

    /// An answer in JSON.
    pub(super) fn json(&self, body: impl Into<Body>) -> Response {
        let mut response = self.response(StatusCode::OK, body.into());
        response.headers_mut().insert(CONTENT_TYPE, super::JSON);
        response
    }

    fn response(&self, status: StatusCode, body: Body) -> Response {
        // Weak: compressed and plain, the answer is the same.
        let headers = [(ETAG, format!("W/\"{}\"", self.0)), (CACHE_CONTROL, "no-cache".to_owned())];
        (status, headers, body).into_response()
    }
}

/// Asks the store on a thread that may wait for files, unless the answer is known to whoever asks. `state` tells what the answer
/// follows from, beside the address; answers that are not large are kept as they are sent.
pub(super) async fn answer<T: Serialize>(
    store: Arc<Store>,
    asking: Asking,
    state: impl FnOnce(&Store) -> Result<String, ApiError> + Send + 'static,
    ask: impl FnOnce(&Store) -> Result<T, ApiError> + Send + 'static,
) -> Result<Response, ApiError> {
    respond(store, asking, state, move |store, tag| {
        let body = store.answer(&tag.0, || {
            // There are no keys but texts in what is answered.
            ask(store).map(|answer| Bytes::from(serde_json::to_vec(&answer).unwrap_or_default()))
        })?;
        Ok(tag.json(body))
    })
    .await
}

/// The same where the answer is no single text.
pub(super) async fn respond(
    store: Arc<Store>,
    asking: Asking,
    state: impl FnOnce(&Store) -> Result<String, ApiError> + Send + 'static,
    ask: impl FnOnce(&Arc<Store>, &Tag) -> Result<Response, ApiError> + Send + 'static,
) -> Result<Response, ApiError> {
    let work = move || {
        let tag = Tag::of(&asking, &state(&store)?);
        tag.unchanged(&asking).map_or_else(|| ask(&store, &tag), Ok)
    };
    tokio::task::spawn_blocking(work).await.map_err(ApiError::lost)?
}
