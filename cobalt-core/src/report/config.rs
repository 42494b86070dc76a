//! What a run was made with: its settings, its data, and the state of its source.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::item::ItemResult;
use super::threshold::{Threshold, ThresholdError};
use crate::paths::normalized;
use crate::timestamp::Timestamp;

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

    /// The thresholds, to be evaluated again. Those of a file that has not the written form of each are read from their names,
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
    #[doc(hidden)]
    pub fn set_thresholds(&mut self, thresholds: &[Threshold]) {
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

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SourcePlace {
    /// The file, as the compiler names it but without `x/..`: for a member of a workspace as seen from its root.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
}

impl SourcePlace {
    /// A place in a file that the compiler names. It names a module that two targets share by a `#[path]` differently in each.
    #[doc(hidden)]
    pub fn of(file: &str, line: u32) -> Self {
        Self { file: normalized(Path::new(file)).display().to_string(), line }
    }

    /// Whether both are in the same file. Older results name files as the compiler does.
    pub(crate) fn is_in_file_of(&self, other: &Self) -> bool {
        normalized(Path::new(&self.file)) == normalized(Path::new(&other.file))
    }
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The data that a run was made on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DatasetSummary {
    /// Where the items came from: a path as it was given, what they were fetched from, or `inline`.
    pub source: String,
    /// How many items there are.
    pub items: usize,
    /// SHA-256 over all items.
    pub hash: String,
    /// When they were fetched, and which version of them; absent where they are from a file or from code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetched: Option<Fetch>,
}

/// When a data set was fetched, and which version of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Fetch {
    /// When the source was asked for it.
    pub at: Timestamp,
    /// The version, as the source names it: a time, a number, an entity tag. Absent where it names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// The commit that was checked out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitState {
    /// The commit's full hash.
    pub commit: String,
    /// Whether tracked files differed from it.
    pub dirty: bool,
}
