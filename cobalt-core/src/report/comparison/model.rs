//! The result of a comparison.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::report::stats::Interval;
use crate::report::{Direction, GitState};
use crate::serde_skip::is_zero;
use crate::timestamp::Timestamp;
use crate::wording::group_thousands;

/// A comparison of two runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The run to compare with, such as the baseline.
    pub base: RunIdentity,
    /// The other run.
    pub other: RunIdentity,
    /// The common items, and those of only one run.
    pub items: ItemMatching,
    /// Caveats, each in a sentence: for example, a different dataset, or an evaluator with different settings.
    pub notes: Vec<String>,
    /// What the items asked the model, which is also a note; absent unless an item's model traffic is known in both runs, and in
    /// files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<AskedComparison>,
    /// The evaluators of both runs, in the order of the other run.
    pub evaluators: Vec<Difference>,
    /// The agent's latency, tokens, cost and errors, and the metrics that it recorded, if both runs have them.
    pub amounts: Vec<Difference>,
    /// The first regressions, worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regressed: Vec<RegressedItem>,
}

impl Comparison {
    /// Takes the scores that are worse in another comparison of the run, in which earlier runs count as further trials, but not in this one.
    /// Returns the names of these evaluators.
    #[doc(hidden)]
    pub fn take_worse(&mut self, pooled: Self) -> Vec<String> {
        let mut taken = Vec::new();
        for difference in pooled.evaluators.into_iter().filter(|it| it.verdict == Verdict::Worse) {
            let own = self.evaluators.iter_mut().find(|own| own.name == difference.name);
            if let Some(own) = own.filter(|own| own.verdict != Verdict::Worse) {
                taken.push(difference.name.clone());
                *own = difference;
            }
        }
        taken
    }
}

/// The identity of a run in a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunIdentity {
    /// The run's id.
    pub id: String,
    /// The experiment's name.
    pub name: String,
    /// When the run started.
    pub timestamp: Timestamp,
    /// The state of the source, if it is in git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitState>,
    /// The number of items.
    pub items: usize,
    /// The number of trials per item.
    pub runs: usize,
}

/// The items of two runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ItemMatching {
    /// The number of items in both runs.
    pub matched: usize,
    /// The keys of common items whose content has changed; at most 1,000.
    pub changed: Vec<String>,
    /// How many more of them there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub changed_unlisted: usize,
    /// The keys of items only in the other run; at most 1,000.
    pub added: Vec<String>,
    /// How many more of them there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub added_unlisted: usize,
    /// The keys of items only in the base run; at most 1,000.
    pub removed: Vec<String>,
    /// How many more of them there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub removed_unlisted: usize,
}

/// What the items of two runs asked the model, in the first trial.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AskedComparison {
    /// The number of common items whose model traffic is known in both runs.
    pub items: usize,
    /// How many of them asked the model exactly the same; the others diverged.
    pub same: usize,
    /// The diverged items, in the order of the base run; at most 1,000.
    pub diverged: Vec<DivergedItem>,
}

/// An item that asked the model something else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DivergedItem {
    /// The item's identity.
    pub key: String,
    /// The first message that differs, from 1; absent if the model, the tools or the settings differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<usize>,
}

/// A regressed item. Whether the regression exceeds noise is shown by the evaluators' differences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RegressedItem {
    /// The item's identity.
    pub key: String,
    /// Whether the agent or an evaluator failed in more of its trials than before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// The evaluators whose mean score dropped, largest drop first.
    pub scores: Vec<ScoreChange>,
}

/// One evaluator's scores of an item in two runs, each the mean over the item's trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScoreChange {
    /// The evaluator's name.
    pub evaluator: String,
    /// From 0 to 1; absent without a score.
    pub base: Option<f64>,
    /// From 0 to 1; absent without a score.
    pub other: Option<f64>,
}

