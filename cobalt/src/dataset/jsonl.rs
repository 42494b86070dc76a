//! JSONL: one JSON object per line, read line by line.

use std::io::BufRead;

use cobalt_core::item::{Item, ItemSeed};
use serde::de::DeserializeSeed;

use super::json::message_without_position;
use super::text::{OnElement, collect_items};
use super::{DatasetError, text};

/// Reads an object per line, holding one line in memory at a time.
#[doc(hidden)]
pub fn parse_jsonl(reader: impl BufRead, file: &str) -> Result<Vec<Item>, DatasetError> {
    collect_items(file, |take| each_line(reader, file, take))
}

/// Passes on the item of each line that is not blank.
pub fn each_line(reader: impl BufRead, file: &str, take: OnElement<'_>) -> Result<(), DatasetError> {
    each_text_line(reader, file, |line| take(line.number, parse_line(line.text)))
}

/// A line that is not blank.
pub struct Line<'l> {
    /// Counted from 1.
    pub number: usize,
    /// Where it starts, in bytes.
    pub start: u64,
    pub text: &'l [u8],
}

/// Passes on each line that is not blank.
pub fn each_text_line(
    reader: impl BufRead,
    file: &str,
    mut take: impl FnMut(Line<'_>) -> Result<(), DatasetError>,
) -> Result<(), DatasetError> {
    let (mut reader, mark) = text::skip_bom(reader, file)?;
    let mut line = Vec::new();
    let (mut number, mut start, mut is_empty) = (0, mark as u64, true);
    loop {
        line.clear();
        let length =
            reader.read_until(b'\n', &mut line).map_err(|error| DatasetError::read(file, error))? as u64;
        if length == 0 {
            break;
        }
        number += 1;
        if !line.trim_ascii().is_empty() {
            is_empty = false;
            take(Line { number, start, text: line.trim_ascii_end() })?;
        }
        start += length;
    }
    if is_empty { Err(DatasetError::empty(file, "the file is blank")) } else { Ok(()) }
}

/// Parses one object.
pub fn parse_line(line: &[u8]) -> Result<Item, String> {
    let line = std::str::from_utf8(line).map_err(|error| {
        format!("expected UTF-8, found another encoding at byte {}", error.valid_up_to() + 1)
    })?;
    let mut deserializer = serde_json::Deserializer::from_str(line);
    let item = ItemSeed.deserialize(&mut deserializer).and_then(|item| deserializer.end().map(|()| item));
    item.map_err(|error| match error.is_data() {
        true => format!("{}; each line must be one item", message_without_position(&error)),
        false => {
            format!(
                "expected one complete JSON object: {} at column {}",
                message_without_position(&error),
                error.column()
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item;

    fn fails(text: &[u8]) -> String {
        parse_jsonl(text, "questions.jsonl").unwrap_err().to_string()
    }

    #[test]
    fn each_line_is_an_item() {
        let items = parse_jsonl(&b"{\"a\": 1}\n{\"a\": 2}"[..], "f").unwrap();
        assert_eq!(items, [item! { "a": 1 }, item! { "a": 2 }]);
    }

    #[test]
    fn blank_lines_a_mark_and_crlf_are_passed_over() {
        let items =
            parse_jsonl(&b"\xef\xbb\xbf\r\n{\"a\": 1}\r\n \t\r\n\n{\"a\": 2}\r\n\r\n"[..], "f").unwrap();
        assert_eq!(items, [item! { "a": 1 }, item! { "a": 2 }]);
    }

    #[test]
    fn the_last_of_two_equal_keys_counts() {
        assert_eq!(parse_jsonl(&b"{\"a\": 1, \"a\": 2}"[..], "f").unwrap(), [item! { "a": 2 }]);
    }

    #[test]
    fn a_malformed_line_is_named_with_blank_lines_counted() {
        assert_eq!(
            fails(b"{\"a\": 1}\n\n{\"a\": \n"),
            "questions.jsonl:3: expected one complete JSON object: EOF while parsing a value at column 5 (items[1])"
        );
        assert_eq!(
            fails(b"{\"a\": 1} {\"a\": 2}\n"),
            "questions.jsonl:1: expected one complete JSON object: trailing characters at column 10 (items[0])"
        );
    }

    #[test]
    fn a_line_that_is_no_object_is_named() {
        assert_eq!(
            fails(b"{\"a\": 1}\n[1]\n"),
            "questions.jsonl:2: expected a JSON object, found an array; each line must be one item (items[1])"
        );
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_named() {
        assert_eq!(
            fails(b"{\"a\": \"\xe9\"}"),
            "questions.jsonl:1: expected UTF-8, found another encoding at byte 8 (items[0])"
        );
    }

    #[test]
    fn a_file_without_items_is_an_error() {
        for text in [&b""[..], b"\n \r\n", b"\xef\xbb\xbf"] {
            assert!(fails(text).starts_with("questions.jsonl: the dataset is empty"), "{}", fails(text));
        }
    }
}
