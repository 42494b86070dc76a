//! Runs in memory: the fields of each item that lists, overviews and comparisons need, and its byte range in the file.
//!
//! A [`LoadedRun`] is built item by item with [`RunBuilder`], from a result file or from the lines of a journal, or from the columns of
//! a run in parts. An item's outputs, reasons and metadata are read again from the file on demand.

use std::collections::HashMap;
use std::ops::Range;

use cobalt_core::prices::PriceTable;
use cobalt_core::report::{ItemNames, ItemResult, Measurements, Report, RunConfig};
use cobalt_core::store::ReportReader;

use super::cell::Cell;
use super::columns::FileColumn;
use super::item_reader::{FileItems, ItemReader};
use super::loaded_item::{LoadedItem, make_names_unique};
use super::loaded_parts::LoadedParts;
use super::run_file::{RunFile, RunFileError};

/// A run without the fields that stay in its file.
#[derive(Debug)]
pub struct LoadedRun {
    /// The report without its items.
    pub head: Report,
    /// The run's measurements without those of the items.
    measured: Measurements,
    /// In dataset order.
    pub items: Vec<LoadedItem>,
    /// The file with the complete items, or of a run in parts, with everything else.
    pub file: RunFile,
    /// The items in parts.
    parts: Option<LoadedParts>,
}

impl LoadedRun {
    /// The index of an evaluator in the run.
    pub fn evaluator_index(&self, name: &str) -> Option<usize> {
        self.head.config.evaluators.iter().position(|known| known == name)
    }

    /// The measurements for comparisons; much larger than the run itself.
    pub fn measurements(&self) -> Measurements {
        let evaluators = &self.head.config.evaluators;
        let items = self.items.iter().map(|item| item.measured(evaluators));
        Measurements { items: items.collect(), ..self.measured.clone() }
    }

    /// The evaluators that scored an item below their pass marks.
    pub fn below_pass_mark<'a>(&'a self, item: &'a LoadedItem) -> impl Iterator<Item = &'a str> {
        let evaluators = self.head.config.evaluators().enumerate();
        evaluators.filter(|(at, (_, mark))| item.scores.is_below(*at, *mark)).map(|(_, (name, _))| name)
    }

    /// The evaluators that do not apply to an item.
    pub fn not_applicable<'a>(&'a self, item: &'a LoadedItem) -> impl Iterator<Item = &'a str> {
        let evaluators = self.head.config.evaluators.iter().enumerate();
        evaluators.filter(|(at, _)| item.scores.is_not_applicable(*at)).map(|(_, name)| &**name)
    }

    /// The approximate memory use in bytes.
    pub fn size(&self) -> usize {
        /// A report without its items.
        const HEAD: usize = 16 << 10;
        let parts = self.parts.as_ref().map_or(0, LoadedParts::size);
        HEAD + parts + self.items.iter().map(LoadedItem::size).sum::<usize>()
    }

    /// The items in parts, if they are.
    pub fn parts(&self) -> Option<&LoadedParts> {
        self.parts.as_ref()
    }

    /// Reads the values of columns of the items at these positions. Those of an item are in the order of the columns.
    pub fn values_at(
        &self,
        positions: Vec<usize>,
        columns: &[FileColumn],
    ) -> Result<HashMap<usize, Vec<Cell>>, RunFileError> {
        let values = |item: &str| columns.iter().map(|column| column.read(item)).collect();
        if columns.is_empty() {
            return Ok(HashMap::new());
        }
        if let Some(parts) = &self.parts {
            let read = parts.read_at(positions, |part, position| {
                Ok(values(part.line(position).ok_or(RunFileError::Changed)?))
            })?;
            return Ok(read.into_iter().collect());
        }
        let mut items = FileItems::open(&self.items, &self.file)?;
        let read = positions.into_iter().map(|position| {
            // It was an item when its range was recorded.
            let item = String::from_utf8(items.bytes(position)?).map_err(|_| RunFileError::Changed)?;
            Ok((position, values(&item)))
        });
        read.collect()
    }

    /// A reader of single items.
    pub fn reader(&self) -> Result<ItemReader<'_>, RunFileError> {
        Ok(match &self.parts {
            Some(parts) => ItemReader::of_parts(parts.reader(), &self.head.config),
            None => ItemReader::of_file(FileItems::open(&self.items, &self.file)?),
        })
    }
}

/// Builds a loaded run.
#[derive(Debug)]
pub struct RunBuilder<'a> {
    config: RunConfig,
    prices: &'a PriceTable,
    names: ItemNames,
    items: Vec<LoadedItem>,
}

impl<'a> RunBuilder<'a> {
    pub fn new(config: RunConfig, is_partial: bool, prices: &'a PriceTable) -> Self {
        Self { config, prices, names: ItemNames::new(is_partial), items: Vec::new() }
    }

    /// Adds an item with the byte range of its JSON in the file.
    pub fn add(&mut self, place: Range<u64>, item: &ItemResult) {
        self.names.add(item);
        self.items.push(LoadedItem::of(item, place, &self.config, self.prices));
    }

    /// Builds the run. `head` is the report without its items; `file` has the complete items.
    pub fn finish(self, head: Report, file: RunFile) -> LoadedRun {
        let Self { names, mut items, prices, .. } = self;
        let named = names.keys().into_iter().zip(names.case_names());
        for (item, (key, name)) in items.iter_mut().zip(named) {
            item.key = key.into();
            item.set_name(name);
        }
        items.sort_by_key(|item| item.index);
        items.shrink_to_fit();
        LoadedRun { measured: Measurements::from_report(&head, prices), head, items, file, parts: None }
    }
}

impl LoadedRun {
    /// Reads a result file.
    pub fn read(file: &RunFile, prices: &PriceTable) -> Result<Self, RunFileError> {
        let bytes = file.read()?;
        let unfit = |error: serde_json::Error| {
            file.to_error(std::io::Error::new(
                std::io::ErrorKind::InvalidData,
                format!("not a result file: {error}"),
            ))
        };
        let text = ReportReader::of(&bytes).map_err(unfit)?;
        if let Some(parts) = text.parts() {
            let parts = LoadedParts::open(file, parts.clone())?;
            return Self::read_parts(file, text.head().clone(), parts, prices);
        }
        let mut loading = RunBuilder::new(text.head().config.clone(), text.head().partial, prices);
        let add = |place: Range<usize>, item| loading.add(place.start as u64..place.end as u64, &item);
        let head = text.read(add).map_err(unfit)?;
        Ok(loading.finish(head, file.clone()))
    }

    /// Reads the columns of a run in parts.
    fn read_parts(
        file: &RunFile,
        head: Report,
        parts: LoadedParts,
        prices: &PriceTable,
    ) -> Result<Self, RunFileError> {
        let mut items = parts.read_items()?;
        make_names_unique(&mut items);
        Ok(Self {
            measured: Measurements::from_report(&head, prices),
            head,
            items,
            file: file.clone(),
            parts: Some(parts),
        })
    }
}
