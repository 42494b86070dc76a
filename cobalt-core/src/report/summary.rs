//! The summary of a run, and its judge cost by item.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::config::RunConfig;
use super::custom_metric::{MetricStats, RunMetric, RunTable};
use super::group_stats::FieldGroups;
use super::item::{ItemResult, Status};
use super::stats::{Interval, sum};
use super::traffic::TrafficSummary;
use crate::prices::JudgeUsage;
use crate::serde_skip::is_zero;

/// The summary of a whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Summary {
    /// The number of items that were run.
    pub total_items: usize,
    /// The time from the start to the end of the last item, in milliseconds.
    pub total_duration_ms: u64,
    /// The mean of the items' agent latencies, in milliseconds.
    pub avg_latency_ms: f64,
    /// The agent's tokens over all executions, including retried attempts; absent if none were reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    /// The agent cost over all executions of the items whose cost is known, in USD, including retried attempts; absent if it is known for
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_cost: Option<f64>,
    /// Statistics of each evaluator that gave a score, by its name.
    #[serde(deserialize_with = "deserialize_scores")]
    pub scores: BTreeMap<String, ScoreStats>,
    /// Executions to which an evaluator does not apply, by its name. They are neither scores nor errors.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub not_applicable: BTreeMap<String, usize>,
    /// Items with an output in every trial.
    pub successful_items: usize,
    /// Items whose agent failed or timed out in some trial.
    pub failed_items: usize,
    /// Failed items that only timed out.
    pub timeouts: usize,
    /// Evaluations that failed, over all executions.
    pub eval_errors: usize,
    /// Items at or above every pass mark in every trial, without an error.
    pub passed_items: usize,
    /// Items below a pass mark in some trial, without an error.
    pub low_items: usize,
    /// Items of which an attempt was retried after a transient error, whether they passed in the end or not.
    #[serde(skip_serializing_if = "is_zero")]
    pub retried_items: usize,
    /// Retried attempts, over all trials.
    #[serde(skip_serializing_if = "is_zero")]
    pub retried_executions: usize,
    /// Passed items that needed a retry. They are also counted in [`passed_items`](Self::passed_items).
    #[serde(skip_serializing_if = "is_zero")]
    pub passed_after_retry: usize,
    /// Items with tokens of unknown cost, because the price or the model's name is missing.
    #[serde(skip_serializing_if = "is_zero")]
    pub unpriced_items: usize,
    /// The judge cost of this run in USD: 0 if all responses came from the cache; that of the recording for replayed responses; without
    /// tokens of the [`unpriced_models`](Self::unpriced_models). Absent if no judge answered, or none has a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge_cost: Option<f64>,
    /// The part of the judge cost that replayed responses had when they were recorded, in USD; it was not paid again. Absent if none was
    /// replayed, or none of their models has a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge_replayed_cost: Option<f64>,
    /// The judges' input and output tokens; absent if no judge answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge_tokens: Option<u64>,
    /// Judge requests answered over the network; absent if no judge answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge_calls: Option<u64>,
    /// Judge responses reused from the cache or from a request of another evaluation; absent if no judge answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge_cached: Option<u64>,
    /// Judge responses from recordings; absent if there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge_replayed: Option<u64>,
    /// The judge models that answered, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judge_models: Vec<String>,
    /// The usage and cost of the models that played users in conversations; absent if there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulated_users: Option<Box<JudgeUsage>>,
    /// The models of agents, judges and simulated users that used tokens but have no price, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unpriced_models: Vec<String>,
    /// The agent's latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencyStats>,
    /// The model traffic that passed through the gateway; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<TrafficSummary>,
    /// Statistics of each metric that the agent recorded, by its name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, MetricStats>,
    /// The metrics of the whole run, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub run_metrics: BTreeMap<String, RunMetric>,
    /// The tables of the whole run, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tables: BTreeMap<String, RunTable>,
    /// Why summary functions failed, by name. The run has failed then.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub summary_errors: BTreeMap<String, String>,
    /// Statistics by fields of the items, in the order in which the experiment names the fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<FieldGroups>,
}

impl Summary {
    /// Items in error: the agent failed or timed out in some trial, or an evaluator returned no score.
    #[must_use]
    pub fn items_in_error(&self) -> usize {
        self.total_items.saturating_sub(self.passed_items).saturating_sub(self.low_items)
    }
}

/// The original tool averages scores that are not numbers, which gives null: such statistics are dropped.
fn deserialize_scores<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, ScoreStats>, D::Error> {
    let scores = BTreeMap::<String, serde_json::Value>::deserialize(deserializer)?;
    let known = scores.into_iter().filter(|(_, stats)| stats.get("avg").is_none_or(|avg| !avg.is_null()));
    let stats = |(name, stats)| Ok((name, serde_json::from_value(stats).map_err(D::Error::custom)?));
    known.map(stats).collect()
}

