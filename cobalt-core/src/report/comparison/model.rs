//! What a comparison found.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::report::GitState;
use crate::report::stats::Interval;
use crate::timestamp::Timestamp;
use crate::wording::thousands;

/// Two runs compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The run that the other is compared with.
    pub base: RunIdentity,
    /// The other run.
    pub other: RunIdentity,
    /// Which items they have in common.
    pub items: Matching,
    /// What makes the runs hard to compare, each in a sentence: another data set, an evaluator with other settings.
    pub notes: Vec<String>,
    /// The evaluators that both runs have, in the other run's order.
    pub evaluators: Vec<Difference>,
    /// The agent's latency, tokens, cost and errors, as far as both runs have them.
    pub amounts: Vec<Difference>,
    /// The first of the items that became worse, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regressed: Vec<RegressedItem>,
}

/// A run, as far as it is named in a comparison.
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
    /// The state of the source, where it is kept in git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitState>,
    /// How many items it has.
    pub items: usize,
    /// How often each item was run.
    pub runs: usize,
}

/// The items of two runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Matching {
    /// How many items are in both runs.
    pub matched: usize,
    /// The keys of those of them whose content is another.
    pub changed: Vec<String>,
    /// The keys of the items that are in the other run only.
    pub added: Vec<String>,
    /// The keys of the items that are in the base only.
    pub removed: Vec<String>,
}

/// An item that became worse. Whether that is more than noise, the evaluators' differences tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RegressedItem {
    /// The item's identity.
    pub key: String,
    /// Whether the agent or an evaluator failed in more of its runs than before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// The evaluators whose mean score fell, with these means, the largest drop first.
    pub scores: Vec<ScoreChange>,
}

/// One evaluator's scores of an item in two runs, each the mean over the item's executions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScoreChange {
    /// The evaluator's name.
    pub evaluator: String,
    /// From 0 to 1; absent where there is none.
    pub base: Option<f64>,
    /// From 0 to 1; absent where there is none.
    pub other: Option<f64>,
}

/// How one figure differs between two runs, over the items that have it in both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The evaluator's name, or `latency`, `tokens`, `cost`, `errors`.
    pub name: String,
    /// What is measured.
    pub quantity: Quantity,
    /// The mean over the items in the base. An item's figure is the mean of its runs.
    pub base: f64,
    /// The mean over the items in the other run.
    pub other: f64,
    /// `other - base`.
    pub difference: f64,
    /// The 95 % interval of the difference; absent where it cannot be told, as of one item.
    pub ci95: Option<Interval>,
    /// Of latency, tokens and cost: by what factor they typically differ, which is what the chance and the verdict speak of.
    /// Absent where an amount is 0, where all items differ by the same factor, with fewer than two clusters, where one run keeps
    /// only a mean of another number of trials, and in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<TypicalRatio>,
    /// The chance of a difference as large as this, or larger, if nothing had changed; two-sided.
    pub p_value: Option<f64>,
    /// The same, corrected by Holm's method for all evaluators (or amounts) that are compared.
    pub p_adjusted: Option<f64>,
    /// Where the chance comes from.
    pub test: Option<Test>,
    /// The smallest difference that this many items would show in 80 % of cases at the 5 % level; of latency, tokens and cost: if
    /// all items differ by the same factor.
    pub smallest_detectable: Option<f64>,
    /// The difference in a word.
    pub verdict: Verdict,
    /// With an inconclusive verdict: what would settle it.
    pub settled_by: Option<SampleSize>,
    /// How many items are compared.
    pub items: usize,
    /// How many independent clusters they make.
    pub clusters: usize,
    /// Items for which the other run is better.
    pub better: usize,
    /// Items for which the other run is worse.
    pub worse: usize,
    /// Items for which both are equal.
    pub equal: usize,
    /// Items in both runs without the figure in one of them, as where the agent failed.
    pub unmeasured: usize,
}

/// The ratio of the geometric means of an amount, other over base: the factor by which a typical item differs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TypicalRatio {
    /// The factor: 1.1 for a tenth more.
    pub ratio: f64,
    /// Its 95% CI.
    pub ci95: Interval,
}

/// `×1.10 (1.05 to 1.15)`
impl fmt::Display for TypicalRatio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ratio, ci95: Interval { low, high } } = self;
        write!(f, "×{ratio:.2} ({low:.2} to {high:.2})")
    }
}

/// What a difference is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Scores from 0 to 1; more is better.
    Score,
    /// Milliseconds for an item; less is better.
    Latency,
    /// Tokens for an item; fewer are better.
    Tokens,
    /// US dollars for an item; less is better.
    Cost,
    /// The share of an item's runs in error; fewer are better.
    Errors,
}

impl Quantity {
    /// Whether the larger of two figures is the better one.
    #[must_use]
    pub fn more_is_better(self) -> bool {
        self == Self::Score
    }
}

/// The quantity as it is counted in a sentence: `scores`, `tokens`.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Score => "scores",
            Self::Latency => "a latency",
            Self::Tokens => "tokens",
            Self::Cost => "a known cost",
            Self::Errors => "errors",
        })
    }
}

/// How a p-value was worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// Student's t test of the paired differences of latency, tokens or cost that have no typical ratio.
    PairedT,
    /// Student's t test of the paired differences of the logarithms of latency, tokens or cost.
    LogRatioT,
    /// McNemar's test of scores that are 0 or 1; the mid-p-value.
    Mcnemar,
    /// All flips of the differences' signs; the mid-p-value.
    SignFlipExact,
    /// Random flips of the differences' signs, with a fixed seed; the mid-p-value.
    SignFlipMonteCarlo,
    /// Random exchanges of the runs of an item between the sides, as one side has more of them, with a fixed seed; the
    /// mid-p-value.
    Permutation,
}

/// What can be said of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The other run is better, beyond noise.
    Better,
    /// The other run is worse, beyond noise.
    Worse,
    /// Whatever the difference is, it is too small to matter: the whole interval lies within the margin.
    WithinNoise,
    /// No difference was shown, and there are too few items to rule one out that matters.
    Inconclusive,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::WithinNoise => "within noise",
            Self::Inconclusive => "inconclusive",
        })
    }
}

/// How much more would settle a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SampleSize {
    /// So many items in all, run as often as now.
    pub items: u64,
    /// So many runs of each of these items; absent where no number of runs would do, or the runs' spread is not known.
    pub runs: Option<u64>,
}

/// `about 1,200 items, or 12 runs of each item`
impl fmt::Display for SampleSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "about {} items", thousands(self.items))?;
        match self.runs {
            Some(runs) => write!(f, ", or {} runs of each item", thousands(runs)),
            None => Ok(()),
        }
    }
}
