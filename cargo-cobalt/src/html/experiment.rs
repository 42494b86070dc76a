//! The section of an experiment: verdict, configuration, thresholds, scores, times, costs, and the change vs. its baseline.

use cobalt_core::report::comparison::{Comparison, Difference, ThresholdStatus, Verdict};
use cobalt_core::report::{Report, RunVerdict, ScoreStats, ThresholdOutcome};
use cobalt_core::reporters::{
    GroupTable, Style, escape_control, explain_difference, format_agent_usage, format_diverged,
    format_duration, format_judge_usage, format_not_applicable, format_pass_marks, format_retried,
    format_simulated_users, format_traffic, group_tables, replay_mark, traffic_notes,
};
use cobalt_core::wording::{count, passed_count, percent};
use maud::{Markup, html};

use super::components::{
    self, Tone, badge, code, difference_chart, latencies_chart, mean_chart, name, scores_chart, verdict_badge,
};
use super::metrics;
use crate::compare::view;
use crate::results::{FinishedExperiment, Results, ScoreBins};

/// With more experiments than this, passed ones are collapsed.
const MAX_EXPANDED: usize = 3;
/// The column titles of a difference, in the order of [`view::cells`].
const DIFFERENCE_TITLES: [&str; 6] =
    ["Baseline", "Candidate", "Change", "95% CI", "p", "Min detectable difference (80% power)"];

/// The section of an experiment; its index is part of its id in the page.
pub fn section(index: usize, finished: &FinishedExperiment, results: &Results) -> Markup {
    let report = &finished.report;
    let is_open = report.verdict == RunVerdict::Failed || results.experiments.len() <= MAX_EXPANDED;
    html! {
        section.experiment id={ "experiment-" (index) } aria-label=(escape_control(&report.name)) {
            details open[is_open] {
                summary {
                    h2 { (name(&report.name)) }
                    (verdict_badge(report.verdict))
                    span.why { (verdict_grounds(report)) }
                }
                (run_facts(report))
                (thresholds(report))
                (summary_errors(report))
                (scores(finished))
                @for table in group_tables(report) { (groups(&table)) }
                (metrics::section(&report.summary))
                (times_and_usage(finished))
                @if let Some(comparison) = &report.baseline { (baseline_section(comparison)) }
                (components::items_section(index, finished))
            }
        }
    }
}

/// The grounds of the verdict.
fn verdict_grounds(report: &Report) -> String {
    let summary = &report.summary;
    let mut parts = Vec::new();
    if let Some(status) = &report.ci_status {
        parts.push(escape_control(&status.summary).into_owned());
    }
    if report.config.strict {
        parts.push(passed_count(summary.passed_items, summary.total_items));
    }
    for (number, noun) in [
        (summary.failed_items.saturating_sub(summary.timeouts), "item in error"),
        (summary.timeouts, "timeout"),
        (summary.eval_errors, "scoring error"),
    ] {
        match (number, noun) {
            (0, _) => {}
            (number, "item in error") if number > 1 => parts.push(format!("{number} items in error")),
            _ => parts.push(count(number, noun)),
        }
    }
    if !summary.summary_errors.is_empty() {
        parts.push(format!("{} failed", count(summary.summary_errors.len(), "summary function")));
    }
    if report.partial {
        parts.push("partial run: not representative of the agent".to_owned());
    }
    if let Some(rescored) = &report.rescored {
        parts.push(escape_control(&rescored.to_string()).into_owned());
    }
    parts.join(", ")
}

