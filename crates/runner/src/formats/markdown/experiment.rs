//! The results of one experiment: scores, thresholds, and the items that need attention.

use std::fmt::Write as _;

use cobalt_core::report::comparison::{Comparison, RegressedItem, ThresholdStatus};
use cobalt_core::report::{Report, RunVerdict, Summary, ThresholdOutcome};
use cobalt_core::reporters::{
    GroupCell, SCORE_COLUMNS, Style, explain, format_agent_usage, format_diverged, format_durations,
    format_judge_usage, format_not_applicable, format_pass_marks, format_retried, format_score,
    format_simulated_users, format_traffic, group_tables, score_cells, traffic_notes, verdict_reasons,
};
use cobalt_core::wording::{count, truncate};

use super::metrics::{metrics, tables};
use crate::compare::markdown as comparison;
use crate::formats::{NotableItems, Severity};
use crate::markdown::{code, escape_cell, fenced};
use crate::results::{FinishedExperiment, NamedItem};
use crate::runs::short_hash;

/// The maximum length of an item's key, in characters.
const MAX_KEY_LEN: usize = 120;
/// The maximum length of an item's explanation, in characters.
const MAX_EXPLANATION_LEN: usize = 3000;
/// The maximum length of a one-line error, and of a difference from a recording, in characters.
const MAX_ERROR_LEN: usize = 200;
/// The maximum number of failed summary functions.
const MAX_SUMMARY_ERRORS: usize = 10;
/// The maximum number of named items that diverged from their recording.
const MAX_DIVERGED: usize = 10;

/// The section of an experiment, with at most `most_items` items.
pub fn experiment(finished: &FinishedExperiment, most_items: usize) -> String {
    let report = &finished.report;
    let mut text = format!("\n### {}: {}\n\n{}\n", code(&report.name), verdict(report), run_identity(report));
    if let Some(rescored) = &report.rescored {
        let _ = write!(text, "\nOrigin: {}\n", code(&rescored.to_string()));
    }
    text += &scores(report);
    text += &groups(report);
    text += &thresholds(report);
    text += &summary_errors(&report.summary);
    text += &times_and_usage(report);
    text += &tables(&report.summary);
    if let Some(against) = &report.baseline {
        let _ = write!(
            text,
            "\nChange vs. baseline: **{}**\n\n<details><summary>All metrics</summary>\n\n{}\n</details>\n{}",
            comparison::headline(against),
            comparison::baseline_tables(against),
            regressions(against)
        );
    }
    if let Some(note) = finished.left_out_note() {
        let _ = writeln!(text, "\n{note}.");
    }
    match &finished.without_items {
        Some(reason) => {
            let _ = writeln!(text, "\n> Item results are unavailable: {}", code(reason));
        }
        None => {
            text += &items(report, &NotableItems::of(finished), most_items);
            text += &diverged_items(finished);
        }
    }
    text
}

/// The verdict with its grounds.
pub fn verdict(report: &Report) -> String {
    let grounds = verdict_reasons(report);
    if grounds.is_empty() {
        verdict_label(report).to_owned()
    } else {
        format!("{}, {}", verdict_label(report), grounds.join(", "))
    }
}

/// The verdict alone.
pub fn verdict_label(report: &Report) -> &'static str {
    match report.verdict {
        RunVerdict::Passed => "✅ passed",
        RunVerdict::NotEvaluated => "⚪ not evaluated",
        RunVerdict::Failed => "❌ failed",
    }
}

/// The identity of the run.
pub fn run_identity(report: &Report) -> String {
    let runs =
        if report.config.runs > 1 { format!(" × {} trials", report.config.runs) } else { String::new() };
    let mut parts = vec![
        format!("{}{runs}", count(report.summary.total_items, "item")),
        format!("run {}", code(&report.id)),
        format!("started {} UTC", report.timestamp.to_minute()),
    ];
    if let Some(git) = &report.git {
        let dirty = if git.dirty { " (uncommitted changes)" } else { "" };
        parts.push(format!("commit {}{dirty}", code(short_hash(&git.commit))));
    }
    if !report.tags.is_empty() {
        let tags: Vec<_> = report.tags.iter().map(|tag| code(tag)).collect();
        parts.push(format!("tags {}", tags.join(", ")));
    }
    parts.join(" · ")
}

