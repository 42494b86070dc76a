//! Reads whole items of a loaded run.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use cobalt_core::redact::redacted_document;
use cobalt_core::report::{ItemResult, ItemWithoutContents, RunConfig};
use serde::de::DeserializeOwned;

use super::loaded_item::LoadedItem;
use super::loaded_parts::{LoadedParts, PartText};
use super::run_file::{RunFile, RunFileError};

/// Reads items by their position in the run.
#[derive(Debug)]
pub struct ItemReader<'a>(Source<'a>);

#[derive(Debug)]
enum Source<'a> {
    File {
        items: &'a [LoadedItem],
        file: File,
        of: &'a RunFile,
        bytes: Vec<u8>,
    },
    Parts {
        parts: &'a LoadedParts,
        config: &'a RunConfig,
        /// The last part: items in order are mostly in the same one.
        last: Option<PartText>,
    },
}

impl<'a> ItemReader<'a> {
    pub fn of_file(items: &'a [LoadedItem], file: File, of: &'a RunFile) -> Self {
        Self(Source::File { items, file, of, bytes: Vec::new() })
    }

    pub fn of_parts(parts: &'a LoadedParts, config: &'a RunConfig) -> Self {
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
            Source::File { items, file, of, bytes } => {
                let place = items.get(position).and_then(LoadedItem::place).ok_or(RunFileError::Changed)?;
                bytes.resize(usize::try_from(place.end - place.start).unwrap_or_default(), 0);
                let read = file.seek(SeekFrom::Start(place.start)).and_then(|_| file.read_exact(bytes));
                read.map_err(|error| of.to_error(error))?;
                let item = redacted_document(std::mem::take(bytes));
                // It was an item when its range was recorded.
                serde_json::from_slice(&item).map_err(|_| RunFileError::Changed)
            }
            Source::Parts { parts, last, .. } => {
                if last.as_ref().is_none_or(|part| part.line(position).is_none()) {
                    *last = Some(parts.part_of(position)?);
                }
                let line = last.as_ref().and_then(|part| part.line(position));
                let line = line.ok_or(RunFileError::Changed)?;
                serde_json::from_str(line).map_err(|_| RunFileError::Changed)
            }
        }
    }
}
