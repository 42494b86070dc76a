//! `/api/events`: what happens, as it happens.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use cobalt::report::Status;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use tokio_stream::Stream;

use super::live::LiveRun;
use crate::serve::store::Store;

/// What is told; the event's name is `type`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "type")]
pub(in crate::serve) enum Happening {
    /// The runs that have not ended, at first and whenever one of them is new, has got further, or has ended.
    Live { runs: Vec<LiveRun> },
    /// An item of a run was finished.
    #[serde(rename_all = "camelCase")]
    Item {
        /// The run's id.
        run: String,
        key: String,
        /// The item's place in the data set, from 0.
        index: usize,
        passed: bool,
        status: Status,
        /// In milliseconds.
        latency_ms: f64,
        /// Each evaluator's mean score.
        scores: BTreeMap<String, f64>,
    },
    /// There are other results than before: a run has ended, or files came or went.
    Results {},
}

pub(super) async fn events(
    State(store): State<Arc<Store>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let _ = store;
    Sse::new(tokio_stream::pending()).keep_alive(KeepAlive::default())
}
