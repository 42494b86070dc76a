//! Shared by endpoints: query parameters, ETags, and streamed lists.

use std::cmp::Ordering;
use std::convert::Infallible;
use std::error::Error;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts, Path};
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
        Ok(Self { address: parts.uri.to_string(), known: known_tags(&parts.headers) })
    }
}

/// The tags of `If-None-Match`, without the prefix of weak ones.
fn known_tags(headers: &HeaderMap) -> Vec<String> {
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
    fn compute(conditional: &Conditional, state: &str) -> Self {
        let hash = Sha256::digest(format!("{}\0{state}", conditional.address));
        Self(hash[..16].iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The `304` response, if the client has the current one.
    fn not_modified(&self, conditional: &Conditional) -> Option<Response> {
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
pub async fn cached_json<T: Serialize>(
    store: Arc<Store>,
    conditional: Conditional,
    state: impl FnOnce(&Store) -> Result<String, ApiError> + Send + 'static,
    ask: impl FnOnce(&Store) -> Result<T, ApiError> + Send + 'static,
) -> Result<Response, ApiError> {
    conditional_response(store, conditional, state, move |store, tag| {
        let body = store.cached_response(&tag.0, || {
            // All keys of responses are strings.
            ask(store).map(|answer| Bytes::from(serde_json::to_vec(&answer).unwrap_or_default()))
        })?;
        Ok(tag.json(body))
    })
    .await
}

/// The same for other response bodies.
pub async fn conditional_response(
    store: Arc<Store>,
    conditional: Conditional,
    state: impl FnOnce(&Store) -> Result<String, ApiError> + Send + 'static,
    ask: impl FnOnce(&Arc<Store>, &Etag) -> Result<Response, ApiError> + Send + 'static,
) -> Result<Response, ApiError> {
    let work = move || {
        let tag = Etag::compute(&conditional, &state(&store)?);
        tag.not_modified(&conditional).map_or_else(|| ask(&store, &tag), Ok)
    };
    tokio::task::spawn_blocking(work).await.map_err(ApiError::from_join_error)?
}

/// Queries the store on a blocking thread.
pub async fn run_blocking<T: Send + 'static>(
    store: Arc<Store>,
    ask: impl FnOnce(&Store) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(move || ask(&store)).await.map_err(ApiError::from_join_error)?
}

/// The chunk size in bytes, and the number of chunks buffered for a slow client.
const CHUNK_SIZE: usize = 64 << 10;
const BUFFERED_CHUNKS: usize = 4;

/// Writes the items of a streamed list.
#[derive(Debug)]
pub struct ListWriter {
    to: Sender<io::Result<Bytes>>,
    piece: Vec<u8>,
    is_begun: bool,
}

/// The client has disconnected.
#[derive(Debug)]
pub struct Disconnected;

impl ListWriter {
    /// Adds an item.
    pub fn push(&mut self, item: &impl Serialize) -> Result<(), Disconnected> {
        if std::mem::replace(&mut self.is_begun, true) {
            self.piece.push(b',');
        }
        // Writing to memory cannot fail, and all keys of responses are strings.
        let _ = serde_json::to_writer(&mut self.piece, item);
        if self.piece.len() < CHUNK_SIZE { Ok(()) } else { self.send() }
    }

    fn send(&mut self) -> Result<(), Disconnected> {
        let piece = std::mem::take(&mut self.piece);
        self.to.blocking_send(Ok(piece.into())).map_err(|_| Disconnected)
    }
}

/// A streamed body: `head` is the text of an object whose last field is an empty list, and `write` pushes the items of that list on
/// its own thread. If it fails, the body is truncated, which the client detects.
pub fn stream_list<E: Send + 'static>(
    mut head: Vec<u8>,
    write: impl FnOnce(&mut ListWriter) -> Result<(), E> + Send + 'static,
) -> Body {
    /// The end of an object whose last field is an empty list.
    const END: &[u8] = b"]}";
    if head.ends_with(END) {
        head.truncate(head.len() - END.len());
    }
    stream(move |to| {
        let mut pieces = ListWriter { to: to.clone(), piece: head, is_begun: false };
        write(&mut pieces).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        pieces.piece.extend_from_slice(END);
        pieces.send().map_err(|Disconnected| io::ErrorKind::BrokenPipe.into())
    })
}

/// Streams what a function writes. If it fails, the body is truncated, which the client detects.
pub fn stream_body(write: impl FnOnce(&mut BodyWriter) -> io::Result<()> + Send + 'static) -> Body {
    stream(move |to| {
        let mut body = BodyWriter { to: to.clone(), piece: Vec::new() };
        write(&mut body).and_then(|()| body.flush())
    })
}

/// A body whose pieces a function sends on its own thread: a slow client must not block other responses. The body ends with an error if
/// the function fails or panics, or if there is no thread for it.
fn stream(send: impl FnOnce(&Sender<io::Result<Bytes>>) -> io::Result<()> + Send + 'static) -> Body {
    let (to, from) = channel(BUFFERED_CHUNKS);
    let sender = to.clone();
    let work = move || {
        let panicked = |_| Err(io::Error::other("the thread that writes the response panicked"));
        if let Err(error) = catch_unwind(AssertUnwindSafe(|| send(&sender))).unwrap_or_else(panicked) {
            // The client may have disconnected.
            let _ = sender.blocking_send(Err(error));
        }
    };
    if let Err(error) = thread::Builder::new().spawn(work) {
        // Nothing has been sent yet, so there is room.
        let _ = to.try_send(Err(error));
    }
    Body::from_stream(ReceiverStream::new(from))
}

/// Writes a streamed body.
#[derive(Debug)]
pub struct BodyWriter {
    to: Sender<io::Result<Bytes>>,
    piece: Vec<u8>,
}

impl Write for BodyWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= CHUNK_SIZE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let piece = std::mem::take(&mut self.piece);
        self.to.blocking_send(Ok(piece.into())).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// Strictly parsed query parameters. A parameter can be repeated if its field is a list.
#[derive(Debug)]
pub struct StrictQuery<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for StrictQuery<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = parts.uri.query().unwrap_or_default();
        let query = serde_html_form::Deserializer::from_bytes(query.as_bytes());
        // The error has the parameter's name.
        serde_path_to_error::deserialize(query).map(Self).map_err(|refusal| invalid_request(&refusal))
    }
}

