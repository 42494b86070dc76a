//! A comparison for a terminal: the runs, the table, explanations, and the items with the largest changes.

use std::fmt::Write as _;

use cobalt_core::report::comparison::{Difference, Verdict};
use cobalt_core::reporters::Style;

use super::view::{ComparedRuns, ComparisonView, Headline, ItemView, Row, RunLine, TITLES};
use crate::terminal::{columns, one_line, shorten_to_width, wrap};

const GAP: usize = 2;
/// Columns to drop on narrow terminals, in this order: the min detectable difference, the p-value, the interval.
const OPTIONAL_COLUMNS: [usize; 3] = [5, 4, 3];
/// Minimum width to which names are truncated.
const SHORTEST_NAME: usize = 12;
/// No limit on the number of lines.
const ALL: usize = usize::MAX;

/// Indent of an item's texts, including the label.
const INDENT: usize = 11;
/// Maximum number of lines per text of an item.
const LINES: usize = 3;
/// Width of these texts without a terminal.
const DEFAULT_WIDTH: usize = 120;

/// The comparison as text, fitted to the terminal's width.
pub fn text(compared: &ComparedRuns, width: Option<usize>, paint: Style) -> String {
    let view = compared.view();
    let mut text = String::new();
    headline(&mut text, &view, width, paint);
    let labels = view.runs.iter().map(|run| columns(run.label)).max().unwrap_or(0);
    let label = |label: &str| format!("  {label:labels$}  ");
    view.runs.iter().for_each(|run| self::run(&mut text, &label(run.label), run, width));
    paragraph(&mut text, &label("items"), &view.matching(one_line), width, |line| line);
    for note in view.notes {
        paragraph(&mut text, &label("note"), &one_line(note), width, |line| paint.warning(line));
    }
    for (title, rows) in view.tables() {
        text.push('\n');
        table(&mut text, title, rows, view.titles, width, paint);
    }
    reasons(&mut text, &view, width, paint);
    if !compared.most_changed.is_empty() {
        let _ = writeln!(text, "\n{}", paint.bold("largest changes"));
        compared.items().for_each(|changed| item(&mut text, changed, width, paint));
    } else if compared.is_without_outputs {
        text.push_str("\nItems are not shown: a baseline file contains no outputs.\n");
    }
    text
}

/// The experiment, and a line per notable verdict.
fn headline(text: &mut String, view: &ComparisonView<'_>, width: Option<usize>, paint: Style) {
    paragraph(text, "", &view.title, width, |line| paint.bold(line));
    match &view.headline {
        Headline::Nothing(nothing) => {
            let _ = writeln!(text, "  {nothing}");
        }
        Headline::Verdicts(verdicts) => {
            for (verdict, names) in verdicts {
                let said = format!("{verdict} in {}", one_line(&names.join(", ")));
                paragraph(text, "  ", &said, width, |line| verdict_paint(*verdict)(paint, line));
            }
        }
    }
}

fn verdict_paint(verdict: Verdict) -> fn(Style, String) -> String {
    match verdict {
        Verdict::Better => Style::success,
        Verdict::Worse => Style::error,
        Verdict::Changed => |_, text| text,
        Verdict::WithinNoise => Style::faint,
        Verdict::Inconclusive => Style::warning,
    }
}

fn run(text: &mut String, label: &str, run: &RunLine<'_>, width: Option<usize>) {
    let RunLine { id, start, commit, size, .. } = run;
    let commit = commit.as_ref().map(|commit| format!("commit {commit}, ")).unwrap_or_default();
    let facts = format!("{} ({start} UTC), {commit}{size}", one_line(id));
    paragraph(text, label, &facts, width, |line| line);
}

/// Writes a text with a hanging indent after its label.
fn paragraph(
    text: &mut String,
    label: &str,
    content: &str,
    width: Option<usize>,
    look: impl Fn(String) -> String,
) {
    let indent = columns(label);
    let room = width.map_or(ALL, |width| width.saturating_sub(indent).max(SHORTEST_NAME));
    for (index, line) in wrap(content, room, ALL).into_iter().enumerate() {
        let label = if index == 0 { label } else { "" };
        let _ = writeln!(text, "{label:indent$}{}", look(line));
    }
}