/// An evaluator's scores over all executions.
///
/// Percentiles interpolate linearly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ScoreStats {
    /// The mean.
    pub avg: f64,
    /// The lowest.
    pub min: f64,
    /// The highest.
    pub max: f64,
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The number of scores.
    pub count: usize,
    /// The population standard deviation of all scores.
    pub stddev: f64,
    /// The standard error of the mean. Trials of one item are not independent, and neither are items that share a field
    /// `cluster`, so it is that of a ratio of sums over clusters. Absent for one cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub std_error: Option<f64>,
    /// The 95% CI of the mean. For scores of 0 and 1: Wilson's, on the effective sample size if clusters or trials make it
    /// smaller. For others: Student's t with that standard error, clamped to 0..=1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci95: Option<Interval>,
    /// The share of scores at or above the evaluator's pass mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_rate: Option<f64>,
    /// The 95% CI of the pass rate (Wilson), on the effective sample size if clusters or trials make it smaller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_rate_ci95: Option<Interval>,
    /// pass@k with several trials, for k = 1, 2, …: the probability that at least one of k trials of an item passes, averaged over
    /// the items with a score in every trial. Chen et al. 2021, "Evaluating Large Language Models Trained on Code".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass_at_k: Vec<f64>,
    /// pass^k with several trials, for k = 1, 2, …: the probability that all of k trials of an item pass, averaged in the same way.
    /// Yao et al. 2024, "τ-bench".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass_hat_k: Vec<f64>,
}

/// The agent's latency per item, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyStats {
    /// The minimum.
    pub min: f64,
    /// The maximum.
    pub max: f64,
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
}

/// The judges' usage over all trials of the items.
#[derive(Debug, Default)]
pub(super) struct JudgeTotals {
    /// The judge cost of each item that was judged, in USD, over its trials and evaluators, as far as prices are known.
    pub(super) cost: Vec<f64>,
    /// The models with tokens of unknown cost.
    pub(super) unpriced: BTreeSet<String>,
    tokens: u64,
    calls: u64,
    cached: u64,
    replayed: u64,
    replayed_cost: Vec<f64>,
    models: BTreeSet<String>,
}

impl JudgeTotals {
    pub(super) fn add(&mut self, item: &ItemResult) {
        let mut costs = Vec::new();
        let evaluations = item.runs.iter().flat_map(|run| run.evaluations.iter());
        for usage in evaluations.filter_map(|(_, evaluation)| evaluation.judge.as_deref()) {
            costs.push(usage.cost);
            self.add_usage(usage);
        }
        if !costs.is_empty() {
            self.cost.push(sum(costs));
        }
    }

    fn add_usage(&mut self, usage: &JudgeUsage) {
        let JudgeUsage { models, calls, cached, replayed, tokens, cost: _, replayed_cost, unpriced } = usage;
        // A provider may report anything; a panic here would lose all results.
        self.tokens = self.tokens.saturating_add(tokens.input.saturating_add(tokens.output));
        self.calls = self.calls.saturating_add(*calls);
        self.cached = self.cached.saturating_add(*cached);
        self.replayed = self.replayed.saturating_add(*replayed);
        self.replayed_cost.push(*replayed_cost);
        self.models.extend(models.iter().cloned());
        self.unpriced.extend(unpriced.iter().cloned());
    }

    /// Adds the usage to a summary, if any judge answered.
    pub(super) fn add_to(&self, summary: &mut Summary) {
        if self.cost.is_empty() {
            return;
        }
        // The cost is unknown if no model has a price.
        let known = |cost: f64| (cost > 0.0 || self.unpriced.is_empty()).then_some(cost);
        summary.judge_cost = known(sum(self.cost.iter().copied()));
        summary.judge_tokens = Some(self.tokens);
        summary.judge_calls = Some(self.calls);
        summary.judge_cached = Some(self.cached);
        if self.replayed > 0 {
            summary.judge_replayed = Some(self.replayed);
            summary.judge_replayed_cost = known(sum(self.replayed_cost.iter().copied()));
        }
        summary.judge_models = self.models.iter().cloned().collect();
    }
}

/// How many items and attempts of a run were retried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetryCounts {
    /// Items with a retried attempt in some trial.
    pub items: usize,
    /// Retried attempts, over all trials.
    pub executions: usize,
    /// Retried items that passed in the end.
    pub passed: usize,
}

impl RetryCounts {
    pub fn add(&mut self, item: &ItemResult) {
        let executions = item.retried_attempts();
        self.items += usize::from(executions > 0);
        self.executions += executions;
        self.passed += usize::from(executions > 0 && item.passed);
    }
}

