//! The layout of a data file: field order, spacing and line endings; and edits of a text.

use std::ops::Range;
use std::{fmt, io};

use cobalt_core::item::Item;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

/// The JSON layout of items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    spacing: Spacing,
    /// The order of their fields.
    fields: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Spacing {
    /// On one line, without spaces.
    Compact,
    /// On one line, with a space after each comma and colon.
    Spaced,
    /// On several lines, indented by this unit.
    Indented(String),
}

impl Layout {
    /// The layout of an existing item whose line has this indentation.
    pub fn detect(item: &str, indentation: &str) -> Self {
        let spacing = match item.split_once('\n') {
            Some((_, second)) => {
                let second = &second[..second.len() - second.trim_start().len()];
                let unit = second.strip_prefix(indentation).filter(|unit| !unit.is_empty());
                Spacing::Indented(unit.unwrap_or("  ").to_owned())
            }
            None if is_compact(item) => Spacing::Compact,
            None => Spacing::Spaced,
        };
        Self { spacing, fields: field_names(item) }
    }

    /// The default for one item per line.
    pub fn single_line() -> Self {
        Self { spacing: Spacing::Spaced, fields: Vec::new() }
    }

    /// The default for items on several lines.
    pub fn indented(unit: &str) -> Self {
        Self { spacing: Spacing::Indented(unit.to_owned()), fields: Vec::new() }
    }

    /// An item as JSON. Lines end with LF; all but the first start with the indentation.
    pub fn write(&self, item: &Item, indentation: &str) -> String {
        let fields = Ordered(ordered_fields(item, &self.fields));
        match &self.spacing {
            Spacing::Compact => json(&fields, CompactFormatter),
            Spacing::Spaced => json(&fields, SpacedFormatter),
            Spacing::Indented(unit) => {
                let text = json(&fields, PrettyFormatter::with_indent(unit.as_bytes()));
                text.replace('\n', &format!("\n{indentation}"))
            }
        }
    }
}

/// Whether there is only a colon between the first name and its value.
fn is_compact(item: &str) -> bool {
    let name = field_names(item).into_iter().next().unwrap_or_default();
    let Ok(name) = serde_json::to_string(&name) else { return false };
    item.split_once(&name)
        .is_some_and(|(_, rest)| rest.strip_prefix(':').is_some_and(|it| !it.starts_with(' ')))
}

/// The field names of an item in written order.
pub fn field_names(item: &str) -> Vec<String> {
    struct Names;

    impl<'de> Visitor<'de> for Names {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<String>, A::Error> {
            let mut names = Vec::new();
            while let Some((name, IgnoredAny)) = map.next_entry()? {
                names.push(name);
            }
            Ok(names)
        }
    }

    // Items are objects; anything else has no names.
    serde_json::Deserializer::from_str(item).deserialize_map(Names).unwrap_or_default()
}

/// The fields of an item in this order.
struct Ordered<'a>(Vec<(&'a str, &'a Value)>);

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

fn json(value: &impl Serialize, formatter: impl Formatter) -> String {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    value.serialize(&mut serializer).expect("values parsed from JSON can be serialized");
    String::from_utf8(bytes).expect("serde_json writes UTF-8")
}

/// JSON on one line, with a space after each comma and colon.
struct SpacedFormatter;

impl SpacedFormatter {
    fn separate<W: io::Write + ?Sized>(to: &mut W, is_first: bool) -> io::Result<()> {
        if is_first { Ok(()) } else { to.write_all(b", ") }
    }
}

impl Formatter for SpacedFormatter {
    fn begin_array_value<W: io::Write + ?Sized>(&mut self, to: &mut W, is_first: bool) -> io::Result<()> {
        Self::separate(to, is_first)
    }

    fn begin_object_key<W: io::Write + ?Sized>(&mut self, to: &mut W, is_first: bool) -> io::Result<()> {
        Self::separate(to, is_first)
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b": ")
    }
}

/// The fields that come first if no existing item defines an order.
const USUAL_FIELDS: [&str; 3] = ["id", "input", "expectedOutput"];

/// The fields of an item: first those in `named`, in that order, then the usual ones, then the others.
pub fn ordered_fields<'a>(item: &'a Item, named: &[String]) -> Vec<(&'a str, &'a Value)> {
    let place = |name: &str| {
        let shown = named.iter().position(|known| known == name).map(|place| (0, place));
        let usual = || USUAL_FIELDS.iter().position(|known| *known == name).map(|place| (1, place));
        shown.or_else(usual).unwrap_or((2, 0))
    };
    let mut fields: Vec<_> = item.iter().map(|(name, value)| (name.as_str(), value)).collect();
    // Stable: the others stay in alphabetical order.
    fields.sort_by_key(|(name, _)| place(name));
    fields
}

/// A replacement of a range of a text; an empty range is an insertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub range: Range<usize>,
    pub text: String,
}

impl Edit {
    pub fn insertion(at: usize, text: String) -> Self {
        Self { range: at..at, text }
    }

    pub fn removal(range: Range<usize>) -> Self {
        Self { range, text: String::new() }
    }
}

/// Applies edits, which must be sorted and must not overlap.
pub fn apply_edits(text: &str, edits: &[Edit]) -> String {
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

/// The line ending of a text: that of its first line, or LF.
pub fn line_end(text: &str) -> &'static str {
    let first = text.find('\n').unwrap_or(0);
    if text[..first].ends_with('\r') { "\r\n" } else { "\n" }
}

/// The line ending that is missing at the end of a text, if any.
pub fn missing_line_end(text: &str) -> &'static str {
    if text.is_empty() || text == BYTE_ORDER_MARK || text.ends_with('\n') { "" } else { line_end(text) }
}

/// The UTF-8 byte order mark.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The length of a text's byte order mark in bytes.
pub fn bom_length(text: &str) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
}
