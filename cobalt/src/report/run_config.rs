//! The settings that a run was made with, as its report has them.

use serde::{Deserialize, Serialize};

use super::item::ItemResult;
use super::threshold::{Threshold, ThresholdError};

/// The share of passing scores counts those of at least this mark, unless the evaluator has its own.
pub const DEFAULT_PASS_MARK: f64 = 0.5;

/// The settings of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunConfig {
    /// How often each item was run.
    pub runs: usize,
    /// How many items were worked on at a time.
    pub concurrency: usize,
    /// The longest that the agent was given for one execution, in milliseconds.
    pub timeout: u64,
    /// The evaluators' names, in their order.
    pub evaluators: Vec<String>,
    /// The score from which an output passes, one for each evaluator; empty in files of the original.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass_marks: Vec<f64>,
    /// A hash of each evaluator's settings, which tells whether two runs were scored alike; empty in files of the original.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evaluator_hashes: Vec<String>,
    /// Whether every item had to pass by itself.
    #[serde(default)]
    pub strict: bool,
    /// The thresholds as they are named in test cases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<String>,
    /// The same in the form that [`Threshold`] is read from, one for each; empty in older files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written_thresholds: Vec<String>,
}

impl RunConfig {
    /// The evaluators' names with their pass marks, in their order.
    pub fn evaluators(&self) -> impl Iterator<Item = (&str, f64)> {
        let marks = self.pass_marks.iter().copied().chain(std::iter::repeat(DEFAULT_PASS_MARK));
        self.evaluators.iter().map(String::as_str).zip(marks)
    }

    /// The thresholds, to be judged anew. Those of a file that has not the written form of each are read from their names,
    /// which not all can be.
    ///
    /// # Errors
    ///
    /// One is not written as thresholds are.
    pub fn read_thresholds(&self) -> Result<Vec<Threshold>, ThresholdError> {
        let has_all = self.written_thresholds.len() == self.thresholds.len();
        let written = if has_all { &self.written_thresholds } else { &self.thresholds };
        let names = self.thresholds.iter();
        written.iter().zip(names).map(|(written, name)| Threshold::read_again(written, name)).collect()
    }

    /// Notes the thresholds: as they are named, and as they are written.
    pub(crate) fn set_thresholds(&mut self, thresholds: &[Threshold]) {
        self.thresholds = thresholds.iter().map(Threshold::case_name).collect();
        self.written_thresholds = thresholds.iter().map(Threshold::written).collect();
    }

    /// The evaluators that scored an item below their pass mark in some run, and the lowest of these scores.
    pub fn low_scores<'a>(&'a self, item: &'a ItemResult) -> impl Iterator<Item = (&'a str, f64)> {
        self.evaluators().filter_map(|(name, mark)| {
            let lowest = item.scores(name).reduce(f64::min)?;
            (lowest < mark).then_some((name, lowest))
        })
    }

    /// Whether an item is at or above every pass mark in every trial, without an error.
    #[must_use]
    pub fn passes(&self, item: &ItemResult) -> bool {
        !item.is_in_error() && self.low_scores(item).next().is_none()
    }

    /// Whether an item fails its test case: it is in error or, in a strict experiment, below a pass mark.
    #[must_use]
    pub fn fails(&self, item: &ItemResult) -> bool {
        item.is_in_error() || self.strict && !self.passes(item)
    }
}