/// The items of a run, counted one by one.
#[derive(Debug, Default)]
pub struct ItemCounts {
    pub(super) items: usize,
    /// Items with an output in every trial.
    pub(super) successful: usize,
    pub(super) timeouts: usize,
    /// Items at or above every pass mark, without an error.
    pub(super) passed: usize,
    /// Items below a pass mark, without an error.
    pub(super) low: usize,
    /// Evaluations that failed.
    pub(super) eval_errors: usize,
}

impl ItemCounts {
    /// Counts an item.
    pub fn add(&mut self, item: &ItemResult, config: &RunConfig) {
        let status = item.status();
        self.items += 1;
        self.successful += usize::from(status == Status::Ok);
        self.timeouts += usize::from(status == Status::Timeout);
        self.passed += usize::from(config.passes(item));
        self.low += usize::from(!config.passes(item) && !item.is_in_error());
        let evaluations = item.runs.iter().flat_map(|run| run.evaluations.iter());
        let without_score = evaluations
            .filter(|(name, it)| it.is_error() && config.evaluators.iter().any(|known| known == name));
        self.eval_errors += without_score.count();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::prices::{PriceTable, Tokens};
    use crate::report::{Execution, RunMetrics, ScoredEvaluation, Transcript, evaluate};

    #[test]
    fn averages_of_what_is_no_number_are_no_reason_not_to_read_a_file() {
        let scores = serde_json::json!({
            "odd": { "avg": null, "min": null, "max": null, "p50": 1, "p95": 1, "p99": 1 },
            "known": { "avg": 1, "min": 1, "max": 1, "p50": 1, "p95": 1, "p99": 1 },
        });
        let summary = serde_json::json!({ "totalItems": 2, "scores": scores });
        let summary: Summary = serde_json::from_value(summary).unwrap();
        assert_eq!(summary.scores.keys().collect::<Vec<_>>(), ["known"]);
    }

    fn usage(calls: u64, cached: u64, cost: f64, unpriced: &[&str]) -> JudgeUsage {
        JudgeUsage {
            models: vec!["gpt-6-luna".to_owned()],
            calls,
            cached,
            tokens: Tokens::new(100 * calls, 10 * calls),
            cost,
            unpriced: unpriced.iter().map(|&model| model.to_owned()).collect(),
            ..JudgeUsage::default()
        }
    }

    /// An item: each inner list is a trial, with the usage of each evaluator.
    fn item(runs: Vec<Vec<Option<JudgeUsage>>>) -> ItemResult {
        let evaluation = |(place, judge): (usize, Option<JudgeUsage>)| {
            let judge = judge.map(Box::new);
            (place.to_string().into(), ScoredEvaluation { score: Some(1.0), judge, ..Default::default() })
        };
        let run = |judges: Vec<_>| Execution {
            evaluations: judges.into_iter().enumerate().map(evaluation).collect(),
            ..Execution::default()
        };
        let runs = runs.into_iter().map(run).collect();
        ItemResult { index: 0, key: String::new(), input: Default::default(), passed: true, runs }
    }

    fn summary(items: &[ItemResult]) -> Summary {
        RunMetrics::gather(items, &[], &PriceTable::default()).summary(Duration::ZERO)
    }

    fn outcome(threshold: &str, items: &[ItemResult]) -> (Option<f64>, String) {
        let outcome =
            evaluate(&threshold.parse().unwrap(), &RunMetrics::gather(items, &[], &PriceTable::default()));
        (outcome.actual, outcome.message)
    }

    #[test]
    fn runs_and_evaluators_of_all_items_are_summed_up_and_kept_apart_from_the_agent() {
        let failed = Execution {
            evaluations: [(
                "e".into(),
                ScoredEvaluation {
                    judge: Some(Box::new(usage(3, 0, 0.5, &[]))),
                    error: Some("no answer".to_owned()),
                    ..Default::default()
                },
            )]
            .into_iter()
            .collect(),
            ..Execution::default()
        };
        let mut items = vec![
            item(vec![vec![Some(usage(1, 0, 0.25, &[])), None], vec![Some(usage(2, 1, 1.0, &[]))]]),
            item(vec![vec![None]]),
        ];
        items.push(ItemResult { runs: vec![failed], ..item(Vec::new()) });
        let summary = summary(&items);
        assert_eq!((summary.judge_cost, summary.estimated_cost), (Some(1.75), None));
        assert_eq!((summary.judge_calls, summary.judge_cached), (Some(6), Some(1)));
        assert_eq!((summary.judge_tokens, summary.total_tokens), (Some(660), None));
        assert_eq!(summary.judge_models, ["gpt-6-luna"]);
        assert_eq!(outcome("judge_cost.total <= 2", &items).0, Some(1.75));
        assert_eq!(outcome("judge_cost.max <= 2", &items).0, Some(1.25), "the largest item");
        assert_eq!(outcome("judge_cost.avg <= 2", &items).0, Some(0.875), "the mean of judged items");
    }

    #[test]
    fn answers_from_the_cache_cost_nothing_and_without_a_judge_there_is_no_cost() {
        assert_eq!(summary(&[item(vec![vec![Some(usage(0, 4, 0.0, &[]))]])]).judge_cost, Some(0.0));
        let unjudged = [item(vec![vec![None]])];
        let summary = summary(&unjudged);
        assert_eq!((summary.judge_cost, summary.judge_calls, summary.judge_tokens), (None, None, None));
        assert!(outcome("judge_cost.total <= 2", &unjudged).1.ends_with("no judge answered"));
    }

    #[test]
    fn replayed_answers_are_counted_apart_with_what_they_cost_when_they_were_recorded() {
        let replayed = |cost, unpriced: &[&str]| {
            let usage = usage(0, 0, cost, unpriced);
            Some(JudgeUsage { replayed: 3, replayed_cost: cost, tokens: Tokens::new(300, 30), ..usage })
        };
        let known = summary(&[item(vec![vec![replayed(0.25, &[]), Some(usage(1, 2, 0.5, &[]))]])]);
        assert_eq!(
            (known.judge_calls, known.judge_cached, known.judge_replayed),
            (Some(1), Some(2), Some(3))
        );
        assert_eq!((known.judge_cost, known.judge_replayed_cost), (Some(0.75), Some(0.25)));
        let unknown = summary(&[item(vec![vec![replayed(0.0, &["ours"]), Some(usage(1, 0, 0.5, &[]))]])]);
        assert_eq!((unknown.judge_cost, unknown.judge_replayed_cost), (Some(0.5), None));
        let live = summary(&[item(vec![vec![Some(usage(1, 0, 0.5, &[]))]])]);
        assert_eq!((live.judge_replayed, live.judge_replayed_cost), (None, None));
    }

    #[test]
    fn usage_of_older_files_has_no_replayed_answers() {
        let old = serde_json::json!({ "models": ["m"], "calls": 1, "cached": 2, "tokens": { "input": 1, "output": 1 }, "cost": 0.5 });
        let read: JudgeUsage = serde_json::from_value(old.clone()).unwrap();
        assert_eq!((read.replayed, read.replayed_cost), (0, 0.0));
        let written = serde_json::to_value(&read).unwrap();
        assert_eq!((written.get("replayed"), written.get("replayedCost")), (None, None));
    }

    #[test]
    fn the_cost_of_simulated_users_is_measured_per_item() {
        let with_users = |users: Vec<Option<JudgeUsage>>| {
            let run = |user: Option<JudgeUsage>| Execution {
                transcript: Some(Box::new(Transcript { user: user.map(Box::new), ..Transcript::default() })),
                ..Execution::default()
            };
            let runs = users.into_iter().map(run).collect();
            ItemResult { index: 0, key: String::new(), input: Default::default(), passed: true, runs }
        };
        let items = [
            with_users(vec![Some(usage(1, 0, 0.5, &[])), Some(usage(1, 0, 0.75, &[]))]),
            with_users(vec![Some(usage(1, 0, 0.25, &[])), None]),
            with_users(vec![None]),
        ];
        assert_eq!(outcome("user_cost.total <= 2", &items).0, Some(1.5));
        assert_eq!(outcome("user_cost.max <= 2", &items).0, Some(1.25), "the largest item");
        assert!(
            outcome("user_cost.total <= 1", &items).1.starts_with("user_cost.total is $1.50, which misses")
        );
        let (actual, message) = outcome("user_cost.total <= 2", &items[2..]);
        assert!(actual.is_none() && message.ends_with("no item has a simulated user"), "{message}");
        let unpriced = [with_users(vec![Some(usage(1, 0, 0.5, &["ours"]))])];
        let (actual, message) = outcome("user_cost.total <= 2", &unpriced);
        assert!(
            actual.is_none() && message.contains("the user cost is unknown; add `ours` under `[prices]`"),
            "{message}"
        );
    }

    #[test]
    fn tokens_without_a_price_leave_nothing_to_measure_and_the_models_are_named() {
        let items = [item(vec![vec![Some(usage(1, 0, 0.25, &[])), Some(usage(1, 0, 0.0, &["ours", "a"]))]])];
        let known = summary(&items);
        assert_eq!((known.judge_cost, known.judge_tokens), (Some(0.25), Some(220)));
        assert_eq!(known.unpriced_models, ["a", "ours"]);
        let (actual, message) = outcome("judge_cost.p95 <= 2", &items);
        assert_eq!(actual, None);
        assert!(message.contains("`a`, `ours`") && message.contains("[prices]"), "{message}");
        let unknown = summary(&[item(vec![vec![Some(usage(1, 0, 0.0, &["ours"]))]])]);
        assert_eq!((unknown.judge_cost, unknown.judge_calls), (None, Some(1)));
    }
}