fn table(
    text: &mut String,
    title: &str,
    rows: &[Row<'_>],
    titles: [&str; TITLES.len()],
    width: Option<usize>,
    paint: Style,
) {
    let names: Vec<_> = rows.iter().map(|row| one_line(row.name())).collect();
    let mut widths: [usize; TITLES.len()] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| columns(&row.cells[column]));
        cells.chain([columns(titles[column])]).max().unwrap_or(0)
    });
    let mut name = names.iter().map(|name| columns(name)).chain([columns(title)]).max().unwrap_or(0);
    if let Some(width) = width {
        let others = |widths: &[usize]| -> usize {
            widths.iter().filter(|width| **width > 0).map(|width| width + GAP).sum()
        };
        let shortest = name.min(SHORTEST_NAME);
        for column in OPTIONAL_COLUMNS {
            if 2 + shortest + others(&widths) > width {
                widths[column] = 0;
            }
        }
        name = name.min(width.saturating_sub(2 + others(&widths)).max(shortest));
    }
    let head = line(title, &titles.map(str::to_owned), name, &widths);
    let _ = writeln!(text, "  {}", paint.faint(head.trim_end()));
    for (label, row) in names.iter().zip(rows) {
        let (figures, verdict) = row.cells.split_at(TITLES.len() - 1);
        let verdict = verdict_paint(row.difference.verdict)(paint, verdict.concat());
        let _ = writeln!(text, "  {}{verdict}", line(label, figures, name, &widths));
    }
    let missed: Vec<_> = OPTIONAL_COLUMNS
        .into_iter()
        .filter(|column| widths[*column] == 0)
        .map(|column| titles[column])
        .collect();
    if !missed.is_empty() {
        let missed = format!("hidden columns: {} (use `--json` to see all)", missed.join(", "));
        paragraph(text, "  ", &missed, width, |line| paint.faint(line));
    }
}

/// A row: numbers right-aligned, the verdict left-aligned.
fn line(label: &str, cells: &[String], name: usize, widths: &[usize]) -> String {
    let label = shorten_to_width(label, name);
    let mut line = format!("{label}{:1$}", "", name - columns(&label) + GAP);
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let padding = width.saturating_sub(columns(cell));
        if *width > 0 && column == TITLES.len() - 1 {
            line.push_str(cell);
        } else if *width > 0 {
            let _ = write!(line, "{:padding$}{cell}{:GAP$}", "", "");
        }
    }
    line
}

/// Explains each verdict.
fn reasons(text: &mut String, view: &ComparisonView<'_>, width: Option<usize>, paint: Style) {
    let is_worth_it = |row: &&Row<'_>| {
        let Difference { verdict, equal, items, .. } = row.difference;
        !(*verdict == Verdict::WithinNoise && equal == items)
    };
    let rows: Vec<_> = view.rows().filter(is_worth_it).collect();
    if !rows.is_empty() {
        text.push('\n');
    }
    for row in rows {
        let said = format!("{}: {}", one_line(row.name()), row.explained());
        paragraph(text, "  ", &said, width, |line| line);
    }
    if let Some(correction) = view.correction {
        paragraph(text, "  ", correction, width, |line| paint.faint(line));
    }
}

/// An item with its scores, its input, and both outputs with the evaluators' reasons.
fn item(text: &mut String, item: ItemView<'_>, width: Option<usize>, paint: Style) {
    let room = width.unwrap_or(DEFAULT_WIDTH).saturating_sub(INDENT).max(INDENT);
    let look = if item.is_worse() { Style::error } else { Style::success };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  {}{}", paint.bold(one_line(item.key())), item.content_suffix());
    paragraph(text, "    ", &item.scores(one_line), width, |line| look(paint, line));
    labelled(text, "input", &item.input(), room, paint);
    for side in item.sides(room) {
        let trial =
            side.trial.map_or(String::new(), |(trial, trials)| format!("[trial {trial} of {trials}] "));
        labelled(text, side.label, &format!("{trial}{}", side.output), room, paint);
        for reason in side.reasons(one_line) {
            for line in wrap(&one_line(&reason), room, LINES) {
                let _ = writeln!(text, "{:INDENT$}{}", "", paint.faint(line));
            }
        }
    }
}

fn labelled(text: &mut String, label: &str, content: &str, room: usize, paint: Style) {
    for (index, line) in wrap(&one_line(content), room, LINES).into_iter().enumerate() {
        let label = format!("    {:1$}", if index == 0 { label } else { "" }, INDENT - 4);
        let _ = writeln!(text, "{}{line}", paint.faint(label));
    }
}
