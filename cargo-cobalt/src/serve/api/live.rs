//! Runs that are going on, and those that were cut off, as answers name them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// Whether a run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::serve) enum RunState {
    /// It has ended, and its result file is there.
    Finished,
    /// It is going on.
    Running,
    /// Its process has ended before it had: `cargo cobalt run --resume ID` runs what is missing.
    CutOff,
}

/// A run that has not ended.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::serve) struct LiveRun {
    pub(in crate::serve) id: String,
    /// The experiment's name.
    pub(in crate::serve) name: String,
    /// The start, ISO 8601 in UTC.
    pub(in crate::serve) timestamp: String,
    pub(in crate::serve) tags: Vec<String>,
    pub(in crate::serve) state: RunState,
    /// Whether it is a run of some of the items.
    pub(in crate::serve) partial: bool,
    /// How many items there are to run.
    pub(in crate::serve) total_items: usize,
    pub(in crate::serve) finished_items: usize,
    /// Those of the finished items that passed.
    pub(in crate::serve) passed_items: usize,
    /// Those of the finished items whose agent, or an evaluator, failed.
    pub(in crate::serve) error_items: usize,
    /// Each evaluator's mean so far.
    pub(in crate::serve) avg_scores: BTreeMap<String, f64>,
    /// How long it has gone on, in milliseconds.
    pub(in crate::serve) elapsed_ms: u64,
}
