//! Reads the items file of a result in parts.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::columns::{ColumnBlock, ItemRow};
use super::compress::decompress;
use super::damaged::{FrameKind, damaged};
use super::index::{PartEntry, PartsIndex};
use super::part::{Origin, Part, parse_part};
use crate::redact::redacted_document;
use crate::report::{ItemResult, Report, RunConfig};
use crate::store::damaged_items::validate_lines;
use crate::store::error::{StoreError, storage_error};

/// The items of a result in parts. One part is in memory at a time.
#[derive(Debug)]
pub struct PartsReader {
    path: PathBuf,
    file: Mutex<File>,
    index: PartsIndex,
}

impl PartsReader {
    /// Opens the items file beside a result file that has this index.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or the index does not fit it.
    pub fn open(head: &Path, index: PartsIndex) -> Result<Self, StoreError> {
        index.check().map_err(|source| storage_error("read", head, source))?;
        let path = head.with_file_name(&index.file);
        let open = || {
            let file = File::open(&path)?;
            let length = file.metadata()?.len();
            if length != index.bytes {
                let reason = format!(
                    "it has {length} bytes, but its result file `{}` says {}; it is incomplete, or of another run",
                    head.display(),
                    index.bytes
                );
                return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
            }
            Ok(file)
        };
        let file = open().map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => {
                let reason = format!(
                    "it has the items of `{}`, and must lie beside it; copy both files",
                    head.file_name().unwrap_or_default().to_string_lossy()
                );
                storage_error("read", &path, io::Error::new(io::ErrorKind::NotFound, reason))
            }
            _ => storage_error("read", &path, source),
        })?;
        Ok(Self { file: Mutex::new(file), path, index })
    }

    /// The index of the parts.
    #[must_use]
    pub fn index(&self) -> &PartsIndex {
        &self.index
    }

    /// The items file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads a part, without the secrets that are known now.
    ///
    /// # Errors
    ///
    /// There is no such part, or it is damaged; the error has its number.
    pub fn part(&self, number: usize) -> Result<Part, StoreError> {
        let text = self.text(FrameKind::Part, number, &self.index.parts)?;
        let PartEntry { first, items, .. } = self.index.parts[number];
        let origin = Origin { path: self.path.clone(), number, count: self.index.parts.len() };
        parse_part(text, first, items, origin)
    }

    /// Reads the part that has the item at this position in dataset order, from 0.
    ///
    /// # Errors
    ///
    /// There is no such item, or its part is damaged.
    pub fn part_with(&self, position: usize) -> Result<Part, StoreError> {
        self.part(self.number_of_part(position)?)
    }

    /// The number of the part that has the item at this position.
    ///
    /// # Errors
    ///
    /// There is no such item.
    pub fn number_of_part(&self, position: usize) -> Result<usize, StoreError> {
        self.index.part_of(position).ok_or_else(|| {
            let reason = format!("it has {} items, and none at position {position}", self.index.items);
            storage_error("read", &self.path, io::Error::new(io::ErrorKind::InvalidInput, reason))
        })
    }

    /// Reads the items of a part.
    ///
    /// # Errors
    ///
    /// There is no such part, or it is damaged.
    pub fn items_of_part(&self, number: usize, config: &RunConfig) -> Result<Vec<ItemResult>, StoreError> {
        self.part(number)?.items(config)
    }

    /// Checks the items as [`validate_report`](crate::store::validate_report) does, one part after the other, and reads all columns.
    ///
    /// # Errors
    ///
    /// A part or an item is damaged.
    pub fn validate(&self, head: &Report) -> Result<(), StoreError> {
        for part in 0..self.index.parts.len() {
            let read = self.part(part)?;
            let lines = read.lines().map(|(_, line)| line.as_bytes());
            validate_lines(lines.zip(read.items(&head.config)?), head)
                .map_err(|damage| self.damaged(FrameKind::Part, part, &damage.to_string()))?;
        }
        self.rows().try_for_each(|row| row.map(drop))
    }

    /// All items in dataset order.
    pub fn items<'a>(
        &'a self,
        config: &'a RunConfig,
    ) -> impl Iterator<Item = Result<ItemResult, StoreError>> + 'a {
        (0..self.index.parts.len()).flat_map(move |part| match self.items_of_part(part, config) {
            Ok(items) => PartItems::Items(items.into_iter()),
            Err(error) => PartItems::Error(Some(error)),
        })
    }

    /// The item at this position in dataset order, from 0.
    ///
    /// # Errors
    ///
    /// There is no such item, or its part is damaged.
    pub fn item(&self, position: usize, config: &RunConfig) -> Result<ItemResult, StoreError> {
        self.items_at(&[position], config).map(|mut items| items.remove(0))
    }

    /// The items at these positions. A part is read once for consecutive positions in it.
    ///
    /// # Errors
    ///
    /// One of the items does not exist, or its part is damaged.
    pub fn items_at(&self, positions: &[usize], config: &RunConfig) -> Result<Vec<ItemResult>, StoreError> {
        let part_of = |position: &usize| self.index.part_of(*position);
        let mut items = Vec::with_capacity(positions.len());
        for positions in positions.chunk_by(|one, next| part_of(one) == part_of(next)) {
            let part = self.part_with(positions[0])?;
            for position in positions {
                items.push(part.item(*position, config)?);
            }
        }
        Ok(items)
    }

    /// The rows of a block of columns.
    ///
    /// # Errors
    ///
    /// There is no such block, or it is damaged.
    pub fn rows_of_block(&self, block: usize) -> Result<impl Iterator<Item = ItemRow>, StoreError> {
        let text = self.text(FrameKind::Columns, block, &self.index.columns)?;
        let columns = ColumnBlock::parse(&text)
            .map_err(|error| self.damaged(FrameKind::Columns, block, &error.to_string()))?;
        if columns.items() != self.index.columns[block].items {
            let reason = "the number of its items differs from its index";
            return Err(self.damaged(FrameKind::Columns, block, reason));
        }
        Ok(columns.into_rows())
    }

    /// The columns of all items in dataset order.
    pub fn rows(&self) -> impl Iterator<Item = Result<ItemRow, StoreError>> {
        (0..self.index.columns.len()).flat_map(|block| match self.rows_of_block(block) {
            Ok(rows) => PartItems::Items(rows),
            Err(error) => PartItems::Error(Some(error)),
        })
    }

    fn text(&self, kind: FrameKind, number: usize, entries: &[PartEntry]) -> Result<Vec<u8>, StoreError> {
        let Some(entry) = entries.get(number) else {
            return Err(self.damaged(kind, number, "it does not exist"));
        };
        let read = || {
            let mut frame = vec![0; usize::try_from(entry.bytes).map_err(io::Error::other)?];
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(entry.offset))?;
            file.read_exact(&mut frame)?;
            drop(file);
            if crc32fast::hash(&frame) != entry.crc32 {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "its checksum differs"));
            }
            decompress(&frame, entry.text)
        };
        let text = read().map_err(|error| self.damaged(kind, number, &error.to_string()))?;
        Ok(redacted_document(text))
    }

    fn damaged(&self, kind: FrameKind, number: usize, reason: &str) -> StoreError {
        let count = match kind {
            FrameKind::Part => self.index.parts.len(),
            FrameKind::Columns => self.index.columns.len(),
        };
        damaged(&self.path, kind, number, count, reason)
    }
}

/// The items of a part, or why there are none.
enum PartItems<I> {
    Items(I),
    Error(Option<StoreError>),
}

impl<T, I: Iterator<Item = T>> Iterator for PartItems<I> {
    type Item = Result<T, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Items(items) => items.next().map(Ok),
            Self::Error(error) => error.take().map(Err),
        }
    }
}
