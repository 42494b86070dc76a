//! What one experiment came to.

use std::fmt::Write as _;

use cobalt::Report;
use cobalt::report::Summary;
use cobalt::reporters::{
    SCORE_COLUMNS, agent_usage, at_pass_marks, grounds, judge_usage, score_figures, times,
};
use cobalt::wording::count;

use super::conclusion::word;
use super::{items, regressed, thresholds};
use crate::compare::markdown as comparison;
use crate::formats::notable;
use crate::markdown::{cell, code};
use crate::results::Finished;
use crate::runs::short;

/// A section on an experiment, with at most so many of its items.
pub(crate) fn experiment(finished: &Finished, most_items: usize) -> String {
    let report = &finished.report;
    let mut text = format!("\n### {}: {}\n\n{}\n", code(&report.name), verdict(report), origin(report));
    text += &scores(report);
    text += &thresholds::table(report);
    text += &amounts(report);
    if let Some(against) = &report.baseline {
        let _ = write!(
            text,
            "\nAgainst the baseline: **{}**\n\n<details><summary>Then and now</summary>\n\n{}\n</details>\n{}",
            comparison::headline(against),
            comparison::figures(against),
            regressed(against)
        );
    }
    match &finished.without_items {
        Some(reason) => {
            let _ = writeln!(text, "\n> The items are not known: {}", code(reason));
        }
        None => text += &items::items(report, &notable(report), most_items),
    }
    text
}

/// The verdict with what it rests on.
pub(crate) fn verdict(report: &Report) -> String {
    let in_error = report.items.iter().filter(|item| item.is_in_error()).count();
    let in_error = if report.items.is_empty() { report.summary.failed_items } else { in_error };
    let grounds = grounds(report, in_error);
    if grounds.is_empty() {
        word(report).to_owned()
    } else {
        format!("{}, {}", word(report), grounds.join(", "))
    }
}

/// Which run this is.
pub(crate) fn origin(report: &Report) -> String {
    let runs =
        if report.config.runs > 1 { format!(" × {} runs", report.config.runs) } else { String::new() };
    let mut parts = vec![
        format!("{}{runs}", count(report.summary.total_items, "item")),
        format!("run {}", code(&report.id)),
        format!("started {} UTC", report.timestamp.to_string()[..16].replace('T', " ")),
    ];
    if let Some(git) = &report.git {
        let dirty = if git.dirty { " with changes" } else { "" };
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

/// Times, tokens and costs, a line each.
fn amounts(report: &Report) -> String {
    format!("\n{}- time: {}\n{}", at_marks(report), times(&report.summary), usage(report))
}

/// How many items are at their pass marks, in a line; empty in a strict experiment, of which the verdict says it.
pub(crate) fn at_marks(report: &Report) -> String {
    let Summary { passed_items, total_items, .. } = report.summary;
    if report.config.strict || report.config.evaluators.is_empty() {
        return String::new();
    }
    format!("- items: {}\n", at_pass_marks(passed_items, total_items))
}

/// Tokens and costs, a line each; empty where they are not known.
pub(crate) fn usage(report: &Report) -> String {
    let known = [("tokens", agent_usage(&report.summary)), ("judges", judge_usage(&report.summary))];
    let known = known.into_iter().filter_map(|(name, amount)| Some((name, amount?)));
    known.map(|(name, amount)| format!("- {name}: {}\n", sentence_of_figures(&amount))).collect()
}

/// Figures as they are; all in code where a model's name stands among them.
fn sentence_of_figures(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || " ,.$µ".contains(character);
    if text.chars().all(is_plain) { text.to_owned() } else { code(text) }
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
