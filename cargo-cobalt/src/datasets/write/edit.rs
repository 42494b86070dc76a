//! Changes of a text at places of it.

use std::ops::Range;

/// What takes the place of a part of a text; an empty range is an insertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

impl Edit {
    pub(super) fn insertion(at: usize, text: String) -> Self {
        Self { range: at..at, text }
    }

    pub(super) fn removal(range: Range<usize>) -> Self {
        Self { range, text: String::new() }
    }
}

/// The text after all edits, which are sorted and do not overlap.
pub(super) fn edited(text: &str, edits: &[Edit]) -> String {
    let mut edited =
        String::with_capacity(text.len() + edits.iter().map(|edit| edit.text.len()).sum::<usize>());
    let mut done = 0;
    for Edit { range, text: new } in edits {
        edited.push_str(&text[done..range.start]);
        edited.push_str(new);
        done = range.end;
    }
    edited.push_str(&text[done..]);
    edited
}

/// How lines end in a text: as its first line does, and with LF where there is none.
pub(super) fn line_end(text: &str) -> &'static str {
    let first = text.find('\n').unwrap_or(0);
    if text[..first].ends_with('\r') { "\r\n" } else { "\n" }
}

/// What a text needs before a line can follow: nothing, or the end of its last line.
pub(super) fn missing_line_end(text: &str) -> &'static str {
    if text.is_empty() || text == BYTE_ORDER_MARK || text.ends_with('\n') { "" } else { line_end(text) }
}

/// What a text in UTF-8 may begin with.
pub(super) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// How long the byte order mark is that a text begins with, in bytes.
pub(super) fn mark_length(text: &str) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
}
