//! A comparison as Markdown, e.g. for a pull request comment. Text from elsewhere goes into code spans and blocks, so it cannot
//! add formatting or mentions.

use std::fmt::Write as _;

use cobalt_core::report::comparison::{Comparison, Difference, Verdict};
use cobalt_core::wording::truncate;

use super::view::{BASELINE_TITLES, ComparedRuns, ComparisonView, ItemView, Row, RunLine, TITLES};
use crate::markdown::{LONGEST_TEXT, block, code, escape_cell, sentence};

/// The comparison as GitHub-flavored Markdown.
pub fn markdown(compared: &ComparedRuns) -> String {
    let view = compared.view();
    let mut text = format!("### {}: {}\n\n{}", code(&view.title), view.headline(code), tables(&view));
    if !compared.most_changed.is_empty() {
        text.push_str("\n<details><summary>Largest changes</summary>\n");
        compared.items().for_each(|changed| item(&mut text, changed));
        text.push_str("\n</details>\n");
    }
    text
}

/// The verdicts of a comparison in one line.
pub fn headline(comparison: &Comparison) -> String {
    ComparisonView::of(comparison).headline(code)
}

/// The runs and all metrics of a comparison with a baseline, without items.
pub fn baseline_tables(comparison: &Comparison) -> String {
    tables(&ComparisonView::with_baseline(comparison))
}

/// A table of differences from a baseline, after an empty line; empty without differences.
pub fn table<'a>(title: &str, differences: impl IntoIterator<Item = &'a Difference>) -> String {
    let rows: Vec<_> = differences.into_iter().map(Row::of).collect();
    rows_table(title, &rows, BASELINE_TITLES)
}

/// The same of two runs of which neither is a baseline.
pub fn run_table<'a>(title: &str, differences: impl IntoIterator<Item = &'a Difference>) -> String {
    let rows: Vec<_> = differences.into_iter().map(Row::of).collect();
    rows_table(title, &rows, TITLES)
}

fn tables(view: &ComparisonView<'_>) -> String {
    let mut text = runs(view);
    let _ = writeln!(text, "\nItems: {}.", view.matching(code));
    for note in view.notes {
        let _ = writeln!(text, "\n> {}", sentence(note));
    }
    view.tables().for_each(|(title, rows)| text += &rows_table(title, rows, view.titles));
    text.push('\n');
    for row in view.rows() {
        let _ = writeln!(text, "- {}: {}", code(row.name()), row.explained());
    }
    if let Some(correction) = view.correction {
        let _ = writeln!(text, "\n{correction}.");
    }
    text
}

/// A table of the compared runs.
pub fn runs(view: &ComparisonView<'_>) -> String {
    let mut text = String::from("| | run | start (UTC) | commit | size |\n|---|---|---|---|---|\n");
    for RunLine { label, id, start, commit, size } in &view.runs {
        let commit = escape_cell(&sentence(commit.as_deref().unwrap_or_default()));
        let _ = writeln!(text, "| {label} | {} | {start} | {commit} | {size} |", escape_cell(&code(id)));
    }
    text
}

fn rows_table(title: &str, rows: &[Row<'_>], titles: [&str; TITLES.len()]) -> String {
    let rows: String = rows.iter().map(line).collect();
    if rows.is_empty() {
        return rows;
    }
    format!("\n| {title} | {} |\n|---|--:|--:|--:|--:|--:|--:|---|\n{rows}", titles.join(" | "))
}

fn line(row: &Row<'_>) -> String {
    let [figures @ .., verdict] = &row.cells;
    let is_strong = matches!(row.difference.verdict, Verdict::Better | Verdict::Worse);
    let verdict = if is_strong { format!("**{verdict}**") } else { verdict.clone() };
    format!("| {} | {} | {verdict} |\n", escape_cell(&code(row.name())), figures.join(" | "))
}

fn item(text: &mut String, item: ItemView<'_>) {
    let _ = writeln!(text, "\n**{}**: {}{}", code(item.key()), item.scores(code), item.content_suffix());
    block(text, "input", &item.input());
    for side in item.sides(LONGEST_TEXT) {
        let trial =
            side.trial.map_or(String::new(), |(trial, trials)| format!(", trial {trial} of {trials}"));
        block(text, &format!("{}{trial}", side.label), &side.output);
        for reason in side.reasons(str::to_owned) {
            let _ = writeln!(text, "\n{}", code(&truncate(&reason, LONGEST_TEXT)));
        }
    }
}
