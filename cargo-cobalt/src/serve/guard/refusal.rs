//! Why a request is refused: JSON for programs, a small page for people.

use axum::http::header::{CACHE_CONTROL, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};

use crate::serve::error::ApiError;

/// Why a request is refused, and what to do.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    message: String,
    /// The address to go on to, for whoever has just been let in.
    onward: Option<String>,
}

impl Refusal {
    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message: message.into(), onward: None }
    }

    pub(super) fn forbidden(message: impl Into<String>) -> Self {
        Self { status: StatusCode::FORBIDDEN, message: message.into(), onward: None }
    }

    /// Whoever asks has no token. A link of another site that brings it sets the cookie, which the browser keeps back until one
    /// goes on from a page of this server.
    pub(super) fn no_token(path: &str) -> Self {
        let message = "this dashboard is for those who have its token; open the link that `cargo cobalt serve` has printed, \
                       or put `?token=` and the token of COBALT_TOKEN behind the address; programs send it in the header \
                       `Authorization: Bearer`";
        Self { status: StatusCode::UNAUTHORIZED, message: message.into(), onward: Some(path.to_owned()) }
    }

    pub(super) fn answer(self, is_api: bool) -> Response {
        let status = self.status;
        let mut response = match is_api {
            true => ApiError::new(status, self.message).into_response(),
            false => (status, Html(self.page().into_string())).into_response(),
        };
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }

    fn page(&self) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width";
                    title { "Cobalt: " (self.status) }
                }
                body {
                    h1 { (self.status.canonical_reason().unwrap_or("Refused")) }
                    p { (self.message) }
                    @if let Some(path) = &self.onward {
                        p { "If you have just followed that link: " a href=(path) { "go on" } "." }
                    }
                }
            }
        }
    }
}
