//! Runs as they are kept in memory: what lists, overviews and comparisons need of each item, and where all of it lies.
//!
//! A [`LoadedRun`] is made item by item with [`Loading`], from whatever the items come: a result file, or the lines of a
//! journal. An item's outputs, reasons and metadata are read again from its place in the file when they are asked for.

mod file;
mod item;
mod loading;
mod preview;
mod row;
mod scores;
mod unfinished;

use cobalt::Report;
use cobalt::report::Measurements;

pub(in crate::serve) use file::{FileProblem, ItemReader, RunFile};
pub(in crate::serve) use item::LoadedItem;
pub(in crate::serve) use loading::Loading;
pub(in crate::serve) use unfinished::Unfinished;

/// A run without what only its file has.
#[derive(Debug)]
pub(in crate::serve) struct LoadedRun {
    /// The report without its items.
    pub(in crate::serve) head: Report,
    /// The numbers of the run without those of the items.
    measured: Measurements,
    /// In the order of the data set.
    pub(in crate::serve) items: Vec<LoadedItem>,
    /// Where the items are whole.
    pub(in crate::serve) file: RunFile,
}

impl LoadedRun {
    /// The place of an evaluator in the run.
    pub(in crate::serve) fn evaluator(&self, name: &str) -> Option<usize> {
        self.head.config.evaluators.iter().position(|known| known == name)
    }

    /// The numbers that comparisons are made of; much larger than the run itself.
    pub(in crate::serve) fn measurements(&self) -> Measurements {
        let evaluators = &self.head.config.evaluators;
        let items = self.items.iter().map(|item| item.measured(evaluators));
        Measurements { items: items.collect(), ..self.measured.clone() }
    }

    /// About how many bytes of memory it takes.
    pub(in crate::serve) fn size(&self) -> usize {
        /// A report without its items.
        const HEAD: usize = 16 << 10;
        HEAD + self.items.iter().map(LoadedItem::size).sum::<usize>()
    }
}
