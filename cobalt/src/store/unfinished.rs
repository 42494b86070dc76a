//! The report of a run that has not ended, out of its journal.

use std::time::Duration;

use super::journal::JournalHeader;
use crate::prices::{PRICES_AS_OF, PriceTable};
use crate::report::{Figures, ItemResult, Report, RunVerdict, SCHEMA, Summary};

impl JournalHeader {
    /// How many items there are to run.
    #[must_use]
    pub fn planned_items(&self) -> usize {
        self.selection.as_ref().map_or(self.dataset.items, Vec::len)
    }

    /// The report of what is finished so far: each item once, in the order of the data set. Its thresholds are not judged, and it
    /// has not passed.
    #[must_use]
    pub fn report_so_far(&self, items: Vec<ItemResult>, elapsed: Duration, prices: &PriceTable) -> Report {
        let mut report = self.report(items);
        let evaluators: Vec<_> = report.config.evaluators().collect();
        report.summary = Figures::gather(&report.items, &evaluators, prices).summary(elapsed);
        // What has failed already stands; what has not may still fail.
        report.verdict = RunVerdict::of(&report.config, &report.summary, None).max(RunVerdict::NotEvaluated);
        report
    }

    /// A report of these items, with no figures and not judged.
    pub(crate) fn report(&self, mut items: Vec<ItemResult>) -> Report {
        // Older journals call every item passed that has no error, where thresholds decide.
        items.iter_mut().for_each(|item| item.passed = self.config.passes(item));
        Report {
            schema: SCHEMA,
            id: self.id.clone(),
            name: self.name.clone(),
            timestamp: self.timestamp,
            tags: self.tags.clone(),
            declared_at: self.declared_at.clone(),
            config: self.config.clone(),
            ci_status: None,
            passed: false,
            verdict: RunVerdict::NotEvaluated,
            summary: Summary::default(),
            // Some of the items are no measure of the agent.
            partial: self.selection.is_some(),
            shard: self.shard,
            shards: Vec::new(),
            pooled: Vec::new(),
            dataset: Some(self.dataset.clone()),
            git: None,
            sources: self.sources.clone(),
            baseline: None,
            prices_as_of: Some(PRICES_AS_OF.to_owned()),
            items,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{JournalContents, read_journal};

    #[test]
    fn what_is_finished_is_summed_up_and_has_not_passed() {
        let header = serde_json::json!({
            "journal": 1, "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "tags": ["smoke"],
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["right"], "passMarks": [0.5],
                "thresholds": ["right.avg>=0.5"] },
            "dataset": { "source": "inline", "items": 3, "hash": "d" }, "definition": "f",
        });
        let entry = |index: usize, score: f64| {
            let item = serde_json::json!({
                "index": index, "key": index.to_string(), "status": "ok", "passed": score > 0.5, "latencyMs": 1,
                "input": {}, "output": { "output": "a" }, "evaluations": { "right": { "score": score } },
            });
            serde_json::json!({ "at": 12, "item": item })
        };
        let lines = [header, entry(0, 1.0), entry(2, 0.5)];
        let journal: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let JournalContents { header, items, elapsed, .. } = read_journal(journal.as_bytes()).unwrap();
        assert_eq!(header.planned_items(), 3);
        let report = header.report_so_far(items, elapsed, &PriceTable::default());
        let summary = &report.summary;
        assert_eq!((summary.total_items, summary.passed_items, summary.eval_errors), (2, 2, 0));
        assert_eq!((summary.scores["right"].avg, summary.total_duration_ms), (0.75, 12));
        assert!(!report.passed && !report.partial && report.ci_status.is_none());
        assert_eq!(report.verdict, RunVerdict::NotEvaluated);
        assert_eq!(report.tags, ["smoke"]);
    }
}
