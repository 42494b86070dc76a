//! Who may ask: pages of this server alone, and programs of this machine.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_SECURITY_POLICY, HOST, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::api::ApiError;

/// What a page may do: nothing but what this server gives it.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// The names that the server is asked by.
#[derive(Debug)]
pub(super) struct Guard {
    hosts: Vec<String>,
}

impl Guard {
    /// Of a server that listens there.
    pub(super) fn of(address: SocketAddr) -> Self {
        let port = address.port();
        let hosts = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("{host}:{port}"));
        Self { hosts: hosts.into() }
    }

    fn refusal(&self, request: &Request) -> Option<ApiError> {
        let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
        let is_known = |host: &str| self.hosts.iter().any(|known| known == host);
        if !header(HOST).is_some_and(is_known) {
            return Some(ApiError::forbidden("this name is not one of the server's; ask for its address"));
        }
        let origin = header(ORIGIN).filter(|origin| !origin.strip_prefix("http://").is_some_and(is_known));
        origin.map(|_| ApiError::forbidden("pages of other servers may not ask"))
    }
}

/// Refuses those who may not ask, and says in each answer what its page may do.
pub(super) async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut response = match guard.refusal(&request) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}