/// The evaluators' statistics.
fn scores(report: &Report) -> String {
    if report.config.evaluators.is_empty() {
        return String::new();
    }
    let mut text =
        format!("\n| score | {} |\n|---|{}\n", SCORE_COLUMNS.join(" | "), "--:|".repeat(SCORE_COLUMNS.len()));
    for name in &report.config.evaluators {
        let without = format_not_applicable(&report.summary, name);
        let title = match &without {
            Some(without) => format!("{} ({without})", escape_cell(&code(name))),
            None => escape_cell(&code(name)),
        };
        let _ = match report.summary.scores.get(name) {
            Some(stats) => writeln!(text, "| {title} | {} |", score_cells(stats).join(" | ")),
            None => {
                let score = if without.is_some() { "n/a" } else { "no score" };
                writeln!(text, "| {title} | {score} |{}", " |".repeat(SCORE_COLUMNS.len() - 1))
            }
        };
    }
    text
}

/// A table for each field by which the statistics are grouped. The lowest means are bold.
fn groups(report: &Report) -> String {
    let mut text = String::new();
    for table in group_tables(report) {
        let titles: Vec<_> = table.titles.iter().map(|title| escape_cell(title)).collect();
        let _ = writeln!(text, "\nby {}, mean (95% CI), lowest mean bold:\n", code(&table.field));
        let _ = writeln!(text, "| {} |\n|---|{}", titles.join(" | "), "--:|".repeat(titles.len() - 1));
        for row in &table.rows {
            let cell = |(place, cell): (usize, &GroupCell)| {
                let text = if place == 0 { code(&cell.text) } else { cell.text.clone() };
                let text = escape_cell(&text);
                if cell.is_lowest { format!("**{text}**") } else { text.to_string() }
            };
            let cells: Vec<_> = row.cells.iter().enumerate().map(cell).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        if let Some(more) = table.more_line() {
            let _ = writeln!(text, "\n{more}");
        }
    }
    text
}

/// Times, retries, tokens, costs and metrics, one line each.
fn times_and_usage(report: &Report) -> String {
    format!(
        "\n{}- time: {}\n{}",
        items_at_pass_marks(report),
        format_durations(&report.summary),
        usage(report)
    )
}

/// The items by their pass marks; empty in a strict experiment, where the verdict covers it.
pub fn items_at_pass_marks(report: &Report) -> String {
    let counts = format_pass_marks(report, Style::Plain);
    counts.map_or_else(String::new, |counts| format!("- items: {counts}\n"))
}

/// Retries, tokens, costs and metrics, one line each; empty if there were none or they are unknown.
pub fn usage(report: &Report) -> String {
    let retried = format_retried(&report.summary, Style::Plain);
    let mut text = retried.map_or_else(String::new, |retried| format!("- retried: {retried}\n"));
    let known = [
        ("tokens", format_agent_usage(&report.summary)),
        ("judges", format_judge_usage(&report.summary)),
        ("simulated users", format_simulated_users(&report.summary)),
    ];
    let known = known.into_iter().filter_map(|(name, amount)| Some((name, amount?)));
    text.extend(known.map(|(name, amount)| format!("- {name}: {}\n", numbers_or_code(&amount))));
    text += &metrics(&report.summary);
    // These are our own words and numbers.
    let traffic = format_traffic(&report.summary).into_iter();
    for line in traffic.chain(format_diverged(&report.summary)).chain(traffic_notes(&report.summary)) {
        text += &format!("- traffic: {line}\n");
    }
    text
}

/// Numbers as they are; as inline code if there is a model name among them.
fn numbers_or_code(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || " ,.$µ".contains(character);
    if text.chars().all(is_plain) { text.to_owned() } else { code(text) }
}

/// A table of the thresholds, and a line for each that was not met; empty if there are none.
fn thresholds(report: &Report) -> String {
    let thresholds = report.thresholds();
    if thresholds.is_empty() {
        return violations(report);
    }
    let mut text = String::from("\n| threshold | actual | result |\n|---|--:|---|\n");
    for threshold in thresholds {
        let figure = threshold.figure.as_deref().unwrap_or("–");
        let _ = writeln!(
            text,
            "| {} | {figure} | {} |",
            escape_cell(&code(&threshold.name)),
            result_label(threshold)
        );
    }
    for threshold in thresholds.iter().filter(|threshold| threshold.finding != ThresholdStatus::Met) {
        let _ = writeln!(text, "\n> {}", code(&threshold.message));
    }
    for drift in report.drift() {
        let _ = writeln!(text, "\n> ⚠️ {}", code(&drift.message));
    }
    text
}

/// The result of a threshold; an inconclusive one is never shown as met.
pub fn result_label(threshold: &ThresholdOutcome) -> &'static str {
    match (threshold.finding, threshold.passed) {
        (ThresholdStatus::Met, _) => "✅ met",
        (ThresholdStatus::Missed, _) => "❌ missed",
        (ThresholdStatus::Inconclusive, true) => "⚠️ inconclusive",
        (ThresholdStatus::Inconclusive, false) => "❌ inconclusive (fails)",
    }
}

