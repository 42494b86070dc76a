//! Tables that fit the terminal width, and how they show values.

use std::borrow::Cow;

use cobalt_core::reporters::Style;
use cobalt_core::wording::truncate;
use serde_json::Value;

use crate::terminal::{Align, columns, one_line, shorten_to_width, truncate_to_width};

/// The gap between two columns.
const GAP: usize = 2;
/// The minimum width that a column is cut to before the last columns are hidden.
const MIN_WIDTH: usize = 12;
/// The maximum column width without a terminal.
const MAX_WIDTH: usize = 100;
/// More characters than any terminal shows on a line.
const MAX_CELL_LEN: usize = 1000;

/// A column with its title.
pub struct Column {
    title: String,
    align: Align,
    cells: Vec<String>,
    natural: usize,
    /// Whether a cell that is too wide keeps its end, too.
    keeps_end: bool,
}

impl Column {
    pub fn new(title: &str, align: Align, cells: impl Iterator<Item = String>) -> Self {
        let shown = |text: &str| one_line(&truncate(text, MAX_CELL_LEN));
        let cells: Vec<_> = cells.map(|cell| shown(&cell)).collect();
        let title = shown(title);
        let natural = cells.iter().chain([&title]).map(|cell| columns(cell)).max().unwrap_or(0);
        Self { title, align, cells, natural, keeps_end: false }
    }

    /// A column of names: those that are too wide are cut in the middle, as their ends tell them apart.
    pub fn names(title: &str, names: impl Iterator<Item = String>) -> Self {
        Self { keeps_end: true, ..Self::new(title, Align::Left, names) }
    }

    fn line(&self, cell: &str, width: usize) -> String {
        let cell =
            if self.keeps_end { shorten_to_width(cell, width) } else { truncate_to_width(cell, width) };
        let space = " ".repeat(width.saturating_sub(columns(&cell)));
        if self.align == Align::Right { space + &cell } else { cell + &space }
    }
}

/// Whether all columns fit side by side.
pub fn fits_side_by_side(all: &[Column], width: usize) -> bool {
    widths(all, Some(width)).len() == all.len()
}

/// The columns side by side, within `width`. Columns that do not fit are listed below the table.
pub fn render_table(all: &[Column], width: Option<usize>, paint: Style) -> String {
    let widths = widths(all, width);
    let (shown, missed) = all.split_at(widths.len());
    let line = |cell: &dyn Fn(&Column) -> String| {
        let cells: Vec<_> =
            shown.iter().zip(&widths).map(|(column, width)| column.line(&cell(column), *width)).collect();
        cells.join(&" ".repeat(GAP)).trim_end().to_owned()
    };
    let mut text = paint.faint(line(&|column| column.title.clone())) + "\n";
    for row in 0..all.first().map_or(0, |column| column.cells.len()) {
        text += &(line(&|column| column.cells[row].clone()) + "\n");
    }
    if !missed.is_empty() {
        let titles: Vec<_> = missed.iter().map(|column| column.title.as_str()).collect();
        let note = format!("hidden columns: {} (use `--json` to see all)", titles.join(", "));
        text += &(width.map_or(note.clone(), |width| truncate_to_width(&note, width)) + "\n");
    }
    text
}

/// The widths of the columns that fit: each gets what it needs; wider ones share the remaining space equally.
fn widths(all: &[Column], width: Option<usize>) -> Vec<usize> {
    let natural = |column: &Column| column.natural;
    let Some(width) = width else {
        return all.iter().map(|column| natural(column).min(MAX_WIDTH)).collect();
    };
    let mut taken = 0;
    let fits = |column: &&Column| {
        taken += natural(column).min(MIN_WIDTH) + GAP;
        taken <= width + GAP
    };
    let shown = all.iter().take_while(fits).count().max(1).min(all.len());
    let mut widths: Vec<_> = all[..shown].iter().map(natural).collect();
    let mut order: Vec<_> = (0..shown).collect();
    order.sort_by_key(|column| widths[*column]);
    let mut room = (width + GAP).saturating_sub(shown * GAP);
    for (place, column) in order.into_iter().enumerate() {
        widths[column] = widths[column].min(room / (shown - place)).max(1);
        room = room.saturating_sub(widths[column]);
    }
    widths
}

/// The JSON types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Type {
    Array,
    Boolean,
    Null,
    Number,
    Object,
    String,
}

impl Type {
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Boolean => "boolean",
            Self::Null => "null",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
        }
    }
}

/// Whether a value is an empty string, list or object.
pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether a value is a string that is only whitespace.
pub fn is_blank(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty() && text.trim().is_empty())
}

/// A string as it is, any other value as JSON on one line.
pub fn plain_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(title: &str, cells: [&str; 2]) -> Column {
        Column::new(title, Align::Left, cells.into_iter().map(str::to_owned))
    }

    fn shown(width: Option<usize>) -> String {
        let columns = [
            column("key", ["a", "b"]),
            column("input", ["a question of thirty characters", "質問質問質問質問質問"]),
            column("other", ["quite some more of a text", ""]),
        ];
        render_table(&columns, width, Style::Plain)
    }

    #[test]
    fn columns_that_need_more_than_their_share_are_cut() {
        let expected = [
            "key  input              other",
            "a    a question of th…  quite some more…",
            "b    質問質問質問質問…",
        ];
        assert_eq!(shown(Some(40)).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_last_columns_are_named_where_they_find_no_room() {
        let text = shown(Some(20));
        assert!(text.starts_with("key  input\na    a question of…\n"), "{text}");
        assert!(text.ends_with("hidden columns: oth…\n"), "{text}");
    }

    #[test]
    fn without_a_terminal_only_very_long_cells_are_cut() {
        assert!(shown(None).contains("a question of thirty characters  quite some more of a text\n"));
        let long = column("a", [&"x".repeat(200), ""]);
        assert_eq!(
            render_table(&[long], None, Style::Plain).lines().nth(1).unwrap().chars().count(),
            MAX_WIDTH
        );
    }

    #[test]
    fn what_would_steer_a_terminal_is_written_out() {
        let text = render_table(&[column("a\x1b[2J", ["b\nc", "\u{202e}d"])], Some(80), Style::Plain);
        assert_eq!(text, "a\\u{1b}[2J\nb\\nc\n\\u{202e}d\n");
    }
}
