//! The report of a run that has not ended, out of its journal.

use std::collections::BTreeMap;

use super::journal::{JournalContents, JournalHeader};
use crate::llm::prices::{PRICES_AS_OF, PriceTable};
use crate::report::{Figures, ItemResult, Report, SCHEMA, Summary};

impl JournalHeader {
    /// How many items there are to run.
    #[must_use]
    pub fn planned_items(&self) -> usize {
        self.selection.as_ref().map_or(self.dataset.items, Vec::len)
    }

    /// A report of these items, with no figures and not judged.
    pub(crate) fn report(&self, items: Vec<ItemResult>) -> Report {
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
            summary: Summary::default(),
            // Some of the items are no measure of the agent.
            partial: self.selection.is_some(),
            shard: self.shard,
            shards: Vec::new(),
            dataset: Some(self.dataset.clone()),
            git: None,
            sources: self.sources.clone(),
            baseline: None,
            prices_as_of: Some(PRICES_AS_OF.to_owned()),
            items,
        }
    }
}

impl JournalContents {
    /// The report of what is finished so far, in the order of the data set. Its thresholds are not judged, and it has not passed.
    #[must_use]
    pub fn into_report(self, prices: &PriceTable) -> Report {
        // An item that was run again after an error stands in the journal twice; the later one counts.
        let items: BTreeMap<_, _> = self.items.into_iter().map(|item| (item.index, item)).collect();
        let mut report = self.header.report(items.into_values().collect());
        let evaluators: Vec<_> = report.config.evaluators().collect();
        report.summary = Figures::gather(&report.items, &evaluators, prices).summary(self.elapsed);
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::read_journal;

    #[test]
    fn what_is_finished_is_summed_up_each_item_once_and_in_the_order_of_the_data() {
        let header = serde_json::json!({
            "journal": 1, "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "tags": ["smoke"],
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["right"], "passMarks": [0.5],
                "thresholds": ["right.avg>=0.5"] },
            "dataset": { "source": "inline", "items": 3, "hash": "d" }, "definition": "f",
        });
        let entry = |at: u64, index: usize, score: Option<f64>| {
            let item = serde_json::json!({
                "index": index, "key": index.to_string(), "status": "ok", "passed": score == Some(1.0), "latencyMs": 1,
                "input": {}, "output": { "output": "a" }, "evaluations": { "right": { "score": score } },
            });
            serde_json::json!({ "at": at, "item": item })
        };
        let lines = [header, entry(5, 2, Some(0.0)), entry(9, 0, None), entry(12, 0, Some(1.0))];
        let journal: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let contents = read_journal(journal.as_bytes()).unwrap();
        assert_eq!(contents.header.planned_items(), 3);
        let report = contents.into_report(&PriceTable::default());
        assert_eq!(report.items.iter().map(|item| item.index).collect::<Vec<_>>(), [0, 2]);
        let summary = &report.summary;
        assert_eq!((summary.total_items, summary.passed_items, summary.eval_errors), (2, 1, 0));
        assert_eq!((summary.scores["right"].avg, summary.total_duration_ms), (0.5, 12));
        assert!(!report.passed && !report.partial && report.ci_status.is_none());
        assert_eq!(report.tags, ["smoke"]);
    }
}
