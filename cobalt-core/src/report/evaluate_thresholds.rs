//! Evaluates thresholds, and derives the verdict of a run.

use std::collections::BTreeSet;

use super::comparison::{GateResult, evaluate_against};
use super::measurements::Measurements;
use super::metrics::{EvaluatorMetrics, RunMetrics, format_value, ratio};
use super::outcome::{CiStatus, ThresholdOutcome, ThresholdStatus, Violation};
use super::stats::{DescriptiveStats, describe, sum};
use super::threshold::{Category, Metric, Threshold, unknown_evaluator};
use crate::wording::{self, count};

impl ThresholdOutcome {
    /// The outcome of a threshold. An inconclusive one does not pass here.
    pub(super) fn new(
        threshold: &Threshold,
        finding: ThresholdStatus,
        actual: Option<f64>,
        message: String,
    ) -> Self {
        Self {
            name: threshold.case_name(),
            finding,
            passed: finding == ThresholdStatus::Met,
            against_baseline: threshold.is_against_baseline(),
            actual,
            figure: actual.map(|actual| format_value(threshold, actual)),
            message,
        }
    }
}

/// Evaluates a threshold. If there is nothing to measure, it is missed, and the message says why.
///
/// A threshold against a baseline is inconclusive here and does not pass: see
/// [`evaluate_against`](super::comparison::evaluate_against).
#[must_use]
pub fn evaluate(threshold: &Threshold, figures: &RunMetrics<'_>) -> ThresholdOutcome {
    if let Some(outcome) = replayed_latency(threshold, figures) {
        return outcome;
    }
    match measure(threshold, figures) {
        Ok(_) if threshold.is_against_baseline() => {
            let message = format!("`{threshold}` needs a baseline");
            ThresholdOutcome::new(threshold, ThresholdStatus::Inconclusive, None, message)
        }
        Ok(actual) => {
            let passed = threshold.is_met_by(actual);
            let relation = if passed { "meets" } else { "misses" };
            let message = format!(
                "{} is {}, which {relation} `{threshold}`",
                metric_name(threshold),
                format_value(threshold, actual)
            );
            let finding = if passed { ThresholdStatus::Met } else { ThresholdStatus::Missed };
            ThresholdOutcome::new(threshold, finding, Some(actual), message)
        }
        Err(reason) => nothing_to_measure(threshold, &reason),
    }
}

/// The outcome of a threshold if the run has nothing to measure for it.
pub fn missing_measurement(threshold: &Threshold, figures: &RunMetrics<'_>) -> Option<ThresholdOutcome> {
    measure(threshold, figures).err().map(|reason| nothing_to_measure(threshold, &reason))
}

/// The outcome of a threshold for the latency if items were replayed and no other has a latency: there is nothing to measure, which is
/// nobody's fault, so it passes.
fn replayed_latency(threshold: &Threshold, figures: &RunMetrics<'_>) -> Option<ThresholdOutcome> {
    let is_replayed = figures.has_replays && figures.live_latency.is_empty();
    if *threshold.category() != Category::Latency || !is_replayed {
        return None;
    }
    let message = format!(
        "`{threshold}` has nothing to measure: {} replayed, so the latency is that of the recording; to measure it, run with \
         `COBALT_RECORD=off`",
        match (figures.latency.len(), figures.replayed_items) {
            (1, 1) => "the item was".to_owned(),
            (items, replayed) if items == replayed => format!("all {} were", count(items, "item")),
            _ => "no item ran live; some were".to_owned(),
        }
    );
    let outcome = ThresholdOutcome::new(threshold, ThresholdStatus::Inconclusive, None, message);
    Some(ThresholdOutcome { passed: true, ..outcome })
}

fn nothing_to_measure(threshold: &Threshold, reason: &str) -> ThresholdOutcome {
    let message = format!("`{threshold}` has nothing to measure: {reason}");
    ThresholdOutcome::new(threshold, ThresholdStatus::Missed, None, message)
}

