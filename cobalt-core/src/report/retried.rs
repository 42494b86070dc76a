//! Attempts at a trial that failed with a transient error and were retried: what they used still counts.

use serde::{Deserialize, Serialize};

use crate::item::usage::retain_usage;
use crate::item::{ExecutionUsage, Item, TokenCount};
use crate::prices::PriceTable;
use crate::redact::{redact, redact_fields};
use crate::wording::truncate;

/// The maximum length of an error, in characters.
const MAX_ERROR_LENGTH: usize = 1_000;

/// An attempt at a trial that failed with a transient error, so the agent was called again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RetriedExecution {
    /// Why it failed: at most the first 1,000 characters.
    pub error: String,
    /// The agent's latency in milliseconds. It is not part of the trial's latency.
    pub latency_ms: f64,
    /// The usage that the agent recorded: `model`, `tokens`, `usage`, `recordedUsage` and `cost`, as in the metadata of an output.
    #[serde(skip_serializing_if = "Item::is_empty")]
    pub metadata: Item,
}

impl RetriedExecution {
    /// From an attempt's error, latency and metadata. Of the metadata, only the usage is kept.
    #[doc(hidden)]
    #[must_use]
    pub fn new(error: &str, latency_ms: f64, metadata: Item) -> Self {
        Self {
            error: truncate(error, MAX_ERROR_LENGTH).into_owned(),
            latency_ms,
            metadata: retain_usage(metadata),
        }
    }

    /// Its tokens, if recorded.
    #[must_use]
    pub fn token_count(&self) -> Option<TokenCount> {
        TokenCount::of(&self.metadata)
    }

    pub(super) fn usage(&self, prices: &PriceTable) -> ExecutionUsage {
        ExecutionUsage::of(&self.metadata, prices)
    }

