//! Shared by endpoints: query parameters, ETags, and streamed lists.

use std::cmp::Ordering;
use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::{io, thread};

use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;

use crate::cli::Since;
use crate::serve::error::ApiError;
use crate::serve::store::Store;

/// The part of a conditional request that identifies the response: its URL, and the ETags known to the client.
#[derive(Debug)]
pub struct Conditional {
    address: String,
    known: Vec<String>,
}

impl<S: Sync> FromRequestParts<S> for Conditional {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self { address: parts.uri.to_string(), known: known(&parts.headers) })
    }
}

/// The tags of `If-None-Match`, without the prefix of weak ones.
fn known(headers: &HeaderMap) -> Vec<String> {
    let lists = headers.get_all(IF_NONE_MATCH).iter().filter_map(|list| list.to_str().ok());
    let tags = lists.flat_map(|list| list.split(','));
    tags.map(|tag| tag.trim().trim_start_matches("W/").to_owned()).collect()
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The ETag of a response.
#[derive(Clone, Debug)]
pub struct Etag(String);

impl Etag {
    /// `state` is everything, besides the URL, that determines the response.
    fn of(conditional: &Conditional, state: &str) -> Self {
        let hash = Sha256::digest(format!("{}\0{state}", conditional.address));
        Self(hash[..16].iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The `304` response, if the client has the current one.
    fn unchanged(&self, conditional: &Conditional) -> Option<Response> {
        let mine = format!("\"{}\"", self.0);
        let is_known = conditional.known.iter().any(|tag| *tag == mine || tag == "*");
        is_known.then(|| self.response(StatusCode::NOT_MODIFIED, Body::empty()))
    }

    /// A JSON response.
    pub fn json(&self, body: impl Into<Body>) -> Response {
        let mut response = self.response(StatusCode::OK, body.into());
        response.headers_mut().insert(CONTENT_TYPE, JSON);
        response
    }

    fn response(&self, status: StatusCode, body: Body) -> Response {
        // Weak: the response is the same with any compression.
        let headers = [(ETAG, format!("W/\"{}\"", self.0)), (CACHE_CONTROL, "no-cache".to_owned())];
        (status, headers, body).into_response()
    }
}

/// Queries the store on a blocking thread, unless the client has the current response. `state` returns everything, besides the URL,
/// that determines the response. Small responses are cached.
pub async fn answer<T: Serialize>(
    store: Arc<Store>,
    conditional: Conditional,
    state: impl FnOnce(&Store) -> Result<String, ApiError> + Send + 'static,
    ask: impl FnOnce(&Store) -> Result<T, ApiError> + Send + 'static,
) -> Result<Response, ApiError> {
    respond(store, conditional, state, move |store, tag| {
        let body = store.answer(&tag.0, || {
            // All keys of responses are strings.
            ask(store).map(|answer| Bytes::from(serde_json::to_vec(&answer).unwrap_or_default()))
        })?;
        Ok(tag.json(body))
    })
    .await
}

/// The same for other response bodies.
pub async fn respond(
    store: Arc<Store>,
    conditional: Conditional,
    state: impl FnOnce(&Store) -> Result<String, ApiError> + Send + 'static,
    ask: impl FnOnce(&Arc<Store>, &Etag) -> Result<Response, ApiError> + Send + 'static,
) -> Result<Response, ApiError> {
    let work = move || {
        let tag = Etag::of(&conditional, &state(&store)?);
        tag.unchanged(&conditional).map_or_else(|| ask(&store, &tag), Ok)
    };
    tokio::task::spawn_blocking(work).await.map_err(ApiError::lost)?
}

/// Queries the store on a blocking thread.
pub async fn with<T: Send + 'static>(
    store: Arc<Store>,
    ask: impl FnOnce(&Store) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(move || ask(&store)).await.map_err(ApiError::lost)?
}

/// The chunk size in bytes, and the number of chunks buffered for a slow client.
const PIECE: usize = 64 << 10;
const WAITING: usize = 4;

/// Writes the items of a streamed list.
#[derive(Debug)]
pub struct Pieces {
    to: Sender<io::Result<Bytes>>,
    piece: Vec<u8>,
    is_begun: bool,
}

/// The client has disconnected.
#[derive(Debug)]
pub struct Gone;

impl Pieces {
    /// Adds an item.
    pub fn push(&mut self, item: &impl Serialize) -> Result<(), Gone> {
        if std::mem::replace(&mut self.is_begun, true) {
            self.piece.push(b',');
        }
        // Writing to memory cannot fail, and all keys of responses are strings.
        let _ = serde_json::to_writer(&mut self.piece, item);
        if self.piece.len() < PIECE { Ok(()) } else { self.send() }
    }

    fn send(&mut self) -> Result<(), Gone> {
        let piece = std::mem::take(&mut self.piece);
        self.to.blocking_send(Ok(piece.into())).map_err(|_| Gone)
    }
}

/// A streamed body: `head` is the text of an object whose last field is an empty list, and `write` pushes the items of that list on
/// its own thread. If it fails, the body is truncated, which the client detects.
pub fn streamed<E: Send + 'static>(
    mut head: Vec<u8>,
    write: impl FnOnce(&mut Pieces) -> Result<(), E> + Send + 'static,
) -> Body {
    /// The end of an object whose last field is an empty list.
    const END: &[u8] = b"]}";
    if head.ends_with(END) {
        head.truncate(head.len() - END.len());
    }
    let (to, from) = channel(WAITING);
    // A slow client must not block other responses. If no thread can be spawned, the body is truncated.
    let _ = thread::Builder::new().spawn(move || {
        let mut pieces = Pieces { to, piece: head, is_begun: false };
        match write(&mut pieces) {
            Ok(()) => {
                pieces.piece.extend_from_slice(END);
                // The client may have disconnected.
                let _ = pieces.send();
            }
            Err(_) => {
                let _ = pieces.to.blocking_send(Err(io::ErrorKind::UnexpectedEof.into()));
            }
        }
    });
    Body::from_stream(ReceiverStream::new(from))
}

/// Strictly parsed query parameters.
#[derive(Debug)]
pub struct Asked<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let query = Query::from_request_parts(parts, state).await;
        query.map(|Query(asked)| Self(asked)).map_err(|refusal| not_understood(&refusal))
    }
}

