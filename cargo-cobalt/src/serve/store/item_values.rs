//! Reads the values of items: once, and then from bounded caches.

use std::num::NonZero;
use std::sync::Arc;
use std::thread;

use super::Store;
use super::cell::Cell;
use super::columns::{ColumnValues, FileColumn};
use super::item_fields::{Fields, ItemField};
use super::item_set::{ItemSet, Selection};
use super::loaded_item::LoadedItem;
use super::loaded_run::LoadedRun;
use super::run_file::RunFileError;

/// The maximum length of a text in memory, in characters: items are sorted by as much of it.
const MAX_TEXT: usize = 256;
/// The maximum number of threads that read one run.
const MAX_READERS: usize = 4;
/// The minimum number of items for another thread.
const ITEMS_PER_READER: usize = 1000;
/// The maximum number of items that are read to list the columns.
const SAMPLE: usize = 1000;
/// Of a run in parts, they are from this many places: each place costs a part.
const SAMPLED_PLACES: usize = 8;
/// The number of items from which a run is large, and the maximum length of a text of it in memory.
const LARGE: usize = 100_000;
const MAX_TEXT_OF_LARGE: usize = 32;

/// The positions of the items that are read to list the columns.
fn sample(run: &LoadedRun) -> Vec<usize> {
    let count = run.items.len();
    if run.parts().is_none() {
        return (0..count).step_by(count.div_ceil(SAMPLE).max(1)).collect();
    }
    let neighbours = SAMPLE / SAMPLED_PLACES;
    let places = (0..SAMPLED_PLACES).map(|place| place * count / SAMPLED_PLACES);
    let mut sample: Vec<_> = places.flat_map(|start| start..(start + neighbours).min(count)).collect();
    sample.dedup();
    sample
}

impl Store {
    /// The values of a column of all items, cached.
    pub fn column(&self, run: &LoadedRun, column: &FileColumn) -> Result<Arc<ColumnValues>, RunFileError> {
        let is_large = run.items.len() >= LARGE;
        let columns = if is_large { &self.columns_of_large } else { &self.columns };
        columns.get(&(run.file.clone(), column.clone()), ColumnValues::size, || {
            let longest = if is_large { MAX_TEXT_OF_LARGE } else { MAX_TEXT };
            let read = self.scan_items(run, |item| {
                let mut cell = column.read(item);
                let hash = cell.cut(longest);
                (cell, hash)
            })?;
            let (cells, hashes): (Vec<_>, Vec<_>) = read.into_iter().unzip();
            let cut = hashes.into_iter().enumerate().filter_map(|(place, hash)| Some((place, hash?)));
            Ok(ColumnValues { cut: cut.collect(), cells, longest })
        })
    }

    /// Calls a function with the whole value of a column of each item.
    pub fn scan_column<T: Send>(
        &self,
        run: &LoadedRun,
        column: &FileColumn,
        each: impl Fn(&Cell) -> T + Sync,
    ) -> Result<Vec<T>, RunFileError> {
        self.scan_items(run, |item| each(&column.read(item)))
    }

    /// The items that a search or a condition selects, cached.
    pub fn selected(
        &self,
        run: &LoadedRun,
        selection: Selection,
        select: impl FnOnce() -> Result<ItemSet, RunFileError>,
    ) -> Result<Arc<ItemSet>, RunFileError> {
        let key = (run.file.clone(), selection);
        self.selections.get(&key, |items| items.size(&key.1), select)
    }

    /// Calls a function with the JSON of each item, on several threads.
    pub fn scan_items<T: Send>(
        &self,
        run: &LoadedRun,
        each: impl Fn(&str) -> T + Sync,
    ) -> Result<Vec<T>, RunFileError> {
        // Limits the number of files in memory.
        let _pass = self.loaders.acquire();
        if let Some(parts) = run.parts() {
            return parts.scan(each);
        }
        let bytes = run.file.read()?;
        let text = |item: &LoadedItem| {
            let place = item.place()?;
            let place = usize::try_from(place.start).ok()?..usize::try_from(place.end).ok()?;
            // It was an item when its range was recorded.
            std::str::from_utf8(bytes.get(place)?).ok()
        };
        let scan = |items: &[LoadedItem]| {
            let each = |item: &LoadedItem| text(item).map(&each).ok_or(RunFileError::Changed);
            items.iter().map(each).collect::<Result<Vec<_>, _>>()
        };
        let readers = thread::available_parallelism().map_or(1, NonZero::get).min(MAX_READERS);
        let chunk = run.items.len().div_ceil(readers).max(ITEMS_PER_READER);
        if run.items.len() <= chunk {
            return scan(&run.items);
        }
        thread::scope(|scope| {
            let scan = &scan;
            let parts: Vec<_> =
                run.items.chunks(chunk).map(|items| scope.spawn(move || scan(items))).collect();
            let mut all = Vec::with_capacity(run.items.len());
            for part in parts {
                all.extend(part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
            }
            Ok(all)
        })
    }

    /// The columns that the items have, cached.
    pub fn item_fields(&self, run: &LoadedRun) -> Result<Arc<Vec<ItemField>>, RunFileError> {
        self.fields.get(
            &run.file,
            |fields| fields.iter().map(ItemField::size).sum(),
            || {
                let mut reader = run.reader()?;
                let mut fields = Fields::default();
                for position in sample(run) {
                    fields.add(&reader.without_contents(position)?);
                }
                Ok(fields.finish())
            },
        )
    }
}