    pub(super) fn redact(&mut self) {
        redact(&mut self.error);
        redact_fields(&mut self.metadata);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;
    use crate::item::{Output, into_item};
    use crate::report::ItemResult;
    use crate::report::{Execution, Measurements, Report, RunMetrics, Status, Summary};

    fn attempt(error: &str, metadata: Value) -> RetriedExecution {
        RetriedExecution::new(error, 1.5, into_item(metadata).unwrap())
    }

    /// A trial that answers, after these attempts.
    fn answered(retried: Vec<RetriedExecution>) -> Execution {
        Execution {
            output: Some(Output::new("4").model("gpt-4o").tokens(1_000_000, 0)),
            latency_ms: 2.0,
            retried,
            ..Execution::default()
        }
    }

    fn failed(retried: Vec<RetriedExecution>) -> Execution {
        Execution { status: Status::Error, error: Some("busy".to_owned()), retried, ..Execution::default() }
    }

    fn item(runs: Vec<Execution>) -> ItemResult {
        let passed = !runs.iter().any(Execution::is_in_error);
        ItemResult { index: 0, key: "k".to_owned(), input: Arc::default(), passed, runs }
    }

    fn summary(items: &[ItemResult]) -> Summary {
        RunMetrics::gather(items, &[], &PriceTable::default()).summary(Duration::ZERO)
    }

    #[test]
    fn what_attempts_used_counts_for_their_trial_and_their_latency_does_not() {
        let tokens = json!({ "model": "gpt-4o", "tokens": { "input": 0, "output": 100_000 } });
        let run = answered(vec![attempt("busy", tokens.clone()), attempt("busy", json!({ "note": 1 }))]);
        assert_eq!(run.token_count().unwrap().split, Some((1_000_000, 100_000)));
        assert_eq!(run.cost(&PriceTable::default()), Some(3.5));
        let items = [item(vec![run]), item(vec![failed(vec![attempt("busy", tokens)])])];
        let summary = summary(&items);
        assert_eq!((summary.total_tokens, summary.estimated_cost), (Some(1_200_000), Some(4.5)));
        assert_eq!(summary.avg_latency_ms, 1.0, "2 ms and 0 ms");
    }

    #[test]
    fn an_attempt_without_a_price_makes_the_cost_of_its_item_unknown() {
        let tokens = json!({ "model": "ours", "tokens": { "input": 1, "output": 1 } });
        let items = [item(vec![answered(vec![attempt("busy", tokens)])])];
        let summary = summary(&items);
        assert_eq!((summary.estimated_cost, summary.unpriced_items), (None, 1));
        assert_eq!(summary.unpriced_models, ["ours"]);
        assert_eq!(items[0].runs[0].cost(&PriceTable::default()), None);
    }

    #[test]
    fn items_that_passed_only_after_a_retry_are_counted_apart() {
        let busy = || attempt("busy", json!({}));
        let items = [
            item(vec![answered(vec![])]),
            item(vec![answered(vec![busy(), busy()])]),
            item(vec![answered(vec![busy()]), answered(vec![])]),
            item(vec![failed(vec![busy()])]),
        ];
        let summary = summary(&items);
        let counts = (summary.retried_items, summary.retried_executions, summary.passed_after_retry);
        assert_eq!(counts, (3, 4, 2));
        assert_eq!(summary.passed_items, 3);
        let json = serde_json::to_value(&summary).unwrap();
        assert_eq!((&json["retriedItems"], &json["passedAfterRetry"]), (&json!(3), &json!(2)));
        let json = serde_json::to_value(self::summary(&items[..1])).unwrap();
        assert!(
            json.as_object().unwrap().keys().all(|field| !field.to_lowercase().contains("retr")),
            "{json}"
        );
    }

    #[test]
    fn attempts_are_written_with_their_trial_and_read_back() {
        let attempts = || vec![attempt("busy", json!({ "tokens": 3 })), attempt("gone", json!({}))];
        let json = serde_json::to_value(item(vec![answered(attempts())])).unwrap();
        let expected = json!([
            { "error": "busy", "latencyMs": 1.5, "metadata": { "tokens": 3 } },
            { "error": "gone", "latencyMs": 1.5 },
        ]);
        assert_eq!(json["retried"], expected);
        let json = serde_json::to_value(item(vec![answered(vec![]), failed(attempts())])).unwrap();
        assert_eq!((json.get("retried"), &json["runs"][1]["retried"]), (None, &expected));
        for runs in [vec![answered(attempts())], vec![failed(attempts()), answered(vec![])]] {
            let item = item(runs);
            let text = serde_json::to_string(&item).unwrap();
            assert_eq!(serde_json::from_str::<ItemResult>(&text).unwrap(), item, "{text}");
        }
    }

    #[test]
    fn each_error_is_listed_once_and_long_ones_are_cut() {
        let attempts = ["busy", "gone", "busy"].map(|error| attempt(error, json!({})));
        assert_eq!(failed(attempts.into()).retried_errors(), [("busy", 2), ("gone", 1)]);
        assert_eq!(attempt(&"x".repeat(5_000), json!({})).error.chars().count(), MAX_ERROR_LENGTH + 1);
    }

    #[test]
    fn secrets_in_attempts_are_redacted() {
        let key = "the-key-of-a-test-0123456789";
        crate::redact::register_secret("KEY_OF_RETRIED_ATTEMPTS", key);
        let mut run = answered(vec![attempt(&format!("busy: {key}"), json!({ "model": key }))]);
        run.redact();
        assert!(!format!("{run:?}").contains(key), "{run:?}");
    }

    #[test]
    fn a_baseline_has_the_usage_of_all_attempts() {
        let report: Report = serde_json::from_value(json!({
            "schema": 1, "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z",
            "config": { "runs": 2, "retries": 1, "concurrency": 1, "timeout": 1, "evaluators": [] },
            "summary": { "totalItems": 1 },
            "items": [item(vec![answered(vec![attempt("busy", json!({ "tokens": 3, "cost": 0.5 }))]), answered(vec![])])],
        }))
        .unwrap();
        assert_eq!(report.config.retries, 1);
        let measured = Measurements::from_report(&report, &PriceTable::default());
        let item = measured.items.get(0).unwrap();
        assert_eq!((item.tokens(), item.cost()), (Some(2_000_003), Some(5.5)));
        let trials: Vec<_> = item.trials().map(|trial| (trial.tokens, trial.cost)).collect();
        assert_eq!(trials, [(Some(1_000_003), Some(3.0)), (Some(1_000_000), Some(2.5))]);
    }
}
