//! The summary of an experiment in a few lines, including model costs.

use std::fmt::{self, Write as _};
use std::path::Path;

use super::custom_metrics::metric_lines;
use super::events::{DivergedItem, ExperimentFinished, FailedItem, ItemBelowPassMark};
use super::explain;
use super::format::{Style, format_agent_usage, format_judge_usage, format_score_at, format_simulated_users};
use super::groups::render_groups;
use super::retried::format_retried;
use super::traffic::{format_diverged, format_traffic, replay_suffix, traffic_notes};
use super::workspaces::format_kept;
use crate::duration::format_duration;
use crate::report::comparison::ThresholdStatus;
use crate::report::{Report, RunVerdict, ScoreStats, Summary, ThresholdOutcome};
use crate::wording::{count, escape_control, group_thousands, pass_mark_counts, passed_count, percent};

/// The column heads for [`score_cells`].
pub const SCORE_COLUMNS: [&str; 7] = ["mean", "95% CI", "min", "p50", "p95", "max", "pass rate"];
/// The width of the labels at the start of lines.
const LABEL_WIDTH: usize = 8;

/// Summarizes an experiment: its verdict, statistics, usage, errors, items below their pass mark, thresholds and result file,
/// whose path is relative to `seen_from`.
#[must_use]
pub fn render_summary(finished: &ExperimentFinished, seen_from: &Path, paint: Style) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, finished, seen_from, paint);
    text
}

fn write(text: &mut String, finished: &ExperimentFinished, seen_from: &Path, paint: Style) -> fmt::Result {
    let report = &finished.report;
    let name = paint.bold(escape_control(&report.name));
    writeln!(text, "{name}: {}", format_verdict(finished, paint))?;
    if let Some(rescored) = &report.rescored {
        write_line(text, "origin", &escape_control(&rescored.to_string()))?;
    }
    write_scores(text, report, paint)?;
    text.push_str(&render_groups(report, paint));
    write_line(text, "items", &format_items(finished, paint))?;
    if let Some(retried) = format_retried(&report.summary, paint) {
        write_line(text, "retried", &retried)?;
    }
    write_line(text, "time", &format_durations(&report.summary))?;
    if let Some(tokens) = format_agent_usage(&report.summary) {
        write_line(text, "tokens", &tokens)?;
    }
    if let Some(judges) = format_judge_usage(&report.summary) {
        write_line(text, "judges", &judges)?;
    }
    if let Some(users) = format_simulated_users(&report.summary) {
        write_line(text, "users", &users)?;
    }
    for (index, line) in metric_lines(&report.summary).iter().enumerate() {
        write_line(text, if index == 0 { "metrics" } else { "" }, line)?;
    }
    write_traffic(text, &report.summary)?;
    write_failed_items(text, &finished.failed, finished.items_in_error, paint)?;
    write_items_below_pass_mark(text, finished, paint)?;
    write_diverged_items(text, finished, paint)?;
    if let Some(kept) = &finished.kept_workspaces {
        write_line(text, "kept", &escape_control(&format_kept(kept)))?;
    }
    for (name, error) in &report.summary.summary_errors {
        let text_of_error = format!("`{name}` failed: {error}");
        write_line(text, "summary", &paint.error(escape_control(&text_of_error)))?;
    }
    if let Some(comparison) = &report.baseline {
        for (index, rest) in explain::comparison_lines(comparison, paint).iter().enumerate() {
            if index == 0 { writeln!(text, "  {rest}")? } else { write_line(text, "", rest)? }
        }
    }
    for gate in report.thresholds() {
        write_threshold(text, gate, paint)?;
    }
    for drift in report.drift() {
        write_line(text, "drift", &paint.warning(escape_control(&drift.message)))?;
    }
    if let Some(path) = &finished.path {
        let path = Path::new(path);
        let path = path.strip_prefix(seen_from).unwrap_or(path).display().to_string();
        write_line(text, "run", &report.id)?;
        write_line(text, "file", &escape_control(&path))?;
    }
    Ok(())
}

