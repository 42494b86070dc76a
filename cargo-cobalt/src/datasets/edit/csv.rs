//! CSV: an item is a record after the header.

use std::ops::Range;

use ::csv::{QuoteStyle, Terminator, WriterBuilder};
use cobalt::dataset::csv_records;
use cobalt_core::item::Item;
use cobalt_core::wording;
use serde_json::Value;

use super::layout::{Edit, line_end, missing_line_end, ordered_fields};

/// The ranges of the records after the header, including line endings. The text must be valid CSV.
pub fn record_ranges(text: &str, delimiter: u8) -> Vec<Range<usize>> {
    csv_records(text, "", delimiter).skip(1).map_while(Result::ok).map(|(place, _)| place).collect()
}

/// The column names.
#[derive(Debug)]
pub struct Header {
    names: Vec<String>,
    /// Whether the text has no header yet.
    is_new: bool,
}

impl Header {
    /// The header of a text; for an empty text, the fields of the items to add.
    pub fn from_text(text: &str, delimiter: u8, items: &[Item]) -> Self {
        let first = csv_records(text, "", delimiter).next().and_then(Result::ok).map(|(_, names)| names);
        match first {
            Some(names) => Self { names, is_new: false },
            None => {
                let all: Item = items.iter().flatten().map(|(name, _)| (name.clone(), Value::Null)).collect();
                let names = ordered_fields(&all, &[]).into_iter().map(|(name, _)| name.to_owned()).collect();
                Self { names, is_new: true }
            }
        }
    }

    /// An item as it is read back from a record: a string for each column. Or why it does not fit.
    pub fn read_back(&self, item: &Item) -> Result<Item, String> {
        item.iter().try_for_each(|(name, value)| cell(name, Some(value)).map(drop))?;
        let unknown = item.keys().filter(|name| !self.names.contains(name)).map(String::as_str);
        let unknown: Vec<_> = unknown.collect();
        if !unknown.is_empty() {
            return Err(format!(
                "the header has no column for {}; it has {}: add the column, or use a `.jsonl` file, where each item can have \
                 its own fields",
                wording::join_quoted(unknown),
                wording::join_quoted(self.names.iter().map(String::as_str)),
            ));
        }
        let field = |name: &String| Ok((name.clone(), Value::String(cell(name, item.get(name))?)));
        self.names.iter().map(field).collect()
    }
}

/// Whether cells can hold all values of an item.
pub fn fits_csv(item: &Item) -> bool {
    item.iter().all(|(name, value)| cell(name, Some(value)).is_ok())
}

/// A value as a cell.
fn cell(name: &str, value: Option<&Value>) -> Result<String, String> {
    match value {
        None => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Number(number)) => Ok(number.to_string()),
        Some(other) => Err(format!(
            "a cell holds a string or a number, but `{name}` is {}: use a `.jsonl` file, which holds any value",
            type_name(other)
        )),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Appends records, and a header if there is none.
pub fn append_records(text: &str, delimiter: u8, items: &[Item]) -> Edit {
    let Header { names, is_new } = Header::from_text(text, delimiter, items);
    let cells = |item: &Item| -> Vec<String> {
        names
            .iter()
            .map(|name| item.get(name).and_then(Value::as_str).unwrap_or_default().to_owned())
            .collect()
    };
    let heads = is_new.then(|| names.clone());
    let records = heads.into_iter().chain(items.iter().map(cells));
    let records: String = records.map(|record| record_text(&record, delimiter, line_end(text))).collect();
    Edit::insertion(text.len(), missing_line_end(text).to_owned() + &records)
}

/// A record with its line ending.
fn record_text(cells: &[String], delimiter: u8, line_end: &str) -> String {
    let terminator = if line_end == "\r\n" { Terminator::CRLF } else { Terminator::Any(b'\n') };
    let mut writer = WriterBuilder::new()
        .delimiter(delimiter)
        .terminator(terminator)
        .quote_style(QuoteStyle::Necessary)
        .from_writer(Vec::new());
    writer.write_record(cells).expect("writing to memory cannot fail");
    let bytes = writer.into_inner().expect("writing to memory cannot fail");
    String::from_utf8(bytes).expect("cells and separators are UTF-8")
}

/// Removes the record of an item with its line ending.
pub fn remove_record(places: &[Range<usize>], index: usize) -> Edit {
    Edit::removal(places[index].clone())
}
