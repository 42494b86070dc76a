//! The table of runs, cut to the terminal that shows it.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use cobalt::llm::prices::format_cost;

use crate::index::{Run, RunStatus};
use crate::terminal::{columns, fit, printable};

const GAP: usize = 2;
const COLUMNS: [Column; 8] = [
    Column { title: "id", ..Column::FIXED },
    Column { title: "started (UTC)", ..Column::FIXED },
    Column { title: "name", least: Some(10), ..Column::FIXED },
    Column { title: "status", ..Column::FIXED },
    Column { title: "items", is_number: true, ..Column::FIXED },
    Column { title: "scores", least: Some(12), ..Column::FIXED },
    Column { title: "cost", is_number: true, ..Column::FIXED },
    Column { title: "tags", least: Some(6), ..Column::FIXED },
];
const STATUS: usize = 3;
const SCORES: usize = 5;
const COST: usize = 6;
const TAGS: usize = 7;
/// What is left out first where there is no room.
const EXPENDABLE: [usize; 3] = [TAGS, COST, SCORES];

/// A width for each column.
type Widths = [usize; 8];

struct Column {
    title: &'static str,
    /// Down to how many columns of the terminal it may be cut.
    least: Option<usize>,
    is_number: bool,
}

impl Column {
    const FIXED: Self = Self { title: "", least: None, is_number: false };
}

/// The runs as a table that is at most so wide.
pub(super) fn table(runs: &[Run], width: Option<usize>) -> String {
    let rows: Vec<_> = runs.iter().map(cells).collect();
    let widest = |column: usize| rows.iter().map(|row| columns(&row[column])).max().unwrap_or(0);
    let contents: Widths = std::array::from_fn(widest);
    let widths = match width {
        Some(width) => shrink(&contents, width),
        None => natural(&contents).map(Some),
    };
    let mut text = String::new();
    line(
        &mut text,
        &COLUMNS.each_ref().map(|column| (column.title.to_owned(), Style::new().bold())),
        &widths,
    );
    for (run, row) in runs.iter().zip(&rows) {
        let mut row = row.each_ref().map(|cell| (cell.clone(), Style::new()));
        row[STATUS].1 = status_style(run.status);
        row[SCORES].0 = scores(run, widths[SCORES].unwrap_or(0));
        line(&mut text, &row, &widths);
    }
    let is_missed = |column: &usize| widths[*column].is_none() && contents[*column] > 0;
    let missed: Vec<_> =
        EXPENDABLE.into_iter().filter(is_missed).map(|column| COLUMNS[column].title).collect();
    if !missed.is_empty() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "no room for: {}; a wider terminal or `--json` shows all", missed.join(", "));
    }
    text
}

fn status_style(status: RunStatus) -> Style {
    match status {
        RunStatus::Passed => AnsiColor::Green,
        RunStatus::Failed | RunStatus::Error => AnsiColor::Red,
    }
    .on_default()
}

/// A run's cells, whole.
fn cells(run: &Run) -> [String; 8] {
    let started = run.timestamp.get(..16).unwrap_or(&run.timestamp).replace('T', " ");
    [
        printable(&run.id),
        started,
        printable(&run.name),
        run.status.as_str().to_owned(),
        run.total_items.to_string(),
        scores(run, usize::MAX),
        run.cost.map(format_cost).unwrap_or_default(),
        printable(&run.tags.join(", ")),
    ]
}

/// As many evaluators with their means as have room. Of the first one, the name is cut and not the mean.
fn scores(run: &Run, width: usize) -> String {
    let mut text = String::new();
    for (index, (name, avg)) in run.scores.iter().enumerate() {
        let name = printable(name);
        let is_last = index + 1 == run.scores.len();
        let more = if is_last { "" } else { " …" };
        let entry = format!("{}{name} {avg:.3}", if index == 0 { "" } else { ", " });
        if columns(&text) + columns(&entry) + columns(more) <= width {
            text.push_str(&entry);
        } else if index == 0 {
            let room = width.saturating_sub(columns(&format!(" {avg:.3}{more}")));
            return format!("{} {avg:.3}{more}", fit(&name, room));
        } else {
            text.push_str(" …");
            return text;
        }
    }
    if text.is_empty() { "no score".to_owned() } else { text }
}

/// The widths that the titles and the contents ask for.
fn natural(contents: &Widths) -> Widths {
    std::array::from_fn(|column| contents[column].max(columns(COLUMNS[column].title)))
}

/// Widths that fit into a terminal; columns that find no room have none.
fn shrink(contents: &Widths, width: usize) -> [Option<usize>; 8] {
    let natural = natural(contents);
    if total(&natural.map(Some)) <= width {
        return natural.map(Some);
    }
    let mut widths: [Option<usize>; 8] = std::array::from_fn(|column| {
        let least = COLUMNS[column].least.unwrap_or(usize::MAX).min(natural[column]);
        (contents[column] > 0).then_some(least)
    });
    for column in EXPENDABLE {
        if total(&widths) > width {
            widths[column] = None;
        }
    }
    spread(width.saturating_sub(total(&widths)), &natural, &mut widths);
    widths
}

/// The width of a line.
fn total(widths: &[Option<usize>; 8]) -> usize {
    widths.iter().flatten().map(|width| width + GAP).sum::<usize>().saturating_sub(GAP)
}

/// Gives room to the columns that are cut, by what they lack.
fn spread(mut room: usize, natural: &Widths, widths: &mut [Option<usize>; 8]) {
    let lack = |width: &Option<usize>, natural: &usize| width.map_or(0, |width| natural - width);
    let mut lacking: usize = widths.iter().zip(natural).map(|(width, natural)| lack(width, natural)).sum();
    for (width, natural) in widths.iter_mut().zip(natural) {
        let lack = lack(width, natural);
        let share = (room * lack).checked_div(lacking).unwrap_or(0).min(lack);
        *width = width.map(|width| width + share);
        room -= share;
        lacking -= lack;
    }
}

/// Writes a line, without spaces at its end.
fn line(text: &mut String, cells: &[(String, Style); 8], widths: &[Option<usize>; 8]) {
    let mut pending = 0;
    for ((column, (cell, style)), width) in COLUMNS.iter().zip(cells).zip(widths) {
        let Some(width) = *width else { continue };
        let cell = fit(cell, width);
        let padding = width - columns(&cell).min(width);
        let (before, after) = if column.is_number { (padding, 0) } else { (0, padding) };
        pending += before;
        if !cell.is_empty() {
            let _ = write!(text, "{:pending$}{style}{cell}{style:#}", "");
            pending = 0;
        }
        pending += after + GAP;
    }
    text.push('\n');
}
