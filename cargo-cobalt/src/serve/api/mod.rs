//! What programs ask, the page first among them: JSON under `/api`, with the fields of the original where it has them.
//!
//! A file is an endpoint with what may be asked of it and what it answers; [`description`] tells all of them.

mod asked;
mod compare;
mod error;
mod events;
mod export;
mod facts;
mod health;
mod items;
mod live;
mod openapi;
mod overview;
mod run;
mod runs;
mod streamed;
mod tagged;
mod trends;

use std::sync::Arc;

use axum::Router;
use axum::http::HeaderValue;
use axum::routing::get;

pub(super) use asked::Order;
pub(super) use compare::{
    Changed, CompareQuery, CompareSort, Compared, ComparedItem, ComparedOutput, ComparedRun, ScoreDiffs,
};
pub(super) use error::ApiError;
pub(super) use events::Happening;
pub(super) use export::{ExportFormat, ExportQuery};
pub(super) use facts::RunFacts;
pub(super) use items::{ItemRow, ItemState, Items, ItemsQuery, WholeItem};
pub(super) use live::{LiveRun, RunState};
pub(super) use openapi::description;
pub(super) use overview::{Amounts, Neighbour, Overview, StateCounts};
pub(super) use runs::{Counted, RunRow, RunSort, RunVerdict, Runs, RunsQuery, SkippedFile};
pub(super) use trends::{ThresholdLine, TrendPoint, TrendQuantity, Trends, TrendsQuery};

use super::store::Store;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// What asks of the store and answers in JSON.
type Answer<T> = Result<axum::Json<T>, ApiError>;

pub(super) fn routes(store: Arc<Store>) -> Router {
    Router::new()
        .route("/", get(health::index))
        .route("/health", get(health::health))
        .route("/openapi.json", get(health::openapi))
        .route("/runs", get(runs::runs))
        .route("/runs/{id}", get(run::run))
        .route("/runs/{id}/overview", get(overview::overview))
        .route("/runs/{id}/items", get(items::items))
        .route("/runs/{id}/items/{key}", get(items::item))
        .route("/compare", get(compare::compare))
        .route("/trends", get(trends::trends))
        .route("/export", get(export::export))
        .route("/events", get(events::events))
        .fallback(no_endpoint)
        .method_not_allowed_fallback(|| async { ApiError::method() })
        .with_state(store)
}

/// What is answered at an address below `/api` that there is none at.
pub(super) async fn no_endpoint() -> ApiError {
    ApiError::not_found("there is no such endpoint; `/api` names those there are")
}

/// Asks the store on a thread that may wait for files.
async fn with<T: Send + 'static>(
    store: Arc<Store>,
    ask: impl FnOnce(&Store) -> Result<T, ApiError> + Send + 'static,
) -> Answer<T> {
    tokio::task::spawn_blocking(move || ask(&store)).await.map_err(ApiError::lost)?.map(axum::Json)
}
