//! Reads a file row by row and reports all errors, not only the first.

use std::path::Path;

use cobalt_core::nesting::{MAX_DEPTH, is_too_deep};

use super::csv::each_row;
use super::json::each_element;
use super::jsonl::each_line;
use super::read::{open, with_similar_name};
use super::text::Content;
use super::text::OnElement;
use super::{DatasetError, Format, FormatHints, Item};

/// An element of a file that should be an item.
#[derive(Debug)]
pub struct Row {
    /// The line that it starts on, counted from 1, for text formats.
    pub line: Option<usize>,
    /// The item, or what is wrong with it.
    pub item: Result<Item, String>,
}

/// The rows of a file, as far as it can be read.
#[derive(Debug, Default)]
pub struct Rows {
    /// The rows, in order.
    pub rows: Vec<Row>,
    /// The error that ended the reading, if any.
    pub end: Option<DatasetError>,
}

/// The rows of the file at `path`; errors use the name `shown`.
///
/// # Errors
///
/// The file cannot be opened or read.
pub fn read_rows(path: &Path, shown: &str) -> Result<Rows, DatasetError> {
    let mut rows = Vec::new();
    let take = &mut |line, item: Result<Item, String>| {
        let index = rows.len();
        let item = item.and_then(|item| match item.values().any(is_too_deep) {
            true => Err(DatasetError::TooDeep { index, deepest: MAX_DEPTH }.to_string()),
            false => Ok(item),
        });
        rows.push(Row { line: (line > 0).then_some(line), item });
        Ok(())
    };
    let end = open(path, shown, &FormatHints::by_name(shown))
        .and_then(|(content, format)| for_each_row(content, shown, format, take));
    match end {
        Err(error @ DatasetError::Read { .. }) => Err(with_similar_name(error, path)),
        end => Ok(Rows { rows, end: end.err() }),
    }
}

fn for_each_row(
    content: Content,
    shown: &str,
    format: Format,
    take: OnElement<'_>,
) -> Result<(), DatasetError> {
    match format {
        Format::Json => each_element(content.text(), shown, take),
        Format::Jsonl => each_line(content.text(), shown, take),
        Format::Csv => each_row(content.text(), shown, b',', take),
        Format::Tsv => each_row(content.text(), shown, b'\t', take),
        // These have no lines, and fail as a whole.
        Format::Parquet | Format::Arrow => {
            content.items(format, shown, None)?.into_iter().try_for_each(|item| take(0, Ok(item)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> (Vec<String>, Option<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let rows = read_rows(&path, name).unwrap();
        let told = |row: Row| match row.item {
            Ok(item) => format!("{}: {}", row.line.unwrap(), serde_json::Value::Object(item)),
            Err(reason) => format!("{}! {reason}", row.line.unwrap()),
        };
        (rows.rows.into_iter().map(told).collect(), rows.end.map(|error| error.to_string()))
    }

    #[test]
    fn every_line_of_jsonl_is_told_of() {
        let (rows, end) = read("a.jsonl", "{\"a\": 1}\n{\"a\": \n\n[2]\n{\"a\": 3}\n");
        assert_eq!(
            rows,
            [
                "1: {\"a\":1}",
                "2! expected one complete JSON object: EOF while parsing a value at column 5",
                "4! expected a JSON object, found an array; each line must be one item",
                "5: {\"a\":3}",
            ]
        );
        assert_eq!(end, None);
    }

    #[test]
    fn after_a_row_that_is_refused_the_next_line_is_read() {
        let (rows, end) = read("a.csv", "a,b\n1,2\n1,2,3\nx\"y,2\n\"1\n2\",\"3\"4\n5,6\n\"7,8\n9,10\n");
        let lines: Vec<_> = rows.iter().map(|row| row.split(' ').next().unwrap()).collect();
        assert_eq!(lines, ["2:", "3!", "4!", "6!", "7:", "8!"]);
        assert_eq!(end, None);
    }

    #[test]
    fn elements_that_are_no_items_are_passed_over_and_what_is_no_json_ends_the_file() {
        let (rows, end) = read("a.json", "[\n{\"a\": 1},\n 2,\n\n{\"a\":\n 3},\n{\"a\" 4}]");
        assert_eq!(rows, ["2: {\"a\":1}", "3! expected a JSON object, found a number", "5: {\"a\":3}"]);
        assert_eq!(end.unwrap(), "a.json:7: expected `:` at column 6 (items[3])");
    }

    #[test]
    fn an_item_that_is_too_deep_to_be_kept_is_told_of() {
        let deep = format!("{{\"a\": {}1{}}}\n{{}}\n", "[".repeat(101), "]".repeat(101));
        let (rows, _) = read("a.jsonl", &deep);
        assert!(rows[0].starts_with("1! items[0]: lists and objects are nested"), "{rows:?}");
        assert_eq!(rows[1], "2: {}");
    }

    #[test]
    fn a_file_that_is_not_there_is_an_error_and_an_empty_one_has_no_rows() {
        assert!(read_rows(Path::new("/nowhere/a.jsonl"), "a.jsonl").is_err());
        let (rows, end) = read("a.jsonl", "\n");
        assert_eq!(rows, Vec::<String>::new());
        assert!(end.unwrap().contains("is empty"));
    }
}
