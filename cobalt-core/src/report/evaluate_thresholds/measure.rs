//! The measured value of a threshold.

use std::collections::BTreeSet;

use cobalt_thresholds::METRICS;

use crate::report::custom_metric::RunSummaries;
use crate::report::evaluator_metrics::{EvaluatorMetrics, ratio};
use crate::report::metrics::RunMetrics;
use crate::report::stats::{DescriptiveStats, describe, sum};
use crate::report::threshold::{Category, Metric, Threshold, unknown_evaluator};
use crate::report::trace_metrics::model_shares;
use crate::wording::{self, count};

/// The value, or why there is none.
pub fn measure(threshold: &Threshold, figures: &RunMetrics<'_>) -> Result<f64, String> {
    if !figures.answered {
        return Err("every item failed".to_owned());
    }
    let metric = match threshold.metric() {
        // Comparisons with a baseline use means.
        metric if metric.compares_runs() => Metric::Avg,
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
            "the agent cost of {} is unknown; {}",
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
            "an agent cost",
            "`Output::cost(usd)`, `Output::model` and `Output::tokens`, or `Context::record`",
        )),
        Category::Cost => amount_metric(metric, &figures.cost, || {
            format!("no output reports an agent cost; report {HOW_TO_REPORT_COST}")
        }),
        Category::TimeToFirstToken => {
            let traces = &figures.traces;
            amount_metric(metric, &traces.first_tokens.live, || traces.no_first_token())
        }
        Category::ModelCalls => {
            let calls = figures.traces.model_calls()?;
            amount_metric(metric, &calls, || "no item was run".to_owned())
        }
        Category::ToolCalls => {
            let calls = figures.traces.tool_calls()?;
            amount_metric(metric, &calls, || "no item was run".to_owned())
        }
        Category::ModelTokens(_) if figures.without_tokens > 0 && !figures.tokens.is_empty() => {
            Err(partially_reported(figures.without_tokens, figures, "tokens", HOW_TO_REPORT_USAGE))
        }
        Category::ModelTokens(model) => {
            let shares = model_shares(&figures.model_shares, &figures.used_models, model)?;
            let without = shares.iter().filter(|share| share.lacks_tokens).count();
            if without > 0 {
                let items = count(without, "item");
                return Err(format!(
                    "{items} called `{model}` without its tokens; report them with {HOW_TO_REPORT_USAGE}"
                ));
            }
            let tokens: Vec<_> = shares.iter().map(|share| share.tokens as f64).collect();
            amount_metric(metric, &tokens, || "no item was run".to_owned())
        }
        Category::ModelCost(_) if figures.without_cost > 0 && !figures.cost.is_empty() => {
            Err(partially_reported(figures.without_cost, figures, "an agent cost", HOW_TO_REPORT_USAGE))
        }
        Category::ModelCost(model) => {
            let shares = model_shares(&figures.model_shares, &figures.used_models, model)?;
            let unpriced = shares.iter().filter(|share| share.is_unpriced).count();
            if unpriced > 0 {
                let (items, model) = (count(unpriced, "item"), BTreeSet::from([model.clone()]));
                return Err(format!("the cost of its calls in {items} is unknown; {}", add_prices(&model)));
            }
            let costs: Vec<_> = shares.iter().map(|share| share.cost).collect();
            amount_metric(metric, &costs, || "no item was run".to_owned())
        }
        Category::CustomMetric(name) => custom_metric(metric, name, figures),
        Category::JudgeCost if !figures.judges.unpriced.is_empty() => {
            Err(format!("the judge cost is unknown; {}", add_prices(&figures.judges.unpriced)))
        }
        Category::JudgeCost => amount_metric(metric, &figures.judges.cost, || "no judge answered".to_owned()),
        Category::UserCost => match figures.simulated_users.as_deref() {
            Some(usage) if !usage.unpriced.is_empty() => Err(format!(
                "the user cost is unknown; {}",
                add_prices(&usage.unpriced.iter().cloned().collect())
            )),
            _ => amount_metric(metric, &figures.user_costs, || "no item has a simulated user".to_owned()),
        },
    }
}

/// The part of a run that was measured.
pub struct MeasuredPart {
    /// Such as `measured on 3 of 4 items`.
    pub scope: String,
    /// What was not measured, and how to measure it if that is possible.
    pub rest: String,
}

