//! Terminal output: width, wrapping, tables, and escaping.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use cobalt_core::reporters::Style;
use serde::Serialize;
use terminal_size::{Height, Width, terminal_size_of};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The width if the terminal does not report one.
const DEFAULT_WIDTH: usize = 80;

/// The width of the terminal on stdout, in columns; `None` if stdout is not a terminal.
pub fn stdout_width() -> Option<usize> {
    width(io::stdout().is_terminal(), terminal_size_of(io::stdout()))
}

/// The same for stderr.
pub fn stderr_width() -> Option<usize> {
    width(io::stderr().is_terminal(), terminal_size_of(io::stderr()))
}

fn width(is_terminal: bool, told: Option<(Width, Height)>) -> Option<usize> {
    let told = told.map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0);
    is_terminal.then(|| told.unwrap_or(DEFAULT_WIDTH))
}

/// Whether a stream is coloured, by `--color`, the usual variables, and the kind of stream.
pub fn paint(stream: &impl anstream::stream::RawStream) -> Style {
    match anstream::AutoStream::choice(stream) {
        anstream::ColorChoice::Never => Style::Plain,
        _ => Style::Ansi,
    }
}

/// Prints a text on stdout in one write.
pub fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Prints a value as JSON on stdout.
pub fn print_json(value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    print(&(text + "\n"))
}

/// Alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// Lines with aligned columns, below their titles.
pub fn table<const N: usize>(
    titles: [(&str, Align); N],
    rows: impl IntoIterator<Item = [String; N]>,
    paint: Style,
) -> String {
    table_up_to(usize::MAX, titles, rows, paint)
}

