//! The report of a run: the shape of a result file.

use std::fmt;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::comparison::Comparison;
use super::item::ItemResult;
use super::shard::Shard;
use super::summary::Summary;
use super::threshold::{Threshold, ThresholdError};
use super::verdict::ThresholdOutcome;
use crate::dataset::case_names;
use crate::error::Error;
use crate::evaluators::DEFAULT_PASS_MARK;

/// The version of the result file's shape; files of the original have none, which reads as 0.
pub(crate) const SCHEMA: u32 = 1;

/// Everything that a run of an experiment found. Its JSON is a result file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The version of this shape; 0 in files of the original.
    #[serde(default)]
    pub schema: u32,
    /// The run's id: 12 hexadecimal digits.
    pub id: String,
    /// The experiment's name.
    pub name: String,
    /// When the run started.
    pub timestamp: Timestamp,
    /// The experiment's tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Where the experiment is declared, where an attribute does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_at: Option<SourcePlace>,
    /// The settings that the run was made with.
    pub config: RunConfig,
    /// The figures of the whole run.
    pub summary: Summary,
    /// How the thresholds were met; present when the experiment has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci_status: Option<CiStatus>,
    /// Whether every item and every threshold passed.
    #[serde(default)]
    pub passed: bool,
    /// Whether only some of the items were run; such a run is no measure of the agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The shard that the run is of, where it was divided; such a run is partial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The ids of the runs of shards that this run was merged from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shards: Vec<String>,
    /// The data that the run was made on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<DatasetSummary>,
    /// The state of the source, where it is kept in git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitState>,
    /// A hash of the package's source files, where `cargo cobalt run` worked it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<String>,
    /// How the run differs from its baseline, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Box<Comparison>>,
    /// The date of the price table that costs were worked out with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices_as_of: Option<String>,
    /// What came of each item, in the order of the data set.
    #[serde(default)]
    pub items: Vec<ItemResult>,
}

impl Report {
    /// The report as indented JSON, as in a result file.
    ///
    /// # Errors
    ///
    /// Only where JSON cannot be made at all, which no report is known to cause.
    pub fn to_json(&self) -> Result<String, Error> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    /// What became of the thresholds; none for a partial run, and for a file of the original.
    #[must_use]
    pub fn thresholds(&self) -> &[ThresholdOutcome] {
        self.ci_status.as_ref().map_or(&[], |status| &status.thresholds)
    }

    /// The items' names in test cases, in the order of [`items`](Self::items): slugs of their ids, or else their indexes as
    /// four digits, made unique.
    #[must_use]
    pub fn case_names(&self) -> Vec<String> {
        case_names(self.items.iter().map(|item| (item.index, &*item.input)))
    }

    /// The indexes of the items that the run is about, where these are not all.
    pub(crate) fn selection(&self) -> Option<Vec<usize>> {
        self.partial.then(|| self.items.iter().map(|item| item.index).collect())
    }

    /// Everything but the items.
    pub(crate) fn without_items(&self) -> Self {
        Self {
            schema: self.schema,
            id: self.id.clone(),
            name: self.name.clone(),
            timestamp: self.timestamp,
            tags: self.tags.clone(),
            declared_at: self.declared_at.clone(),
            config: self.config.clone(),
            summary: self.summary.clone(),
            ci_status: self.ci_status.clone(),
            passed: self.passed,
            partial: self.partial,
            shard: self.shard,
            shards: self.shards.clone(),
            dataset: self.dataset.clone(),
            git: self.git.clone(),
            sources: self.sources.clone(),
            baseline: self.baseline.clone(),
            prices_as_of: self.prices_as_of.clone(),
            items: Vec::new(),
        }
    }
}

/// The settings of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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

    /// The thresholds, to be judged anew. Those of an older file are read from their names, which not all can be.
    ///
    /// # Errors
    ///
    /// One is not written as thresholds are.
    pub fn read_thresholds(&self) -> Result<Vec<Threshold>, ThresholdError> {
        let written =
            if self.written_thresholds.is_empty() { &self.thresholds } else { &self.written_thresholds };
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
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourcePlace {
    /// The file, as the compiler names it: for a member of a workspace as seen from the workspace's root.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
}

/// The data that a run was made on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DatasetSummary {
    /// Where the items came from: a path as it was given, or `inline`.
    pub source: String,
    /// How many items there are.
    pub items: usize,
    /// SHA-256 over all items.
    pub hash: String,
}

/// The commit that was checked out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GitState {
    /// The commit's full hash.
    pub commit: String,
    /// Whether tracked files differed from it.
    pub dirty: bool,
}

/// How a run met its thresholds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CiStatus {
    /// Whether all were met.
    pub passed: bool,
    /// Those that did not pass.
    pub violations: Vec<Violation>,
    /// Those of which noise may hide whether they are met, or that have no baseline, whether they pass or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inconclusive: Vec<Violation>,
    /// What became of every threshold, in the order of [`RunConfig::thresholds`]; empty in files of the original.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<ThresholdOutcome>,
    /// The same in a sentence.
    pub summary: String,
}

/// A threshold that was not met, or of which that is not known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Violation {
    /// `score`, `latency`, `tokens`, `cost`, `judge_cost`, or an evaluator's name.
    pub category: String,
    /// The figure that was looked at, such as `avg` or `pass_rate(0.6)`; `drop`, `rise` and `ratio` are those against a baseline.
    pub metric: String,
    /// The bound.
    pub expected: f64,
    /// What was found; absent where there was nothing to measure.
    pub actual: Option<f64>,
    /// The same in a sentence.
    pub message: String,
}

/// A moment, in UTC and to the millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(SystemTime);

impl Timestamp {
    /// This moment.
    #[must_use]
    pub fn now() -> Self {
        Self::from(SystemTime::now())
    }

    /// The moment as the standard library has it.
    #[must_use]
    pub fn time(self) -> SystemTime {
        self.0
    }

    /// The moment as it stands in file names: `2026-02-05T14-30-00`.
    #[must_use]
    pub fn for_file_name(self) -> String {
        self.to_string()[..19].replace(':', "-")
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let nanos = u64::from(since.subsec_millis()) * 1_000_000;
        Self(SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs()) + Duration::from_nanos(nanos))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_rfc3339_millis(self.0).fmt(f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        humantime::parse_rfc3339_weak(&text).map(Self::from).map_err(|error| {
            serde::de::Error::custom(format!(
                "`{text}` is no time in UTC such as 2026-02-05T14:30:00.000Z: {error}"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_written_in_utc_with_milliseconds() {
        let time = Timestamp::from(SystemTime::UNIX_EPOCH + Duration::from_micros(1_770_301_800_123_456));
        assert_eq!(time.to_string(), "2026-02-05T14:30:00.123Z");
        assert_eq!(time.for_file_name(), "2026-02-05T14-30-00");
        let text = serde_json::to_string(&time).unwrap();
        assert_eq!(serde_json::from_str::<Timestamp>(&text).unwrap(), time);
    }
}
