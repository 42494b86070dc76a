//! The endpoints that change things: baselines, names and tags of runs, deleting runs, and [jobs](super::jobs).
//!
//! The [guard](super::guard) checks every such request before it gets here.

mod access;
mod baseline;
mod context;
mod delete;
mod jobs;
mod labels;
mod start_job;

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::CACHE_CONTROL;
use axum::response::IntoResponse;
use axum::routing::{get, patch, post};
use axum::{Json, Router};

pub use self::access::{MAX_BODY, Session, WriteAccess, WriteMode};
pub use self::baseline::{SaveBaseline, SavedRun};
pub use self::context::WriteContext;
pub use self::delete::{DeleteRuns, DeletedRuns};
pub use self::jobs::{JobList, JobQuery, JobWithOutput, StopJob};
pub use self::labels::{LabelledRun, LabelsChange};
pub use self::start_job::StartJob;

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
