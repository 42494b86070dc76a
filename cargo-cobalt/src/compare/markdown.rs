//! A comparison as Markdown, as for a comment on a pull request. What was not written by us stands in code spans and blocks,
//! where it can neither format nor mention anything.

use std::fmt::Write as _;

use cobalt::report::comparison::{Comparison, Difference, ItemChange, ItemSide, RunIdentity, Verdict};
use cobalt::reporters::explained;
use cobalt::wording::cut;

use super::{Compared, sides, words};
use crate::markdown::{LONGEST_TEXT, block, cell, code, sentence};

/// The comparison as Markdown in GitHub's dialect.
pub(super) fn markdown(compared: &Compared) -> String {
    let comparison = &compared.comparison;
    let mut text = format!("### {}: {}\n\n", code(&words::experiments(comparison)), headline(comparison));
    text += &figures(comparison);
    if !compared.most_changed.is_empty() {
        text.push_str("\n<details><summary>The items that changed most</summary>\n");
        compared.most_changed.iter().for_each(|change| item(&mut text, compared, change));
        text.push_str("\n</details>\n");
    }
    text
}

/// Which runs are compared.
pub(crate) fn runs(comparison: &Comparison) -> String {
    let mut text = String::from("| | run | start (UTC) | commit | size |\n|---|---|---|---|---|\n");
    for (label, run) in [("base", &comparison.base), ("other", &comparison.other)] {
        text.push_str(&row(label, run));
    }
    text
}

/// Which runs are compared, and all figures, without the items.
pub(crate) fn figures(comparison: &Comparison) -> String {
    let mut text = runs(comparison);
    let _ = writeln!(text, "\nItems: {}.", words::matching(&comparison.items, code));
    for note in &comparison.notes {
        let _ = writeln!(text, "\n> {}", sentence(note));
    }
    for (title, differences) in [("score", &comparison.evaluators), ("amount", &comparison.amounts)] {
        text += &table(title, differences);
    }
    text.push('\n');
    for difference in words::differences(comparison) {
        let _ = writeln!(text, "- {}: {}", code(&difference.name), explained(difference));
    }
    if let Some(correction) = words::correction(comparison) {
        let _ = writeln!(text, "\n{correction}.");
    }
    text
}

/// A table of differences, with an empty line before it; empty without any.
pub(crate) fn table<'a>(title: &str, differences: impl IntoIterator<Item = &'a Difference>) -> String {
    let rows: String = differences.into_iter().map(cells).collect();
    if rows.is_empty() {
        return rows;
    }
    format!("\n| {title} | {} |\n|---|--:|--:|--:|--:|--:|--:|---|\n{rows}", words::TITLES.join(" | "))
}

/// What can be said of a comparison in a line.
pub(crate) fn headline(comparison: &Comparison) -> String {
    if let Some(nothing) = words::without_headline(comparison) {
        return nothing.to_owned();
    }
    let said = words::headline(comparison).into_iter().map(|(verdict, names)| {
        let names = names.into_iter().map(code).collect::<Vec<_>>().join(", ");
        format!("{verdict} in {names}")
    });
    said.collect::<Vec<_>>().join("; ")
}

fn row(label: &str, run: &RunIdentity) -> String {
    let commit = words::commit(run).unwrap_or_default();
    format!(
        "| {label} | {} | {} | {} | {} |\n",
        cell(&code(&run.id)),
        words::start(run),
        cell(&sentence(&commit)),
        words::size(run)
    )
}

fn cells(difference: &Difference) -> String {
    let [figures @ .., mut verdict] = words::cells(difference);
    if matches!(difference.verdict, Verdict::Better | Verdict::Worse) {
        verdict = format!("**{verdict}**");
    }
    format!("| {} | {} | {verdict} |\n", cell(&code(&difference.name)), figures.join(" | "))
}

fn item(text: &mut String, compared: &Compared, change: &ItemChange) {
    let scores = sides::scores(change, code);
    let scores = if scores.is_empty() { "failed in one of the runs".to_owned() } else { scores };
    let other = if change.content_changed { ", with other content" } else { "" };
    let _ = writeln!(text, "\n**{}**: {scores}{other}", code(&change.key));
    block(text, "input", &sides::input(change));
    let [base, other] = sides::outputs(change, LONGEST_TEXT);
    let mut side = |label: &str, side: &ItemSide, output: &str, runs: usize| {
        let run = if runs > 1 { format!(", run {} of {runs}", side.run + 1) } else { String::new() };
        let reasons = sides::reasons(change, side, str::to_owned);
        block(text, &format!("{label}{run}"), output);
        for reason in reasons {
            let _ = writeln!(text, "\n{}", code(&cut(&reason, LONGEST_TEXT)));
        }
    };
    side("base", &change.base, &base, compared.comparison.base.runs);
    side("other", &change.other, &other, compared.comparison.other.runs);
}
