//! JSON: an array of items, or an object with such an array as `items`, parsed as a stream.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::{self, BufRead, Read};
use std::ops::Range;

use cobalt_core::item::{Item, into_item};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::text::{OnElement, collect_items};
use super::{DatasetError, text};

/// Parses the items one by one, without holding the text in memory.
#[doc(hidden)]
pub fn parse_json(reader: impl BufRead, file: &str) -> Result<Vec<Item>, DatasetError> {
    collect_items(file, |take| each_element(reader, file, take))
}

/// Passes on each element of the list with its line. Reading stops at a syntax error.
pub fn each_element(reader: impl BufRead, file: &str, take: OnElement<'_>) -> Result<(), DatasetError> {
    let (reader, _) = text::skip_bom(reader, file)?;
    let position = Position { line: Cell::new(1), blank: Cell::new(true), item: Cell::new(None) };
    let taker = ItemReceiver { position: &position, take: RefCell::new(take), refused: RefCell::new(None) };
    let mut deserializer = serde_json::Deserializer::from_reader(PositionReader::new(reader, &position));
    let read = deserializer
        .deserialize_any(Document { taker: &taker })
        .and_then(|count| deserializer.end().map(|()| count));
    match (read, taker.refused.take()) {
        (_, Some(refused)) => Err(refused),
        (Err(error), None) => Err(explain(error, &position, file)),
        (Ok(0), None) => Err(DatasetError::empty(file, "the list of items is empty")),
        (Ok(_), None) => Ok(()),
    }
}

fn explain(error: serde_json::Error, position: &Position, file: &str) -> DatasetError {
    if error.is_io() {
        return DatasetError::read(file, error.into());
    }
    if position.blank.get() {
        return DatasetError::empty(file, "the file is blank");
    }
    let reason = match message_without_position(&error) {
        reason if reason == "trailing characters" => format!(
            "{reason} at column {} after the JSON document; if each line is an item, rename the file to `.jsonl` or \
            load it with `Dataset::from_jsonl`",
            error.column()
        ),
        reason if error.is_data() => reason,
        reason => format!("{reason} at column {}", error.column()),
    };
    let item = position.item.get().map(|index| format!(" (items[{index}])")).unwrap_or_default();
    DatasetError::malformed(file, error.line(), reason + &item)
}

/// The message of serde_json, without the position at its end.
pub fn message_without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position).unwrap_or(&text).to_owned()
}

/// The current position in the file.
struct Position {
    /// The line being read, counted from 1.
    line: Cell<usize>,
    /// Whether only white space was read so far.
    blank: Cell<bool>,
    /// The index of the item being read.
    item: Cell<Option<usize>>,
}

/// The receiver of the items.
struct ItemReceiver<'p> {
    position: &'p Position,
    take: RefCell<OnElement<'p>>,
    /// The error with which it stopped.
    refused: RefCell<Option<DatasetError>>,
}

/// Tracks the position while serde_json reads byte by byte, with a buffer of its own: twice as fast as reading each byte
/// from the layers below.
struct PositionReader<'p, R> {
    reader: R,
    block: Box<[u8]>,
    /// The unread part of the block.
    rest: Range<usize>,
    position: &'p Position,
}

impl<'p, R: Read> PositionReader<'p, R> {
    fn new(reader: R, position: &'p Position) -> Self {
        PositionReader { reader, block: vec![0; 64 * 1024].into(), rest: 0..0, position }
    }
}

impl<R: Read> Read for PositionReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(byte) = buffer.first_mut() else { return Ok(0) };
        if self.rest.is_empty() {
            self.rest = 0..self.reader.read(&mut self.block)?;
            if self.rest.is_empty() {
                return Ok(0);
            }
        }
        *byte = self.block[self.rest.start];
        self.rest.start += 1;
        if *byte == b'\n' {
            self.position.line.set(self.position.line.get() + 1);
        } else if self.position.blank.get() {
            self.position.blank.set(byte.is_ascii_whitespace());
        }
        Ok(1)
    }
}

/// The whole file: the list, or an object that contains it. Returns the number of items, like [`List`].
#[derive(Clone, Copy)]
struct Document<'p> {
    taker: &'p ItemReceiver<'p>,
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = usize;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array of items, or an object with such an array as `items`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<usize, A::Error> {
        List { taker: self.taker }.visit_seq(access)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<usize, A::Error> {
        let mut items = None;
        let mut others = Vec::new();
        while let Some(key) = access.next_key::<String>()? {
            if key != "items" {
                access.next_value::<IgnoredAny>()?;
                others.push(key);
            } else if items.is_some() {
                return Err(A::Error::custom("expected one list `items`, found two"));
            } else {
                items = Some(access.next_value_seed(List { taker: self.taker })?);
            }
        }
        items.ok_or_else(|| {
            let found = match others.is_empty() {
                true => "an empty object".to_owned(),
                false => {
                    format!(
                        "an object with {}",
                        cobalt_core::wording::join_quoted(others.iter().map(String::as_str))
                    )
                }
            };
            A::Error::custom(format_args!(
                "expected an array of items, or an object with such an array as `items`, found {found}"
            ))
        })
    }
}

