//! The tables `[datasets.…]`: the defined datasets, each with its location in the file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use cobalt_core::redact::register_address;

use super::error::Location;
use super::resolve::Resolver;
use super::settings::dotted_key;
use crate::dataset::tables::DatasetTable;

/// The datasets defined in the file.
#[derive(Clone, Debug, Default)]
pub(super) struct NamedDatasets {
    /// The file that was read, if any.
    pub(super) file: Option<PathBuf>,
    /// Each with the location of its table.
    pub(super) tables: BTreeMap<String, (DatasetTable, Location)>,
}

impl<F: Fn(&str) -> Option<OsString>> Resolver<'_, F> {
    /// Resolves the datasets defined in the file, if there is one.
    pub fn datasets(
        &mut self,
        file: Option<PathBuf>,
        written: BTreeMap<String, DatasetTable>,
    ) -> NamedDatasets {
        let mut sets = BTreeMap::new();
        for (name, entry) in written {
            let key = dotted_key("datasets", &name);
            let (address, variables) = entry.secrets();
            address.into_iter().for_each(|address| register_address(&key, address));
            variables.into_iter().for_each(|variable| self.register_variable(Some(variable)));
            self.note_written(&key, Some(&entry));
            // Each has a location.
            if let Some(place) = self.location(&key).cloned() {
                sets.insert(name, (entry, place));
            }
        }
        NamedDatasets { file, tables: sets }
    }
}
