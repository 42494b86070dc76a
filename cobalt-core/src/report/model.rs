//! The report of a run: the format of a result file.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::comparison::Comparison;
use super::config::{DatasetSummary, GitState, RunConfig, SourceLocation};
use super::identity::ItemNames;
use super::item::ItemResult;
use super::outcome::{CiStatus, RunVerdict, ScoreDrift, ThresholdOutcome};
use super::rescored::Rescored;
use super::shard::Shard;
use super::summary::{ItemCounts, Summary};
use super::variant::RunVariant;
use crate::timestamp::Timestamp;

/// The version of the result file format; files of the original tool have none, which is read as 0.
pub const SCHEMA: u32 = 1;
/// The version of result files whose items are in parts.
pub const SCHEMA_OF_PARTS: u32 = 2;

/// The result of a run of an experiment. Its JSON is a result file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct Report {
    /// The version of this format; 0 in files of the original tool.
    #[serde(default)]
    pub schema: u32,
    /// The run's id: 12 hexadecimal digits.
    pub id: String,
    /// The experiment's name.
    pub name: String,
    /// The name that a user gave to this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_name: Option<String>,
    /// A user's note on this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// When the run started.
    pub timestamp: Timestamp,
    /// The experiment's tags, or those that a user gave to this run.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Where the experiment is declared, if by an attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_at: Option<SourceLocation>,
    /// The variant of the experiment, if it has variants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Box<RunVariant>>,
    /// The origin of the outputs, if they were not produced by this run, only scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rescored: Option<Box<Rescored>>,
    /// The settings of the run.
    pub config: RunConfig,
    /// The summary of the whole run.
    pub summary: Summary,
    /// The results of the thresholds; present if the experiment has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci_status: Option<CiStatus>,
    /// Whether the verdict is `Passed`. A run whose thresholds were not evaluated has not passed.
    #[serde(default)]
    pub passed: bool,
    /// The verdict. When a file is read, it is derived from its counts and thresholds: older files do not have it.
    #[serde(default)]
    pub verdict: RunVerdict,
    /// Whether only some of the items were run; such a run does not measure the agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The shard of the run, if it was sharded; such a run is partial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The hash of the plan that balanced the shards; absent if items were assigned by their keys alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard_plan: Option<String>,
    /// The name of the shards that belong together, if they have one; also of the run that was merged from them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard_group: Option<String>,
    /// The IDs of the shard runs that this run was merged from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shards: Vec<String>,
    /// The IDs of earlier runs of the same commit. Their scores count as further trials in the thresholds and in the comparison with
    /// the baseline, as far as that makes a verdict stricter. Everything else is from this run alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pooled: Vec<String>,
    /// The dataset of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<DatasetSummary>,
    /// The state of the source, if it is in git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitState>,
    /// Hashes of what the agent was built from and may read, if `cargo cobalt run` calculated them: see [`SourceState`](super::SourceState).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<String>,
    /// The comparison with the baseline, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Box<Comparison>>,
    /// The date of the price table used for costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices_as_of: Option<String>,
    /// Whether inputs, outputs and everything else that quotes them were removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
    /// The results of the items, in dataset order.
    #[serde(default)]
    pub items: Vec<ItemResult>,
}

