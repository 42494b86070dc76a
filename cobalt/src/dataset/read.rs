//! The items of a file on disk, by whatever tells its format.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use super::compressed::Compression;
use super::{DatasetError, Format, Item, Told, columnar, parse_csv, parse_json, parse_jsonl};

/// How much of a file its format is told by.
const HEAD_BYTES: u64 = 64 * 1024;

/// The items of the file at `path`, which errors call `shown`.
pub(in crate::dataset) fn read(path: &Path, shown: &str, told: &Told) -> Result<Vec<Item>, DatasetError> {
    let (content, format) = open(path, shown, told)?;
    content.items(format, shown, told.max_bytes)
}

/// The content of the file at `path`, without its compression, and its format.
pub(super) fn open(path: &Path, shown: &str, told: &Told) -> Result<(Content, Format), DatasetError> {
    let unread = |error| DatasetError::read(shown, error);
    let mut file = File::open(path).map_err(unread)?;
    let start = head(&mut file).map_err(unread)?;
    let content = match Compression::of(&start) {
        None => Content { head: start, rest: Rest::File(file) },
        Some(compression) => {
            let packed = BufReader::new(Cursor::new(start).chain(file));
            let mut unpacked = compression.decoder(packed, told.max_bytes, shown)?;
            Content { head: head(&mut unpacked).map_err(unread)?, rest: Rest::Unpacked(unpacked) }
        }
    };
    let format = told.format(&content.head, shown)?;
    Ok((content, format))
}

/// The format of a file of this name with these bytes, as it is read by.
#[doc(hidden)]
pub fn format_of(name: &str, bytes: &[u8]) -> Result<Format, DatasetError> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES as usize)];
    Told::by_name(name).format(head, name)
}

/// The beginning of what a reader has.
fn head(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(head)
}

/// What a file holds, without its compression.
pub(in crate::dataset) struct Content {
    /// The beginning, which was read already.
    pub(in crate::dataset) head: Vec<u8>,
    pub(in crate::dataset) rest: Rest,
}

/// What follows the beginning.
pub(in crate::dataset) enum Rest {
    /// As the file has it.
    File(File),
    /// As it comes out of a decoder.
    Unpacked(Box<dyn Read>),
}

impl Content {
    /// The items.
    pub(super) fn items(
        self,
        format: Format,
        shown: &str,
        max_bytes: Option<u64>,
    ) -> Result<Vec<Item>, DatasetError> {
        match format {
            Format::Json => parse_json(self.text(), shown),
            Format::Jsonl => parse_jsonl(self.text(), shown),
            Format::Csv => parse_csv(self.text(), shown, b','),
            Format::Tsv => parse_csv(self.text(), shown, b'\t'),
            Format::Parquet => columnar::read_parquet(self, shown, max_bytes),
            Format::Arrow => columnar::read_arrow(self, shown, max_bytes),
        }
    }

    /// All of it, from its beginning to its end.
    pub(super) fn text(self) -> impl BufRead {
        BufReader::new(Cursor::new(self.head).chain(self.rest))
    }
}

impl Read for Rest {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Rest::File(file) => file.read(buffer),
            Rest::Unpacked(reader) => reader.read(buffer),
        }
    }
}
