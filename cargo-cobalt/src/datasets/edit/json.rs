//! JSON: an item is an element of the top-level list or of the list `items`. JSONL: an item is a line.

use std::ops::Range;

use cobalt_core::item::Item;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::layout::{BYTE_ORDER_MARK, Edit, Layout, bom_length, line_end, missing_line_end};

/// The range of the list including brackets, and the ranges of its items. The text must be valid JSON.
#[derive(Debug)]
pub struct ItemList {
    pub range: Range<usize>,
    pub items: Vec<Range<usize>>,
}

/// An object that contains the list.
#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    items: &'a RawValue,
}

/// Finds the list; `None` if there is none, as in an empty file.
pub fn find_list(text: &str) -> Option<ItemList> {
    let body = &text[bom_length(text)..];
    let list = match body.trim_start().starts_with('{') {
        true => serde_json::from_str::<Document<'_>>(body).ok()?.items,
        false => serde_json::from_str(body).ok()?,
    };
    let items: Vec<&RawValue> = serde_json::from_str(list.get()).ok()?;
    let items = items.into_iter().map(|item| range_of(text, item.get())).collect();
    Some(ItemList { range: range_of(text, list.get()), items })
}

/// The range of a substring.
fn range_of(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}

/// Appends elements to the list, with the layout of the last one.
pub fn append_elements(text: &str, items: &[Item]) -> Edit {
    let end = line_end(text);
    let list = find_list(text);
    let mut edit = match &list {
        Some(ItemList { range, items: there }) if there.is_empty() => {
            let outer = indentation(text, range.start);
            Edit { range: range.clone(), text: new_list(outer, items) }
        }
        Some(ItemList { range, items: there }) => append_to_list(text, range, there, items),
        None => Edit { range: bom_length(text)..text.len(), text: new_list("", items) + "\n" },
    };
    if end != "\n" {
        edit.text = edit.text.replace("\r\n", "\n").replace('\n', end);
    }
    edit
}

/// A list with one item per line.
fn new_list(outer: &str, items: &[Item]) -> String {
    let inner = format!("{outer}  ");
    let layout = Layout::indented("  ");
    let items: Vec<_> = items.iter().map(|item| format!("\n{inner}{}", layout.write(item, &inner))).collect();
    format!("[{}\n{outer}]", items.join(","))
}

fn append_to_list(text: &str, list: &Range<usize>, there: &[Range<usize>], items: &[Item]) -> Edit {
    let last = &there[there.len() - 1];
    let between = match there.len().checked_sub(2) {
        Some(before) => text[there[before].end..last.start].to_owned(),
        None => format!(",{}", &text[list.start + 1..last.start]),
    };
    // On a single line, items are separated like their fields.
    let indentation = indentation(text, last.start);
    let layout = Layout::detect(&text[last.clone()], indentation);
    let items = items.iter().map(|item| format!("{between}{}", layout.write(item, indentation)));
    Edit::insertion(last.end, items.collect())
}

/// The indentation of the line at a position.
fn indentation(text: &str, at: usize) -> &str {
    let line = &text[..at];
    let line = &line[line.rfind('\n').map_or(0, |end| end + 1)..];
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Removes an element with the separator before it; the first element is never removed.
pub fn remove_element(places: &[Range<usize>], index: usize) -> Edit {
    Edit::removal(places[index - 1].end..places[index].end)
}

/// The ranges of the lines with items, including line endings.
pub fn line_ranges(text: &str) -> Vec<Range<usize>> {
    let mut at = bom_length(text);
    let lines = text[at..].split_inclusive('\n').map(|line| {
        at += line.len();
        (at - line.len()..at, line)
    });
    lines.filter(|(_, line)| !line.trim_ascii().is_empty()).map(|(range, _)| range).collect()
}

/// Appends lines.
pub fn append_lines(text: &str, places: &[Range<usize>], items: &[Item]) -> Edit {
    let last = places.last().map(|place| text[place.clone()].trim_ascii());
    let layout = last.map_or_else(Layout::single_line, |last| Layout::detect(last, ""));
    let end = line_end(text);
    let lines = items.iter().map(|item| layout.write(item, "") + end);
    Edit::insertion(text.len(), missing_line_end(text).to_owned() + &lines.collect::<String>())
}

/// Removes the line of an item with its line ending.
pub fn remove_line(places: &[Range<usize>], index: usize) -> Edit {
    Edit::removal(places[index].clone())
}
