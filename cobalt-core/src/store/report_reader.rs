//! Reads a result file item by item: of a large file, only the bytes are in memory.

use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Error as _, IgnoredAny};
use serde_json::{Deserializer, Error, Result};

use super::parts::PartsIndex;
use super::report_text::strip_bom;
use crate::report::{ItemCounts, ItemResult, ItemWithoutContents, Report, SCHEMA, StoredVerdict};

/// The text of a result file, also of the original tool, with or without a byte order mark.
pub struct ReportReader<'a> {
    bytes: &'a [u8],
    head: Report,
    /// The verdict stored in the head.
    verdict: StoredVerdict,
    /// The byte range of the list of items; empty if there is none.
    items: Range<usize>,
    /// Where the items are, if in another file.
    parts: Option<PartsIndex>,
}

/// The field of a result file that says where its items are.
#[derive(Deserialize)]
struct StoredParts {
    parts: PartsIndex,
}

impl<'a> ReportReader<'a> {
    /// Reads everything except the items.
    ///
    /// # Errors
    ///
    /// The bytes are not a result file.
    pub fn of(bytes: &'a [u8]) -> Result<Self> {
        let start = bytes.len() - strip_bom(bytes).len();
        let mut text = JsonReader { bytes, at: start, items_are_text: false };
        let found = text.find_items();
        let is_in_parts = text.items_are_text;
        let parse = |mut items: Range<usize>| {
            let parts = match is_in_parts {
                true => Some(serde_json::from_slice::<StoredParts>(&bytes[start..])?.parts),
                false => None,
            };
            let (before, after) = (&bytes[start..items.start], &bytes[items.end..]);
            let none: &[u8] = if items.is_empty() { b"" } else { b"[]" };
            let (mut head, verdict) = Report::parse_head(&[before, none, after].concat())?;
            if is_in_parts {
                // Only the form of the file is another.
                head.schema = SCHEMA;
                items = bytes.len()..bytes.len();
            }
            Ok(Self { bytes, head, verdict, items, parts })
        };
        found.and_then(parse).map_err(|error| match is_in_parts {
            // Parsed as a report whose items are not in parts, it would only seem to be of a newer version.
            true => serde_json::from_slice::<IgnoredAny>(&bytes[start..]).err().unwrap_or(error),
            false => error_with_position(bytes, error),
        })
    }

    /// Where the items are, if they are in parts.
    #[must_use]
    pub fn parts(&self) -> Option<&PartsIndex> {
        self.parts.as_ref()
    }

    /// The report without its items, and where they are, if they are in parts.
    pub(super) fn into_head(self) -> (Report, Option<PartsIndex>) {
        (self.head, self.parts)
    }

    /// The report without its items. For a file of the original tool, the number of failed items is not known yet.
    #[must_use]
    pub fn head(&self) -> &Report {
        &self.head
    }

    /// Reads the items in order, without the contents of their spans, each with the byte range of its JSON. Returns the report without
    /// its items.
    ///
    /// # Errors
    ///
    /// One of the items is invalid, or they are in parts: [`PartsReader`](super::PartsReader) reads those.
    pub fn read(mut self, mut each: impl FnMut(Range<usize>, ItemResult)) -> Result<Report> {
        if let Some(parts) = &self.parts {
            return Err(Error::custom(format!("its items are in `{}`", parts.file)));
        }
        let mut counts = ItemCounts::default();
        let mut text =
            JsonReader { bytes: &self.bytes[..self.items.end], at: self.items.start, items_are_text: false };
        let config = &self.head.config;
        let items = text.list(|text| {
            let start = text.at;
            let ItemWithoutContents(mut item) = text.value()?;
            item.passed = config.passes(&item);
            counts.add(&item, config);
            each(start..text.at, item);
            Ok(())
        });
        if !self.items.is_empty() {
            items.map_err(|error| error_with_position(self.bytes, error))?;
        }
        self.head.apply_counts(&counts, self.verdict);
        Ok(self.head)
    }
}

impl fmt::Debug for ReportReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReportReader").field("head", &self.head).field("items", &self.items).finish()
    }
}

/// The error with its line and column in the whole text.
fn error_with_position(bytes: &[u8], error: Error) -> Error {
    serde_json::from_slice::<Report>(strip_bom(bytes)).err().unwrap_or(error)
}

/// A forward-only JSON reader.
struct JsonReader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Whether the field `items` is a text, as in results in parts.
    items_are_text: bool,
}

