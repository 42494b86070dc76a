//! The one comment on a pull request: what a call came to, and what became worse, without outputs of the agent.

use std::fmt::Write as _;

use cobalt::Report;
use cobalt::report::comparison::{Comparison, Finding, RegressedItem};
use cobalt::reporters::figure;
use cobalt::wording::{count, cut};

use super::markdown::{conclusion, origin, title, troubles, usage, verdict};
use super::{Gravity, fitting, notable};
use crate::compare::markdown as comparison;
use crate::markdown::{cell, code};
use crate::reporters::{Finished, Results};

/// By this line, which is not shown, the comment is found again when there is something new to say.
pub(crate) const MARKER: &str = "<!-- cobalt -->\n";
/// GitHub refuses a comment that is longer, in characters; in bytes, that is at least as many.
const LARGEST: usize = 65_536;
/// What is said where not all has room.
const CUT: &str = "\n> The rest has no room in a comment.\n";
/// The most items that are named of those that failed.
const MOST_ITEMS: usize = 10;
/// The longest key or error of an item, in characters.
const LONGEST: usize = 120;

/// The comment.
pub(crate) fn pr_comment(results: &Results) -> String {
    let experiments = results.failed_first().map(experiment);
    let sections: Vec<_> = [conclusion(results), troubles(results)].into_iter().chain(experiments).collect();
    let room = LARGEST - MARKER.len();
    format!("{MARKER}{}", fitting(&sections, room, CUT))
}

fn experiment(finished: &Finished) -> String {
    let report = &finished.report;
    let mut text = format!("\n### {}: {}\n\n{}\n", code(&report.name), verdict(report), origin(report));
    for threshold in report.thresholds().iter().filter(|threshold| threshold.finding != Finding::Met) {
        let sign = if threshold.passed { "⚠️" } else { "❌" };
        let _ = writeln!(text, "\n- {sign} {}", code(&threshold.message));
    }
    text += &failed(report);
    if let Some(reason) = &finished.without_items {
        let _ = writeln!(text, "\n> The items are not known: {}", code(reason));
    }
    match &report.baseline {
        Some(against) => text += &changes(against),
        None => text += "\nThere is no baseline to hold this against.\n",
    }
    format!("{text}\n{}", usage(report))
}

/// All figures then and now, and the items that became worse.
fn changes(against: &Comparison) -> String {
    let base = &against.base;
    let mut text = format!(
        "\nAgainst run {} of {}, {} in common: **{}**\n",
        code(&base.id),
        &base.timestamp.to_string()[..10],
        count(against.items.matched, "item"),
        comparison::headline(against)
    );
    text += &comparison::table("figure of an item", against.evaluators.iter().chain(&against.amounts));
    for note in &against.notes {
        let _ = writeln!(text, "\n> {}", code(note));
    }
    if !against.regressed.is_empty() {
        text += "\n<details><summary>Items that became worse</summary>\n\n| item | score | base | now |\n|---|---|--:|--:|\n";
        against.regressed.iter().for_each(|item| text += &rows(item));
        let worst = against.evaluators.iter().map(|evaluator| evaluator.worse).max().unwrap_or(0);
        if worst > against.regressed.len() {
            let _ =
                writeln!(text, "\nThese are the worst; by one evaluator alone, {worst} items became worse.");
        }
        text += "\n</details>\n";
    }
    text
}

/// A row for each score that fell, and one for a failure.
fn rows(item: &RegressedItem) -> String {
    let key = cell(&code(&cut(&item.key, LONGEST)));
    let failure = if item.failed { format!("| {key} | | | in error |\n") } else { String::new() };
    let score = |score: Option<f64>| score.map_or_else(String::new, figure);
    let fallen = item.scores.iter().map(|it| {
        format!("| {key} | {} | {} | {} |\n", cell(&code(&it.evaluator)), score(it.base), score(it.other))
    });
    std::iter::once(failure).chain(fallen).collect()
}

/// The items in error, and those that failed by themselves.
fn failed(report: &Report) -> String {
    let failed: Vec<_> = notable(report).into_iter().filter(|item| item.gravity != Gravity::Low).collect();
    if failed.is_empty() {
        return String::new();
    }
    let mut text = format!("\n<details open><summary>{}</summary>\n\n", title(&failed));
    for item in failed.iter().take(MOST_ITEMS) {
        let reason = item.reason(code, |error| code(&cut(error, LONGEST)));
        let _ = writeln!(text, "- {}: {reason}", code(&cut(&item.name, LONGEST)));
    }
    if failed.len() > MOST_ITEMS {
        let _ = writeln!(text, "- and {}", count(failed.len() - MOST_ITEMS, "more item"));
    }
    text + "\n</details>\n"
}
