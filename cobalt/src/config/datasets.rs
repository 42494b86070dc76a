//! The tables `[datasets.…]`: which data sets there are, and where each of them stands.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use cobalt_core::redact::register_address;

use super::error::Place;
use super::merge::Merge;
use super::settings::dotted;
use crate::dataset::tables::DatasetTable;

/// The data sets that the file names.
#[derive(Clone, Debug, Default)]
pub(super) struct NamedSets {
    /// The file that is read, if there is any.
    pub(super) file: Option<PathBuf>,
    /// Each with where its table stands.
    pub(super) sets: BTreeMap<String, (DatasetTable, Place)>,
}

impl<F: Fn(&str) -> Option<OsString>> Merge<'_, F> {
    /// The data sets that the file, if there is one, names.
    pub fn datasets(&mut self, file: Option<PathBuf>, written: BTreeMap<String, DatasetTable>) -> NamedSets {
        let mut sets = BTreeMap::new();
        for (name, entry) in written {
            let key = dotted("datasets", &name);
            let (address, variables) = entry.secrets();
            address.into_iter().for_each(|address| register_address(&key, address));
            variables.into_iter().for_each(|variable| self.register_variable(Some(variable)));
            self.note_written(&key, Some(&entry));
            // Each was read from a place.
            if let Some(place) = self.place(&key).cloned() {
                sets.insert(name, (entry, place));
            }
        }
        NamedSets { file, sets }
    }
}