/// A report could not be serialized to JSON.
#[derive(Debug, thiserror::Error)]
#[error("failed to write the report as JSON: {0}")]
pub struct ReportJsonError(#[from] serde_json::Error);

impl Report {
    /// The report as indented JSON.
    ///
    /// # Errors
    ///
    /// If serialization fails, which no report is known to cause.
    pub fn to_json(&self) -> Result<String, ReportJsonError> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    /// The outcomes of the thresholds; empty for a partial run, and for a file of the original tool.
    #[must_use]
    pub fn thresholds(&self) -> &[ThresholdOutcome] {
        self.ci_status.as_ref().map_or(&[], |status| &status.thresholds)
    }

    /// The evaluators whose scores differ from those of earlier runs of the same commit, beyond noise.
    #[must_use]
    pub fn drift(&self) -> &[ScoreDrift] {
        self.ci_status.as_ref().map_or(&[], |status| &status.drift)
    }

    /// The items' names in test cases, in the order of [`items`](Self::items): slugs of their IDs, or else their indexes as four
    /// digits, made unique.
    #[must_use]
    pub fn case_names(&self) -> Vec<String> {
        let mut names = ItemNames::new(self.partial);
        self.items.iter().for_each(|item| names.add(item));
        names.case_names()
    }

    /// The indexes of the run's items, if it is partial.
    #[doc(hidden)]
    pub fn selected_indexes(&self) -> Option<Vec<usize>> {
        self.partial.then(|| self.items.iter().map(|item| item.index).collect())
    }

    /// Parses a report without its items, which are read separately, and its stored verdict. Call [`apply_counts`](Self::apply_counts) after
    /// reading the items.
    pub(crate) fn parse_head(bytes: &[u8]) -> serde_json::Result<(Self, StoredVerdict)> {
        let mut report = Self::deserialize(&mut serde_json::Deserializer::from_slice(bytes))?;
        report.check_schema()?;
        let said = StoredVerdict { passed: report.passed, verdict: report.verdict };
        report.restore_verdict(said);
        Ok((report, said))
    }

    /// Checks that this version of Cobalt knows the format.
    fn check_schema<E: serde::de::Error>(&self) -> Result<(), E> {
        if self.schema <= SCHEMA_OF_PARTS {
            return Ok(());
        }
        Err(E::custom(format!(
            "it was written by a newer version of Cobalt (schema {}, this one reads up to {SCHEMA_OF_PARTS}); update Cobalt",
            self.schema
        )))
    }

    /// Sets the counts of items. A file of the original tool has no counts; our older files counted every item without an error as
    /// passed if thresholds decide.
    pub(crate) fn apply_counts(&mut self, counts: &ItemCounts, said: StoredVerdict) {
        let is_of_original = self.schema == 0 && !said.passed;
        let summary = &mut self.summary;
        if is_of_original {
            summary.successful_items = counts.successful;
            summary.failed_items = counts.items - counts.successful;
            summary.timeouts = counts.timeouts;
            summary.eval_errors = counts.eval_errors;
        }
        if is_of_original || counts.items == summary.total_items {
            summary.passed_items = counts.passed;
            summary.low_items = counts.low;
        }
        if is_of_original { self.update_verdict() } else { self.restore_verdict(said) }
    }

    /// Sets the verdict from the counts and the thresholds.
    #[doc(hidden)]
    pub fn update_verdict(&mut self) {
        self.verdict = RunVerdict::evaluate(&self.config, &self.summary, self.ci_status.as_ref());
        self.passed = self.verdict == RunVerdict::Passed;
    }

    /// Sets the verdict of a parsed report. A stored verdict that the run did not pass takes precedence.
    fn restore_verdict(&mut self, said: StoredVerdict) {
        self.update_verdict();
        if self.passed && !said.passed {
            self.passed = false;
            self.verdict = said.verdict.max(RunVerdict::NotEvaluated);
        }
    }

    /// A copy without the items.
    #[must_use]
    pub fn without_items(&self) -> Self {
        Self {
            schema: self.schema,
            id: self.id.clone(),
            name: self.name.clone(),
            run_name: self.run_name.clone(),
            note: self.note.clone(),
            timestamp: self.timestamp,
            tags: self.tags.clone(),
            declared_at: self.declared_at.clone(),
            variant: self.variant.clone(),
            rescored: self.rescored.clone(),
            config: self.config.clone(),
            summary: self.summary.clone(),
            ci_status: self.ci_status.clone(),
            passed: self.passed,
            verdict: self.verdict,
            partial: self.partial,
            shard: self.shard,
            shard_plan: self.shard_plan.clone(),
            shard_group: self.shard_group.clone(),
            shards: self.shards.clone(),
            pooled: self.pooled.clone(),
            dataset: self.dataset.clone(),
            git: self.git.clone(),
            sources: self.sources.clone(),
            baseline: self.baseline.clone(),
            prices_as_of: self.prices_as_of.clone(),
            redacted: self.redacted,
            items: Vec::new(),
        }
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Report {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut report = Self::deserialize(deserializer)?;
        report.check_schema()?;
        let said = StoredVerdict { passed: report.passed, verdict: report.verdict };
        let mut counts = ItemCounts::default();
        for item in &mut report.items {
            item.passed = report.config.passes(item);
            counts.add(item, &report.config);
        }
        report.apply_counts(&counts, said);
        Ok(report)
    }
}

/// The verdict stored in a file.
#[derive(Clone, Copy, Debug)]
pub struct StoredVerdict {
    passed: bool,
    verdict: RunVerdict,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A file of the original tool with an item for each error, and its stored threshold results.
    fn original(errors: &[Option<&str>], ci_status: Option<Value>) -> Report {
        let item = |(index, error): (usize, &Option<&str>)| {
            let mut item = json!({ "index": index, "input": { "input": "a" }, "latencyMs": 1,
                "output": { "output": "A" }, "evaluations": { "exact": { "score": 0 } } });
            if let Some(error) = error {
                item["error"] = json!(error);
                item["evaluations"] = json!({});
            }
            item
        };
        let mut file = json!({
            "id": "5ea00522f3eb", "name": "a", "timestamp": "2026-02-05T10:00:34.836Z", "tags": [],
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["exact"] },
            "summary": { "totalItems": errors.len(), "totalDurationMs": 1003, "avgLatencyMs": 2 },
            "items": errors.iter().enumerate().map(item).collect::<Vec<_>>(),
        });
        if let Some(status) = ci_status {
            file["ciStatus"] = status;
        }
        serde_json::from_value(file).unwrap()
    }

    #[test]
    fn a_file_of_the_original_passed_where_its_thresholds_did_and_no_item_failed() {
        let status = |passed| json!({ "passed": passed, "violations": [], "summary": "" });
        assert!(original(&[None, None], None).passed);
        assert!(original(&[None, None], Some(status(true))).passed);
        assert!(!original(&[None, None], Some(status(false))).passed);
        assert!(!original(&[None, Some("no network")], Some(status(true))).passed);
    }

    /// A Cobalt result file with an item per score; all are marked as passed.
    fn ours(scores: &[f64], strict: bool, more: &Value) -> Report {
        let item = |(index, score): (usize, &f64)| {
            json!({ "index": index, "key": index.to_string(), "input": {}, "status": "ok", "passed": true, "latencyMs": 1,
                "output": { "output": "A" }, "evaluations": { "exact": { "score": score } } })
        };
        let mut file = json!({
            "schema": 1, "id": "5ea00522f3eb", "name": "a", "timestamp": "2026-02-05T10:00:34.836Z", "passed": true,
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["exact"], "passMarks": [0.7],
                "strict": strict, "thresholds": if strict { json!([]) } else { json!(["exact.avg>=0.1"]) } },
            "summary": { "totalItems": scores.len(), "passedItems": scores.len() },
            "items": scores.iter().enumerate().map(item).collect::<Vec<_>>(),
        });
        let fields = more.as_object().unwrap().clone();
        file.as_object_mut().unwrap().extend(fields);
        serde_json::from_value(file).unwrap()
    }

    #[test]
    fn an_older_file_that_calls_low_items_passed_is_read_by_its_scores_and_pass_marks() {
        let met = json!({ "ciStatus": { "passed": true, "violations": [], "summary": "" } });
        let report = ours(&[0.0, 0.6, 0.7], false, &met);
        assert_eq!(report.items.iter().map(|item| item.passed).collect::<Vec<_>>(), [false, false, true]);
        assert_eq!((report.summary.passed_items, report.summary.low_items), (1, 2));
        assert_eq!((report.passed, report.verdict), (true, RunVerdict::Passed), "the threshold decides");
    }

    #[test]
    fn an_older_partial_run_that_says_it_passed_was_not_evaluated() {
        let report = ours(&[0.0, 0.0], false, &json!({ "partial": true }));
        assert_eq!((report.passed, report.verdict), (false, RunVerdict::NotEvaluated));
        let read_again: Report = serde_json::from_str(&report.to_json().unwrap()).unwrap();
        assert_eq!(read_again, report);
        let head = report.without_items();
        let head_again: Report = serde_json::from_str(&head.to_json().unwrap()).unwrap();
        assert_eq!(head_again, head);
    }

    #[test]
    fn a_strict_partial_run_passes_or_fails_by_its_items() {
        let partial = json!({ "partial": true });
        assert_eq!(ours(&[0.7, 1.0], true, &partial).verdict, RunVerdict::Passed);
        assert_eq!(ours(&[0.7, 0.6], true, &partial).verdict, RunVerdict::Failed);
    }

    #[test]
    fn a_file_that_says_that_its_run_did_not_pass_is_believed() {
        let report = ours(&[1.0], true, &json!({ "passed": false }));
        assert_eq!((report.passed, report.verdict), (false, RunVerdict::Failed));
    }

    #[test]
    fn a_file_of_a_newer_version_is_refused() {
        let mut file: Value =
            serde_json::from_str(&ours(&[1.0], true, &json!({})).to_json().unwrap()).unwrap();
        file["schema"] = json!(SCHEMA_OF_PARTS + 1);
        let error = serde_json::from_value::<Report>(file.clone()).unwrap_err().to_string();
        assert!(error.contains("newer version of Cobalt (schema 3"), "{error}");
        assert!(Report::parse_head(file.to_string().as_bytes()).is_err());
    }

    #[test]
    fn the_items_of_a_file_of_the_original_are_counted() {
        let summary = original(&[None, Some("no network"), Some("timed out after 5ms")], None).summary;
        assert_eq!((summary.total_items, summary.passed_items, summary.low_items), (3, 0, 1));
        assert_eq!(summary.successful_items, 1);
        assert_eq!((summary.failed_items, summary.timeouts, summary.eval_errors), (2, 1, 0));
        assert_eq!(
            (summary.total_duration_ms, summary.avg_latency_ms),
            (1003, 2.0),
            "stored values are kept"
        );
    }
}
