//! The gateway's responses: whole, streamed, or broken off as recorded.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use http_body_util::Full;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::Response;
use hyper::body::{Body, Frame};
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use serde_json::json;
use tokio::sync::mpsc::Receiver;

/// The body of a response.
pub type ReplyBody = UnsyncBoxBody<Bytes, io::Error>;
pub type Reply = Response<ReplyBody>;

/// A body whose parts come through a channel. An error breaks the connection, after what came before it has been sent.
pub struct StreamedBody {
    parts: Receiver<io::Result<Bytes>>,
    error: Option<io::Error>,
}

impl StreamedBody {
    pub fn new(parts: Receiver<io::Result<Bytes>>) -> Self {
        Self { parts, error: None }
    }
}

impl Body for StreamedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(error) = self.error.take() {
            return Poll::Ready(Some(Err(error)));
        }
        match self.parts.poll_recv(cx) {
            Poll::Ready(Some(Err(error))) => {
                // The connection sends what it holds when there is nothing to do; on an error, it drops it.
                self.error = Some(error);
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            part => part.map(|part| part.map(|part| part.map(Frame::data))),
        }
    }
}

/// A whole body.
pub fn whole(bytes: impl Into<Bytes>) -> ReplyBody {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// The beginning of a body after which the connection breaks.
pub fn broken_off(bytes: Bytes) -> ReplyBody {
    let (sender, receiver) = tokio::sync::mpsc::channel(2);
    // There is room for both.
    let _ = sender.try_send(Ok(bytes));
    let _ = sender.try_send(Err(io::Error::other("the recorded response breaks off here")));
    StreamedBody::new(receiver).boxed_unsync()
}

/// An error in the form that clients of OpenAI and Anthropic read. Clients do not repeat such a request.
pub fn error(status: u16, kind: &str, message: &str) -> Reply {
    let body = json!({ "type": "error", "error": { "message": message, "type": kind, "code": kind, "param": null } });
    let mut reply = Response::new(whole(body.to_string()));
    *reply.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or(hyper::StatusCode::BAD_REQUEST);
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
    reply
}

/// A response with the headers that are recorded.
pub fn recorded(
    status: u16,
    content_type: Option<&str>,
    retry_after: Option<&str>,
    body: ReplyBody,
) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or(hyper::StatusCode::OK);
    for (name, value) in [(CONTENT_TYPE, content_type), (RETRY_AFTER, retry_after)] {
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
            reply.headers_mut().insert(name, value);
        }
    }
    reply
}
