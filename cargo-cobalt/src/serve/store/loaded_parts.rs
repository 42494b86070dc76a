//! The items of a loaded run in parts: its columns are in memory, and its texts are read part by part.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::num::NonZero;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use std::thread;

use cobalt_core::report::ItemWithoutContents;
use cobalt_core::store::{Part, PartsIndex, PartsReader};

use super::item_texts::ItemTexts;
use super::loaded_item::LoadedItem;
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
    texts: Mutex<TextCache>,
}

/// The texts that were read last, by position.
#[derive(Debug, Default)]
struct TextCache {
    known: HashMap<usize, Arc<ItemTexts>>,
    /// The oldest first.
    order: VecDeque<usize>,
}

impl TextCache {
    fn add(&mut self, position: usize, texts: Arc<ItemTexts>) {
        if self.known.insert(position, texts).is_none() {
            self.order.push_back(position);
        }
        while self.order.len() > MAX_TEXTS {
            self.order.pop_front().map(|oldest| self.known.remove(&oldest));
        }
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

    pub fn reader(&self) -> &PartsReader {
        &self.reader
    }

    /// The fields of all items, from the columns.
    pub fn read_items(&self) -> Result<Vec<LoadedItem>, RunFileError> {
        let blocks = in_parallel(self.reader.index().columns.len(), |blocks| {
            let mut items = Vec::new();
            for block in blocks {
                items.extend(self.reader.rows_of_block(block)?.map(LoadedItem::of_row));
            }
            Ok(items)
        })?;
        let count = blocks.iter().map(Vec::len).sum::<usize>();
        let mut blocks = blocks.into_iter();
        let mut items = blocks.next().unwrap_or_default();
        items.reserve_exact(count - items.len());
        blocks.for_each(|block| items.extend(block));
        Ok(items)
    }

    /// Calls a function with the JSON of each item, on several threads.
    pub fn scan<T: Send>(&self, each: impl Fn(&str) -> T + Sync) -> Result<Vec<T>, RunFileError> {
        let scanned = in_parallel(self.reader.index().parts.len(), |parts| {
            let mut found = Vec::new();
            for part in parts {
                found.extend(self.reader.part(part)?.lines().map(|(_, line)| each(line)));
            }
            Ok(found)
        })?;
        Ok(scanned.into_iter().flatten().collect())
    }

    /// The starts of the texts of the items at these positions.
    pub fn texts(
        &self,
        positions: impl Iterator<Item = usize>,
    ) -> Result<HashMap<usize, Arc<ItemTexts>>, RunFileError> {
        let mut texts = HashMap::new();
        let mut missing = Vec::new();
        {
            let cache = lock(&self.texts);
            for position in positions {
                match cache.known.get(&position) {
                    Some(known) => drop(texts.insert(position, Arc::clone(known))),
                    None => missing.push(position),
                }
            }
        }
        let read = self.read_at(missing, |part, position| {
            let ItemWithoutContents(item) = part.parse(position)?;
            Ok(Arc::new(ItemTexts::of(&item)))
        })?;
        let mut cache = lock(&self.texts);
        for (position, read) in read {
            cache.add(position, Arc::clone(&read));
            texts.insert(position, read);
        }
        Ok(texts)
    }

    /// Calls a function with the part of each of these positions, on several threads. A part is read once.
    pub fn read_at<T: Send>(
        &self,
        positions: Vec<usize>,
        read: impl Fn(&Part, usize) -> Result<T, RunFileError> + Sync,
    ) -> Result<Vec<(usize, T)>, RunFileError> {
        let mut by_part: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for position in positions {
            by_part.entry(self.reader.number_of_part(position)?).or_default().push(position);
        }
        let by_part: Vec<_> = by_part.into_iter().collect();
        let found = in_parallel(by_part.len(), |range| {
            let mut found = Vec::new();
            for (part, positions) in &by_part[range] {
                let part = self.reader.part(*part)?;
                for position in positions {
                    found.push((*position, read(&part, *position)?));
                }
            }
            Ok(found)
        })?;
        Ok(found.into_iter().flatten().collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_texts_make_room_one_by_one() {
        let mut cache = TextCache::default();
        for position in 0..MAX_TEXTS + 3 {
            cache.add(position, Arc::default());
            cache.add(position, Arc::default());
        }
        assert_eq!((cache.known.len(), cache.order.len()), (MAX_TEXTS, MAX_TEXTS));
        assert!(!cache.known.contains_key(&2) && cache.known.contains_key(&3));
    }
}
