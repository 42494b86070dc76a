//! The texts of the items that a page lists.

use std::collections::HashMap;
use std::sync::Arc;

use super::item_texts::ItemTexts;
use super::loaded_run::LoadedRun;
use super::run_file::RunFileError;
use crate::serve::error::ApiError;

/// The texts of the items of a page, in each of the runs that it shows.
#[derive(Debug)]
pub struct PageTexts<'a>(Vec<RunTexts<'a>>);

#[derive(Debug)]
struct RunTexts<'a> {
    run: &'a LoadedRun,
    /// By position, if the run is in parts. Other runs have theirs in memory.
    read: HashMap<usize, Arc<ItemTexts>>,
}

impl<'a> PageTexts<'a> {
    /// Reads the texts of the items at these positions of each run.
    pub fn read<P: Iterator<Item = usize>>(
        runs: impl Iterator<Item = (&'a LoadedRun, P)>,
    ) -> Result<Self, RunFileError> {
        let read = |(run, positions): (&'a LoadedRun, P)| {
            let read = run.parts().map(|parts| parts.texts(positions)).transpose()?.unwrap_or_default();
            Ok(RunTexts { run, read })
        };
        runs.map(read).collect::<Result<_, _>>().map(Self)
    }

    /// The texts of an item of a run.
    pub fn of(&self, run: &LoadedRun, position: usize) -> Result<&ItemTexts, RunFileError> {
        let texts = self.0.iter().find(|texts| std::ptr::eq(texts.run, run)).and_then(|texts| {
            let in_memory = texts.run.items.get(position)?.texts();
            in_memory.or_else(|| texts.read.get(&position).map(Arc::as_ref))
        });
        texts.ok_or_else(|| ApiError::internal().into())
    }
}
