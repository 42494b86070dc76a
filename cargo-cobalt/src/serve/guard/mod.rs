//! Who may ask: pages of this server alone, programs of this machine, and whoever has the token.
//!
//! A request passes the [`names`] (a page of another server cannot ask, whatever name it gives to this one), then, where there is
//! a [`token`], the [`admission`]. Each answer has the [`headers`] that say what its page may do.

mod admission;
mod headers;
mod names;
mod refusal;
mod token;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use self::names::Names;
pub(super) use self::token::{Token, hex};

/// What is asked of those who ask.
pub(super) struct Guard {
    names: Names,
    token: Option<Token>,
}

impl Guard {
    /// Of a server that listens there, where whoever asks needs the token if there is one.
    pub(super) fn of(address: SocketAddr, token: Option<Token>) -> Self {
        // A page of another server has no token, by whatever name it asks.
        let names = if token.is_some() { Names::Any } else { Names::of(address) };
        Self { names, token }
    }

    /// What is answered in place of what was asked for.
    fn answer(&self, request: &Request) -> Option<Response> {
        let is_api = is_api(request.uri().path());
        if let Err(refusal) = self.names.check(request, is_api) {
            return Some(refusal.answer(is_api));
        }
        admission::answer(self.token.as_ref()?, request, is_api)
    }
}

/// Whether an address is one of the API's, where answers are JSON.
fn is_api(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/")
}

/// Refuses those who may not ask, and says in each answer what its page may do.
pub(super) async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let is_api = is_api(request.uri().path());
    let mut response = match guard.answer(&request) {
        Some(answer) => answer,
        None => next.run(request).await,
    };
    headers::complete(response.headers_mut(), is_api);
    response
}
