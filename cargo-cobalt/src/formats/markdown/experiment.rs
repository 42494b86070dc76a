//! The results of one experiment: scores, thresholds, and the items that need attention.

use std::fmt::Write as _;

use cobalt_core::report::comparison::{Comparison, Finding, RegressedItem};
use cobalt_core::report::{Report, RunVerdict, Summary, ThresholdOutcome};
use cobalt_core::reporters::{
    SCORE_COLUMNS, agent_usage, at_pass_marks, explain, figure, grounds, judge_usage, score_figures, times,
};
use cobalt_core::wording::{count, cut};

use crate::compare::markdown as comparison;
use crate::formats::{Gravity, Notable, notable};
use crate::markdown::{cell, code, fenced};
use crate::results::Finished;
use crate::runs::short;

/// The maximum length of an item's key, in characters.
const LONGEST_KEY: usize = 120;
/// The maximum length of an item's explanation, in characters.
const LONGEST_EXPLANATION: usize = 3000;
/// The maximum length of a one-line error, in characters.
const LONGEST_ERROR: usize = 200;

/// The section of an experiment, with at most `most_items` items.
pub fn experiment(finished: &Finished, most_items: usize) -> String {
    let report = &finished.report;
    let mut text = format!("\n### {}: {}\n\n{}\n", code(&report.name), verdict(report), origin(report));
    text += &scores(report);
    text += &thresholds(report);
    text += &amounts(report);
    if let Some(against) = &report.baseline {
        let _ = write!(
            text,
            "\nChange vs. baseline: **{}**\n\n<details><summary>All metrics</summary>\n\n{}\n</details>\n{}",
            comparison::headline(against),
            comparison::figures(against),
            regressed(against)
        );
    }
    match &finished.without_items {
        Some(reason) => {
            let _ = writeln!(text, "\n> Item results are unavailable: {}", code(reason));
        }
        None => text += &items(report, &notable(report), most_items),
    }
    text
}

/// The verdict with its grounds.
pub fn verdict(report: &Report) -> String {
    let in_error = report.items.iter().filter(|item| item.is_in_error()).count();
    let in_error = if report.items.is_empty() { report.summary.failed_items } else { in_error };
    let grounds = grounds(report, in_error);
    if grounds.is_empty() {
        word(report).to_owned()
    } else {
        format!("{}, {}", word(report), grounds.join(", "))
    }
}

/// The verdict alone.
pub fn word(report: &Report) -> &'static str {
    match report.verdict {
        RunVerdict::Passed => "✅ passed",
        RunVerdict::NotEvaluated => "⚪ not evaluated",
        RunVerdict::Failed => "❌ failed",
    }
}

/// The identity of the run.
pub fn origin(report: &Report) -> String {
    let runs =
        if report.config.runs > 1 { format!(" × {} trials", report.config.runs) } else { String::new() };
    let mut parts = vec![
        format!("{}{runs}", count(report.summary.total_items, "item")),
        format!("run {}", code(&report.id)),
        format!("started {} UTC", report.timestamp.to_string()[..16].replace('T', " ")),
    ];
    if let Some(git) = &report.git {
        let dirty = if git.dirty { " (uncommitted changes)" } else { "" };
        parts.push(format!("commit {}{dirty}", code(short(&git.commit))));
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
        let title = cell(&code(name));
        let _ = match report.summary.scores.get(name) {
            Some(stats) => writeln!(text, "| {title} | {} |", score_figures(stats).join(" | ")),
            None => writeln!(text, "| {title} | no score |{}", " |".repeat(SCORE_COLUMNS.len() - 1)),
        };
    }
    text
}

/// Times, tokens and costs, one line each.
fn amounts(report: &Report) -> String {
    format!("\n{}- time: {}\n{}", at_marks(report), times(&report.summary), usage(report))
}

/// The number of items at their pass marks; empty in a strict experiment, where the verdict covers it.
pub fn at_marks(report: &Report) -> String {
    let Summary { passed_items, total_items, .. } = report.summary;
    if report.config.strict || report.config.evaluators.is_empty() {
        return String::new();
    }
    format!("- items: {}\n", at_pass_marks(passed_items, total_items))
}

/// Tokens and costs, one line each; empty if unknown.
pub fn usage(report: &Report) -> String {
    let known = [("tokens", agent_usage(&report.summary)), ("judges", judge_usage(&report.summary))];
    let known = known.into_iter().filter_map(|(name, amount)| Some((name, amount?)));
    known.map(|(name, amount)| format!("- {name}: {}\n", sentence_of_figures(&amount))).collect()
}