/// Path parameters.
#[derive(Debug)]
pub struct Named<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Named<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::from_request_parts(parts, state).await;
        path.map(|Path(named)| Self(named)).map_err(|refusal| not_understood(&refusal))
    }
}

/// The error for an invalid URL. The rejection's source has the details.
fn not_understood(refusal: &(dyn Error + 'static)) -> ApiError {
    let reason = refusal.source().unwrap_or(refusal);
    ApiError::bad_request(format!(
        "invalid request: {reason}; see `/api/openapi.json` for endpoints and parameters"
    ))
}

/// The sort direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// The smallest first.
    Asc,
    /// The largest first.
    Desc,
}

/// Compares optional numbers: missing ones come last in both directions.
pub fn known_first(one: Option<f64>, two: Option<f64>, is_descending: bool) -> Ordering {
    match (one, two) {
        (Some(one), Some(two)) if is_descending => two.total_cmp(&one),
        (Some(one), Some(two)) => one.total_cmp(&two),
        (one, two) => two.is_some().cmp(&one.is_some()),
    }
}

/// Parses a date or time into the format of run timestamps.
pub fn moment(name: &str, text: &str) -> Result<String, ApiError> {
    let moment: Result<Since, _> = text.parse();
    moment.map(Since::timestamp).map_err(|error| ApiError::bad_request(format!("`{name}={text}`: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_figure_comes_last_both_ways() {
        let sorted = |is_descending| {
            let mut figures = [None, Some(1.0), Some(3.0), None, Some(2.0)];
            figures.sort_by(|one, two| known_first(*one, *two, is_descending));
            figures
        };
        assert_eq!(sorted(false), [Some(1.0), Some(2.0), Some(3.0), None, None]);
        assert_eq!(sorted(true), [Some(3.0), Some(2.0), Some(1.0), None, None]);
    }
}