/// Path parameters.
#[derive(Debug)]
pub struct PathParams<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for PathParams<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::from_request_parts(parts, state).await;
        // The rejection's source has the details.
        path.map(|Path(named)| Self(named))
            .map_err(|refusal| invalid_request(refusal.source().unwrap_or(&refusal)))
    }
}

/// The error for an invalid URL.
fn invalid_request(reason: &(dyn Error + 'static)) -> ApiError {
    ApiError::bad_request(format!("invalid request: {reason}; the API's description lists all parameters"))
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
pub fn cmp_known_first(one: Option<f64>, two: Option<f64>, is_descending: bool) -> Ordering {
    match (one, two) {
        (Some(one), Some(two)) if is_descending => two.total_cmp(&one),
        (Some(one), Some(two)) => one.total_cmp(&two),
        (one, two) => two.is_some().cmp(&one.is_some()),
    }
}

/// Parses a date or time into the format of run timestamps.
pub fn parse_time(name: &str, text: &str) -> Result<String, ApiError> {
    let moment: Result<Since, _> = text.parse();
    moment.map(Since::timestamp).map_err(|error| ApiError::bad_request(format!("`{name}={text}`: {error}")))
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    #[tokio::test]
    async fn a_body_that_is_not_complete_ends_with_an_error() {
        let read = |body| to_bytes(body, usize::MAX);
        let whole = stream_body(|body| body.write_all(b"a,b\n"));
        assert_eq!(read(whole).await.unwrap(), "a,b\n");
        let failed = stream_body(|body| body.write_all(b"a").and(Err(io::ErrorKind::InvalidData.into())));
        read(failed).await.unwrap_err();
        let panicked = stream_body(|body| body.write_all(&[b'a'; CHUNK_SIZE]).map(|()| panic!("no more")));
        read(panicked).await.unwrap_err();
        let list = |fails: bool| {
            stream_list(b"{\"items\":[]}".to_vec(), move |items| {
                items.push(&1).map_err(|Disconnected| ())?;
                if fails { panic!("no more") } else { items.push(&2).map_err(|Disconnected| ()) }
            })
        };
        assert_eq!(read(list(false)).await.unwrap(), "{\"items\":[1,2]}");
        read(list(true)).await.unwrap_err();
    }

    #[test]
    fn what_has_no_figure_comes_last_both_ways() {
        let sorted = |is_descending| {
            let mut figures = [None, Some(1.0), Some(3.0), None, Some(2.0)];
            figures.sort_by(|one, two| cmp_known_first(*one, *two, is_descending));
            figures
        };
        assert_eq!(sorted(false), [Some(1.0), Some(2.0), Some(3.0), None, None]);
        assert_eq!(sorted(true), [Some(3.0), Some(2.0), Some(1.0), None, None]);
    }
}
