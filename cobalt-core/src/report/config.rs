//! The inputs of a run: its settings, its dataset, and the state of its source.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::item::ItemResult;
use super::threshold::{Threshold, ThresholdError};
use crate::paths::normalize;
use crate::serde_skip::is_zero;
use crate::timestamp::Timestamp;

/// The pass mark of evaluators that do not set their own.
pub const DEFAULT_PASS_MARK: f64 = 0.5;

/// The settings of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunConfig {
    /// The number of trials per item.
    pub runs: usize,
    /// How often a trial is repeated after a transient error, at most.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retries: usize,
    /// The maximum number of items in parallel.
    pub concurrency: usize,
    /// The agent's timeout per trial, in milliseconds.
    pub timeout: u64,
    /// The evaluators' names, in order.
    pub evaluators: Vec<String>,
    /// The score from which an output passes, one per evaluator; empty in files of the original tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass_marks: Vec<f64>,
    /// A hash of each evaluator's settings: if it is equal, two runs were scored the same way. Empty in files of the original tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evaluator_hashes: Vec<String>,
    /// The names of the summary functions, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summaries: Vec<String>,
    /// The fields of the items by whose values the statistics are also grouped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group_by: Vec<String>,
    /// Whether every item had to pass.
    #[serde(default)]
    pub strict: bool,
    /// The thresholds, as named in test cases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<String>,
    /// The thresholds in the text form of [`Threshold`], one for each; empty in older files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written_thresholds: Vec<String>,
}

impl RunConfig {
    /// The evaluators' names with their pass marks, in order.
    pub fn evaluators(&self) -> impl Iterator<Item = (&str, f64)> {
        let marks = self.pass_marks.iter().copied().chain(std::iter::repeat(DEFAULT_PASS_MARK));
        self.evaluators.iter().map(String::as_str).zip(marks)
    }

    /// Parses the thresholds, to evaluate them again. If a file lacks their text form, they are parsed from their names, which
    /// does not work for all.
    ///
    /// # Errors
    ///
    /// One of them cannot be parsed.
    pub fn parse_thresholds(&self) -> Result<Vec<Threshold>, ThresholdError> {
        let has_all = self.written_thresholds.len() == self.thresholds.len();
        let written = if has_all { &self.written_thresholds } else { &self.thresholds };
        let names = self.thresholds.iter();
        written.iter().zip(names).map(|(written, name)| Threshold::from_text(written, name)).collect()
    }

    /// Stores the thresholds' names and their text form.
    #[doc(hidden)]
    pub fn set_thresholds(&mut self, thresholds: &[Threshold]) {
        self.thresholds = thresholds.iter().map(Threshold::case_name).collect();
        self.written_thresholds = thresholds.iter().map(Threshold::to_text).collect();
    }

    /// The evaluators that scored an item below their pass mark in some trial, with the lowest score.
    pub fn scores_below_pass_mark<'a>(
        &'a self,
        item: &'a ItemResult,
    ) -> impl Iterator<Item = (&'a str, f64)> {
        self.evaluators().filter_map(|(name, mark)| {
            let lowest = item.scores(name).reduce(f64::min)?;
            (lowest < mark).then_some((name, lowest))
        })
    }

    /// Whether an item is at or above every pass mark in every trial, without an error.
    #[must_use]
    pub fn passes(&self, item: &ItemResult) -> bool {
        !item.is_in_error() && self.scores_below_pass_mark(item).next().is_none()
    }

    /// Whether an item fails its test case: it is in error or, in a strict experiment, below a pass mark.
    #[must_use]
    pub fn fails(&self, item: &ItemResult) -> bool {
        item.is_in_error() || self.strict && !self.passes(item)
    }
}

/// A location in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SourceLocation {
    /// The file: the compiler's path without `x/..`, relative to the workspace root for workspace members.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
}

impl SourceLocation {
    /// From a path of the compiler, which differs per target for a module that two targets share by `#[path]`.
    #[doc(hidden)]
    pub fn new(file: &str, line: u32) -> Self {
        Self { file: normalize(Path::new(file)).display().to_string(), line }
    }

    /// Whether both are in the same file. Older results have the compiler's unnormalized path.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        normalize(Path::new(&self.file)) == normalize(Path::new(&other.file))
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The dataset of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DatasetSummary {
    /// The source of the items: a path as given, the remote source, or `inline`.
    pub source: String,
    /// The number of items.
    pub items: usize,
    /// SHA-256 over all items.
    pub hash: String,
    /// When they were fetched, and their version; absent for items from a file or from code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetched: Option<Fetch>,
}

/// When a dataset was fetched, and its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Fetch {
    /// When it was requested from the source.
    pub at: Timestamp,
    /// The source's version: a time, a number or an entity tag. Absent if the source has none.
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
    /// The branch, as the CI system or git names it; absent if none was checked out, and in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}
