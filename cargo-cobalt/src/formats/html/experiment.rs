//! The section of an experiment: its verdict, what it was run with, its figures, and its items.

use cobalt::Report;
use cobalt::report::{RunVerdict, Status};
use cobalt::reporters::{at_pass_marks, printable, time};
use cobalt::wording::count;
use maud::{Markup, html};

use super::words::{code, name, verdict_badge};
use super::{amounts, baseline, items, scores, thresholds};
use crate::compare::words;
use crate::results::{Finished, Results};

/// So many experiments are shown at length; of more, those that passed are folded.
const FEW: usize = 3;

/// An experiment. Its place among all gives it a name within the page.
pub(super) fn section(index: usize, finished: &Finished, results: &Results) -> Markup {
    let report = &finished.report;
    let is_open = report.verdict == RunVerdict::Failed || results.experiments.len() <= FEW;
    html! {
        section.experiment id={ "experiment-" (index) } aria-label=(printable(&report.name)) {
            details open[is_open] {
                summary {
                    h2 { (name(&report.name)) }
                    (verdict_badge(report.verdict))
                    span.why { (why(report)) }
                }
                (facts(report))
                (thresholds::section(report))
                (scores::section(report))
                (amounts::section(report))
                @if let Some(comparison) = &report.baseline { (baseline::section(comparison)) }
                (items::section(index, finished))
            }
        }
    }
}

/// What the verdict comes from.
fn why(report: &Report) -> String {
    let summary = &report.summary;
    let mut parts = Vec::new();
    if let Some(status) = &report.ci_status {
        parts.push(printable(&status.summary).into_owned());
    }
    if report.config.strict {
        parts.push(format!("{} of {} passed", summary.passed_items, count(summary.total_items, "item")));
    }
    // Files of the original do not count them.
    let is = |status| report.items.iter().filter(|item| item.status() == status).count();
    for (number, noun) in [
        (summary.failed_items.saturating_sub(summary.timeouts).max(is(Status::Error)), "item in error"),
        (summary.timeouts.max(is(Status::Timeout)), "timeout"),
        (summary.eval_errors, "evaluation error"),
    ] {
        match (number, noun) {
            (0, _) => {}
            (number, "item in error") if number > 1 => parts.push(format!("{number} items in error")),
            _ => parts.push(count(number, noun)),
        }
    }
    if report.partial {
        parts.push("partial run: no measure of the agent".to_owned());
    }
    parts.join(", ")
}

/// What the run was made of and with.
fn facts(report: &Report) -> Markup {
    let config = &report.config;
    let runs = (config.runs > 1).then(|| format!(", {} each", count(config.runs, "run")));
    // In a strict experiment, the verdict says it.
    let at_marks = (!config.strict && !config.evaluators.is_empty())
        .then(|| format!(", {}", at_pass_marks(report.summary.passed_items, report.summary.total_items)));
    let timeout = (config.timeout > 0).then(|| format!(", timeout {}", time(config.timeout as f64)));
    html! {
        dl.facts {
            div { dt { "Run" } dd { (code(&report.id)) } }
            div { dt { "Started" } dd { time datetime=(report.timestamp) { (words::minute(report.timestamp)) } } }
            div {
                dt { "Items" }
                dd {
                    (count(report.summary.total_items, "item")) (at_marks.unwrap_or_default()) (runs.unwrap_or_default()) ", " (config.concurrency) " at a time"
                    (timeout.unwrap_or_default())
                }
            }
            @if let Some(data) = &report.dataset {
                div {
                    dt { "Data" }
                    dd {
                        (code(&data.source))
                        @if let Some(fetch) = &data.fetched {
                            ", fetched " time datetime=(fetch.at) { (words::minute(fetch.at)) }
                        }
                    }
                }
            }
            @if let Some(commit) = words::commit_of(report.git.as_ref()) { div { dt { "Commit" } dd { (code(&commit)) } } }
            @if let Some(place) = &report.declared_at {
                div { dt { "Declared at" } dd { (code(&format!("{}:{}", place.file, place.line))) } }
            }
            @if !report.tags.is_empty() {
                div { dt { "Tags" } dd { @for tag in &report.tags { span.tag { (name(tag)) } " " } } }
            }
        }
    }
}