/// The list of items.
struct List<'p> {
    taker: &'p ItemReceiver<'p>,
}

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = usize;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array of items as `items`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<usize, A::Error> {
        let ItemReceiver { position, take, refused } = self.taker;
        let mut index = 0;
        while let Some((line, item)) = access.next_element_seed(ElementSeed { index, position })? {
            if let Err(error) = take.borrow_mut()(line, item) {
                refused.replace(Some(error));
                return Err(A::Error::custom("refused"));
            }
            position.item.set(None);
            index += 1;
        }
        Ok(index)
    }
}

/// One element of the list, with its line; serde_json has read exactly its first byte at this point.
struct ElementSeed<'p> {
    index: usize,
    position: &'p Position,
}

impl<'de> DeserializeSeed<'de> for ElementSeed<'_> {
    type Value = (usize, Result<Item, String>);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let line = self.position.line.get();
        self.position.item.set(Some(self.index));
        Ok((line, into_item(Deserialize::deserialize(deserializer)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item;

    fn fails(text: &str) -> String {
        parse_json(text.as_bytes(), "data.json").unwrap_err().to_string()
    }

    #[test]
    fn an_array_of_objects_is_a_list_of_items() {
        let items = parse_json(&b"[{\"a\": 1},\r\n {\"a\": {\"b\": [2]}}]\r\n"[..], "f").unwrap();
        assert_eq!(items, [item! { "a": 1 }, item! { "a": { "b": [2] } }]);
    }

    #[test]
    fn an_object_may_hold_the_items_beside_other_fields() {
        let items =
            parse_json(&br#"{"name": "x", "items": [{"a": 1}], "version": {"n": [1]}}"#[..], "f").unwrap();
        assert_eq!(items, [item! { "a": 1 }]);
    }

    #[test]
    fn a_byte_order_mark_is_dropped() {
        assert_eq!(parse_json(&b"\xef\xbb\xbf[{\"a\": 1}]"[..], "f").unwrap(), [item! { "a": 1 }]);
    }

    #[test]
    fn the_last_of_two_equal_keys_counts() {
        assert_eq!(parse_json(&br#"[{"a": 1, "a": 2}]"#[..], "f").unwrap(), [item! { "a": 2 }]);
    }

    #[test]
    fn an_item_that_is_no_object_is_named_with_the_line_it_begins_on() {
        assert_eq!(
            fails("[\n{\"a\": 1},\n[\n2\n]\n,\n{\"a\": 3}]"),
            "data.json:3: expected a JSON object, found an array (items[1])"
        );
        assert_eq!(
            fails("{\"items\": [\n{\"a\": 1},\n\n42\n\n]}"),
            "data.json:4: expected a JSON object, found a number (items[1])"
        );
    }

    #[test]
    fn a_syntax_error_names_its_line_column_and_item() {
        assert_eq!(fails("[\n{\"a\": 1},\n{\"a\" 2}]"), "data.json:3: expected `:` at column 6 (items[1])");
        assert_eq!(fails("[\n{\"a\": 1}"), "data.json:2: EOF while parsing a list at column 8");
        assert_eq!(fails("[{\"a\": 1},]"), "data.json:1: trailing comma at column 11");
    }

    #[test]
    fn an_object_without_items_is_refused_with_what_it_holds() {
        assert_eq!(
            fails("{\"data\": [{}],\n \"n\": 1}"),
            "data.json:2: expected an array of items, or an object with such an array as `items`, found an object \
             with `data`, `n`"
        );
        assert!(fails("{}").ends_with("found an empty object"));
    }

    #[test]
    fn items_that_are_no_array_are_refused() {
        assert!(
            fails(r#"{"items": {"a": 1}}"#)
                .ends_with("invalid type: map, expected an array of items as `items`")
        );
        assert!(
            fails("3").contains("expected an array of items, or an object with such an array as `items`")
        );
        assert_eq!(
            fails(r#"{"items": [{}], "items": [{}]}"#),
            "data.json:1: expected one list `items`, found two"
        );
    }

    #[test]
    fn text_after_the_document_is_refused_with_a_hint_at_jsonl() {
        let message = fails("[{\"a\": 1}]\n[{\"a\": 2}]");
        assert!(message.starts_with("data.json:2: trailing characters at column 1"), "{message}");
        assert!(message.contains("from_jsonl"), "{message}");
    }

    #[test]
    fn a_file_without_items_is_an_error() {
        for text in ["", " \n\t\r\n", "\u{feff}", "[]", r#"{"items": []}"#] {
            assert!(fails(text).starts_with("data.json: the dataset is empty"), "{}", fails(text));
        }
    }

    #[test]
    fn nesting_without_end_is_an_error_and_no_crash() {
        assert!(fails(&"[".repeat(100_000)).contains("recursion limit"));
        assert!(fails(&format!("[{{\"a\": {}", "[".repeat(100_000))).contains("recursion limit"));
    }
}