fn write_line(text: &mut String, label: &str, rest: &str) -> fmt::Result {
    writeln!(text, "  {label:LABEL_WIDTH$}{rest}")
}

fn format_verdict(finished: &ExperimentFinished, paint: Style) -> String {
    let word = match finished.report.verdict {
        RunVerdict::Passed => paint.success("passed"),
        RunVerdict::NotEvaluated => paint.warning("not evaluated"),
        RunVerdict::Failed => paint.error("FAILED"),
    };
    let grounds = verdict_reasons(&finished.report);
    if grounds.is_empty() { word } else { format!("{word}, {}", grounds.join(", ")) }
}

/// The reasons for a verdict: errors, thresholds and, in a strict experiment, the number of passed items.
#[must_use]
pub fn verdict_reasons(report: &Report) -> Vec<String> {
    let Report { partial, shard, ci_status, summary, config, .. } = report;
    let mut parts = Vec::new();
    let in_error = summary.items_in_error();
    if in_error > 0 {
        parts.push(format!("{} in error", count(in_error, "item")));
    }
    if !summary.summary_errors.is_empty() {
        parts.push(format!("{} failed", count(summary.summary_errors.len(), "summary function")));
    }
    if let Some(status) = ci_status {
        parts.push(status.summary.clone());
    }
    if config.strict {
        parts.push(passed_count(summary.passed_items, summary.total_items));
    }
    match shard {
        Some(shard) => parts.push(format!("shard {shard}")),
        None if *partial => parts.push("partial run".to_owned()),
        None => {}
    }
    parts
}

/// The score statistics, one row per evaluator.
fn write_scores(text: &mut String, report: &Report, paint: Style) -> fmt::Result {
    let stats = |name: &String| report.summary.scores.get(name).map(score_cells);
    let rows: Vec<_> = report
        .config
        .evaluators
        .iter()
        .map(|name| (escape_control(name).into_owned(), stats(name)))
        .collect();
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
    for ((name, row), evaluator) in rows.into_iter().zip(&report.config.evaluators) {
        let not_applicable = format_not_applicable(&report.summary, evaluator);
        match (row, not_applicable) {
            (Some(row), None) => writeln!(text, "  {name:name_width$}{}", cells(&row))?,
            (Some(row), Some(without)) => {
                writeln!(text, "  {name:name_width$}{}  {}", cells(&row), paint.faint(without))?;
            }
            (None, Some(without)) => writeln!(text, "  {name:name_width$}  {}", paint.warning(without))?,
            (None, None) => writeln!(text, "  {name:name_width$}  {}", paint.error("no score"))?,
        }
    }
    Ok(())
}

/// In how many executions an evaluator does not apply: `3 n/a`. `None` if it always does.
#[must_use]
pub fn format_not_applicable(summary: &Summary, evaluator: &str) -> Option<String> {
    let number = summary.not_applicable.get(evaluator)?;
    Some(format!("{} n/a", group_thousands(*number as u64)))
}

