//! Makes a run of its items, one after the other.

use std::ops::Range;

use cobalt::Report;
use cobalt::llm::prices::PriceTable;
use cobalt::report::{ItemNames, ItemResult, Measurements, RunConfig};
use cobalt::store::ReportText;

use super::{FileProblem, LoadedItem, LoadedRun, RunFile};

/// A run of which not all items are there yet.
#[derive(Debug)]
pub(in crate::serve) struct Loading<'a> {
    config: RunConfig,
    prices: &'a PriceTable,
    names: ItemNames,
    items: Vec<LoadedItem>,
}

impl<'a> Loading<'a> {
    pub(in crate::serve) fn new(config: RunConfig, is_partial: bool, prices: &'a PriceTable) -> Self {
        Self { config, prices, names: ItemNames::new(is_partial), items: Vec::new() }
    }

    /// Adds an item, of which the JSON lies at this place of the file.
    pub(in crate::serve) fn add(&mut self, place: Range<u64>, item: &ItemResult) {
        self.names.add(item);
        self.items.push(LoadedItem::of(item, place, &self.config, self.prices));
    }

    /// The run, of which `head` is the report without its items, and whose items are whole in `file`.
    pub(in crate::serve) fn finish(self, head: Report, file: RunFile) -> LoadedRun {
        let Self { names, mut items, prices, .. } = self;
        let named = names.keys().into_iter().zip(names.case_names());
        for (item, (key, name)) in items.iter_mut().zip(named) {
            item.name = (name != key).then(|| name.into());
            item.key = key.into();
        }
        items.sort_by_key(|item| item.index);
        items.shrink_to_fit();
        LoadedRun { measured: Measurements::of(&head, prices), head, items, file }
    }
}

impl LoadedRun {
    /// Reads a result file.
    pub(in crate::serve) fn read(file: &RunFile, prices: &PriceTable) -> Result<Self, FileProblem> {
        let bytes = file.read()?;
        let unfit = |error: serde_json::Error| {
            file.problem(std::io::Error::new(
                std::io::ErrorKind::InvalidData,
                format!("no result file: {error}"),
            ))
        };
        let text = ReportText::of(&bytes).map_err(unfit)?;
        let mut loading = Loading::new(text.head().config.clone(), text.head().partial, prices);
        let add = |place: Range<usize>, item| loading.add(place.start as u64..place.end as u64, &item);
        let head = text.read(add).map_err(unfit)?;
        Ok(loading.finish(head, file.clone()))
    }
}
