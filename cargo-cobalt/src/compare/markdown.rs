//! A comparison as Markdown, as for a comment on a pull request. What was not written by us stands in code spans and blocks,
//! where it can neither format nor mention anything.

use std::fmt::Write as _;

use cobalt_core::report::comparison::{Comparison, Difference, Verdict};
use cobalt_core::wording::cut;

use super::view::{Compared, ComparisonView, ItemView, Row, RunLine, TITLES};
use crate::markdown::{LONGEST_TEXT, block, cell, code, sentence};

/// The comparison as Markdown in GitHub's dialect.
pub fn markdown(compared: &Compared) -> String {
    let view = ComparisonView::of(&compared.comparison);
    let mut text = format!("### {}: {}\n\n{}", code(&view.title), view.headline(code), tables(&view));
    if !compared.most_changed.is_empty() {
        text.push_str("\n<details><summary>The items that changed most</summary>\n");
        compared.items().for_each(|changed| item(&mut text, changed));
        text.push_str("\n</details>\n");
    }
    text
}

/// What can be said of a comparison in a line.
pub fn headline(comparison: &Comparison) -> String {
    ComparisonView::of(comparison).headline(code)
}

/// Which runs are compared, and all figures, without the items.
pub fn figures(comparison: &Comparison) -> String {
    tables(&ComparisonView::of(comparison))
}

/// A table of differences, with an empty line before it; empty without any.
pub fn table<'a>(title: &str, differences: impl IntoIterator<Item = &'a Difference>) -> String {
    let rows: Vec<_> = differences.into_iter().map(Row::of).collect();
    rows_table(title, &rows)
}

fn tables(view: &ComparisonView<'_>) -> String {
    let mut text = runs(view);
    let _ = writeln!(text, "\nItems: {}.", view.matching(code));
    for note in view.notes {
        let _ = writeln!(text, "\n> {}", sentence(note));
    }
    view.tables().for_each(|(title, rows)| text += &rows_table(title, rows));
    text.push('\n');
    for row in view.rows() {
        let _ = writeln!(text, "- {}: {}", code(row.name()), row.explained());
    }
    if let Some(correction) = view.correction {
        let _ = writeln!(text, "\n{correction}.");
    }
    text
}

/// Which runs are compared.
pub fn runs(view: &ComparisonView<'_>) -> String {
    let mut text = String::from("| | run | start (UTC) | commit | size |\n|---|---|---|---|---|\n");
    for RunLine { label, id, start, commit, size } in &view.runs {
        let commit = cell(&sentence(commit.as_deref().unwrap_or_default()));
        let _ = writeln!(text, "| {label} | {} | {start} | {commit} | {size} |", cell(&code(id)));
    }
    text
}

fn rows_table(title: &str, rows: &[Row<'_>]) -> String {
    let rows: String = rows.iter().map(line).collect();
    if rows.is_empty() {
        return rows;
    }
    format!("\n| {title} | {} |\n|---|--:|--:|--:|--:|--:|--:|---|\n{rows}", TITLES.join(" | "))
}

fn line(row: &Row<'_>) -> String {
    let [figures @ .., verdict] = &row.cells;
    let is_strong = matches!(row.difference.verdict, Verdict::Better | Verdict::Worse);
    let verdict = if is_strong { format!("**{verdict}**") } else { verdict.clone() };
    format!("| {} | {} | {verdict} |\n", cell(&code(row.name())), figures.join(" | "))
}

fn item(text: &mut String, item: ItemView<'_>) {
    let _ = writeln!(text, "\n**{}**: {}{}", code(item.key()), item.scores(code), item.content());
    block(text, "input", &item.input());
    for side in item.sides(LONGEST_TEXT) {
        let trial = side.trial.map_or(String::new(), |(trial, trials)| format!(", run {trial} of {trials}"));
        block(text, &format!("{}{trial}", side.label), &side.output);
        for reason in side.reasons(str::to_owned) {
            let _ = writeln!(text, "\n{}", code(&cut(&reason, LONGEST_TEXT)));
        }
    }
}
