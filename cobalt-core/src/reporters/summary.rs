//! The summary of an experiment in a few lines, including model costs.

use std::fmt::{self, Write as _};
use std::path::Path;

use super::event::{ExperimentFinished, FailedItem, LowItem};
use super::explain;
use super::text::{Paint, agent_usage, judge_usage, rounded, time};
use crate::report::comparison::Finding;
use crate::report::{Report, RunVerdict, ScoreStats, Summary, ThresholdOutcome};
use crate::wording::{count, percent, printable, thousands};

/// The column heads for [`score_figures`].
pub const SCORE_COLUMNS: [&str; 7] = ["mean", "95% CI", "min", "p50", "p95", "max", "pass rate"];
/// The width of the labels at the start of lines.
const LABEL: usize = 8;

/// Summarizes an experiment: its verdict, statistics, usage, errors, items below their pass mark, thresholds and result file,
/// whose path is relative to `seen_from`.
#[must_use]
pub fn summary(finished: &ExperimentFinished, seen_from: &Path, paint: Paint) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, finished, seen_from, paint);
    text
}

fn write(text: &mut String, finished: &ExperimentFinished, seen_from: &Path, paint: Paint) -> fmt::Result {
    let report = &finished.report;
    let name = paint.strong(printable(&report.name));
    writeln!(text, "{name}: {}", verdict(finished, paint))?;
    scores(text, report, paint)?;
    line(text, "items", &items(finished, paint))?;
    line(text, "time", &times(&report.summary))?;
    if let Some(tokens) = agent_usage(&report.summary) {
        line(text, "tokens", &tokens)?;
    }
    if let Some(judges) = judge_usage(&report.summary) {
        line(text, "judges", &judges)?;
    }
    failed(text, &finished.failed, finished.items_in_error, paint)?;
    low(text, finished, paint)?;
    if let Some(comparison) = &report.baseline {
        for (index, rest) in explain::lines(comparison, paint).iter().enumerate() {
            if index == 0 { writeln!(text, "  {rest}")? } else { line(text, "", rest)? }
        }
    }
    for gate in report.thresholds() {
        threshold(text, gate, paint)?;
    }
    if let Some(path) = &finished.path {
        let path = Path::new(path);
        let path = path.strip_prefix(seen_from).unwrap_or(path).display().to_string();
        line(text, "run", &report.id)?;
        line(text, "file", &printable(&path))?;
    }
    Ok(())
}

fn line(text: &mut String, label: &str, rest: &str) -> fmt::Result {
    writeln!(text, "  {label:LABEL$}{rest}")
}

fn verdict(finished: &ExperimentFinished, paint: Paint) -> String {
    let word = match finished.report.verdict {
        RunVerdict::Passed => paint.good("passed"),
        RunVerdict::NotEvaluated => paint.odd("not evaluated"),
        RunVerdict::Failed => paint.bad("FAILED"),
    };
    let grounds = grounds(&finished.report, finished.items_in_error);
    if grounds.is_empty() { word } else { format!("{word}, {}", grounds.join(", ")) }
}

/// The reasons for a verdict: errors, thresholds and, in a strict experiment, the number of passed items.
#[must_use]
pub fn grounds(report: &Report, items_in_error: usize) -> Vec<String> {
    let Report { partial, shard, ci_status, summary, config, .. } = report;
    let mut parts = Vec::new();
    if items_in_error > 0 {
        parts.push(format!("{} in error", count(items_in_error, "item")));
    }
    if let Some(status) = ci_status {
        parts.push(status.summary.clone());
    }
    if config.strict {
        let Summary { passed_items, total_items, .. } = summary;
        parts.push(format!("{} of {} passed", thousands(*passed_items as u64), count(*total_items, "item")));
    }
    match shard {
        Some(shard) => parts.push(format!("shard {shard}")),
        None if *partial => parts.push("partial run".to_owned()),
        None => {}
    }
    parts
}