/// The difference of one metric between two runs, over the items that have it in both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The evaluator's or the metric's name, or `latency`, `tokens`, `cost`, `errors`.
    pub name: String,
    /// What is measured.
    pub quantity: Quantity,
    /// The unit of a metric that the agent recorded, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Which values of a metric that the agent recorded are better. If neither are, the verdict is never better or worse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// The mean over the items in the base run. An item's value is the mean of its trials.
    pub base: f64,
    /// The mean over the items in the other run.
    pub other: f64,
    /// `other - base`.
    pub difference: f64,
    /// The 95% CI of the difference; absent if it is unknown, for example for one item.
    pub ci95: Option<Interval>,
    /// For latency, tokens and cost: the typical ratio, on which the p-value and the verdict are based. Absent if a value is 0, if
    /// all items differ by the same factor, with fewer than two clusters, if one run has only a mean of another number of trials,
    /// and in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<TypicalRatio>,
    /// The two-sided p-value.
    pub p_value: Option<f64>,
    /// The p-value after Holm's correction for all compared evaluators, for latency, tokens, cost and errors, or for all metrics that
    /// the agent recorded.
    pub p_adjusted: Option<f64>,
    /// The test that the p-value is from.
    pub test: Option<Test>,
    /// The min detectable difference (80% power, 5% level) with this many items; for latency, tokens and cost, assuming that all
    /// items differ by the same factor.
    pub smallest_detectable: Option<f64>,
    /// The verdict on the difference.
    pub verdict: Verdict,
    /// The sample size needed, if the verdict is inconclusive.
    pub settled_by: Option<SampleSize>,
    /// The number of compared items.
    pub items: usize,
    /// The number of independent clusters.
    pub clusters: usize,
    /// Items that are better in the other run; 0 for a metric without a direction.
    pub better: usize,
    /// Items that are worse in the other run; 0 for a metric without a direction.
    pub worse: usize,
    /// Items with equal values.
    pub equal: usize,
    /// Common items without the metric in one of the runs, for example because the agent failed.
    pub unmeasured: usize,
}

/// The ratio of the geometric means, other over base: the factor by which a typical item differs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TypicalRatio {
    /// The factor: 1.1 for 10% more.
    pub ratio: f64,
    /// Its 95% CI.
    pub ci95: Interval,
}

/// `×1.10 (95% CI 1.05 to 1.15)`
impl fmt::Display for TypicalRatio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ratio, ci95: Interval { low, high } } = self;
        write!(f, "×{ratio:.2} (95% CI {low:.2} to {high:.2})")
    }
}

/// The metric of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Scores from 0 to 1; more is better.
    Score,
    /// Milliseconds per item; less is better.
    Latency,
    /// Tokens per item; less is better.
    Tokens,
    /// US dollars per item; less is better.
    Cost,
    /// The share of an item's trials in error; less is better.
    Errors,
    /// A metric that the agent recorded, in its own unit.
    Metric,
}

impl Difference {
    /// Whether larger values are better; `None` if neither are.
    #[must_use]
    pub fn more_is_better(&self) -> Option<bool> {
        match self.quantity {
            Quantity::Metric => self.direction.map(|direction| direction == Direction::Higher),
            quantity => Some(quantity.more_is_better()),
        }
    }

    /// The name in texts. A cost is that of the agent; costs of judges and simulated users are not compared.
    #[must_use]
    pub fn label(&self) -> &str {
        if self.quantity == Quantity::Cost { "agent cost" } else { &self.name }
    }
}

impl Quantity {
    /// Whether larger values are better; see [`Difference::more_is_better`] for metrics that the agent recorded.
    pub(super) fn more_is_better(self) -> bool {
        self == Self::Score
    }
}

/// The quantity in a sentence: `scores`, `tokens`.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Score => "scores",
            Self::Latency => "a latency",
            Self::Tokens => "tokens",
            Self::Cost => "a known agent cost",
            Self::Errors => "errors",
            Self::Metric => "this metric",
        })
    }
}

/// How a p-value was calculated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// Student's t test of the paired differences of a metric, or of latency, tokens or cost without a typical ratio.
    PairedT,
    /// Student's t test of the paired differences of the logarithms of latency, tokens or cost.
    LogRatioT,
    /// McNemar's test of scores of 0 and 1; the mid-p-value.
    Mcnemar,
    /// The exact sign-flip test of the differences; the mid-p-value.
    SignFlipExact,
    /// The Monte Carlo sign-flip test of the differences, with a fixed seed; the mid-p-value.
    SignFlipMonteCarlo,
    /// A permutation test that moves an item's trials between the sides, if one side has more of them, with a fixed seed; the
    /// mid-p-value.
    Permutation,
}

/// The verdict on a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The other run is better, beyond noise.
    Better,
    /// The other run is worse, beyond noise.
    Worse,
    /// The other run is different, beyond noise, in a metric without a direction.
    Changed,
    /// Any difference is negligible: the whole interval is within the margin.
    WithinNoise,
    /// No difference was detected, and there are too few items to rule out a relevant one.
    Inconclusive,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Changed => "changed",
            Self::WithinNoise => "within noise",
            Self::Inconclusive => "inconclusive",
        })
    }
}

/// The sample size needed for a conclusive verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SampleSize {
    /// The total number of items, with the current number of trials.
    pub items: u64,
    /// The number of trials per item, with the current items; absent if no number is enough, or the spread of trials is unknown.
    pub runs: Option<u64>,
}

/// `about 1,200 items (or 12 trials per item)`
impl fmt::Display for SampleSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "about {} items", group_thousands(self.items))?;
        match self.runs {
            Some(trials) => write!(f, " (or {} trials per item)", group_thousands(trials)),
            None => Ok(()),
        }
    }
}
