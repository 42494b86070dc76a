//! The items of a loaded run in parts: its columns are in memory, and its texts are read part by part.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZero;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use std::thread;

use cobalt_core::report::ItemWithoutContents;
use cobalt_core::store::{PartsIndex, PartsReader};

use super::loaded_item::{ItemTexts, LoadedItem};
use super::run_file::{RunFile, RunFileError};
use crate::sized_cache::lock;

/// The maximum number of threads that read the parts of one run.
const MAX_READERS: usize = 4;
/// The maximum number of items whose texts are kept.
const MAX_TEXTS: usize = 2048;

/// The items file of a run in parts.
#[derive(Debug)]
pub struct LoadedParts {
    reader: PartsReader,
    /// The texts that were wanted lately, by position.
    texts: Mutex<HashMap<usize, Arc<ItemTexts>>>,
}

/// The text of a part.
#[derive(Debug)]
pub struct PartText {
    text: String,
    first: usize,
    /// The end of each line.
    ends: Vec<usize>,
}

impl PartText {
    fn new(text: Vec<u8>, first: usize) -> Option<Self> {
        let text = String::from_utf8(text).ok()?;
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
        Some(Self { text, first, ends })
    }

    /// The number of items.
    fn items(&self) -> usize {
        self.ends.len()
    }

    /// The item at this position in the run.
    pub fn line(&self, position: usize) -> Option<&str> {
        let line = position.checked_sub(self.first)?;
        let end = *self.ends.get(line)?;
        let start = line.checked_sub(1).map_or(0, |before| self.ends[before] + 1);
        Some(&self.text[start..end])
    }

    /// Its items with their positions.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (self.first..self.first + self.items()).filter_map(|position| Some((position, self.line(position)?)))
    }
}

impl LoadedParts {
    pub fn open(file: &RunFile, index: PartsIndex) -> Result<Self, RunFileError> {
        let reader = PartsReader::open(file.path(), index)?;
        Ok(Self { reader, texts: Mutex::default() })
    }

    /// The approximate memory use in bytes.
    pub fn size(&self) -> usize {
        /// The texts of an item.
        const TEXTS: usize = 1 << 10;
        let index = self.reader.index();
        size_of_val(&*index.parts) + size_of_val(&*index.columns) + MAX_TEXTS.min(index.items) * TEXTS
    }

    /// The number of parts.
    pub fn count(&self) -> usize {
        self.reader.index().parts.len()
    }

    /// The fields of all items, from the columns.
    pub fn read_items(&self) -> Result<Vec<LoadedItem>, RunFileError> {
        let index = self.reader.index();
        let blocks = in_parallel(index.columns.len(), |blocks| {
            let mut items = Vec::with_capacity(blocks.clone().map(|block| index.columns[block].items).sum());
            for block in blocks {
                items.extend(self.reader.rows_of_block(block)?.map(LoadedItem::of_row));
            }
            Ok(items)
        })?;
        let mut blocks = blocks.into_iter();
        let mut items = blocks.next().unwrap_or_default();
        items.reserve_exact(index.items.saturating_sub(items.len()));
        blocks.for_each(|block| items.extend(block));
        Ok(items)
    }

    /// The part that has the item at a position.
    pub fn part_of(&self, position: usize) -> Result<PartText, RunFileError> {
        self.part(self.reader.index().part_of(position).ok_or(RunFileError::Changed)?)
    }

    /// A part by its number.
    pub fn part(&self, part: usize) -> Result<PartText, RunFileError> {
        let entry = self.reader.index().parts.get(part).ok_or(RunFileError::Changed)?;
        let text = PartText::new(self.reader.part(part)?, entry.first);
        text.filter(|text| text.items() == entry.items).ok_or(RunFileError::Changed)
    }

    /// Calls a function with the JSON of each item, on several threads.
    pub fn scan<T: Send>(&self, each: impl Fn(&str) -> T + Sync) -> Result<Vec<T>, RunFileError> {
        let scanned = in_parallel(self.count(), |parts| {
            let mut found = Vec::new();
            for part in parts {
                found.extend(self.part(part)?.lines().map(|(_, line)| each(line)));
            }
            Ok(found)
        })?;
        Ok(scanned.into_iter().flatten().collect())
    }

    /// The starts of the texts of the item at a position.
    pub fn texts(&self, position: usize) -> Result<Arc<ItemTexts>, RunFileError> {
        self.read_texts(vec![position])?;
        lock(&self.texts).get(&position).cloned().ok_or(RunFileError::Changed)
    }

    /// Reads the texts of the items at these positions, as far as they are not known.
    pub fn read_texts(&self, positions: Vec<usize>) -> Result<(), RunFileError> {
        let mut missing: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let known = lock(&self.texts);
        for position in positions.into_iter().filter(|position| !known.contains_key(position)) {
            let part = self.reader.index().part_of(position).ok_or(RunFileError::Changed)?;
            missing.entry(part).or_default().push(position);
        }
        drop(known);
        if missing.is_empty() {
            return Ok(());
        }
        let missing: Vec<_> = missing.into_iter().collect();
        let read = in_parallel(missing.len(), |range| {
            let mut texts = Vec::new();
            for (part, positions) in &missing[range] {
                let part = self.part(*part)?;
                for position in positions {
                    let line = part.line(*position).ok_or(RunFileError::Changed)?;
                    let ItemWithoutContents(item) =
                        serde_json::from_str(line).map_err(|_| RunFileError::Changed)?;
                    texts.push((*position, Arc::new(ItemTexts::of(&item))));
                }
            }
            Ok(texts)
        })?;
        let mut known = lock(&self.texts);
        if known.len() > MAX_TEXTS {
            known.clear();
        }
        known.extend(read.into_iter().flatten());
        Ok(())
    }
}

/// Calls a function with consecutive ranges of numbers up to `count`, on several threads. The results are in order.
fn in_parallel<T: Send>(
    count: usize,
    work: impl Fn(Range<usize>) -> Result<T, RunFileError> + Sync,
) -> Result<Vec<T>, RunFileError> {
    let readers = thread::available_parallelism().map_or(1, NonZero::get).min(MAX_READERS).min(count);
    if readers < 2 {
        return Ok(vec![work(0..count)?]);
    }
    thread::scope(|scope| {
        let range = |reader: usize| reader * count / readers..(reader + 1) * count / readers;
        let work = &work;
        let threads: Vec<_> = (0..readers).map(|reader| scope.spawn(move || work(range(reader)))).collect();
        let results = threads.into_iter().map(|it| it.join().unwrap_or_else(|panic| resume_unwind(panic)));
        results.collect()
    })
}
