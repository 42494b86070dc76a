//! How the items of a data file are laid out: its format, the order of their fields, and the space between them.

use std::path::Path;
use std::{fmt, io};

use cobalt::dataset::{Format, format_of, parse_csv, parse_json, parse_jsonl};
use cobalt::{Dataset, DatasetError, Item};
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

use super::file::{WriteError, shown};

/// How items are laid out as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    spacing: Spacing,
    /// The order of their fields.
    fields: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Spacing {
    /// On one line, without spaces.
    Dense,
    /// On one line, with a space after each comma and colon.
    Spaced,
    /// On several lines, each deeper one further in by this.
    Indented(String),
}

impl Layout {
    /// As another item in the file is, which its line begins with this indentation.
    pub fn of(item: &str, indentation: &str) -> Self {
        let spacing = match item.split_once('\n') {
            Some((_, second)) => {
                let second = &second[..second.len() - second.trim_start().len()];
                let unit = second.strip_prefix(indentation).filter(|unit| !unit.is_empty());
                Spacing::Indented(unit.unwrap_or("  ").to_owned())
            }
            None if is_dense(item) => Spacing::Dense,
            None => Spacing::Spaced,
        };
        Self { spacing, fields: names(item) }
    }

    /// An item to a line, where there is no other.
    pub fn on_a_line() -> Self {
        Self { spacing: Spacing::Spaced, fields: Vec::new() }
    }

    /// An item on several lines, where there is no other.
    pub fn indented(unit: &str) -> Self {
        Self { spacing: Spacing::Indented(unit.to_owned()), fields: Vec::new() }
    }

    /// An item as JSON. Its lines end in LF, and all but the first begin with the indentation.
    pub fn write(&self, item: &Item, indentation: &str) -> String {
        let fields = Ordered(in_order(item, &self.fields));
        match &self.spacing {
            Spacing::Dense => json(&fields, CompactFormatter),
            Spacing::Spaced => json(&fields, SpacedFormatter),
            Spacing::Indented(unit) => {
                let text = json(&fields, PrettyFormatter::with_indent(unit.as_bytes()));
                text.replace('\n', &format!("\n{indentation}"))
            }
        }
    }
}

/// Whether nothing stands between the first name and its value but a colon.
fn is_dense(item: &str) -> bool {
    let name = names(item).into_iter().next().unwrap_or_default();
    let Ok(name) = serde_json::to_string(&name) else { return false };
    item.split_once(&name)
        .is_some_and(|(_, rest)| rest.strip_prefix(':').is_some_and(|it| !it.starts_with(' ')))
}

/// The names of an item's fields, in the order in which they are written.
pub fn names(item: &str) -> Vec<String> {
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

    // What is no object has no names; an item is one.
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
    value.serialize(&mut serializer).expect("values that were JSON can be written as JSON");
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

/// A format whose files are text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    Json,
    Jsonl,
    /// With this between its fields.
    Csv(u8),
}

impl TextFormat {
    /// The format of a file with these bytes, of which there may be none, as the library tells it.
    pub fn of(path: &Path, bytes: &[u8]) -> Result<Self, WriteError> {
        if is_compressed(path, bytes) {
            let instead = "unpack it, change what is in it, and pack it again";
            return Err(WriteError::Unchangeable { path: path.to_owned(), kind: "compressed", instead });
        }
        match format_of(&shown(path), bytes) {
            Ok(Format::Json) => Ok(Self::Json),
            Ok(Format::Jsonl) => Ok(Self::Jsonl),
            Ok(Format::Csv) => Ok(Self::Csv(b',')),
            Ok(Format::Tsv) => Ok(Self::Csv(b'\t')),
            Ok(_) => Err(WriteError::Unchangeable {
                path: path.to_owned(),
                kind: "a table of columns",
                instead: "keep these items in a file `.jsonl` beside it",
            }),
            Err(DatasetError::Empty { .. }) => Err(WriteError::UnknownFormat(path.to_owned())),
            Err(error) => Err(WriteError::Malformed(error)),
        }
    }

    /// Reads the items of a text as the library does; one without any has none.
    pub fn read(self, text: &str, file: &str) -> Result<Vec<Item>, DatasetError> {
        let read = match self {
            Self::Json => parse_json(text.as_bytes(), file),
            Self::Jsonl => parse_jsonl(text.as_bytes(), file),
            Self::Csv(delimiter) => parse_csv(text.as_bytes(), file, delimiter),
        };
        match read {
            Err(DatasetError::Empty { .. }) => Ok(Vec::new()),
            read => read,
        }
    }
}

/// By its ending or by how it begins.
fn is_compressed(path: &Path, bytes: &[u8]) -> bool {
    const ENDINGS: [&str; 4] = ["gz", "gzip", "zst", "zstd"];
    const BEGINNINGS: [&[u8]; 2] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd"];
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending))
        || BEGINNINGS.iter().any(|beginning| bytes.starts_with(beginning))
}

/// What an item is found by in other runs: its `id`, else a hash of its `input`, else of all of it. Others may have the same.
pub fn key(item: &Item) -> String {
    Dataset::from_items([item.clone()]).keys().swap_remove(0)
}

/// The fields that come first where no other item shows an order.
const FIRST: [&str; 3] = ["id", "input", "expectedOutput"];

/// The fields of an item: those that are named in their order, then the usual ones, then the others.
pub fn in_order<'a>(item: &'a Item, named: &[String]) -> Vec<(&'a str, &'a Value)> {
    let place = |name: &str| {
        let shown = named.iter().position(|known| known == name).map(|place| (0, place));
        let usual = || FIRST.iter().position(|known| *known == name).map(|place| (1, place));
        shown.or_else(usual).unwrap_or((2, 0))
    };
    let mut fields: Vec<_> = item.iter().map(|(name, value)| (name.as_str(), value)).collect();
    // Stable: the others stay in the order of the alphabet.
    fields.sort_by_key(|(name, _)| place(name));
    fields
}