/// The thresholds' outcomes in the form of a result file; `None` without thresholds.
pub fn ci_status(thresholds: &[Threshold], outcomes: &[ThresholdOutcome]) -> Option<CiStatus> {
    if thresholds.is_empty() {
        return None;
    }
    let those = |select: fn(&ThresholdOutcome) -> bool| -> Vec<_> {
        let judged = thresholds.iter().zip(outcomes).filter(|(_, outcome)| select(outcome));
        judged.map(|(threshold, outcome)| violation(threshold, outcome)).collect()
    };
    let violations = those(|outcome| !outcome.passed);
    let inconclusive = those(|outcome| outcome.finding == ThresholdStatus::Inconclusive);
    let missed = outcomes.iter().filter(|outcome| outcome.finding == ThresholdStatus::Missed).count();
    let all = count(thresholds.len(), "threshold");
    let summary = match (missed, inconclusive.len()) {
        (0, 0) => format!("{all} met"),
        (0, open) => format!("{open} of {all} inconclusive"),
        (missed, 0) => format!("{missed} of {all} missed"),
        (missed, open) => format!("{missed} of {all} missed, {open} inconclusive"),
    };
    let (passed, thresholds) = (violations.is_empty(), outcomes.to_vec());
    Some(CiStatus { passed, violations, inconclusive, thresholds, summary })
}

fn violation(threshold: &Threshold, outcome: &ThresholdOutcome) -> Violation {
    Violation {
        category: threshold.category().name().to_owned(),
        metric: threshold.metric().to_string(),
        expected: threshold.bound(),
        actual: outcome.actual,
        message: outcome.message.clone(),
    }
}

fn metric_name(threshold: &Threshold) -> String {
    format!("{}.{}", threshold.category(), threshold.metric())
}

fn measure(threshold: &Threshold, figures: &RunMetrics<'_>) -> Result<f64, String> {
    if !figures.answered {
        return Err("every item failed".to_owned());
    }
    let metric = match threshold.metric() {
        // Comparisons with a baseline use means.
        metric if metric.is_against_baseline() => Metric::Avg,
        metric => metric,
    };
    match threshold.category() {
        Category::Score => score_metric(metric, &figures.evaluators),
        Category::Evaluator(name) => {
            let evaluator = figures.evaluators.iter().find(|evaluator| evaluator.name == name);
            evaluator
                .ok_or_else(|| {
                    unknown_evaluator(
                        name,
                        threshold,
                        figures.evaluators.iter().map(|evaluator| evaluator.name),
                    )
                })
                .and_then(|evaluator| evaluator_metric(metric, evaluator))
        }
        Category::Latency => amount_metric(metric, &figures.live_latency, || {
            let why = if figures.latency.is_empty() { "no item was run" } else { "every item failed" };
            why.to_owned()
        }),
        Category::Tokens if figures.without_tokens > 0 && !figures.tokens.is_empty() => {
            let how = "`Output::tokens(input, output)` or `Context::record`";
            Err(partially_reported(figures.without_tokens, figures, "tokens", how))
        }
        Category::Tokens => amount_metric(metric, &figures.tokens, || {
            "no output reports tokens; return `Output::new(..).tokens(input, output)`".to_owned()
        }),
        Category::Cost if figures.unpriced > 0 => Err(format!(
            "{} used tokens of unknown cost; {}",
            count(figures.unpriced, "item"),
            if figures.unpriced_models.is_empty() {
                format!("report {HOW_TO_REPORT_COST}")
            } else {
                add_prices(&figures.unpriced_models)
            }
        )),
        Category::Cost if figures.without_cost > 0 && !figures.cost.is_empty() => Err(partially_reported(
            figures.without_cost,
            figures,
            "a cost",
            "`Output::cost(usd)`, `Output::model` and `Output::tokens`, or `Context::record`",
        )),
        Category::Cost => amount_metric(metric, &figures.cost, || {
            format!("no output reports a cost; report {HOW_TO_REPORT_COST}")
        }),
        Category::JudgeCost if !figures.judges.unpriced.is_empty() => {
            Err(format!("the judges used tokens of unknown cost; {}", add_prices(&figures.judges.unpriced)))
        }
        Category::JudgeCost => amount_metric(metric, &figures.judges.cost, || "no judge answered".to_owned()),
    }
}

/// How an agent reports a cost.
const HOW_TO_REPORT_COST: &str = "the cost with `Output::cost(usd)`, or the model and both token counts with `Output` or `Context::record`";

/// The message for a metric that only some items report: their total would be too low.
fn partially_reported(without: usize, figures: &RunMetrics<'_>, what: &str, how: &str) -> String {
    let reporting = figures.answered_items.saturating_sub(without);
    let verb = if reporting == 1 { "reports" } else { "report" };
    format!(
        "only {reporting} of {} {verb} {what}; report it for every output with {how} (0 tokens if no model was called)",
        count(figures.answered_items, "item"),
    )
}

/// What to do about models without a price.
fn add_prices(models: &BTreeSet<String>) -> String {
    format!("add {} under `[prices]` in cobalt.toml", wording::join_quoted(models.iter().map(String::as_str)))
}