/// The score statistics, one row per evaluator.
fn scores(text: &mut String, report: &Report, paint: Paint) -> fmt::Result {
    let stats = |name: &String| report.summary.scores.get(name).map(score_figures);
    let rows: Vec<_> =
        report.config.evaluators.iter().map(|name| (printable(name).into_owned(), stats(name))).collect();
    let name_width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let width = |(column, title): (usize, &&str)| {
        let cells = rows.iter().filter_map(|(_, row)| Some(row.as_ref()?[column].chars().count()));
        cells.chain([title.chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<_> = SCORE_COLUMNS.iter().enumerate().map(width).collect();
    let cells = |cells: &[String]| -> String {
        cells.iter().zip(&widths).map(|(cell, width)| format!("  {cell:>width$}")).collect()
    };
    let titles = cells(&SCORE_COLUMNS.map(str::to_owned));
    writeln!(text, "  {:name_width$}{}", "", paint.faint(titles))?;
    for (name, row) in rows {
        match row {
            Some(row) => writeln!(text, "  {name:name_width$}{}", cells(&row))?,
            None => writeln!(text, "  {name:name_width$}  {}", paint.bad("no score"))?,
        }
    }
    Ok(())
}

/// An evaluator's statistics in the columns of [`SCORE_COLUMNS`]; empty if unknown.
#[must_use]
pub fn score_figures(stats: &ScoreStats) -> [String; SCORE_COLUMNS.len()] {
    let figure = |value: f64| format!("{value:.3}");
    [
        figure(stats.avg),
        stats.ci95.map_or_else(String::new, |ci| format!("{:.3}–{:.3}", ci.low, ci.high)),
        figure(stats.min),
        figure(stats.p50),
        figure(stats.p95),
        figure(stats.max),
        stats.pass_rate.map_or_else(String::new, percent),
    ]
}

fn items(finished: &ExperimentFinished, paint: Paint) -> String {
    let Summary { total_items, passed_items, failed_items, timeouts, eval_errors, .. } =
        finished.report.summary;
    let config = &finished.report.config;
    let mut parts = vec![thousands(total_items as u64)];
    if config.runs > 1 {
        parts[0] += &format!(", {} trials each", thousands(config.runs as u64));
    }
    // The verdict of a strict experiment includes it.
    if !config.strict && !config.evaluators.is_empty() {
        parts.push(at_pass_marks(passed_items, total_items));
    }
    let mut bad = |number: usize, noun: &str| {
        if number > 0 {
            parts.push(paint.bad(count(number, noun)));
        }
    };
    bad(failed_items.saturating_sub(timeouts), "error");
    bad(timeouts, "timeout");
    bad(eval_errors, "evaluation error");
    parts.join(", ")
}

/// The number of items at or above all their pass marks, without an error. It is not a verdict if thresholds decide.
#[must_use]
pub fn at_pass_marks(passed: usize, total: usize) -> String {
    format!("{} of {} at their pass marks", thousands(passed as u64), thousands(total as u64))
}

/// The duration of a run and the latency of its items, in one line.
#[must_use]
pub fn times(summary: &Summary) -> String {
    let total = format!("{} total", time(summary.total_duration_ms as f64));
    match &summary.latency {
        Some(latency) => format!(
            "{total}, latency mean {}, p50 {}, p95 {}",
            time(summary.avg_latency_ms),
            time(latency.p50),
            time(latency.p95)
        ),
        None => total,
    }
}

fn failed(text: &mut String, failed: &[FailedItem], all: usize, paint: Paint) -> fmt::Result {
    let lines = failed.iter().map(|failed| {
        let error = printable(&failed.error).replace('\n', " ");
        format!("{}: {}", names_of(failed), paint.bad(error))
    });
    let shown: usize = failed.iter().map(|failed| 1 + failed.more).sum();
    named_items(text, "error", lines, all.saturating_sub(shown))
}

/// The item in error, or the number of items with the same error and the first of them.
fn names_of(failed: &FailedItem) -> String {
    let FailedItem { item, more, also, .. } = failed;
    if *more == 0 {
        return item.clone();
    }
    let left = if also.len() < *more { ", …" } else { "" };
    format!("{} ({item}, {}{left})", count(1 + more, "item"), also.join(", "))
}

fn low(text: &mut String, finished: &ExperimentFinished, paint: Paint) -> fmt::Result {
    let lines = finished.low.iter().map(|LowItem { item, scores, why }| {
        // In the order of the table.
        let low = finished.report.config.evaluators().filter_map(|(name, pass_mark)| {
            Some(format!("{} {}", printable(name), rounded(*scores.get(name)?, pass_mark)))
        });
        let low: Vec<_> = low.collect();
        let mut line = format!("{item}: {}", paint.odd(low_scores(&low)));
        // The first line names the item.
        for reason in why.iter().flat_map(|why| why.lines().skip(1)) {
            let _ = write!(line, "\n{:1$}{reason}", "", LABEL + 2);
        }
        line
    });
    if !finished.low.is_empty() {
        writeln!(text, "  below pass mark")?;
    }
    named_items(text, "", lines, finished.low_items.saturating_sub(finished.low.len()))
}

/// The scores of an item below their pass mark; only the first few if there are many.
fn low_scores(low: &[String]) -> String {
    const MOST: usize = 3;
    // One more score takes no more space than "and 1 more".
    match low.len() {
        all if all > MOST + 1 => format!("{}, and {} more", low[..MOST].join(", "), all - MOST),
        _ => low.join(", "),
    }
}

/// One line per named item, and the number of those not named.
fn named_items(
    text: &mut String,
    label: &str,
    lines: impl Iterator<Item = String>,
    left: usize,
) -> fmt::Result {
    for (index, rest) in lines.enumerate() {
        line(text, if index == 0 { label } else { "" }, &rest)?;
    }
    if left == 0 { Ok(()) } else { line(text, "", &format!("and {}", count(left, "more item"))) }
}

fn threshold(text: &mut String, gate: &ThresholdOutcome, paint: Paint) -> fmt::Result {
    let name = printable(&gate.name);
    match (gate.finding, &gate.figure) {
        (Finding::Inconclusive, _) => {
            let word = "inconclusive";
            let word = if gate.passed { paint.odd(word) } else { paint.bad(word) };
            writeln!(text, "  {word}  {}", printable(&gate.message))
        }
        (_, Some(figure)) if gate.passed => writeln!(text, "  {}    {name}  ({figure})", paint.good("met ")),
        // The message states the confidence.
        (_, Some(figure)) if !gate.against_baseline => {
            writeln!(text, "  {}  {name}  ({figure})", paint.bad("MISSED"))
        }
        _ => writeln!(text, "  {}  {}", paint.bad("MISSED"), printable(&gate.message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The summary of a run with a threshold and two items, one of them below its pass mark.
    fn gated(more: serde_json::Value) -> String {
        let mut report = serde_json::json!({
            "schema": 1, "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z",
            "config": { "runs": 1, "concurrency": 1, "timeout": 1, "evaluators": ["right"], "passMarks": [0.5],
                "thresholds": ["right.avg>=0.4"] },
            "summary": { "totalItems": 2, "passedItems": 1, "lowItems": 1 },
        });
        let serde_json::Value::Object(more) = more else { unreachable!() };
        report.as_object_mut().unwrap().extend(more);
        let report: Report = serde_json::from_value(report).unwrap();
        let finished = ExperimentFinished::of(0, &report, &[], None);
        summary(&finished, Path::new(""), Paint::Plain)
    }

    #[test]
    fn a_gated_run_counts_items_at_their_pass_marks_apart_from_its_verdict() {
        let met = serde_json::json!({ "passed": true, "violations": [], "summary": "1 threshold met" });
        let text = gated(serde_json::json!({ "passed": true, "ciStatus": met }));
        assert!(text.starts_with("desk: passed, 1 threshold met\n"), "{text}");
        assert!(text.contains("  items   2, 1 of 2 at their pass marks\n"), "{text}");
        let text = gated(serde_json::json!({ "partial": true }));
        assert!(text.starts_with("desk: not evaluated, partial run\n"), "{text}");
        let shard = serde_json::json!({ "index": 3, "of": 3 });
        let text = gated(serde_json::json!({ "partial": true, "shard": shard }));
        assert!(text.starts_with("desk: not evaluated, shard 3/3\n"), "{text}");
    }

    #[test]
    fn of_many_low_scores_the_first_are_named() {
        let low: Vec<_> = ["a 0", "b 0", "c 0", "d 0", "e 0"].map(str::to_owned).into();
        assert_eq!(low_scores(&low[..4]), "a 0, b 0, c 0, d 0");
        assert_eq!(low_scores(&low), "a 0, b 0, c 0, and 2 more");
    }
}
