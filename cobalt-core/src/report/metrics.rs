//! The metrics of a run, gathered from its items in one pass, and the format of a threshold's value.

use std::collections::BTreeSet;
use std::time::Duration;

use super::clusters::ClusterNumbering;
use super::custom_metric::RunSummaries;
use super::custom_metric_stats::RecordedMetrics;
use super::evaluator_metrics::{EvaluatorMetrics, FurtherTrials};
use super::groups::FieldMetrics;
use super::item::{ItemResult, Status};
use super::stats::{describe, sum};
use super::summary::{JudgeTotals, LatencyStats, RetryCounts, Summary};
use super::threshold::{Metric, Threshold};
use super::trace_metrics::{ModelShares, TraceMetrics, used_models};
use super::traffic::{Traffic, TrafficSummary};
use crate::item::ExecutionUsage;
use crate::prices::{JudgeUsage, MAX_COST_DECIMALS, PriceTable, cost_decimals, format_dollars};
use crate::wording::{format_decimal, group_decimal};

/// The input of thresholds and summaries: one value per item or execution.
#[derive(Debug, Default)]
pub struct RunMetrics<'a> {
    items: usize,
    /// Items that only timed out.
    timeouts: usize,
    /// Items at or above every pass mark, without an error.
    passed: usize,
    /// Items below a pass mark, without an error.
    low: usize,
    retried: RetryCounts,
    prices: PriceTable,
    clusters: ClusterNumbering,
    /// The evaluators, in order.
    pub(super) evaluators: Vec<EvaluatorMetrics<'a>>,
    /// Each item's mean latency in milliseconds.
    pub(super) latency: Vec<f64>,
    /// The same without items whose latency is that of a recording.
    pub(super) live_latency: Vec<f64>,
    /// Items whose model responses were all replayed.
    pub(super) replayed_items: usize,
    /// Whether any model response or tool result was replayed.
    pub(super) has_replays: bool,
    /// Each item's tokens over its trials, if reported.
    pub(super) tokens: Vec<f64>,
    total_tokens: Option<u64>,
    /// Each item's agent cost over its trials in USD, if known.
    pub(super) cost: Vec<f64>,
    /// Items with an output that reports no tokens.
    pub(super) without_tokens: usize,
    /// Items with an output whose cost is unknown because it reports no model or no tokens.
    pub(super) without_cost: usize,
    /// Items with tokens of unknown cost.
    pub(super) unpriced: usize,
    /// The agent's models without a price.
    pub(super) unpriced_models: BTreeSet<String>,
    /// The judges' usage.
    pub(super) judges: JudgeTotals,
    /// The usage of simulated users.
    pub(super) simulated_users: Option<Box<JudgeUsage>>,
    /// The user cost of each item with a simulated user, in USD, over its trials, as far as prices are known.
    pub(super) user_costs: Vec<f64>,
    /// Items with an output in every trial.
    successful: usize,
    /// Whether the agent gave any output.
    pub(super) answered: bool,
    /// Items with an output in some trial.
    pub(super) answered_items: usize,
    runs: usize,
    traffic: Option<TrafficSummary>,
    pub(super) traces: TraceMetrics,
    /// The metrics that the agent recorded.
    pub(super) recorded: RecordedMetrics,
    /// What the items used of the models of thresholds or, if all items were in memory, of each model.
    pub(super) model_shares: Vec<ModelShares>,
    /// All models that the items used, if shares are gathered.
    pub(super) used_models: BTreeSet<String>,
    /// The results of the summary functions.
    pub(super) summaries: RunSummaries,
    /// The groups of each field by which the statistics are grouped, in order.
    pub(super) groups: Vec<FieldMetrics<'a>>,
}