/// Which part of the run was measured, if not all of it.
pub fn measured_part(threshold: &Threshold, figures: &RunMetrics<'_>) -> Option<MeasuredPart> {
    let (verb, part, whole, noun, rest) = match threshold.category() {
        Category::CustomMetric(name) if threshold.metric() != Metric::Value => {
            let (recorded, all) = (figures.recorded.stats().get(name)?.count, figures.recorded.executions());
            let rest = count(all.saturating_sub(recorded), "execution") + " without an output";
            ("recorded by", recorded, all, "execution", rest)
        }
        Category::TimeToFirstToken => {
            let (times, all) = (&figures.traces.first_tokens, figures.latency.len());
            let untimed = all.saturating_sub(times.live.len() + times.replayed);
            let replayed = (times.replayed > 0).then(|| replayed_items(times.replayed));
            let untimed =
                (untimed > 0).then(|| count(untimed, "item") + " without the time of a streamed response");
            let rest: Vec<_> = [replayed, untimed].into_iter().flatten().collect();
            ("measured on", times.live.len(), all, "item", rest.join(", "))
        }
        Category::Latency => {
            let (live, all) = (figures.live_latency.len(), figures.latency.len());
            ("measured on", live, all, "item", replayed_items(all.saturating_sub(live)))
        }
        _ => return None,
    };
    (part < whole).then(|| MeasuredPart { scope: format!("{verb} {part} of {}", count(whole, noun)), rest })
}

/// Items without a latency of their own, and the remedy.
fn replayed_items(items: usize) -> String {
    count(items, "replayed item") + " (to measure all items, run with `COBALT_RECORD=off`)"
}

/// How an agent reports a cost.
const HOW_TO_REPORT_COST: &str = "the cost with `Output::cost(usd)`, or the model and both token counts with `Output` or `Context::record`";

/// How an agent reports the usage of each model.
const HOW_TO_REPORT_USAGE: &str = "`Output::model` and `Output::tokens`, or `Context::record`";

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
    rate.ok_or_else(|| evaluator.no_score())
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

/// A metric that the agent recorded or a summary function calculated.
fn custom_metric(metric: Metric, name: &str, figures: &RunMetrics<'_>) -> Result<f64, String> {
    if metric == Metric::Value {
        return run_metric(name, figures);
    }
    if figures.summaries.metrics.contains_key(name) && !has_recorded(name, figures) {
        return Err(format!("`{name}` is a metric of the whole run; write `{METRICS}[{name:?}].value`"));
    }
    let metrics = figures.recorded.stats();
    let Some(stats) = metrics.get(name) else {
        return Err(match metrics.is_empty() {
            true => {
                format!("no execution recorded `{name}`; record it with `context.metric({name:?}, value)`")
            }
            false => format!(
                "no execution recorded `{name}`; {}",
                wording::suggest_or_list(name, metrics.keys().map(String::as_str))
            ),
        });
    };
    let (recorded, answered) = figures.recorded.answered(name);
    if recorded < answered {
        return Err(format!(
            "only {recorded} of {} with an output recorded `{name}`, and the others could change the result; record it in each with \
             `context.metric({name:?}, value)`, or calculate a metric of those that have it in a summary function",
            count(answered, "execution"),
        ));
    }
    Ok(match metric {
        Metric::Avg => stats.avg,
        Metric::Min => stats.min,
        Metric::Max => stats.max,
        Metric::P50 => stats.p50,
        Metric::P95 => stats.p95,
        Metric::P99 => stats.p99,
        Metric::Total => return finite_total(stats.total),
        other => return Err(format!("a metric that items record has no `{other}`")),
    })
}

/// Whether some execution recorded a metric of this name.
fn has_recorded(name: &str, figures: &RunMetrics<'_>) -> bool {
    figures.recorded.has(name)
}

/// A metric that a summary function calculated.
fn run_metric(name: &str, figures: &RunMetrics<'_>) -> Result<f64, String> {
    let RunSummaries { metrics, errors, .. } = &figures.summaries;
    if let Some(metric) = metrics.get(name) {
        return Ok(metric.value);
    }
    Err(if let Some(error) = errors.get(name) {
        format!("the summary function `{name}` failed: {error}")
    } else if has_recorded(name, figures) {
        format!("`{name}` is a metric that items record; write, for example, `{METRICS}[{name:?}].avg`")
    } else if metrics.is_empty() {
        format!(
            "no summary function calculated `{name}`; list one in `summaries` of the experiment (merged shards have none)"
        )
    } else {
        let known = wording::suggest_or_list(name, metrics.keys().map(String::as_str));
        format!("no summary function calculated `{name}`; {known}")
    })
}

/// A total, unless it is or was larger than a number can be.
fn finite_total(total: f64) -> Result<f64, String> {
    let is_known = total.abs() < f64::MAX;
    is_known.then_some(total).ok_or_else(|| {
        "the total is larger than a number can be (about 1.8e308); record smaller values, or in a larger unit"
            .to_owned()
    })
}

fn amount_metric(metric: Metric, amounts: &[f64], nothing: impl FnOnce() -> String) -> Result<f64, String> {
    if metric == Metric::Total && !amounts.is_empty() {
        return finite_total(sum(amounts.iter().copied()));
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
