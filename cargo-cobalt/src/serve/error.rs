//! What went wrong, as an answer in JSON.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Error;

/// Why there is no answer.
#[derive(Debug)]
pub struct ApiError {
    status: StatusCode,
    message: String,
}

/// The body of each answer whose status is no success.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Problem {
    /// What went wrong, and what to do.
    error: String,
}

impl ApiError {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// What was asked cannot be understood.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    pub fn method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "nothing can be changed here; ask with GET")
    }

    /// What works on the answer has panicked.
    pub fn broken() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "the server failed to answer; its terminal tells why")
    }

    /// The thread that worked on the answer has panicked.
    pub fn lost(_: tokio::task::JoinError) -> Self {
        Self::broken()
    }
}

/// What cannot be read.
impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(Problem { error: self.message })).into_response()
    }
}
