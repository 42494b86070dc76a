//! The response of `/api/runs/ID/items`.

use std::collections::BTreeMap;

use cobalt_core::report::Status;
use cobalt_core::serde_skip::is_zero;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::serve::store::{ItemField, LoadedTraffic};

/// The requested items.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Items {
    pub items: Vec<ItemRow>,
    /// The number of matching items.
    pub matching: usize,
    /// The number of items in the run so far; with `compare`, those that only other runs have are included.
    pub total: usize,
    /// The columns that the items have besides those of every run, from up to 1,000 of them.
    pub fields: Vec<ItemField>,
    /// The groups of the matching items, in the order in which the items are listed; absent without `group`. After the 1,000 largest
    /// ones, one group joins the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<ItemGroup>>,
    /// How many characters of texts the items are sorted by; absent if they are sorted by whole values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort_prefix: Option<usize>,
    /// How many items changed, of those that match all filters except `only`; absent without `compare`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<ChangeCounts>,
}

/// The items with the same value of a column, or with a value in the same range.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemGroup {
    /// The value as text, or the range; null for items without a value. Long texts are cut, and different ones with the same beginning
    /// are numbered.
    pub value: Option<String>,
    /// How many smaller groups this one joins, whose value is null; absent for any other group.
    #[serde(skip_serializing_if = "is_zero")]
    pub joined: usize,
    /// The position of its first item among the matching ones, from 0.
    pub start: usize,
    /// The number of items.
    pub items: usize,
    /// Items at or above every pass mark, without an error.
    pub passed: usize,
    /// Items below a pass mark, without an error.
    pub below_pass_mark: usize,
    /// Items whose agent or evaluator failed.
    pub errors: usize,
    /// Each evaluator's mean over the items; absent without a score.
    pub scores: BTreeMap<String, f64>,
}

/// How many items changed between compared runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeCounts {
    /// Items that regressed in any run.
    pub regressed: usize,
    /// Items that improved in any run.
    pub improved: usize,
    /// Items that regressed or improved in any run.
    pub changed: usize,
    /// Items of this run that the reference does not have.
    pub only_here: usize,
    /// Items that this run does not have, but another does.
    pub only_there: usize,
}

/// An item in a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemRow {
    /// The item's key.
    pub key: String,
    /// The item's index in the dataset, from 0.
    pub index: usize,
    /// The item's test-case name.
    pub name: String,
    /// Whether it is at or above every pass mark in every trial, without an error.
    pub passed: bool,
    /// The worst status of its trials.
    pub status: Status,
    /// The number of trials.
    pub runs: usize,
    /// The attempts that failed with a transient error and were retried, over all trials.
    pub retried: usize,
    /// The evaluators that scored it below their pass mark in a trial.
    pub low: Vec<String>,
    /// The evaluators that gave no score in a trial.
    pub eval_errors: Vec<String>,
    /// The evaluators that do not apply to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_applicable: Vec<String>,
    /// The start of its input.
    pub input: String,
    /// The start of the output of the first trial; absent if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The start of the agent's or an evaluator's error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The mean over the trials, in milliseconds.
    pub latency_ms: f64,
    /// The agent's tokens over all trials; absent if none were reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The agent cost over all trials in USD; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Each evaluator's mean score over the trials; absent without a score.
    pub scores: BTreeMap<String, f64>,
    /// The model traffic of all trials; absent if none passed through the gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<ItemTraffic>,
    /// The values of the requested columns; absent if the item has none. Long texts are cut, and lists and objects become text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Value>,
    /// The item in each of the compared runs, in their order; null if a run does not have it. Absent without `compare`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<Option<ComparedRow>>,
    /// For each evaluator, the score in this run minus that in the reference; absent if either has none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub changes: BTreeMap<String, f64>,
    /// Whether only other runs have the item. The key, name, index and input are those of the first run that has it; everything else
    /// is empty.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_missing: bool,
}

/// An item in another run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparedRow {
    /// The run's id.
    pub id: String,
    /// Each evaluator's mean score over the trials; absent without a score.
    pub scores: BTreeMap<String, f64>,
    /// Whether it is at or above every pass mark in every trial, without an error.
    pub passed: bool,
    /// The worst status of its trials.
    pub status: Status,
    /// The evaluators that scored it below their pass mark in a trial.
    pub low: Vec<String>,
    /// The start of the output of the first trial; absent if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The start of the agent's or an evaluator's error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The mean over the trials, in milliseconds.
    pub latency_ms: f64,
    /// The agent's tokens over all trials; absent if none were reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The agent cost over all trials in USD; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Whether the item's content differs from that in this run.
    pub changed: bool,
}

/// What was replayed of an item's model traffic, over all of its trials. If anything was, latency and cost are, to that extent, those
/// of the recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemTraffic {
    /// Requests answered from the recording.
    pub replayed: usize,
    /// Requests sent to a provider.
    pub live: usize,
    /// When the oldest replayed part was recorded, ISO 8601 in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<String>,
    /// Whether the conversation of a trial diverged from the recording.
    pub diverged: bool,
}

impl From<&LoadedTraffic> for ItemTraffic {
    fn from(traffic: &LoadedTraffic) -> Self {
        Self {
            replayed: traffic.replayed,
            live: traffic.live,
            recorded_at: traffic.recorded_at.map(|at| at.to_string()),
            diverged: traffic.has_diverged,
        }
    }
}