fn evaluator_metric(metric: Metric, evaluator: &EvaluatorMetrics<'_>) -> Result<f64, String> {
    let rate = match metric {
        Metric::PassRate(mark) => evaluator.pass_rate(mark),
        _ => describe(&evaluator.scores).and_then(|stats| statistic(metric, &stats)),
    };
    rate.ok_or_else(|| {
        format!("`{}` gave no score in {}", evaluator.name, count(evaluator.errors, "evaluation"))
    })
}

/// A metric over all scores of all evaluators; each score is compared with its own evaluator's pass mark.
fn score_metric(metric: Metric, evaluators: &[EvaluatorMetrics<'_>]) -> Result<f64, String> {
    let scores: Vec<f64> = evaluators.iter().flat_map(|evaluator| evaluator.scores.iter().copied()).collect();
    let figure = match metric {
        Metric::PassRate(mark) => {
            let passed = evaluators.iter().map(|evaluator| {
                let mark = mark.unwrap_or(evaluator.pass_mark);
                evaluator.scores.iter().filter(|score| **score >= mark).count()
            });
            ratio(passed.sum(), scores.len())
        }
        _ => describe(&scores).and_then(|stats| statistic(metric, &stats)),
    };
    figure.ok_or_else(|| "no evaluator gave a score".to_owned())
}

fn amount_metric(metric: Metric, amounts: &[f64], nothing: impl FnOnce() -> String) -> Result<f64, String> {
    if metric == Metric::Total && !amounts.is_empty() {
        return Ok(sum(amounts.iter().copied()));
    }
    describe(amounts).and_then(|stats| statistic(metric, &stats)).ok_or_else(nothing)
}

fn statistic(metric: Metric, stats: &DescriptiveStats) -> Option<f64> {
    Some(match metric {
        Metric::Avg => stats.mean,
        Metric::Min => stats.min,
        Metric::Max => stats.max,
        Metric::P50 => stats.p50,
        Metric::P95 => stats.p95,
        Metric::P99 => stats.p99,
        _ => return None,
    })
}

/// The input for evaluating thresholds against a baseline.
#[derive(Debug)]
pub struct BaselineContext<'a> {
    /// The measurements of the baseline and of this run, or why there is no baseline.
    pub runs: Result<(&'a Measurements, &'a Measurements), &'a str>,
    /// Whether inconclusive thresholds pass.
    pub inconclusive_passes: bool,
}

/// Evaluates the thresholds, in order.
pub fn evaluate_all(
    thresholds: &[Threshold],
    figures: &RunMetrics<'_>,
    against: &BaselineContext<'_>,
) -> Vec<ThresholdOutcome> {
    let alone = |threshold: &Threshold| {
        if let Some(outcome) = replayed_latency(threshold, figures) {
            return Some(outcome);
        }
        (!threshold.is_against_baseline())
            .then(|| evaluate(threshold, figures))
            // There is nothing to compare with any baseline.
            .or_else(|| missing_measurement(threshold, figures))
    };
    let mut outcomes: Vec<_> = thresholds.iter().map(alone).collect();
    let open: Vec<_> = thresholds.iter().zip(&outcomes).filter(|(_, known)| known.is_none()).collect();
    let open: Vec<_> = open.into_iter().map(|(threshold, _)| threshold).collect();
    let mut judged = match against.runs {
        Ok((baseline, now)) => evaluate_against(baseline, now, &open),
        Err(reason) => open.iter().map(|threshold| without_baseline(threshold, reason)).collect(),
    }
    .into_iter();
    for (threshold, outcome) in thresholds.iter().zip(&mut outcomes) {
        if outcome.is_none() {
            *outcome = judged.next().map(|judged| against.outcome(threshold, judged));
        }
    }
    outcomes.into_iter().flatten().collect()
}

impl BaselineContext<'_> {
    fn outcome(&self, threshold: &Threshold, judged: GateResult) -> ThresholdOutcome {
        let GateResult { finding, actual, mut message } = judged;
        let is_inconclusive = finding == ThresholdStatus::Inconclusive;
        if is_inconclusive && !self.inconclusive_passes {
            message += " (fails: `on-inconclusive` is `fail`)";
        }
        let outcome = ThresholdOutcome::new(threshold, finding, actual, message);
        ThresholdOutcome { passed: outcome.passed || is_inconclusive && self.inconclusive_passes, ..outcome }
    }
}

