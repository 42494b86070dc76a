//! Holds thresholds against a run's figures.

use super::model::{CiStatus, Violation};
use super::stats::{Describe, describe, sum};
use super::summary::{EvaluatorFigures, Figures, share};
use super::threshold::{Category, Metric, Threshold};
use crate::wording::count;

/// What became of one threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdOutcome {
    /// The threshold's name, as its test case has it.
    pub name: String,
    /// Whether it was met.
    pub passed: bool,
    /// What was found; absent where there was nothing to measure.
    pub actual: Option<f64>,
    /// What was found and what was asked for, in a sentence.
    pub message: String,
}

/// Judges a threshold. Where there is nothing to measure, it is missed and the message says why.
#[must_use]
pub fn judge(threshold: &Threshold, figures: &Figures<'_>) -> ThresholdOutcome {
    let name = threshold.case_name();
    match measure(threshold, figures) {
        Ok(actual) => {
            let passed = threshold.holds(actual);
            let relation = if passed { "meets" } else { "misses" };
            let message = format!(
                "{} is {}, which {relation} `{threshold}`",
                what(threshold),
                with_unit(threshold, actual)
            );
            ThresholdOutcome { name, passed, actual: Some(actual), message }
        }
        Err(reason) => {
            let message = format!("`{threshold}` has nothing to measure: {reason}");
            ThresholdOutcome { name, passed: false, actual: None, message }
        }
    }
}

/// The thresholds' outcomes as a result file has them; `None` without any threshold.
pub(crate) fn ci_status(thresholds: &[Threshold], outcomes: &[ThresholdOutcome]) -> Option<CiStatus> {
    if thresholds.is_empty() {
        return None;
    }
    let violations: Vec<_> = thresholds
        .iter()
        .zip(outcomes)
        .filter(|(_, outcome)| !outcome.passed)
        .map(|(threshold, outcome)| Violation {
            category: threshold.category().name().to_owned(),
            metric: threshold.metric().to_string(),
            expected: threshold.bound(),
            actual: outcome.actual,
            message: outcome.message.clone(),
        })
        .collect();
    let summary = match violations.len() {
        0 => format!("{} met", count(thresholds.len(), "threshold")),
        missed => format!("{missed} of {} missed", count(thresholds.len(), "threshold")),
    };
    Some(CiStatus { passed: violations.is_empty(), violations, summary })
}

fn what(threshold: &Threshold) -> String {
    format!("{}.{}", threshold.category(), threshold.metric())
}

/// A figure with its unit.
pub(crate) fn with_unit(threshold: &Threshold, actual: f64) -> String {
    match threshold.category() {
        Category::Latency => format!("{} ms", rounded(actual)),
        Category::Cost | Category::JudgeCost => format!("${}", rounded(actual)),
        _ => rounded(actual),
    }
}

/// A figure with at most six decimals and no trailing zeros.
fn rounded(figure: f64) -> String {
    let text = format!("{figure:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn measure(threshold: &Threshold, figures: &Figures<'_>) -> Result<f64, String> {
    if figures.successful == 0 {
        return Err("every item failed".to_owned());
    }
    let metric = threshold.metric();
    match threshold.category() {
        Category::Score => pooled(metric, &figures.evaluators),
        Category::Evaluator(name) => {
            let evaluator = figures.evaluators.iter().find(|evaluator| evaluator.name == name);
            evaluator
                .ok_or_else(|| unknown(name, figures))
                .and_then(|evaluator| of_evaluator(metric, evaluator))
        }
        Category::Latency => of_amounts(metric, &figures.latency, || "no item was run".to_owned()),
        Category::Tokens => of_amounts(metric, &figures.tokens, || {
            "no output reports tokens; return `Output::new(..).tokens(input, output)`".to_owned()
        }),
        Category::Cost if figures.unpriced > 0 => Err(format!(
            "{} used tokens of unknown cost; report the model and both token counts with `Output`, and see that the \
             price table knows the model",
            count(figures.unpriced, "item")
        )),
        Category::Cost => of_amounts(metric, &figures.cost, || {
            "no output reports its model and tokens; return `Output::new(..).model(..).tokens(..)`".to_owned()
        }),
        Category::JudgeCost => Err("no judge was asked".to_owned()),
    }
}

fn unknown(name: &str, figures: &Figures<'_>) -> String {
    let names: Vec<_> = figures.evaluators.iter().map(|evaluator| format!("`{}`", evaluator.name)).collect();
    format!("no evaluator is named `{name}`; there are {}", names.join(", "))
}

fn of_evaluator(metric: Metric, evaluator: &EvaluatorFigures<'_>) -> Result<f64, String> {
    let rate = match metric {
        Metric::PassRate(mark) => evaluator.pass_rate(mark),
        _ => describe(&evaluator.scores).and_then(|stats| pick(metric, &stats)),
    };
    rate.ok_or_else(|| {
        format!("`{}` gave no score in {}", evaluator.name, count(evaluator.errors, "evaluation"))
    })
}

/// A figure over all scores of all evaluators; each counts as passed by its own evaluator's mark.
fn pooled(metric: Metric, evaluators: &[EvaluatorFigures<'_>]) -> Result<f64, String> {
    let scores: Vec<f64> = evaluators.iter().flat_map(|evaluator| evaluator.scores.iter().copied()).collect();
    let figure = match metric {
        Metric::PassRate(mark) => {
            let passed = evaluators.iter().map(|evaluator| {
                let mark = mark.unwrap_or(evaluator.pass_mark);
                evaluator.scores.iter().filter(|score| **score >= mark).count()
            });
            share(passed.sum(), scores.len())
        }
        _ => describe(&scores).and_then(|stats| pick(metric, &stats)),
    };
    figure.ok_or_else(|| "no evaluator gave a score".to_owned())
}

fn of_amounts(metric: Metric, amounts: &[f64], nothing: impl FnOnce() -> String) -> Result<f64, String> {
    if metric == Metric::Total && !amounts.is_empty() {
        return Ok(sum(amounts.iter().copied()));
    }
    describe(amounts).and_then(|stats| pick(metric, &stats)).ok_or_else(nothing)
}

fn pick(metric: Metric, stats: &Describe) -> Option<f64> {
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