impl<'a> RunMetrics<'a> {
    /// Gathers the metrics of `items` for evaluators with these names and pass marks, with the usage of every model.
    #[must_use]
    pub fn gather(items: &'a [ItemResult], evaluators: &[(&'a str, f64)], prices: &PriceTable) -> Self {
        Self::gather_by(items, evaluators, &[], prices)
    }

    /// Gathers the metrics also by these fields of the items.
    #[must_use]
    pub fn gather_by(
        items: &'a [ItemResult],
        evaluators: &[(&'a str, f64)],
        fields: &[String],
        prices: &PriceTable,
    ) -> Self {
        let models: BTreeSet<_> = items.iter().flat_map(used_models).collect();
        let mut metrics = Self::of_models(evaluators, fields, models, prices);
        items.iter().for_each(|item| metrics.add(item));
        metrics
    }

    /// No items yet, for evaluators with these names and pass marks, by these fields of the items, and with the usage of the models that
    /// `thresholds` name. [`add`](Self::add) adds an item, which is then no longer needed: a value keeps 8 bytes, and percentiles are exact.
    #[must_use]
    pub fn new(
        evaluators: &[(&'a str, f64)],
        fields: &[String],
        thresholds: &[Threshold],
        prices: &PriceTable,
    ) -> Self {
        let models = thresholds.iter().filter_map(|it| it.category().model()).map(str::to_owned);
        Self::of_models(evaluators, fields, models.collect(), prices)
    }

    /// No items yet, with the usage of these models.
    fn of_models(
        evaluators: &[(&'a str, f64)],
        fields: &[String],
        models: BTreeSet<String>,
        prices: &PriceTable,
    ) -> Self {
        RunMetrics {
            prices: prices.clone(),
            evaluators: evaluators.iter().map(|&(name, mark)| EvaluatorMetrics::new(name, mark)).collect(),
            groups: fields.iter().map(|field| FieldMetrics::new(field)).collect(),
            model_shares: models.into_iter().map(ModelShares::new).collect(),
            ..RunMetrics::default()
        }
    }

    /// Adds the next item in dataset order.
    pub fn add(&mut self, item: &ItemResult) {
        let cluster = self.clusters.of(item);
        self.items += 1;
        self.timeouts += usize::from(item.status() == Status::Timeout);
        self.passed += usize::from(item.passed);
        self.low += usize::from(!item.passed && !item.is_in_error());
        self.retried.add(item);
        TrafficSummary::add_to(&mut self.traffic, item);
        self.traces.add(item);
        self.recorded.add(item, cluster);
        if !self.model_shares.is_empty() {
            self.model_shares.iter_mut().for_each(|shares| shares.add(item, &self.prices));
            self.used_models.extend(used_models(item));
        }
        self.latency.push(item.latency_ms());
        self.replayed_items += usize::from(item.is_replayed());
        let mut traffic = item.runs.iter().filter_map(|run| run.traffic.as_deref());
        self.has_replays |= traffic.any(Traffic::has_replays);
        self.live_latency.extend((!item.has_replayed_latency()).then(|| item.latency_ms()));
        self.successful += usize::from(item.status() == Status::Ok);
        let is_answered = item.runs.iter().any(|run| run.status == Status::Ok);
        self.answered |= is_answered;
        self.answered_items += usize::from(is_answered);
        self.runs = self.runs.max(item.runs.len());
        for evaluator in &mut self.evaluators {
            evaluator.add(item, cluster);
        }
        let usage = ItemUsage::of(item, &self.prices);
        for field in &mut self.groups {
            field.add(self.items - 1, item, &usage, &self.evaluators);
        }
        if let Some(tokens) = usage.tokens {
            let total = self.total_tokens.get_or_insert(0);
            // An agent may report anything; a panic here would lose all results.
            *total = total.saturating_add(tokens);
            self.tokens.push(tokens as f64);
        }
        self.cost.extend(usage.known_cost());
        self.without_tokens += usize::from(usage.lacks_tokens);
        self.without_cost += usize::from(usage.lacks_cost && !usage.unpriced);
        self.unpriced += usize::from(usage.unpriced);
        self.unpriced_models.extend(usage.unpriced_models);
        self.judges.add(item);
        let users = item.runs.iter().filter_map(|run| run.transcript.as_ref()?.user.as_deref());
        let mut costs = Vec::new();
        for usage in users {
            costs.push(usage.cost);
            self.simulated_users.get_or_insert_default().add(usage);
        }
        if !costs.is_empty() {
            self.user_costs.push(sum(costs));
        }
    }

    fn all_unpriced_models(&self) -> Vec<String> {
        let of_users = self.simulated_users.iter().flat_map(|usage| &usage.unpriced);
        let models: BTreeSet<_> =
            self.unpriced_models.iter().chain(&self.judges.unpriced).chain(of_users).collect();
        models.into_iter().cloned().collect()
    }

    /// These metrics with the scores of further trials of the same items. Usage, latency and errors stay those of this run, and so does
    /// an evaluator without a score in it.
    #[doc(hidden)]
    #[must_use]
    pub fn with_further_trials(self, further: &[FurtherTrials]) -> Self {
        let evaluators = self.evaluators.into_iter().enumerate();
        let evaluators = evaluators.map(|(place, it)| it.with_further_trials(place, 0.., further)).collect();
        let groups = self.groups.into_iter().map(|groups| groups.with_further_trials(further)).collect();
        let runs = self.runs + further.iter().map(|further| further.trials).sum::<usize>();
        Self { evaluators, runs, groups, ..self }
    }

    /// These metrics with the results of the summary functions.
    #[must_use]
    pub fn with_summaries(self, summaries: RunSummaries) -> Self {
        Self { summaries, ..self }
    }

    /// The summary of the run.
    #[must_use]
    pub fn summary(&self, duration: Duration) -> Summary {
        let latency = describe(&self.latency);
        let retried = self.retried;
        let scores = self
            .evaluators
            .iter()
            .filter_map(|evaluator| Some((evaluator.name.to_owned(), evaluator.stats(self.runs)?)));
        let not_applicable = self
            .evaluators
            .iter()
            .filter(|evaluator| evaluator.not_applicable > 0)
            .map(|evaluator| (evaluator.name.to_owned(), evaluator.not_applicable));
        let mut summary = Summary {
            total_items: self.items,
            total_duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            avg_latency_ms: latency.as_ref().map_or(0.0, |latency| latency.mean),
            total_tokens: self.total_tokens,
            estimated_cost: (!self.cost.is_empty()).then(|| sum(self.cost.iter().copied())),
            scores: scores.collect(),
            not_applicable: not_applicable.collect(),
            successful_items: self.successful,
            failed_items: self.items - self.successful,
            timeouts: self.timeouts,
            eval_errors: self.evaluators.iter().map(|evaluator| evaluator.errors).sum(),
            passed_items: self.passed,
            low_items: self.low,
            retried_items: retried.items,
            retried_executions: retried.executions,
            passed_after_retry: retried.passed,
            unpriced_items: self.unpriced,
            unpriced_models: self.all_unpriced_models(),
            simulated_users: self.simulated_users.clone(),
            latency: latency.map(|l| LatencyStats {
                min: l.min,
                max: l.max,
                p50: l.p50,
                p95: l.p95,
                p99: l.p99,
            }),
            traffic: self.traffic.clone(),
            metrics: self.recorded.stats(),
            run_metrics: self.summaries.metrics.clone(),
            tables: self.summaries.tables.clone(),
            summary_errors: self.summaries.errors.clone(),
            groups: self.groups.iter().map(FieldMetrics::stats).collect(),
            ..Summary::default()
        };
        self.judges.add_to(&mut summary);
        summary
    }
}

/// The usage of an item's executions.
pub struct ItemUsage {
    pub(super) tokens: Option<u64>,
    cost: Option<f64>,
    /// Whether an output reports no tokens.
    lacks_tokens: bool,
    /// Whether an output reports neither a cost nor the data to calculate one.
    lacks_cost: bool,
    /// Whether the cost of some tokens is unknown.
    unpriced: bool,
    /// The models without a known price.
    unpriced_models: BTreeSet<String>,
}

impl ItemUsage {
    /// Whether an output reports no tokens.
    pub(super) fn lacks_tokens(&self) -> bool {
        self.lacks_tokens
    }

    /// Whether the cost of an output is unknown.
    pub(super) fn lacks_cost(&self) -> bool {
        self.lacks_cost || self.unpriced
    }

    /// The cost in USD, if it is known for all tokens.
    pub fn known_cost(&self) -> Option<f64> {
        self.cost.filter(|_| !self.unpriced)
    }

    pub fn of(item: &ItemResult, prices: &PriceTable) -> Self {
        let mut usage = Self {
            tokens: None,
            cost: None,
            lacks_tokens: false,
            lacks_cost: false,
            unpriced: false,
            unpriced_models: BTreeSet::new(),
        };
        // Includes what failed trials and retried attempts have used.
        for run in &item.runs {
            let mut spending = ExecutionUsage::of(run.metadata(), prices);
            usage.lacks_tokens |= run.output.is_some() && spending.tokens.is_none();
            usage.lacks_cost |= run.output.is_some() && spending.cost.is_none() && !spending.is_unpriced;
            run.retried.iter().for_each(|attempt| spending.add_execution(attempt.usage(prices)));
            if let Some(tokens) = spending.tokens {
                let total = usage.tokens.get_or_insert(0);
                *total = total.saturating_add(tokens);
            }
            if let Some(cost) = spending.cost {
                *usage.cost.get_or_insert(0.0) += cost;
            }
            usage.unpriced |= spending.is_unpriced;
            usage.unpriced_models.extend(spending.unpriced_models);
        }
        usage
    }
}

/// Decimals of scores and ratios.
const SCORE_DECIMALS: usize = 3;
/// In milliseconds.
const MS_PER_SECOND: f64 = 1000.0;

/// A value with its unit. It gets more decimals if rounding would move it to the other side of the bound.
pub fn format_value(threshold: &Threshold, actual: f64) -> String {
    let is_ratio = threshold.metric() == Metric::Ratio;
    let (unit, name) = match threshold.category() {
        category if category.is_duration() && !is_ratio && actual.abs() >= MS_PER_SECOND => {
            (MS_PER_SECOND, "s")
        }
        _ => (1.0, "ms"),
    };
    let (amount, fewest) = match threshold.category() {
        category if is_ratio || category.is_score() => (actual, SCORE_DECIMALS),
        _ => (actual / unit, significant_decimals(actual / unit)),
    };
    let is_met = |shown: f64| threshold.is_met_by(shown) == threshold.is_met_by(actual);
    if threshold.category().is_cost() && !is_ratio {
        let fewest = cost_decimals(actual);
        let keeps_its_side = |text: &String| text.replace(['$', ','], "").parse().is_ok_and(is_met);
        let mut texts = (fewest..=MAX_COST_DECIMALS).map(|decimals| format_dollars(actual, decimals));
        return texts.find(keeps_its_side).unwrap_or_else(|| format_dollars(actual, MAX_COST_DECIMALS));
    }
    let keeps_its_side = |figure: &String| figure.parse::<f64>().is_ok_and(|it| is_met(it * unit));
    let figure = (fewest..=fewest + 4).map(|decimals| format_decimal(amount, decimals)).find(keeps_its_side);
    let figure = group_decimal(&figure.unwrap_or_else(|| amount.to_string()));
    if !is_ratio && threshold.category().is_duration() { format!("{figure} {name}") } else { figure }
}

/// The decimals that show three significant digits, at most six.
pub fn significant_decimals(amount: f64) -> usize {
    let first = if amount == 0.0 { 0.0 } else { amount.abs().log10().floor() };
    (2.0 - first).clamp(0.0, 6.0) as usize
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::item::Output;
    use crate::report::{Execution, ScoreStats, ScoredEvaluation};

    fn item(runs: Vec<Execution>) -> ItemResult {
        ItemResult { index: 0, key: String::new(), input: Arc::default(), passed: true, runs }
    }

    fn scored(scores: &[Option<f64>]) -> ItemResult {
        let run = |score: &Option<f64>| {
            let evaluation = ScoredEvaluation { score: *score, ..ScoredEvaluation::default() };
            Execution {
                evaluations: [("e".into(), evaluation)].into_iter().collect(),
                ..Execution::default()
            }
        };
        item(scores.iter().map(run).collect())
    }

    fn stats(items: &[ItemResult]) -> ScoreStats {
        let metrics = RunMetrics::gather(items, &[("e", 0.5)], &PriceTable::default());
        metrics.summary(Duration::ZERO).scores["e"].clone()
    }

    fn is_close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn runs_of_one_item_are_no_independent_trials() {
        let (low, high) = ([Some(0.2), Some(0.4)], [Some(0.8), Some(1.0)]);
        let stats = stats(&[scored(&low), scored(&high)]);
        // Two means of 0.3 and 0.9: an SD of 0.6 / sqrt(2), divided by sqrt(2).
        assert!(is_close(stats.avg, 0.6) && is_close(stats.std_error.unwrap(), 0.3));
    }

    #[test]
    fn items_of_one_cluster_are_no_independent_trials() {
        let of_cluster = |name: usize, score: f64| {
            let input = serde_json::json!({ "cluster": name }).as_object().unwrap().clone();
            ItemResult { input: Arc::new(input), ..scored(&[Some(score)]) }
        };
        let right = |count: usize| -> Vec<_> {
            (0..20).map(|n| of_cluster(n / 5, f64::from(u8::from(n / 5 < count)))).collect()
        };
        // All five questions are right for two of four documents.
        let half = stats(&right(2));
        assert!(is_close(half.std_error.unwrap(), 0.5 / 3.0_f64.sqrt()), "{half:?}");
        let (ci95, of_rate) = (half.ci95.unwrap(), half.pass_rate_ci95.unwrap());
        assert!(ci95 == of_rate && ci95.low < 0.15 && ci95.high > 0.85, "{ci95:?}");
        // The correlation is unknown: all four are right.
        let all = stats(&right(4)).ci95.unwrap();
        assert!(all.high == 1.0 && all.low < 0.51, "{all:?}");

        let graded: Vec<_> = (0..20).map(|n| of_cluster(n / 5, 0.2 + 0.2 * (n / 5) as f64)).collect();
        let graded = stats(&graded);
        // Four means from 0.2 to 0.8.
        assert!(is_close(graded.std_error.unwrap(), (0.2_f64 / 3.0).sqrt() / 2.0), "{graded:?}");
    }

    #[test]
    fn trials_of_one_item_have_an_interval_of_the_pass_rate_and_are_no_independent_ones() {
        let items: Vec<_> = (0..30).map(|n| scored(&[Some(f64::from(u8::from(n % 3 > 0))); 5])).collect();
        let rate = stats(&items).pass_rate_ci95.unwrap();
        let (of_all, of_items) = (
            crate::report::stats::wilson(100, 150, 0.95).unwrap(),
            crate::report::stats::wilson(20, 30, 0.95).unwrap(),
        );
        assert!(rate.low < of_all.low && (rate.low - of_items.low).abs() < 0.02, "{rate:?}");
    }

    #[test]
    fn the_interval_lies_around_the_mean_where_scores_are_missing() {
        let items: Vec<_> = (0..20)
            .map(
                |n| if n % 2 == 0 { scored(&[Some(0.1); 4]) } else { scored(&[Some(0.9), None, None, None]) },
            )
            .collect();
        let stats = stats(&items);
        let ci95 = stats.ci95.unwrap();
        assert!(is_close(stats.avg, 0.26));
        assert!(is_close((ci95.low + ci95.high) / 2.0, stats.avg), "{ci95:?}");
        // Deviations of (0.4 - 4 * 0.26) / 2.5 and (0.9 - 0.26) / 2.5, both 0.256, of 20 items.
        assert!(is_close(stats.std_error.unwrap(), 0.256 / 19.0_f64.sqrt()));
    }

    #[test]
    fn the_agents_cost_has_the_rate_of_cached_input_and_unknown_models_are_named_once() {
        let run = |model: &str, output: Output| Execution {
            output: Some(output.model(model)),
            ..Execution::default()
        };
        let cached = || Output::new("").tokens(1_000_000, 0).cached_tokens(1_000_000);
        let items = [item(vec![run("gpt-6-luna", cached())])];
        let summary = RunMetrics::gather(&items, &[], &PriceTable::default()).summary(Duration::ZERO);
        assert_eq!(summary.estimated_cost, Some(0.02), "the rate for cached input of long prompts");
        assert_eq!(summary.unpriced_models, [""; 0]);

        let unknown = || run("ours", Output::new("").tokens(1, 1));
        let items = [item(vec![unknown(), unknown()]), item(vec![run("gpt-4o", cached()), unknown()])];
        let summary = RunMetrics::gather(&items, &[], &PriceTable::default()).summary(Duration::ZERO);
        assert_eq!((summary.unpriced_items, summary.total_tokens), (2, Some(1_000_006)));
        assert_eq!(summary.unpriced_models, ["ours"]);
    }

    #[test]
    fn implausible_tokens_have_no_cost() {
        let run = || Execution {
            output: Some(Output::new("").model("gpt-4o").tokens(u64::MAX, 1)),
            ..Execution::default()
        };
        let items = [item(vec![run(), run()]), item(vec![run(), run()])];
        let summary = RunMetrics::gather(&items, &[], &PriceTable::default()).summary(Duration::ZERO);
        assert_eq!((summary.total_tokens, summary.estimated_cost), (None, None));
    }

    fn shown(threshold: &str, actual: f64) -> String {
        format_value(&threshold.parse().unwrap(), actual)
    }

    #[test]
    fn a_figure_has_the_digits_that_are_read() {
        for (threshold, actual, expected) in [
            ("score.avg >= 0.8", 2.0 / 3.0, "0.667"),
            ("vs_baseline.latency.ratio <= 1.2", 1.234_567, "1.235"),
            ("latency.avg <= 5s", 1_234.567_891, "1.23 s"),
            ("latency.p95 <= 2m", 62_345.6, "62.3 s"),
            ("vs_baseline.latency.rise <= 5s", -1_500.0, "-1.5 s"),
            ("latency.avg <= 5s", 999.6, "999.6 ms"),
            ("latency.avg <= 5s", 12.345_678, "12.3 ms"),
            ("latency.avg <= 5s", 0.000_213_4, "0.000213 ms"),
            ("vs_baseline.latency.rise <= 5ms", -0.000_000_12, "0 ms"),
            ("tokens.total <= 9", 1234.0, "1,234"),
            ("cost.total <= 1", 0.012_345_6, "$0.012"),
            ("cost.total <= 0.0123", 0.012_345_6, "$0.01235"),
            ("cost.total < 1.13", 1.125, "$1.125"),
            ("cost.total <= 1234", 1234.001, "$1,234.001"),
            ("cost.total <= 5", 7.5, "$7.50"),
            ("vs_baseline.cost.rise <= 1", -0.012_345_6, "-$0.012"),
        ] {
            assert_eq!(shown(threshold, actual), expected, "{threshold}");
        }
    }

    #[test]
    fn a_figure_is_shown_on_its_side_of_the_bound() {
        let shown = |score| shown("e.avg >= 0.8", score);
        assert_eq!(
            [0.5, 0.799_6, 0.799_999_999, 0.800_000_001].map(shown),
            ["0.5", "0.7996", "0.799999999", "0.8"]
        );
        assert_eq!(format_value(&"latency.p95 <= 4s".parse().unwrap(), 4_000.4), "4.0004 s");
    }
}