impl<'a> JsonReader<'a> {
    /// The byte range of the field `items` in the object that starts here.
    fn find_items(&mut self) -> Result<Range<usize>> {
        let mut items = None;
        self.elements(b'{', b'}', |text| {
            let name: String = text.value()?;
            text.expect(b':')?;
            text.peek();
            let start = text.at;
            text.items_are_text |= name == "items" && text.bytes.get(start) == Some(&b'"');
            text.value::<IgnoredAny>()?;
            if name == "items" && items.replace(start..text.at).is_some() {
                return Err(Error::custom("duplicate field `items`"));
            }
            Ok(())
        })?;
        let end = self.at;
        Ok(items.unwrap_or(end..end))
    }

    fn list(&mut self, item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.elements(b'[', b']', item)
    }

    /// Reads comma-separated elements between two brackets.
    fn elements(&mut self, open: u8, close: u8, mut one: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.expect(open)?;
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.peek();
            one(self)?;
            if self.peek() == Some(close) {
                self.at += 1;
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    /// The next non-whitespace byte, without consuming it.
    fn peek(&mut self) -> Option<u8> {
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        self.at += self.bytes[self.at..].iter().take_while(|byte| is_space(byte)).count();
        self.bytes.get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.peek() != Some(byte) {
            return Err(Error::custom(format!("expected `{}` at byte {}", char::from(byte), self.at)));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads and consumes a value.
    fn value<T: Deserialize<'a>>(&mut self) -> Result<T> {
        let mut values = Deserializer::from_slice(&self.bytes[self.at..]).into_iter();
        let value = values.next().unwrap_or_else(|| Err(Error::custom("unexpected end of a list")));
        self.at += values.byte_offset();
        value
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The parsed report, with each item's own text.
    fn read(text: &str) -> Result<(Report, Vec<(String, ItemResult)>)> {
        let mut items = Vec::new();
        let head = ReportReader::of(text.as_bytes())?.read(|place, item| {
            items.push((text[place].to_owned(), item));
        })?;
        Ok((head, items))
    }

    fn file() -> Value {
        let item = |index: usize| {
            json!({ "index": index, "input": { "input": "Zoë \"名\" ]},{[" }, "latencyMs": 2,
                "output": { "output": "\\" }, "evaluations": { "exact": { "score": index } } })
        };
        json!({
            "id": "5ea00522f3eb", "name": "a", "timestamp": "2026-02-05T10:00:34.836Z", "tags": ["]"], "more": { "items": [] },
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["exact"] },
            "summary": { "totalItems": 2 }, "items": [item(0), item(1)],
        })
    }

    /// The text with the items moved to the front.
    fn items_first(file: &Value) -> String {
        let rest = file.as_object().unwrap().iter().filter(|(name, _)| *name != "items");
        let fields: Vec<_> = rest.map(|(name, value)| format!("{}: {value}", json!(name))).collect();
        format!("{{ \"items\" : {} , {} }}", file["items"], fields.join(","))
    }

    #[test]
    fn whatever_its_form_a_file_is_read_by_item_as_it_is_whole() {
        let file = file();
        let pretty = serde_json::to_string_pretty(&file).unwrap();
        for text in [file.to_string(), format!("\u{feff}{pretty}\r\n"), items_first(&file)] {
            let whole: Report = serde_json::from_slice(strip_bom(text.as_bytes())).unwrap();
            let (head, items) = read(&text).unwrap();
            assert_eq!(head, whole.without_items());
            assert_eq!(items.iter().map(|(_, item)| item.clone()).collect::<Vec<_>>(), whole.items);
            for (text, item) in items {
                let own: ItemResult = serde_json::from_str(&text).unwrap();
                // The item's own text lacks the pass marks.
                let own = ItemResult { passed: item.passed, ..own };
                assert_eq!(own, item, "the range is the item's text");
            }
        }
    }

    #[test]
    fn a_file_may_have_no_items() {
        let mut file = file();
        file["items"] = json!([]);
        assert_eq!(read(&file.to_string()).unwrap().1.len(), 0);
        file.as_object_mut().unwrap().remove("items");
        let (head, items) = read(&file.to_string()).unwrap();
        assert!(items.is_empty() && head.passed);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place_in_the_file() {
        let text = serde_json::to_string_pretty(&file()).unwrap();
        for broken in [
            &text[..text.len() / 2],
            &text.replacen("\"index\": 0,", "", 1),
            "",
            "[]",
            "{}",
            "{\"items\":[1,]}",
        ] {
            let error = read(broken).unwrap_err().to_string();
            let expected = serde_json::from_str::<Report>(broken).unwrap_err().to_string();
            assert_eq!(error, expected);
        }
    }
}
