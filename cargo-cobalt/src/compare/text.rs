//! A comparison for a terminal: the runs, the table, what it rests on, and the items that changed most.

use std::fmt::Write as _;

use cobalt::report::comparison::{Comparison, Difference, RunIdentity, Verdict};
use cobalt::reporters::{Paint, explained};

use super::words::{TITLES, cells};
use super::{Compared, items, words};
use crate::terminal::{columns, fit, one_line, wrap};

const GAP: usize = 2;
/// The columns that are left out where there is no room, in this order: of the smallest detectable difference, the
/// p-value, and the interval.
const EXPENDABLE: [usize; 3] = [5, 4, 3];
/// Down to how many columns of the terminal a name may be cut.
const SHORTEST_NAME: usize = 12;
/// No end to how many lines a text may have.
const ALL: usize = usize::MAX;

/// The comparison as text, cut to a terminal's width.
pub(super) fn text(compared: &Compared, width: Option<usize>, paint: Paint) -> String {
    let comparison = &compared.comparison;
    let mut text = String::new();
    headline(&mut text, comparison, width, paint);
    run(&mut text, "base", &comparison.base, width);
    run(&mut text, "other", &comparison.other, width);
    paragraph(&mut text, "  items  ", &words::matching(&comparison.items, one_line), width, |line| line);
    for note in &comparison.notes {
        paragraph(&mut text, "  note   ", &one_line(note), width, |line| paint.odd(line));
    }
    for (title, differences) in [("score", &comparison.evaluators), ("amount", &comparison.amounts)] {
        if !differences.is_empty() {
            text.push('\n');
            table(&mut text, title, differences, width, paint);
        }
    }
    reasons(&mut text, compared, width, paint);
    if !compared.most_changed.is_empty() {
        let _ = writeln!(text, "\n{}", paint.strong("changed most"));
        items::write(&mut text, comparison, &compared.most_changed, width, paint);
    } else if compared.is_without_outputs {
        text.push_str("\na baseline file has no outputs: items cannot be shown\n");
    }
    text
}

/// The experiment, and a line for each verdict that deserves it.
fn headline(text: &mut String, comparison: &Comparison, width: Option<usize>, paint: Paint) {
    paragraph(text, "", &words::experiments(comparison), width, |line| paint.strong(line));
    if let Some(nothing) = words::without_headline(comparison) {
        let _ = writeln!(text, "  {nothing}");
    }
    for (verdict, names) in words::headline(comparison) {
        let names = one_line(&names.join(", "));
        paragraph(text, "  ", &format!("{verdict} in {names}"), width, |line| look(verdict)(paint, line));
    }
}

fn look(verdict: Verdict) -> fn(Paint, String) -> String {
    match verdict {
        Verdict::Better => Paint::good,
        Verdict::Worse => Paint::bad,
        Verdict::WithinNoise => Paint::faint,
        Verdict::Inconclusive => Paint::odd,
    }
}

fn run(text: &mut String, label: &str, run: &RunIdentity, width: Option<usize>) {
    let commit = words::commit(run).map(|commit| format!("commit {commit}, ")).unwrap_or_default();
    let facts = format!("{} of {}, {commit}{}", one_line(&run.id), words::start(run), words::size(run));
    paragraph(text, &format!("  {label:5}  "), &facts, width, |line| line);
}

/// Writes a text whose further lines stand below the end of its label.
pub(super) fn paragraph(
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

fn table(text: &mut String, title: &str, differences: &[Difference], width: Option<usize>, paint: Paint) {
    let rows: Vec<_> = differences.iter().map(|it| (one_line(&it.name), cells(it))).collect();
    let mut widths: [usize; TITLES.len()] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|(_, cells)| columns(&cells[column]));
        cells.chain([columns(TITLES[column])]).max().unwrap_or(0)
    });
    let mut name = rows.iter().map(|(name, _)| columns(name)).chain([columns(title)]).max().unwrap_or(0);
    if let Some(width) = width {
        let others = |widths: &[usize]| -> usize {
            widths.iter().filter(|width| **width > 0).map(|width| width + GAP).sum()
        };
        let shortest = name.min(SHORTEST_NAME);
        for column in EXPENDABLE {
            if 2 + shortest + others(&widths) > width {
                widths[column] = 0;
            }
        }
        name = name.min(width.saturating_sub(2 + others(&widths)).max(shortest));
    }
    let titles = line(title, &TITLES.map(str::to_owned), name, &widths);
    let _ = writeln!(text, "  {}", paint.faint(titles.trim_end()));
    for ((label, cells), difference) in rows.iter().zip(differences) {
        let (figures, verdict) = cells.split_at(TITLES.len() - 1);
        let verdict = look(difference.verdict)(paint, verdict.concat());
        let _ = writeln!(text, "  {}{verdict}", line(label, figures, name, &widths));
    }
    let missed: Vec<_> =
        EXPENDABLE.into_iter().filter(|column| widths[*column] == 0).map(|column| TITLES[column]).collect();
    if !missed.is_empty() {
        let missed = format!("no room for: {} (`--json` has all)", missed.join(", "));
        paragraph(text, "  ", &missed, width, |line| paint.faint(line));
    }
}

/// A row: figures stand at the right, a verdict at the left.
fn line(label: &str, cells: &[String], name: usize, widths: &[usize]) -> String {
    let label = fit(label, name);
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

/// What each verdict rests on.
fn reasons(text: &mut String, compared: &Compared, width: Option<usize>, paint: Paint) {
    let comparison = &compared.comparison;
    let is_worth_it = |it: &&Difference| !(it.verdict == Verdict::WithinNoise && it.equal == it.items);
    let differences: Vec<_> = words::differences(comparison).filter(is_worth_it).collect();
    if !differences.is_empty() {
        text.push('\n');
    }
    for difference in differences {
        let said = format!("{}: {}", one_line(&difference.name), explained(difference));
        paragraph(text, "  ", &said, width, |line| line);
    }
    if let Some(correction) = words::correction(comparison) {
        paragraph(text, "  ", &correction, width, |line| paint.faint(line));
    }
}
