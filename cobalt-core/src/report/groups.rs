//! Statistics by the values of a field of the items.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::item::ItemResult;
use super::metrics::{ClusterNumbering, EvaluatorMetrics, ItemUsage, pooled_scores};
use super::stats::{Interval, describe};
use super::summary::ScoreStats;
use crate::item::{FieldPath, Item};
use crate::serde_skip::is_zero;

/// The value of items without the field.
pub const NO_VALUE: &str = "(none)";

/// The maximum number of groups of a field in a summary.
const MAX_GROUPS: usize = 100;

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

/// The metrics of the groups of a field, gathered item by item.
#[derive(Debug)]
pub(super) struct FieldMetrics<'a> {
    pub(super) name: String,
    path: FieldPath,
    /// In the order of the first item of each.
    pub(super) groups: Vec<GroupMetrics<'a>>,
    places: HashMap<String, usize>,
}

/// The metrics of a group.
#[derive(Debug)]
pub(super) struct GroupMetrics<'a> {
    pub(super) value: String,
    pub(super) items: usize,
    /// The evaluators, in order.
    pub(super) evaluators: Vec<EvaluatorMetrics<'a>>,
    clusters: ClusterNumbering,
    passed: usize,
    in_error: usize,
    latency: Vec<f64>,
    /// The same without items whose latency is that of a recording.
    pub(super) live_latency: Vec<f64>,
    pub(super) tokens: Vec<f64>,
    pub(super) cost: Vec<f64>,
    /// Whether some output reports no tokens.
    pub(super) lacks_tokens: bool,
    /// Whether the cost of some output is unknown.
    pub(super) lacks_cost: bool,
}

impl<'a> FieldMetrics<'a> {
    pub(super) fn new(field: &str) -> Self {
        let (path, name) = (FieldPath::new(field), field.to_owned());
        Self { name, path, groups: Vec::new(), places: HashMap::new() }
    }

    /// Adds an item; `evaluators` are those of the run with their pass marks.
    pub(super) fn add(&mut self, item: &ItemResult, usage: &ItemUsage, evaluators: &[(&'a str, f64)]) {
        let value = group_value(&self.path, &item.input);
        let place = match self.places.get(&value) {
            Some(place) => *place,
            None => {
                self.places.insert(value.clone(), self.groups.len());
                self.groups.push(GroupMetrics::new(value, evaluators));
                self.groups.len() - 1
            }
        };
        self.groups[place].add(item, usage);
    }

    /// Whether no item has the field.
    pub(super) fn is_missing_everywhere(&self) -> bool {
        !self.groups.is_empty() && self.groups.iter().all(|group| group.value == NO_VALUE)
    }

    /// These metrics with the scores of `other`, as [`RunMetrics::with_pooled_scores`](super::RunMetrics::with_pooled_scores).
    pub(super) fn with_pooled_scores(mut self, mut other: Self) -> Self {
        for group in &mut self.groups {
            let Some(place) = other.places.get(&group.value) else { continue };
            let pooled = std::mem::take(&mut other.groups[*place].evaluators);
            group.evaluators = pooled_scores(std::mem::take(&mut group.evaluators), pooled);
        }
        self
    }

    pub(super) fn stats(&self) -> FieldGroups {
        FieldGroups {
            field: self.name.clone(),
            groups: self.groups.iter().take(MAX_GROUPS).map(GroupMetrics::stats).collect(),
            more_groups: self.groups.len().saturating_sub(MAX_GROUPS),
        }
    }
}

impl<'a> GroupMetrics<'a> {
    fn new(value: String, evaluators: &[(&'a str, f64)]) -> Self {
        Self {
            value,
            items: 0,
            evaluators: evaluators.iter().map(|&(name, mark)| EvaluatorMetrics::new(name, mark)).collect(),
            clusters: ClusterNumbering::default(),
            passed: 0,
            in_error: 0,
            latency: Vec::new(),
            live_latency: Vec::new(),
            tokens: Vec::new(),
            cost: Vec::new(),
            lacks_tokens: false,
            lacks_cost: false,
        }
    }

    fn add(&mut self, item: &ItemResult, usage: &ItemUsage) {
        let cluster = self.clusters.of(item);
        self.items += 1;
        self.passed += usize::from(item.passed);
        self.in_error += usize::from(item.is_in_error());
        self.latency.push(item.latency_ms());
        self.live_latency.extend((!item.has_replayed_latency()).then(|| item.latency_ms()));
        self.tokens.extend(usage.tokens.map(|tokens| tokens as f64));
        self.cost.extend(usage.known_cost());
        self.lacks_tokens |= usage.lacks_tokens();
        self.lacks_cost |= usage.lacks_cost();
        for evaluator in &mut self.evaluators {
            evaluator.add(item, cluster);
        }
    }

    /// The scores of all evaluators as those of one.
    pub(super) fn all_scores(&self) -> EvaluatorMetrics<'a> {
        let mut all = EvaluatorMetrics::new("score", 1.0);
        self.evaluators.iter().for_each(|evaluator| all.extend(evaluator));
        all
    }

    fn stats(&self) -> GroupStats {
        let scores = self.evaluators.iter().filter_map(|evaluator| {
            let score = GroupScore::of(evaluator.stats(1)?, evaluator.scored_clusters());
            Some((evaluator.name.to_owned(), score))
        });
        GroupStats {
            value: self.value.clone(),
            items: self.items,
            passed_items: self.passed,
            failed_items: self.in_error,
            scores: scores.collect(),
            avg_latency_ms: mean(&self.latency).unwrap_or_default(),
            tokens_per_item: mean(&self.tokens).filter(|_| !self.lacks_tokens),
            cost_per_item: mean(&self.cost).filter(|_| !self.lacks_cost),
        }
    }
}

impl GroupScore {
    fn of(stats: ScoreStats, clusters: usize) -> Self {
        let ScoreStats { avg, count, ci95, pass_rate, pass_rate_ci95, .. } = stats;
        // Wilson's interval exists for one observation, too, but says nothing about a group.
        let known = |interval: Option<Interval>| interval.filter(|_| clusters > 1);
        Self { avg, count, ci95: known(ci95), pass_rate, pass_rate_ci95: known(pass_rate_ci95) }
    }
}

/// The value of a field as text.
fn group_value(path: &FieldPath, item: &Item) -> String {
    match path.resolve(item) {
        None => NO_VALUE.to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    describe(values).map(|stats| stats.mean)
}