/// The run and its configuration.
fn run_facts(report: &Report) -> Markup {
    let config = &report.config;
    let runs = (config.runs > 1).then(|| format!(", {} per item", count(config.runs, "trial")));
    let at_marks = format_pass_marks(report, Style::Plain).map(|counts| format!(" ({counts})"));
    let timeout =
        (config.timeout > 0).then(|| format!(", timeout {}", format_duration(config.timeout as f64)));
    html! {
        dl.facts {
            div { dt { "Run" } dd { (code(&report.id)) } }
            div { dt { "Started" } dd { time datetime=(report.timestamp) { (report.timestamp.to_minute()) } } }
            div {
                dt { "Items" }
                dd {
                    (count(report.summary.total_items, "item")) (at_marks.unwrap_or_default()) (runs.unwrap_or_default()) ", concurrency " (config.concurrency)
                    (timeout.unwrap_or_default())
                }
            }
            @if let Some(retried) = format_retried(&report.summary, Style::Plain) { div { dt { "Retried" } dd { (retried) } } }
            @if let Some(data) = &report.dataset {
                div {
                    dt { "Dataset" }
                    dd {
                        (code(&data.source))
                        @if let Some(fetch) = &data.fetched {
                            ", fetched " time datetime=(fetch.at) { (fetch.at.to_minute()) }
                        }
                    }
                }
            }
            @if let Some(commit) = view::commit_of(report.git.as_ref()) { div { dt { "Commit" } dd { (code(&commit)) } } }
            @if let Some(place) = &report.declared_at {
                div { dt { "Declared at" } dd { (code(&format!("{}:{}", place.file, place.line))) } }
            }
            @if !report.tags.is_empty() {
                div { dt { "Tags" } dd { @for tag in &report.tags { span.tag { (name(tag)) } " " } } }
            }
        }
    }
}

/// The thresholds, if there are any.
fn thresholds(report: &Report) -> Markup {
    let Some(status) = &report.ci_status else { return Markup::default() };
    html! {
        h3 { "Thresholds" }
        @if report.thresholds().is_empty() {
            p { (badge(Tone::from_passed(status.passed), if status.passed { "met" } else { "missed" })) " " (escape_control(&status.summary)) }
            // Files of the original list only missed thresholds.
            ul { @for violation in &status.violations { li { (escape_control(&violation.message)) } } }
        } @else {
            div.scroll tabindex="0" role="group" aria-label="Thresholds" {
                table.thresholds {
                    thead {
                        tr {
                            th scope="col" { "Result" }
                            th scope="col" { "Threshold" }
                            th.number scope="col" { "Actual" }
                            th scope="col" { "Details" }
                        }
                    }
                    tbody { @for outcome in report.thresholds() { (threshold_row(outcome)) } }
                }
            }
        }
        @for drift in report.drift() { p { "Drift: " (escape_control(&drift.message)) } }
    }
}

/// The summary functions that failed, if there are any.
fn summary_errors(report: &Report) -> Markup {
    let errors = &report.summary.summary_errors;
    if errors.is_empty() {
        return Markup::default();
    }
    html! {
        h3 { "Failed summary functions" }
        ul { @for (function, error) in errors { li { (code(function)) ": " (escape_control(error)) } } }
    }
}

fn threshold_row(outcome: &ThresholdOutcome) -> Markup {
    let (mark, word) = match (outcome.finding, outcome.passed) {
        (ThresholdStatus::Inconclusive, true) => (Tone::Warning, "inconclusive"),
        (ThresholdStatus::Inconclusive, false) => (Tone::Bad, "inconclusive"),
        (ThresholdStatus::Met, _) => (Tone::Good, "met"),
        (ThresholdStatus::Missed, _) => (Tone::Bad, "missed"),
    };
    html! {
        tr {
            td { (badge(mark, word)) }
            th scope="row" { (code(&outcome.name)) }
            td.number { (outcome.figure.as_deref().unwrap_or("–")) }
            // For a met threshold, the actual value is enough.
            @let is_plain = outcome.finding == ThresholdStatus::Met && !outcome.against_baseline;
            td.message { @if !is_plain { (escape_control(&outcome.message)) } }
        }
    }
}

