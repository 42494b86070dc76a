//! Reads whole items of a loaded run.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use cobalt_core::redact::redacted_document;
use cobalt_core::report::{ItemResult, ItemWithoutContents, RunConfig};
use cobalt_core::store::{Part, PartsReader};
use serde::de::DeserializeOwned;

use super::loaded_item::LoadedItem;
use super::run_file::{RunFile, RunFileError};

/// Reads items by their position in the run.
#[derive(Debug)]
pub struct ItemReader<'a>(Source<'a>);

#[derive(Debug)]
enum Source<'a> {
    File(FileItems<'a>),
    Parts {
        parts: &'a PartsReader,
        config: &'a RunConfig,
        /// The last part: items in order are mostly in the same one.
        last: Option<Part>,
    },
}

impl<'a> ItemReader<'a> {
    pub fn of_file(items: FileItems<'a>) -> Self {
        Self(Source::File(items))
    }

    pub fn of_parts(parts: &'a PartsReader, config: &'a RunConfig) -> Self {
        Self(Source::Parts { parts, config, last: None })
    }

    /// The item at this position.
    pub fn item(&mut self, position: usize) -> Result<ItemResult, RunFileError> {
        let mut item: ItemResult = self.read(position)?;
        if let Source::Parts { config, .. } = &self.0 {
            item.passed = config.passes(&item);
        }
        Ok(item)
    }

    /// The same without the contents of its spans.
    pub fn without_contents(&mut self, position: usize) -> Result<ItemResult, RunFileError> {
        self.read(position).map(|ItemWithoutContents(item)| item)
    }

    fn read<T: DeserializeOwned>(&mut self, position: usize) -> Result<T, RunFileError> {
        match &mut self.0 {
            Source::File(items) => {
                let item = redacted_document(items.bytes(position)?);
                // It was an item when its range was recorded.
                serde_json::from_slice(&item).map_err(|_| RunFileError::Changed)
            }
            Source::Parts { parts, last, .. } => {
                let part = match last.take().filter(|part| part.line(position).is_some()) {
                    Some(part) => part,
                    None => parts.part_with(position)?,
                };
                Ok(last.insert(part).parse(position)?)
            }
        }
    }
}

/// The JSON of items in a file.
#[derive(Debug)]
pub struct FileItems<'a> {
    items: &'a [LoadedItem],
    file: File,
    of: &'a RunFile,
}

impl<'a> FileItems<'a> {
    pub fn open(items: &'a [LoadedItem], of: &'a RunFile) -> Result<Self, RunFileError> {
        Ok(Self { items, file: of.open()?, of })
    }

    /// The JSON of the item at this position, unchanged from the file.
    pub fn bytes(&mut self, position: usize) -> Result<Vec<u8>, RunFileError> {
        let place = self.items.get(position).and_then(LoadedItem::place).ok_or(RunFileError::Changed)?;
        let mut bytes = vec![0; usize::try_from(place.end - place.start).unwrap_or_default()];
        let read =
            self.file.seek(SeekFrom::Start(place.start)).and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(|error| self.of.to_error(error))?;
        Ok(bytes)
    }
}