/// Missed thresholds, for files that list only those.
fn violations(report: &Report) -> String {
    let violations = report.ci_status.iter().flat_map(|status| &status.violations);
    violations.map(|violation| format!("\n> ❌ {}\n", code(&violation.message))).collect()
}

/// The summary functions that failed, one line each; empty if there are none.
pub fn summary_errors(summary: &Summary) -> String {
    let errors = &summary.summary_errors;
    let mut text = String::new();
    for (name, error) in errors.iter().take(MAX_SUMMARY_ERRORS) {
        let name = code(&truncate(name, MAX_KEY_LEN));
        let _ = write!(
            text,
            "\n> ❌ Summary function {name} failed: {}\n",
            code(&truncate(error, MAX_ERROR_LEN))
        );
    }
    if errors.len() > MAX_SUMMARY_ERRORS {
        let more = count(errors.len() - MAX_SUMMARY_ERRORS, "more summary function");
        let _ = write!(text, "\n> ❌ {more} failed\n");
    }
    text
}

/// A collapsed table of regressions; empty if there are none.
pub fn regressions(against: &Comparison) -> String {
    if against.regressed.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n<details><summary>Regressions</summary>\n\n| item | score | baseline | candidate |\n|---|---|--:|--:|\n",
    );
    against.regressed.iter().for_each(|item| text += &regression_rows(item));
    let worst = against.evaluators.iter().map(|evaluator| evaluator.worse).max().unwrap_or(0);
    if worst > against.regressed.len() {
        let _ = writeln!(text, "\nOnly the worst are listed; one evaluator alone has {worst} regressions.");
    }
    text + "\n</details>\n"
}

/// A row for each score that dropped, and one for a failure.
fn regression_rows(item: &RegressedItem) -> String {
    let key = escape_cell(&code(&truncate(&item.key, MAX_KEY_LEN)));
    let failure = if item.failed { format!("| {key} | | | in error |\n") } else { String::new() };
    let score = |score: Option<f64>| score.map_or_else(String::new, format_score);
    let fallen = item.scores.iter().map(|it| {
        format!(
            "| {key} | {} | {} | {} |\n",
            escape_cell(&code(&it.evaluator)),
            score(it.base),
            score(it.other)
        )
    });
    std::iter::once(failure).chain(fallen).collect()
}

/// The items, at most `most` of them; empty if there are none.
fn items(report: &Report, notable: &NotableItems<'_>, most: usize) -> String {
    let Some(worst) = notable.shown.first() else { return String::new() };
    // Expanded if something failed.
    let open = if worst.severity == Severity::BelowPassMark && report.verdict != RunVerdict::Failed {
        ""
    } else {
        " open"
    };
    let mut text = format!("\n<details{open}><summary>{}</summary>\n", notable.describe_counts());
    for item in notable.shown.iter().take(most) {
        let reason = item.reason(code, |error| code(&truncate(error, MAX_ERROR_LEN)));
        let _ = writeln!(text, "\n{} **{}**: {reason}\n", icon(item.severity), code(item.name));
        let explained = explain(item.item, &report.name, &report.config);
        text += &fenced(&truncate(&explained, MAX_EXPLANATION_LEN));
    }
    let more = notable.more_than(most);
    if more > 0 {
        let _ = writeln!(text, "\nand {}", count(more, "more item"));
    }
    text + "\n</details>\n"
}

/// The items that diverged from their recording, each with where; empty if there are none.
fn diverged_items(finished: &FinishedExperiment) -> String {
    let summary = &finished.report.summary;
    let Some(title) = format_diverged(summary) else { return String::new() };
    let lines = finished.items.shown().iter().filter_map(diverged_item).take(MAX_DIVERGED);
    let lines: Vec<_> = lines.collect();
    let all = summary.traffic.as_ref().map_or(0, |traffic| traffic.diverged_items);
    let mut text = format!("\n<details><summary>{title}</summary>\n\n{}", lines.concat());
    if all > lines.len() {
        let _ = writeln!(text, "- and {}", count(all - lines.len(), "more item"));
    }
    text + "\n</details>\n"
}

