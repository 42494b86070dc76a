//! Where the finished items of a run are.

use cobalt_core::report::ItemResult;
use cobalt_core::store::JournalWriter;

/// The finished items of a run.
pub enum FinishedItems {
    InMemory(Vec<ItemResult>),
    /// Of a large run: in its journal.
    InJournal,
}

impl FinishedItems {
    /// How many there are.
    pub fn count(&self, journal: Option<&JournalWriter>) -> usize {
        match self {
            Self::InMemory(items) => items.len(),
            Self::InJournal => journal.map_or(0, JournalWriter::saved_items),
        }
    }
}
