//! The tables `[datasets.…]`: which data sets there are, and where each of them stands.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Config;
use super::error::{ConfigError, Place};
use super::file::dotted;
use super::merge::Merge;
use crate::dataset::tables::DatasetTable;
use crate::redact::register_address;

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

impl Config {
    /// The names of the data sets that [`load_dataset`](Self::load_dataset) loads: those of the tables `[datasets.…]`.
    pub fn datasets(&self) -> impl Iterator<Item = &str> {
        self.datasets.sets.keys().map(String::as_str)
    }

    /// The table of a data set, and where it stands.
    pub(crate) fn dataset_table(&self, name: &str) -> Result<(&DatasetTable, &Place), ConfigError> {
        let table = self.datasets.sets.get(name).ok_or_else(|| self.unknown_dataset(name))?;
        Ok((&table.0, &table.1))
    }

    /// The path of the data set of a name, from the root of the workspace, if it is a file or the files of a pattern there.
    #[doc(hidden)]
    #[must_use]
    pub fn dataset_path(&self, name: &str) -> Option<&Path> {
        self.datasets.sets.get(name)?.0.path()
    }

    fn unknown_dataset(&self, name: &str) -> ConfigError {
        let names = self.datasets().map(str::to_owned).collect();
        ConfigError::UnknownDataset {
            name: name.to_owned(),
            file: self.datasets.file.clone(),
            workspace: self.workspace.clone(),
            names,
        }
    }
}