/// An evaluator's statistics in the columns of [`SCORE_COLUMNS`]; empty if unknown.
#[must_use]
pub fn score_cells(stats: &ScoreStats) -> [String; SCORE_COLUMNS.len()] {
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

fn format_items(finished: &ExperimentFinished, paint: Style) -> String {
    let Report { summary, config, .. } = &finished.report;
    let mut parts = vec![group_thousands(summary.total_items as u64)];
    if config.runs > 1 {
        parts[0] += &format!(", {} trials each", group_thousands(config.runs as u64));
    }
    match format_pass_marks(&finished.report, paint) {
        Some(counts) => parts.push(counts),
        None => parts.extend(error_counts(summary, paint)),
    }
    parts.join(", ")
}

/// How many items are at their pass marks, below one, and in error: `46 at pass marks, 50 below, 2 errors`. `None` in a strict experiment,
/// whose verdict has the items that passed, and without evaluators.
#[must_use]
pub fn format_pass_marks(report: &Report, paint: Style) -> Option<String> {
    let Report { summary, config, .. } = report;
    if config.strict || config.evaluators.is_empty() {
        return None;
    }
    let mut parts = vec![pass_mark_counts(summary.passed_items, summary.low_items)];
    parts.extend(error_counts(summary, paint));
    Some(parts.join(", "))
}

/// The errors by kind, as far as there are any.
fn error_counts(summary: &Summary, paint: Style) -> Vec<String> {
    let Summary { failed_items, timeouts, eval_errors, .. } = *summary;
    if failed_items + eval_errors == 0 {
        // Files of the original tool do not count the evaluations that failed.
        let others = summary.items_in_error();
        return if others > 0 { vec![paint.error(count(others, "error"))] } else { Vec::new() };
    }
    let kinds = [
        (failed_items.saturating_sub(timeouts), "error"),
        (timeouts, "timeout"),
        (eval_errors, "scoring error"),
    ];
    let some = kinds.into_iter().filter(|(number, _)| *number > 0);
    some.map(|(number, noun)| paint.error(count(number, noun))).collect()
}

/// The duration of a run and the latency of its items, in one line. The latency is marked if items were replayed.
#[must_use]
pub fn format_durations(summary: &Summary) -> String {
    let total = format!("{} total", format_duration(summary.total_duration_ms as f64));
    match &summary.latency {
        Some(latency) => format!(
            "{total}, latency mean {}, p50 {}, p95 {}{}",
            format_duration(summary.avg_latency_ms),
            format_duration(latency.p50),
            format_duration(latency.p95),
            replay_suffix(summary)
        ),
        None => total,
    }
}

/// What was replayed and what was sent, and what else is to know about it.
fn write_traffic(text: &mut String, summary: &Summary) -> fmt::Result {
    if let Some(traffic) = format_traffic(summary) {
        write_line(text, "traffic", &traffic)?;
    }
    traffic_notes(summary).iter().try_for_each(|note| write_line(text, "", note))
}

/// The items that diverged from their recording, the first of them with where.
fn write_diverged_items(text: &mut String, finished: &ExperimentFinished, paint: Style) -> fmt::Result {
    let Some(diverged) = format_diverged(&finished.report.summary) else { return Ok(()) };
    writeln!(text, "  {diverged}")?;
    let lines = finished.diverged.iter().map(|DivergedItem { item, difference }| {
        let difference = escape_control(difference).replace('\n', " ");
        format!("{item}: {}", paint.warning(difference))
    });
    let all = finished.report.summary.traffic.as_ref().map_or(0, |traffic| traffic.diverged_items);
    write_items(text, "", lines, all.saturating_sub(finished.diverged.len()))
}

fn write_failed_items(text: &mut String, failed: &[FailedItem], all: usize, paint: Style) -> fmt::Result {
    let lines = failed.iter().map(|failed| {
        let error = escape_control(&failed.error).replace('\n', " ");
        format!("{}: {}", format_item_names(failed), paint.error(error))
    });
    let shown: usize = failed.iter().map(|failed| 1 + failed.more).sum();
    write_items(text, "error", lines, all.saturating_sub(shown))
}

/// The item in error, or the number of items with the same error and the first of them.
fn format_item_names(failed: &FailedItem) -> String {
    let FailedItem { item, more, also, .. } = failed;
    if *more == 0 {
        return item.clone();
    }
    let left = if also.len() < *more { ", …" } else { "" };
    format!("{} ({item}, {}{left})", count(1 + more, "item"), also.join(", "))
}

fn write_items_below_pass_mark(
    text: &mut String,
    finished: &ExperimentFinished,
    paint: Style,
) -> fmt::Result {
    let lines = finished.low.iter().map(|ItemBelowPassMark { item, scores, why, workspace }| {
        // In the order of the table.
        let low = finished.report.config.evaluators().filter_map(|(name, pass_mark)| {
            Some(format!("{} {}", escape_control(name), format_score_at(*scores.get(name)?, pass_mark)))
        });
        let low: Vec<_> = low.collect();
        let mut line = format!("{item}: {}", paint.warning(low_scores(&low)));
        // The details have it, too.
        if let Some(changes) = workspace.as_ref().filter(|_| why.is_none()) {
            let _ = write!(line, " ({changes})");
        }
        // The first line names the item.
        for reason in why.iter().flat_map(|why| why.lines().skip(1)) {
            let _ = write!(line, "\n{:1$}{reason}", "", LABEL_WIDTH + 2);
        }
        line
    });
    if !finished.low.is_empty() {
        writeln!(text, "  below pass mark")?;
    }
    write_items(text, "", lines, finished.low_items.saturating_sub(finished.low.len()))
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
fn write_items(
    text: &mut String,
    label: &str,
    lines: impl Iterator<Item = String>,
    left: usize,
) -> fmt::Result {
    for (index, rest) in lines.enumerate() {
        write_line(text, if index == 0 { label } else { "" }, &rest)?;
    }
    if left == 0 { Ok(()) } else { write_line(text, "", &format!("and {}", count(left, "more item"))) }
}

fn write_threshold(text: &mut String, gate: &ThresholdOutcome, paint: Style) -> fmt::Result {
    let name = escape_control(&gate.name);
    match (gate.finding, &gate.figure) {
        (ThresholdStatus::Inconclusive, _) => {
            let word = "inconclusive";
            let word = if gate.passed { paint.warning(word) } else { paint.error(word) };
            writeln!(text, "  {word}  {}", escape_control(&gate.message))
        }
        (_, Some(figure)) if gate.passed => {
            writeln!(text, "  {}    {name}  ({figure})", paint.success("met "))
        }
        (_, Some(figure)) if !(gate.against_baseline || gate.has_details) => {
            writeln!(text, "  {}  {name}  ({figure})", paint.error("MISSED"))
        }
        _ => writeln!(text, "  {}  {}", paint.error("MISSED"), escape_control(&gate.message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporters::NotableItems;

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
        let finished = ExperimentFinished::of(0, &report, &NotableItems::default(), None);
        render_summary(&finished, Path::new(""), Style::Plain)
    }

    #[test]
    fn a_replayed_run_says_so_marks_its_figures_and_names_items_that_diverged() {
        let item = |index: usize, traffic: serde_json::Value| {
            let (key, item_traffic) = (format!("i{index}"), traffic);
            serde_json::json!({ "index": index, "key": key, "input": {}, "latencyMs": 250.0, "output": { "output": "a" },
                "evaluations": { "right": { "score": 1.0 } }, "traffic": item_traffic })
        };
        let recorded = "2026-11-21T09:00:00.000Z";
        let diverged = |index| {
            let traffic = serde_json::json!({ "replayed": 1, "live": 1, "recordedAt": recorded, "liveCost": 0.01,
                "diverged": format!("`messages[{index}]`: recorded `a`,\nnow `b`") });
            item(index, traffic)
        };
        let replayed = item(0, serde_json::json!({ "replayed": 2, "recordedAt": recorded }));
        let report: Report = serde_json::from_value(serde_json::json!({
            "schema": 1, "id": "0123456789ab", "name": "desk", "timestamp": "2026-11-22T14:30:00.000Z", "passed": true,
            "config": { "runs": 1, "concurrency": 1, "timeout": 1, "evaluators": ["right"], "passMarks": [0.5], "strict": true },
            "summary": {
                "totalItems": 5, "passedItems": 5, "totalDurationMs": 1000, "avgLatencyMs": 250.0, "totalTokens": 1200,
                "estimatedCost": 0.25, "latency": { "min": 250.0, "max": 250.0, "p50": 250.0, "p95": 250.0, "p99": 250.0 },
                "traffic": { "replayedItems": 1, "liveItems": 4, "divergedItems": 4, "replayed": 6, "live": 4,
                    "recordedAt": recorded, "liveCost": 0.04, "unattributed": 2, "retried": 1 },
            },
            "items": [replayed, diverged(1), diverged(2), diverged(3), diverged(4)],
        }))
        .unwrap();
        let names: Vec<_> = report.items.iter().map(|item| item.key.clone()).collect();
        let finished = ExperimentFinished::of(
            0,
            &report,
            &NotableItems::of(&report, |index| names[index].clone()),
            None,
        );
        let text = render_summary(&finished, Path::new(""), Style::Plain);
        let lines: Vec<_> = text.lines().skip(3).collect();
        assert_eq!(
            lines,
            [
                "  items   5",
                "  time    1.0 s total, latency mean 250 ms, p50 250 ms, p95 250 ms (1 of 5 as recorded)",
                "  tokens  1,200, agent cost $0.25 (1 of 5 as recorded)",
                "  traffic 5 items: 1 replayed (recorded 2026-11-21), 4 live, live agent cost $0.040",
                "          2 requests not attributed to an item; see `cobalt::recording`",
                "          1 request retried",
                "  4 items diverged from the recording",
                "          i1: `messages[1]`: recorded `a`, now `b`",
                "          i2: `messages[2]`: recorded `a`, now `b`",
                "          i3: `messages[3]`: recorded `a`, now `b`",
                "          and 1 more item",
            ],
            "{text}"
        );
        let event = serde_json::to_value(&finished).unwrap();
        assert_eq!(event["diverged"][0]["item"], "i1");
    }

    #[test]
    fn a_gated_run_counts_items_at_their_pass_marks_apart_from_its_verdict() {
        let met = serde_json::json!({ "passed": true, "violations": [], "summary": "1 threshold met" });
        let text = gated(serde_json::json!({ "passed": true, "ciStatus": met }));
        assert!(text.starts_with("desk: passed, 1 threshold met\n"), "{text}");
        assert!(text.contains("  items   2, 1 at pass marks, 1 below\n"), "{text}");
        let text = gated(serde_json::json!({ "partial": true }));
        assert!(text.starts_with("desk: not evaluated, partial run\n"), "{text}");
        let shard = serde_json::json!({ "index": 3, "of": 3 });
        let text = gated(serde_json::json!({ "partial": true, "shard": shard }));
        assert!(text.starts_with("desk: not evaluated, shard 3/3\n"), "{text}");
    }

    #[test]
    fn items_are_counted_by_their_pass_marks_and_their_errors_by_kind() {
        let items = |strict: bool, summary: serde_json::Value| {
            let report = serde_json::json!({
                "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "passed": false,
                "config": { "runs": 1, "concurrency": 1, "timeout": 1, "strict": strict, "evaluators": ["right"] },
                "summary": {}, "items": [],
            });
            let report: Report = serde_json::from_value(report).unwrap();
            let report = Report { summary: serde_json::from_value(summary).unwrap(), ..report };
            (format_pass_marks(&report, Style::Plain), verdict_reasons(&report))
        };
        let some = serde_json::json!({
            "totalItems": 1096, "passedItems": 1046, "lowItems": 40, "failedItems": 7, "timeouts": 1, "evalErrors": 5,
        });
        assert_eq!(
            items(false, some.clone()),
            (
                Some("1,046 at pass marks, 40 below, 6 errors, 1 timeout, 5 scoring errors".to_owned()),
                vec!["10 items in error".to_owned()]
            )
        );
        let strict = ["10 items in error", "1,046 of 1,096 items passed"].map(str::to_owned);
        assert_eq!(items(true, some), (None, strict.into()));
        let all = serde_json::json!({ "totalItems": 2, "passedItems": 2 });
        assert_eq!(items(false, all).0.unwrap(), "2 at pass marks");
        let uncounted = serde_json::json!({ "totalItems": 2, "passedItems": 0, "lowItems": 1 });
        assert_eq!(items(false, uncounted).0.unwrap(), "0 at pass marks, 1 below, 1 error");
    }

    #[test]
    fn of_many_low_scores_the_first_are_named() {
        let low: Vec<_> = ["a 0", "b 0", "c 0", "d 0", "e 0"].map(str::to_owned).into();
        assert_eq!(low_scores(&low[..4]), "a 0, b 0, c 0, d 0");
        assert_eq!(low_scores(&low), "a 0, b 0, c 0, and 2 more");
    }
}
