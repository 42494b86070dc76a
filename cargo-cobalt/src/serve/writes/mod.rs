//! The endpoints that change things: baselines, names and tags of runs, deleting runs, and [jobs](super::jobs).
//!
//! The [guard](super::guard) checks every such request before it gets here.

mod access;
mod baseline;
mod delete;
mod labels;

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request, State};
use axum::http::HeaderMap;
use axum::http::header::CACHE_CONTROL;
use axum::response::IntoResponse;
use axum::routing::{get, patch, post};
use axum::{Json, Router};
use serde::de::DeserializeOwned;

pub use self::access::{MAX_BODY, Session, WriteAccess, WriteMode};
pub use self::baseline::{SaveBaseline, SavedRun};
pub use self::delete::{DeleteRuns, DeletedRuns};
pub use self::labels::{LabelledRun, LabelsChange};
use super::error::ApiError;
use super::jobs::{self, Jobs};
use super::store::Store;

/// What the endpoints need.
#[derive(Debug)]
pub struct WriteContext {
    pub store: Arc<Store>,
    pub access: WriteAccess,
    pub jobs: Arc<Jobs>,
}

impl WriteContext {
    /// Runs on a blocking thread.
    pub async fn blocking<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        tokio::task::spawn_blocking(move || work(&self)).await.map_err(ApiError::from_join_error)?
    }
}

/// The routes below `/api`.
pub fn routes(context: Arc<WriteContext>) -> Router {
    Router::new()
        .route("/session", get(session))
        .route("/runs/{id}", patch(labels::update))
        .route("/runs/{id}/baseline", post(baseline::save))
        .route("/runs/delete", post(delete::delete))
        .route("/jobs", get(jobs::list).post(jobs::start))
        .route("/jobs/{id}", get(jobs::job))
        .route("/jobs/{id}/stop", post(jobs::stop))
        .with_state(context)
}

async fn session(State(context): State<Arc<WriteContext>>, headers: HeaderMap) -> impl IntoResponse {
    ([(CACHE_CONTROL, "no-store")], Json(context.access.session(&headers)))
}

/// A JSON body.
#[derive(Debug)]
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        // The router limits its size.
        let body = Bytes::from_request(request, state).await.map_err(|_| access::body_too_large())?;
        let text = if body.is_empty() { b"{}" } else { &*body };
        let parsed = serde_json::from_slice(text).map(Self);
        parsed.map_err(|error| {
            ApiError::bad_request(format!("invalid body: {error}; see `/api/openapi.json` for the fields"))
        })
    }
}
