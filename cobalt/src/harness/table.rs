//! The score table after the cases: what each experiment came to, in a few lines.

use std::fmt::{self, Write as _};
use std::path::Path;

use super::explain::printable;
use crate::dataset::Dataset;
use crate::experiment::Definition;
use crate::llm::prices::format_cost;
use crate::paths::{package_root, workspace_root};
use crate::report::{ItemResult, Report, ScoreStats, Summary, with_unit};
use crate::session::Outcome;
use crate::wording::count;

/// The most items named of those with low scores.
const MOST_LOW: usize = 8;
const COLUMNS: [&str; 7] = ["avg", "95 % interval", "min", "p50", "p95", "max", "passed"];

/// The lines on one experiment.
pub(super) fn experiment(outcome: &Outcome, definition: &Definition, dataset: &Dataset) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, outcome, definition, dataset);
    printable(&text)
}

fn write(text: &mut String, outcome: &Outcome, definition: &Definition, dataset: &Dataset) -> fmt::Result {
    let report = &outcome.report;
    writeln!(text, "{}: {}", report.name, headline(outcome))?;
    scores(text, report)?;
    for (evaluator, mark) in report.config.evaluators.iter().zip(&report.config.pass_marks) {
        low_scores(text, evaluator, *mark, &report.items, dataset)?;
    }
    for (threshold, outcome) in definition.thresholds.iter().zip(&outcome.thresholds) {
        let word = if outcome.passed { "met   " } else { "MISSED" };
        match outcome.actual {
            Some(actual) => writeln!(text, "  {word}  {}  ({})", outcome.name, with_unit(threshold, actual))?,
            None => writeln!(text, "  {word}  {}", outcome.message)?,
        }
    }
    if let Some(path) = &outcome.path {
        writeln!(text, "  run {} in {}", report.id, relative(path))?;
    }
    Ok(())
}

/// The statistics, a row for each evaluator.
fn scores(text: &mut String, report: &Report) -> fmt::Result {
    let names: Vec<_> =
        report.config.evaluators.iter().map(|name| (name, report.summary.scores.get(name))).collect();
    let width = names.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let rows: Vec<_> = names.iter().map(|(name, stats)| (name, stats.map(row))).collect();
    let widths: Vec<_> = COLUMNS
        .iter()
        .enumerate()
        .map(|(column, title)| {
            let cells =
                rows.iter().filter_map(|(_, row)| row.as_ref()).map(|row| row[column].chars().count());
            cells.chain([title.chars().count()]).max().unwrap_or(0)
        })
        .collect();
    write!(text, "  {:width$}", "")?;
    for (title, width) in COLUMNS.iter().zip(&widths) {
        write!(text, "  {title:>width$}")?;
    }
    writeln!(text)?;
    for (name, row) in rows {
        write!(text, "  {name:width$}")?;
        match row {
            Some(row) => {
                row.iter().zip(&widths).try_for_each(|(cell, width)| write!(text, "  {cell:>width$}"))?
            }
            None => write!(text, "  no score")?,
        }
        writeln!(text)?;
    }
    Ok(())
}

/// The items that an evaluator scored below its mark in some run, by the names of their cases.
fn low_scores(
    text: &mut String,
    evaluator: &str,
    mark: f64,
    items: &[ItemResult],
    dataset: &Dataset,
) -> fmt::Result {
    let low: Vec<_> = items.iter().filter(|item| item.scores(evaluator).any(|score| score < mark)).collect();
    if low.is_empty() {
        return Ok(());
    }
    let names = dataset.case_keys();
    let shown: Vec<_> = low.iter().take(MOST_LOW).map(|item| &*names[item.index]).collect();
    let more =
        if low.len() > MOST_LOW { format!(", and {} more", low.len() - MOST_LOW) } else { String::new() };
    writeln!(text, "  low     {evaluator}: {}{more}", shown.join(", "))
}

fn headline(outcome: &Outcome) -> String {
    let Summary { total_items, passed_items, failed_items, timeouts, eval_errors, .. } =
        outcome.report.summary;
    let summary = &outcome.report.summary;
    let mut parts = vec![if outcome.report.config.strict {
        format!("{passed_items} of {} passed", count(total_items, "item"))
    } else {
        count(total_items, "item")
    }];
    if let Some(status) = &outcome.report.ci_status {
        parts.push(status.summary.clone());
    }
    if outcome.report.partial {
        parts.push("partial run".to_owned());
    }
    if outcome.report.config.runs > 1 {
        parts.push(format!("{} runs each", outcome.report.config.runs));
    }
    if failed_items > timeouts {
        parts.push(count(failed_items - timeouts, "error"));
    }
    if timeouts > 0 {
        parts.push(count(timeouts, "timeout"));
    }
    if eval_errors > 0 {
        parts.push(count(eval_errors, "evaluation error"));
    }
    if let Some(latency) = &summary.latency {
        parts.push(format!("latency p50 {} p95 {}", time(latency.p50), time(latency.p95)));
    }
    if let Some(tokens) = summary.total_tokens {
        parts.push(format!("{tokens} tokens"));
    }
    if let Some(cost) = summary.estimated_cost {
        parts.push(format_cost(cost));
    }
    if summary.unpriced_items > 0 {
        parts.push(format!("{} of unknown cost", count(summary.unpriced_items, "item")));
    }
    parts.join(", ")
}

fn row(stats: &ScoreStats) -> [String; COLUMNS.len()] {
    let figure = |value: f64| format!("{value:.3}");
    [
        figure(stats.avg),
        stats.ci95.map_or_else(String::new, |ci| format!("{:.3}–{:.3}", ci.low, ci.high)),
        figure(stats.min),
        figure(stats.p50),
        figure(stats.p95),
        figure(stats.max),
        stats.pass_rate.map_or_else(String::new, |rate| format!("{:.1} %", rate * 100.0)),
    ]
}

fn time(milliseconds: f64) -> String {
    if milliseconds < 1.0 {
        format!("{:.0} µs", milliseconds * 1000.0)
    } else if milliseconds < 1000.0 {
        format!("{milliseconds:.0} ms")
    } else {
        format!("{:.1} s", milliseconds / 1000.0)
    }
}

/// A path as seen from the root of the workspace, where it lies in it.
fn relative(path: &Path) -> String {
    let root = workspace_root(&package_root());
    path.strip_prefix(&root).unwrap_or(path).display().to_string()
}
