//! `/api/runs/ID`: a run with all of its items, as its result file has it.

use std::sync::Arc;

use axum::extract::{Path, State};
use cobalt::Report;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Answer, with};
use crate::serve::store::Store;

/// A run with all of its items.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::serve) struct WholeRun {
    pub(in crate::serve) run: Report,
}

pub(super) async fn run(State(store): State<Arc<Store>>, Path(id): Path<String>) -> Answer<WholeRun> {
    with(store, move |store| Ok(WholeRun { run: store.report(&id)? })).await
}
