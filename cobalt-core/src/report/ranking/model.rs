//! The result of ranking runs.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::report::RunVerdict;
use crate::report::comparison::{Difference, RunIdentity};
use crate::report::stats::Interval;

/// Several runs side by side: the variants of an experiment, or any runs over the same items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Ranking {
    /// The experiment, if all runs are of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// The group, if all runs are variants that were run together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The runs: variants in the order of their declaration, others as given.
    pub runs: Vec<RankedRun>,
    /// The differences of each metric between each pair of runs, at the same items. The p-values are corrected over all pairs (Holm): those
    /// of all evaluators together, and those of latency, tokens, cost and errors together.
    pub pairs: Vec<PairDifference>,
    /// Which run to choose; absent if the runs have no evaluator in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<Recommendation>,
    /// What judges that compare two outputs prefer, by evaluator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preferences: Vec<Preference>,
    /// Caveats, each in a sentence: for example, that the runs have different datasets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One of several runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RankedRun {
    /// The variant's name or, if the runs are not variants of one experiment, what tells them apart.
    pub label: String,
    /// The run.
    pub run: RunIdentity,
    /// Whether it is the default variant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_default: bool,
    /// The settings of the variant; null if it has none.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub settings: Value,
    /// The run's verdict.
    pub verdict: RunVerdict,
    /// The number of its items.
    pub items: usize,
    /// Items at or above every pass mark in every trial, without an error.
    pub passed_items: usize,
    /// Items in error.
    pub failed_items: usize,
    /// Each evaluator's scores, in the order of the evaluators.
    pub scores: Vec<RankedScore>,
    /// The mean of the evaluators' means, from 0 to 1: the score of the Pareto front. Absent without a score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_score: Option<f64>,
    /// The agent's mean latency per item, in milliseconds; absent if it was replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
    /// The agent cost of 1,000 items, in USD; absent unless it is known for all items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_per_1000: Option<f64>,
    /// The agent's tokens per item; absent unless they are known for all items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_per_item: Option<f64>,
    /// Whether no other run has a score at least as high at a cost at most as high, and is better in one of them. `false` without a
    /// known cost.
    pub is_on_pareto_front: bool,
}

/// One evaluator's scores of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RankedScore {
    /// The evaluator's name.
    pub evaluator: String,
    /// The mean.
    pub mean: f64,
    /// Its 95% CI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95: Option<Interval>,
    /// The share of scores at or above the evaluator's pass mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_rate: Option<f64>,
    /// The ranks that the run may have by this evaluator.
    pub rank: RankInterval,
}

/// The ranks that a run may have, from 1: one more than the number of runs that are better beyond noise, up to the number of runs minus
/// those that are worse beyond noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RankInterval {
    /// The best possible rank.
    pub best: usize,
    /// The worst possible rank.
    pub worst: usize,
}

/// The difference of a metric between two of the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PairDifference {
    /// The place of the base run in [`Ranking::runs`].
    pub base: usize,
    /// The place of the other run, which is after that of the base run.
    pub other: usize,
    /// The difference, other minus base.
    pub difference: Difference,
}

/// Which run to choose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Recommendation {
    /// The place of the run with the highest mean score in [`Ranking::runs`].
    pub best: usize,
    /// The place of the cheapest run that is not worse than another beyond noise; absent if there is none, or if a cost is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cheapest: Option<usize>,
    /// The answer in one sentence.
    pub text: String,
}

/// What a judge that compares two outputs prefers: the strengths of the runs in the model of Bradley and Terry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Preference {
    /// The evaluator's name.
    pub evaluator: String,
    /// The logarithm of each run's strength, in the order of [`Ranking::runs`]; they and that of the other answers add up to 0. A
    /// difference of 1 means that the stronger one wins 73% of the comparisons.
    pub strengths: Vec<f64>,
    /// The 95% CI of each, with errors clustered by item.
    pub ci95: Vec<Interval>,
    /// The strength of the other answers, with which those of all runs were compared.
    pub other_answers: f64,
    /// Its 95% CI.
    pub other_answers_ci95: Interval,
    /// How much the judge prefers the first position, on the same scale; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_position: Option<f64>,
    /// The number of comparisons.
    pub comparisons: usize,
}
