//! A part in memory: the JSON of its items.

use std::path::PathBuf;

use serde::de::DeserializeOwned;

use super::damaged::{FrameKind, damaged};
use crate::report::{ItemResult, RunConfig};
use crate::store::error::StoreError;

/// The items of a part, which are parsed one by one.
#[derive(Debug)]
pub struct Part {
    text: String,
    /// The position of the first item in the run.
    first: usize,
    /// The end of each line.
    ends: Vec<usize>,
    origin: Origin,
}

/// Which part of which file it is, for errors.
#[derive(Clone, Debug)]
pub struct Origin {
    pub path: PathBuf,
    pub number: usize,
    pub count: usize,
}

impl Origin {
    pub fn error(&self, reason: &str) -> StoreError {
        damaged(&self.path, FrameKind::Part, self.number, self.count, reason)
    }
}

/// Parses the text of a part that starts with the item at position `first`, and has this number of items.
pub fn parse_part(text: Vec<u8>, first: usize, items: usize, origin: Origin) -> Result<Part, StoreError> {
    let text = String::from_utf8(text).map_err(|_| origin.error("it is not UTF-8"))?;
    let ends: Vec<_> = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
    match ends.len() == items {
        true => Ok(Part { text, first, ends, origin }),
        false => Err(origin.error("the number of its items differs from its index")),
    }
}

impl Part {
    /// The JSON of the item at this position in the run. `None` if another part has it.
    #[must_use]
    pub fn line(&self, position: usize) -> Option<&str> {
        let line = position.checked_sub(self.first)?;
        let end = *self.ends.get(line)?;
        let start = line.checked_sub(1).map_or(0, |before| self.ends[before] + 1);
        Some(&self.text[start..end])
    }

    /// The JSON of all items, each with the item's position in the run.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let positions = self.first..self.first + self.ends.len();
        positions.filter_map(|position| Some((position, self.line(position)?)))
    }

    /// Parses the item at this position in the run.
    ///
    /// # Errors
    ///
    /// Another part has it, or it is damaged.
    pub fn parse<T: DeserializeOwned>(&self, position: usize) -> Result<T, StoreError> {
        let unfit = |reason: &str| self.origin.error(&format!("item {position}: {reason}"));
        let line = self.line(position).ok_or_else(|| unfit("it is in another part"))?;
        serde_json::from_str(line).map_err(|error| unfit(&error.to_string()))
    }

    /// The item at this position in the run, of a run with these settings.
    ///
    /// # Errors
    ///
    /// Another part has it, or it is damaged.
    pub fn item(&self, position: usize, config: &RunConfig) -> Result<ItemResult, StoreError> {
        let mut item: ItemResult = self.parse(position)?;
        item.passed = config.passes(&item);
        Ok(item)
    }

    /// All items, of a run with these settings.
    ///
    /// # Errors
    ///
    /// One of them is damaged.
    pub fn items(&self, config: &RunConfig) -> Result<Vec<ItemResult>, StoreError> {
        (self.first..self.first + self.ends.len()).map(|position| self.item(position, config)).collect()
    }
}