/// The table of scores.
fn scores(finished: &FinishedExperiment) -> Markup {
    let evaluators = finished.report.config.evaluators().enumerate();
    html! {
        h3 { "Scores" }
        div.scroll tabindex="0" role="group" aria-label="Scores" {
            table.scores {
                thead {
                    tr {
                        th scope="col" { "Evaluator" }
                        th.number scope="col" { "Mean" }
                        th.number scope="col" { "95% CI" }
                        th scope="col" { "Mean (95% CI)" }
                        th.number scope="col" { "Pass rate" }
                        @for title in ["Min", "P50", "P95", "P99", "Max"] { th.number scope="col" { (title) } }
                        th scope="col" { "Distribution" }
                    }
                }
                tbody {
                    @for (place, (evaluator, mark)) in evaluators {
                        (score_row(&finished.report, evaluator, mark, finished.items.distributions().scores(place)))
                    }
                }
            }
        }
    }
}

/// The table of the groups of a field. The lowest means are marked.
fn groups(table: &GroupTable) -> Markup {
    html! {
        h3 { "By " (code(&table.field)) }
        div.scroll tabindex="0" role="group" aria-label=(format!("Groups by {}", table.field)) {
            table.scores {
                thead {
                    tr {
                        th scope="col" { "Group" }
                        th.number scope="col" { "Items" }
                        @for (place, title) in table.titles.iter().enumerate().skip(2) {
                            th.number scope="col" {
                                @if place % 2 == 0 { (name(title)) small { "Mean (95% CI)" } } @else { "Pass rate" }
                            }
                        }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (place, cell) in row.cells.iter().enumerate() {
                                @if place == 0 {
                                    th scope="row" { (name(&cell.text)) }
                                } @else {
                                    td.number {
                                        @if cell.is_lowest { (badge(Tone::Warning, &format!("{} (lowest)", cell.text))) } @else { (cell.text) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        @if let Some(more) = table.more_line() { p { (more) } }
    }
}

fn score_row(report: &Report, evaluator: &str, mark: f64, bins: Option<&ScoreBins>) -> Markup {
    html! {
        tr {
            th scope="row" {
                (name(evaluator))
                small {
                    "Pass mark " (mark)
                    @if let Some(without) = format_not_applicable(&report.summary, evaluator) { ", " (without) }
                }
            }
            @match report.summary.scores.get(evaluator) {
                Some(stats) => {
                    (score_figures(stats, mark))
                    td { @if let Some(bins) = bins { (scores_chart(bins)) } }
                }
                None => {
                    td colspan="10" {
                        @match format_not_applicable(&report.summary, evaluator) {
                            Some(without) => (badge(Tone::Warning, &without)),
                            None => (badge(Tone::Bad, "no score")),
                        }
                    }
                }
            }
        }
    }
}

fn score_figures(stats: &ScoreStats, mark: f64) -> Markup {
    let interval = stats.ci95.map(|ci| format!("{:.3} to {:.3}", ci.low, ci.high));
    html! {
        td.number { strong { (format_score(stats.avg)) } }
        td.number { (interval.as_deref().unwrap_or("–")) }
        td { (mean_chart(stats, mark)) }
        td.number { (stats.pass_rate.map_or_else(|| "–".to_owned(), percent)) }
        @for value in [stats.min, stats.p50, stats.p95, stats.p99, stats.max] { td.number { (format_score(value)) } }
    }
}

fn format_score(value: f64) -> String {
    format!("{value:.3}")
}

/// Latency, duration, tokens and costs, with a latency chart.
fn times_and_usage(FinishedExperiment { report, items, .. }: &FinishedExperiment) -> Markup {
    let summary = &report.summary;
    let mut tiles = vec![("Mean latency", format_duration(summary.avg_latency_ms))];
    if let Some(latency) = &summary.latency {
        let figures = [
            ("Min", latency.min),
            ("P50", latency.p50),
            ("P95", latency.p95),
            ("P99", latency.p99),
            ("Max", latency.max),
        ];
        tiles.extend(figures.map(|(title, figure)| (title, format_duration(figure))));
    }
    tiles.push(("Duration", format_duration(summary.total_duration_ms as f64)));
    html! {
        h3 { "Time and costs" }
        dl.tiles { @for (title, figure) in &tiles { div { dt { (title) } dd { (figure) } } } }
        @if let Some(mark) = replay_mark(summary) { p.note { "Latency, tokens and agent cost: " (mark) "." } }
        @if let Some(bins) = items.distributions().latency() { (latencies_chart(bins)) }
        dl.facts {
            @if let Some(tokens) = format_agent_usage(summary) { div { dt { "Tokens" } dd { (escape_control(&tokens)) } } }
            @if let Some(judges) = format_judge_usage(summary) { div { dt { "Judges" } dd { (escape_control(&judges)) } } }
            @if let Some(users) = format_simulated_users(summary) { div { dt { "Simulated users" } dd { (users) } } }
            @for line in format_traffic(summary).into_iter().chain(format_diverged(summary)).chain(traffic_notes(summary)) {
                div { dt { "Traffic" } dd { (line) } }
            }
            @if !summary.unpriced_models.is_empty() {
                div {
                    dt { "No known price" }
                    dd { (escape_control(&summary.unpriced_models.join(", "))) " (" (count(summary.unpriced_items, "item")) ")" }
                }
            }
            @if let Some(date) = report.prices_as_of.as_ref().filter(|_| summary.total_tokens.or(summary.judge_calls).is_some()) { div { dt { "Prices as of" } dd { (escape_control(date)) } } }
        }
    }
}

/// The comparison as two tables: scores and metrics.
fn baseline_section(comparison: &Comparison) -> Markup {
    let base = &comparison.base;
    html! {
        h3 { "Change vs. baseline" }
        p {
            "Baseline run " (code(&base.id)) " (" (view::start_time(base)) "), " (view::size(base))
            @if let Some(commit) = view::commit(base) { ", commit " (code(&commit)) }
            ". Items: " (view::describe_matching(&comparison.items, |key| format!("“{}”", escape_control(key)))) "."
        }
        @for note in &comparison.notes { p.note { (escape_control(note)) } }
        @if let Some(nothing) = view::empty_headline(comparison) { p { (nothing) "." } }
        @for (title, differences) in [("Mean score", &comparison.evaluators), ("Mean per item", &comparison.amounts)] {
            @if !differences.is_empty() { (difference_table(title, differences)) }
        }
        @if let Some(correction) = view::correction(comparison) { p.faint { (correction) "." } }
    }
}

fn difference_table(title: &str, differences: &[Difference]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label={ (title) " vs. baseline" } {
            table.baseline {
                thead {
                    tr {
                        th scope="col" { (title) }
                        th scope="col" { "Verdict" }
                        @for title in DIFFERENCE_TITLES { th.number scope="col" { (title) } }
                        th scope="col" { span.hidden { "95% CI chart" } }
                    }
                }
                tbody { @for difference in differences { (difference_row(difference, chart_range(difference, differences))) } }
            }
        }
    }
}

fn difference_row(difference: &Difference, largest: f64) -> Markup {
    let [figures @ .., verdict] = view::cells(difference);
    let mark = match difference.verdict {
        Verdict::Better => Tone::Good,
        Verdict::Worse => Tone::Bad,
        Verdict::Inconclusive => Tone::Warning,
        Verdict::Changed | Verdict::WithinNoise => Tone::Neutral,
    };
    html! {
        tr {
            th scope="row" { (name(difference.label())) small { (explain_difference(difference)) } }
            td { (badge(mark, &verdict)) }
            @for figure in &figures { td.number { (figure) } }
            td { (difference_chart(difference, mark.class(), largest)) }
        }
    }
}

/// The chart range of a difference: shared by all differences of the same quantity.
fn chart_range(difference: &Difference, all: &[Difference]) -> f64 {
    let alike = all.iter().filter(|other| other.quantity == difference.quantity);
    let ends = alike.filter_map(|it| it.ci95).flat_map(|ci| [ci.low.abs(), ci.high.abs()]);
    ends.fold(0.0, f64::max)
}