/// Numbers as they are; as inline code if there is a model name among them.
fn sentence_of_figures(text: &str) -> String {
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
        let _ = writeln!(text, "| {} | {figure} | {} |", cell(&code(&threshold.name)), finding(threshold));
    }
    for threshold in thresholds.iter().filter(|threshold| threshold.finding != Finding::Met) {
        let _ = writeln!(text, "\n> {}", code(&threshold.message));
    }
    text
}

/// The result of a threshold; an inconclusive one is never shown as met.
fn finding(threshold: &ThresholdOutcome) -> &'static str {
    match (threshold.finding, threshold.passed) {
        (Finding::Met, _) => "✅ met",
        (Finding::Missed, _) => "❌ missed",
        (Finding::Inconclusive, true) => "⚠️ inconclusive",
        (Finding::Inconclusive, false) => "❌ inconclusive (fails)",
    }
}

/// Missed thresholds, for files that list only those.
fn violations(report: &Report) -> String {
    let violations = report.ci_status.iter().flat_map(|status| &status.violations);
    violations.map(|violation| format!("\n> ❌ {}\n", code(&violation.message))).collect()
}

/// A collapsed table of regressions; empty if there are none.
pub fn regressed(against: &Comparison) -> String {
    if against.regressed.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n<details><summary>Regressions</summary>\n\n| item | score | baseline | candidate |\n|---|---|--:|--:|\n",
    );
    against.regressed.iter().for_each(|item| text += &regressed_rows(item));
    let worst = against.evaluators.iter().map(|evaluator| evaluator.worse).max().unwrap_or(0);
    if worst > against.regressed.len() {
        let _ = writeln!(text, "\nOnly the worst are listed; one evaluator alone has {worst} regressions.");
    }
    text + "\n</details>\n"
}

/// A row for each score that dropped, and one for a failure.
fn regressed_rows(item: &RegressedItem) -> String {
    let key = cell(&code(&cut(&item.key, LONGEST_KEY)));
    let failure = if item.failed { format!("| {key} | | | in error |\n") } else { String::new() };
    let score = |score: Option<f64>| score.map_or_else(String::new, figure);
    let fallen = item.scores.iter().map(|it| {
        format!("| {key} | {} | {} | {} |\n", cell(&code(&it.evaluator)), score(it.base), score(it.other))
    });
    std::iter::once(failure).chain(fallen).collect()
}

/// The items, at most `most` of them; empty if there are none.
fn items(report: &Report, notable: &[Notable<'_>], most: usize) -> String {
    if notable.is_empty() {
        return String::new();
    }
    // Expanded if something failed.
    let open =
        if notable[0].gravity == Gravity::Low && report.verdict != RunVerdict::Failed { "" } else { " open" };
    let mut text = format!("\n<details{open}><summary>{}</summary>\n", title(notable));
    for item in notable.iter().take(most) {
        let reason = item.reason(code, |error| code(&cut(error, LONGEST_ERROR)));
        let _ = writeln!(text, "\n{} **{}**: {reason}\n", sign(item.gravity), code(&item.name));
        let explained = explain(item.item, &report.name, &report.config);
        text += &fenced(&cut(&explained, LONGEST_EXPLANATION));
    }
    if notable.len() > most {
        let _ = writeln!(text, "\nand {}", count(notable.len() - most, "more item"));
    }
    text + "\n</details>\n"
}

/// The number of items of each kind.
pub fn title(notable: &[Notable<'_>]) -> String {
    let kinds =
        [(Gravity::Error, "in error"), (Gravity::Failed, "failed"), (Gravity::Low, "below pass mark")];
    let counted = kinds.into_iter().filter_map(|(gravity, what)| {
        let number = notable.iter().filter(|item| item.gravity == gravity).count();
        (number > 0).then(|| format!("{} {what}", count(number, "item")))
    });
    counted.collect::<Vec<_>>().join(", ")
}

fn sign(gravity: Gravity) -> &'static str {
    if gravity == Gravity::Low { "⚠️" } else { "❌" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_models_name_among_figures_can_mention_nobody() {
        assert_eq!(sentence_of_figures("1,200, cost $0.03"), "1,200, cost $0.03");
        assert_eq!(sentence_of_figures("1 call, $0 (@you)"), "`1 call, $0 (@you)`");
    }
}
