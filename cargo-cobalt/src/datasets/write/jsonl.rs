//! JSONL: an item is a line.

use std::ops::Range;

use cobalt::Item;

use super::file::{Edit, line_end, mark_length, missing_line_end};
use super::layout::Layout;

/// The lines that hold items, each with its end.
pub fn places(text: &str) -> Vec<Range<usize>> {
    let mut at = mark_length(text);
    let lines = text[at..].split_inclusive('\n').map(|line| {
        at += line.len();
        (at - line.len()..at, line)
    });
    lines.filter(|(_, line)| !line.trim_ascii().is_empty()).map(|(range, _)| range).collect()
}

/// Lines at the end of the text.
pub fn insertion(text: &str, places: &[Range<usize>], items: &[Item]) -> Edit {
    let last = places.last().map(|place| text[place.clone()].trim_ascii());
    let layout = last.map_or_else(Layout::on_a_line, |last| Layout::of(last, ""));
    let end = line_end(text);
    let lines = items.iter().map(|item| layout.write(item, "") + end);
    Edit::insertion(text.len(), missing_line_end(text).to_owned() + &lines.collect::<String>())
}

/// The line of an item goes, with its end.
pub fn removal(places: &[Range<usize>], index: usize) -> Edit {
    Edit::removal(places[index].clone())
}