fn without_baseline(threshold: &Threshold, reason: &str) -> GateResult {
    let message = format!("`{threshold}` has nothing to compare with: {reason}");
    GateResult { finding: ThresholdStatus::Inconclusive, actual: None, message }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::item::Output;
    use crate::prices::PriceTable;
    use crate::report::{Execution, ItemResult, ScoredEvaluation, Status};

    fn scored(score: f64) -> Execution {
        let evaluation = ScoredEvaluation { score: Some(score), ..ScoredEvaluation::default() };
        Execution {
            output: Some(Output::new("")),
            evaluations: [("e".into(), evaluation)].into_iter().collect(),
            ..Execution::default()
        }
    }

    fn failed() -> Execution {
        Execution { status: Status::Error, error: Some("no".to_owned()), ..Execution::default() }
    }

    fn judged(threshold: &str, items: Vec<Vec<Execution>>) -> ThresholdOutcome {
        let item = |(index, runs): (usize, _)| {
            let (key, input) = (index.to_string(), Arc::default());
            ItemResult { index, key, input, passed: true, runs }
        };
        let items: Vec<_> = items.into_iter().enumerate().map(item).collect();
        evaluate(
            &threshold.parse().unwrap(),
            &RunMetrics::gather(&items, &[("e", 0.5)], &PriceTable::default()),
        )
    }

    #[test]
    fn a_run_without_any_output_has_nothing_to_measure() {
        for threshold in ["e.avg >= 0", "latency.max <= 1h", "tokens.total <= 9"] {
            let outcome = judged(threshold, vec![vec![failed(), failed()], vec![failed(), failed()]]);
            assert!(!outcome.passed && outcome.actual.is_none());
            assert!(outcome.message.ends_with("has nothing to measure: every item failed"));
        }
    }

    #[test]
    fn items_that_each_failed_in_some_run_are_measured_by_their_other_runs() {
        let outcome = judged("e.avg >= 0.5", vec![vec![failed(), scored(1.0)], vec![scored(0.5), failed()]]);
        assert_eq!((outcome.passed, outcome.actual), (true, Some(0.75)));
    }

    /// Items; only the first `reporting` ones report tokens.
    fn reporting(items: usize, reporting: usize) -> Vec<Vec<Execution>> {
        let output = |index| match index < reporting {
            true => Output::new("").model("gpt-4o-mini").tokens(1_000, 100),
            false => Output::new(""),
        };
        (0..items).map(|index| vec![Execution { output: Some(output(index)), ..scored(1.0) }]).collect()
    }

    #[test]
    fn tokens_and_cost_that_only_some_items_report_are_nothing_to_measure() {
        let metrics =
            ["avg", "p50", "p95", "p99", "total"].map(|metric| format!("tokens.{metric} <= 1_000_000"));
        for threshold in metrics.into_iter().chain(["tokens.min >= 1".to_owned()]) {
            let outcome = judged(&threshold, reporting(10, 1));
            assert_eq!((outcome.finding, outcome.actual), (ThresholdStatus::Missed, None), "{threshold}");
            let reason =
                "has nothing to measure: only 1 of 10 items reports tokens; report it for every output";
            assert!(outcome.message.contains(reason), "{}", outcome.message);
            assert!(judged(&threshold, reporting(10, 10)).passed, "{threshold}");
        }
        let cost = judged("cost.total <= 1", reporting(10, 2));
        assert!(cost.message.contains("only 2 of 10 items report a cost"), "{}", cost.message);
        assert!(cost.message.contains("`Output::cost(usd)`") && cost.message.contains("`Context::record`"));
        assert!(judged("cost.total <= 1", reporting(2, 2)).passed);
    }

    #[test]
    fn an_output_of_no_tokens_meets_thresholds_on_tokens_and_on_cost() {
        let mut items = reporting(2, 1);
        items[1][0].output = Some(Output::new("").tokens(0, 0));
        for threshold in ["tokens.total <= 2_000", "cost.total <= 1"] {
            let outcome = judged(threshold, items.clone());
            assert!(outcome.passed, "{}", outcome.message);
        }
    }

    #[test]
    fn items_that_failed_need_not_report_tokens_and_each_run_of_the_others_must() {
        let mut items = reporting(3, 2);
        items[2] = vec![failed()];
        assert!(judged("tokens.total <= 10_000", items.clone()).passed);
        items[1].push(scored(1.0));
        let outcome = judged("tokens.total <= 10_000", items);
        assert!(!outcome.passed && outcome.message.contains("only 1 of 2 items"), "{}", outcome.message);
    }

    #[test]
    fn a_rise_of_tokens_that_only_some_items_report_is_nothing_to_measure() {
        let outcome = judged("vs_baseline.tokens.rise <= 10", reporting(10, 1));
        assert_eq!((outcome.finding, outcome.actual), (ThresholdStatus::Missed, None), "{}", outcome.message);
    }
}
