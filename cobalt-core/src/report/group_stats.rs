//! Statistics by the values of a field of the items.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::stats::Interval;
#[cfg(doc)]
use super::summary::ScoreStats;
use crate::serde_skip::is_zero;

/// The groups of a field.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct FieldGroups {
    /// The field of the items, or a path such as `meta.category`.
    pub field: String,
    /// The groups, one for each value, at most 100, in the order of the first item of each.
    pub groups: Vec<GroupStats>,
    /// The number of groups that are left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_groups: usize,
}

/// The statistics of the items with one value of a field.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct GroupStats {
    /// The value: a string as it is, any other as JSON, `(none)` if it is missing or null.
    pub value: String,
    /// The number of items.
    pub items: usize,
    /// Items at or above every pass mark in every trial, without an error.
    pub passed_items: usize,
    /// Items in error: the agent or an evaluator failed.
    pub failed_items: usize,
    /// Statistics of each evaluator that gave a score, by its name.
    pub scores: BTreeMap<String, GroupScore>,
    /// The mean of the items' agent latencies, in milliseconds.
    pub avg_latency_ms: f64,
    /// The mean of the agent's tokens over the items that report them; absent if an output reports none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_item: Option<f64>,
    /// The mean of the agent cost in USD over the items that report it; absent if that of an output is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_per_item: Option<f64>,
}

/// An evaluator's scores in a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct GroupScore {
    /// The mean.
    pub avg: f64,
    /// The number of scores.
    pub count: usize,
    /// The 95% CI of the mean, as that of [`ScoreStats`]. Absent for a single item, and for items of a single cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci95: Option<Interval>,
    /// The share of scores at or above the evaluator's pass mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_rate: Option<f64>,
    /// The 95% CI of the pass rate, as that of [`ScoreStats`]. Absent for a single item, and for items of a single cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_rate_ci95: Option<Interval>,
}
