//! Data files that can be changed in place: those of text, by their format.

use std::path::Path;

use cobalt::dataset::{Format, format_of, parse_csv, parse_json, parse_jsonl};
use cobalt::{DatasetError, Item};

use super::error::{WriteError, shown};

/// A format whose files are text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextFormat {
    Json,
    Jsonl,
    /// With this between its fields.
    Csv(u8),
}

impl TextFormat {
    /// The format of a file with these bytes, of which there may be none, as the library tells it.
    pub(super) fn of(path: &Path, bytes: &[u8]) -> Result<Self, WriteError> {
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
    pub(super) fn read(self, text: &str, file: &str) -> Result<Vec<Item>, DatasetError> {
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