fn diverged_item(NamedItem { case, item, .. }: &NamedItem) -> Option<String> {
    let difference = item.runs.iter().find_map(|run| run.traffic.as_ref()?.diverged.as_ref())?;
    let name = code(&truncate(case, MAX_KEY_LEN));
    Some(format!("- {name}: {}\n", code(&truncate(difference, MAX_ERROR_LEN))))
}

fn icon(gravity: Severity) -> &'static str {
    if gravity == Severity::BelowPassMark { "⚠️" } else { "❌" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::fixtures::{conversation, finished, replayed, retried, with_workspace};
    use crate::formats::pr_comment;
    use crate::results::Results;

    #[test]
    fn a_replayed_run_says_so_and_where_it_diverged_and_a_comment_says_it_without_texts() {
        let finished = finished(replayed());
        let text = experiment(&finished, 10);
        let lines = "p95 250 ms (1 of 2 as recorded)\n\
                     - traffic: 2 items: 1 replayed (recorded 2026-01-21), 1 live, live agent cost $0.030\n\
                     - traffic: 1 item diverged from the recording\n\
                     - traffic: 2 requests not attributed to an item; see `cobalt::recording`\n";
        assert!(text.contains(lines), "{text}");
        let diverged = "\n<details><summary>1 item diverged from the recording</summary>\n\n\
                        - `item-1`: `` `messages[1]`: now <b>`x`</b> ``\n\n</details>\n";
        assert!(text.ends_with(diverged), "{text}");
        let comment = pr_comment(&Results::of(vec![finished]));
        assert!(comment.contains("- traffic: 1 item diverged from the recording\n"), "{comment}");
        assert!(!comment.contains("messages[1]"), "{comment}");
    }

    #[test]
    fn an_item_below_its_pass_mark_names_the_files_that_its_agent_changed_without_the_patch() {
        let text = experiment(&finished(with_workspace()), 5);
        let line =
            "workspace: 1 file changed, +1 −1: src/<b>.rs; kept in .cobalt/workspaces/0123456789ab/k0-1";
        assert!(text.contains(line) && !text.contains("diff --git"), "{text}");
    }

    #[test]
    fn a_run_says_what_was_retried_and_a_comment_says_it_without_errors() {
        let finished = finished(retried());
        let line = "- retried: 1 item, 2 transient failures; 1 item passed only after a retry\n";
        let text = experiment(&finished, 10);
        assert!(text.contains(line), "{text}");
        let comment = pr_comment(&Results::of(vec![finished]));
        assert!(comment.contains(line) && !comment.contains("busy"), "{comment}");
    }

    #[test]
    fn a_failed_conversation_names_the_turn_and_the_cost_of_simulated_users_also_in_a_comment() {
        let finished = finished(conversation());
        let text = experiment(&finished, 10);
        let comment = pr_comment(&Results::of(vec![finished]));
        for text in [text, comment] {
            let reason = "error: `no seats`; `turn 1 missed contains \"Friday\"; turn 2 failed`\n";
            assert!(text.contains(reason), "{text}");
            let users = "- simulated users: `3 calls, 1,000 tokens, user cost $0.25 (gpt-4o)`\n";
            assert!(text.contains(users) && !text.contains("named the city"), "{text}");
        }
    }

    #[test]
    fn a_summary_function_that_failed_says_why_in_the_results_and_in_a_comment() {
        let mut finished = finished(retried());
        let errors: Vec<_> =
            (10..22).map(|number| (format!("f{number}"), "no\r\n# labels".to_owned())).collect();
        finished.report.summary.summary_errors = errors.into_iter().collect();
        finished.report.verdict = RunVerdict::Failed;
        let (text, comment) = (experiment(&finished, 10), pr_comment(&Results::of(vec![finished])));
        for text in [text, comment] {
            assert!(text.contains("❌ failed, 12 summary functions failed\n"), "{text}");
            let line = |name: &str| format!("\n> ❌ Summary function `{name}` failed: `no\\r\\n# labels`\n");
            assert!(text.contains(&line("f10")) && text.contains(&line("f19")), "{text}");
            assert!(!text.contains("`f20`"), "{text}");
            assert!(text.contains("\n> ❌ 2 more summary functions failed\n"), "{text}");
        }
    }

    #[test]
    fn a_models_name_among_figures_can_mention_nobody() {
        assert_eq!(numbers_or_code("1,200, agent cost $0.030"), "1,200, agent cost $0.030");
        assert_eq!(numbers_or_code("1 call, $0 (@you)"), "`1 call, $0 (@you)`");
    }
}