/// Like [`table`], but cells wider than `widest` do not widen their column.
pub fn table_up_to<const N: usize>(
    widest: usize,
    titles: [(&str, Align); N],
    rows: impl IntoIterator<Item = [String; N]>,
    paint: Style,
) -> String {
    let head = titles.map(|(title, _)| title.to_owned());
    let rows: Vec<_> = std::iter::once(head).chain(rows).map(|row| row.map(|cell| one_line(&cell))).collect();
    let widths: [usize; N] = std::array::from_fn(|column| {
        rows.iter().map(|row| columns(&row[column])).filter(|width| *width <= widest).max().unwrap_or(0)
    });
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(titles).zip(widths).map(|((cell, (_, align)), width)| {
            let space = " ".repeat(width.saturating_sub(columns(cell)));
            if align == Align::Right { space + cell } else { format!("{cell}{space}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut lines = rows.iter().map(line);
    let titles = lines.next().map(|titles| paint.faint(titles));
    titles.into_iter().chain(lines).map(|line| line + "\n").collect()
}

/// Makes any text safe for a terminal, on one line: control characters are escaped.
pub fn one_line(text: &str) -> String {
    cobalt_core::reporters::escape_control(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// A path relative to the current folder.
pub fn relative_path(path: &Path) -> String {
    let folder = env::current_dir().unwrap_or_default();
    one_line(&path.strip_prefix(&folder).unwrap_or(path).display().to_string())
}

/// The width of a text in columns.
pub fn columns(text: &str) -> usize {
    text.width()
}

/// Truncates a text to `most` columns, with `…`.
pub fn truncate_to_width(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut fitting = String::new();
    let mut left = most.saturating_sub(1);
    for character in text.chars() {
        let Some(rest) = left.checked_sub(character.width().unwrap_or(0)) else { break };
        left = rest;
        fitting.push(character);
    }
    fitting.truncate(fitting.trim_end().len());
    fitting.push('…');
    fitting
}

/// Truncates a name to `most` columns, with `…` in its middle: the ends of names often tell them apart.
pub fn shorten_to_width(name: &str, most: usize) -> String {
    if columns(name) <= most {
        return name.to_owned();
    }
    let room = most.saturating_sub(1);
    let mut end = String::new();
    let mut left = room / 2;
    for character in name.chars().rev() {
        let Some(rest) = left.checked_sub(character.width().unwrap_or(0)) else { break };
        left = rest;
        end.insert(0, character);
    }
    let start = truncate_to_width(name, most.saturating_sub(columns(&end)));
    start + end.trim_start()
}

/// Wraps a text at words into at most `most` lines of `width` columns; truncation is marked with `…`. Words wider than a line are broken.
pub fn wrap(text: &str, width: usize, most: usize) -> Vec<String> {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for piece in text.split_whitespace().flat_map(|word| split_word(word, width)) {
        if line.is_empty() {
            line.push_str(piece);
        } else if columns(&line) + 1 + columns(piece) <= width {
            line.push(' ');
            line.push_str(piece);
        } else if lines.len() + 1 == most {
            line = truncate_to_width(&format!("{line}…"), width);
            break;
        } else {
            lines.push(std::mem::replace(&mut line, piece.to_owned()));
        }
    }
    lines.push(line);
    lines
}

/// Wraps lines at words if stdout is a terminal.
pub fn wrap_for_stdout(text: &str) -> String {
    stdout_width().map_or_else(|| text.to_owned(), |width| wrap_lines(text, width))
}

/// The same for stderr.
pub fn wrap_for_stderr(text: &str) -> String {
    stderr_width().map_or_else(|| text.to_owned(), |width| wrap_lines(text, width))
}

/// Prints a text on stderr, wrapped at words if it is a terminal.
pub fn eprint_wrapped(text: &str) {
    eprintln!("{}", wrap_for_stderr(text));
}

/// Wraps lines at words, with continuation lines indented; terminals would break within words. Colour codes have no width.
fn wrap_lines(text: &str, width: usize) -> String {
    /// Additional indent of continuation lines.
    const OFF: usize = 4;
    let mut folded = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        let indent = line.len() - line.trim_start_matches(' ').len();
        let off = if indent + OFF < width / 2 { indent + OFF } else { 0 };
        let mut column = 0;
        for (number, word) in line.split(' ').enumerate() {
            let wide = columns(&anstream::adapter::strip_str(word).to_string());
            let is_text = column > indent.max(off);
            if number > 0 && is_text && wide > 0 && column + 1 + wide > width {
                folded.truncate(folded.trim_end_matches(' ').len());
                folded.push('\n');
                folded.extend(std::iter::repeat_n(' ', off));
                column = off;
            } else if number > 0 {
                folded.push(' ');
                column += 1;
            }
            folded.push_str(word);
            column += wide;
        }
        folded.push_str(end);
    }
    folded
}

/// Splits a word into parts of at most `width` columns and at least one character.
fn split_word(word: &str, width: usize) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let mut taken = 0;
        let end = rest.char_indices().find(|(at, character)| {
            taken += character.width().unwrap_or(0);
            taken > width && *at > 0
        });
        let (piece, after) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_wrapped_between_words_and_a_long_word_is_broken() {
        assert_eq!(wrap("one two  three", 7, 9), ["one two", "three"]);
        assert_eq!(wrap("a verylongword", 6, 9), ["a", "verylo", "ngword"]);
        assert_eq!(wrap("質問質問", 5, 9), ["質問", "質問"]);
        assert_eq!(wrap("", 5, 9), [""]);
    }

    #[test]
    fn a_line_that_is_too_wide_ends_between_words_and_goes_on_set_off() {
        let text = "  MISSED  the drop is 0.2, which is too much\n  met     x  (1)\n";
        let expected = "  MISSED  the drop\n      is 0.2, which\n      is too much\n  met     x  (1)\n";
        assert_eq!(wrap_lines(text, 20), expected);
        assert_eq!(wrap_lines(text, 200), text);
        assert_eq!(
            wrap_lines("a-word-that-is-wider-than-the-line and more", 12),
            "a-word-that-is-wider-than-the-line\n    and more"
        );
        let red = "\u{1b}[31mone\u{1b}[0m two";
        assert_eq!(wrap_lines(red, 7), red, "colours take no room");
        assert_eq!(wrap_lines("", 7), "");
    }

    #[test]
    fn what_finds_no_room_in_the_last_line_is_marked() {
        assert_eq!(wrap("one two three four", 7, 2), ["one two", "three…"]);
        assert_eq!(wrap("one two", 7, 1), ["one two"]);
        assert_eq!(wrap("abcdefgh", 4, 1), ["abc…"]);
    }

    #[test]
    fn a_text_is_cut_to_the_columns_that_it_takes() {
        assert_eq!(truncate_to_width("help-desk", 9), "help-desk");
        assert_eq!(truncate_to_width("help-desk", 8), "help-de…");
        assert_eq!(truncate_to_width("質問質問", 8), "質問質問");
        assert_eq!(truncate_to_width("質問質問", 6), "質問…");
        assert_eq!(truncate_to_width("cafe\u{301}", 4), "cafe\u{301}");
        assert_eq!(truncate_to_width("two words", 5), "two…");
    }

    #[test]
    fn a_name_is_cut_in_its_middle() {
        assert_eq!(shorten_to_width("caution::timid", 14), "caution::timid");
        assert_eq!(shorten_to_width("caution::timid", 9), "caut…imid");
        assert_eq!(shorten_to_width("questions about 質問", 9), "ques…質問");
        assert_eq!(shorten_to_width("two words", 6), "two…ds");
        assert_eq!([1, 0].map(|most| shorten_to_width("desk", most)), ["…", "…"]);
    }

    #[test]
    fn columns_are_aligned_by_what_a_terminal_shows() {
        let rows = [["質問", "45", "v1, smoke"], ["sums", "?", ""]].map(|row| row.map(str::to_owned));
        let titles = [("name", Align::Left), ("items", Align::Right), ("tags", Align::Left)];
        let expected = "name  items  tags\n質問     45  v1, smoke\nsums      ?\n";
        assert_eq!(table(titles, rows, Style::Plain), expected);
    }

    #[test]
    fn a_text_stays_on_its_line_and_cannot_steer_the_terminal() {
        assert_eq!(one_line("a\x1b[2J\nb"), "a\\u{1b}[2J\\nb");
    }
}
