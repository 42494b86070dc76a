//! Which data sets there are, and how one is loaded by its name.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::entry::Entry;
use crate::config::Config;
use crate::config::error::{ConfigError, Place};
use crate::config::merge::Merge;
use crate::config::read::dotted;
use crate::dataset::Dataset;
#[cfg(feature = "remote")]
use crate::dataset::{DatasetError, RemoteDataset, Source, settings::FetchSettings};
use crate::error::Error;
use crate::redact::register_address;

/// The data sets that the file names.
#[derive(Clone, Debug, Default)]
pub(in crate::config) struct NamedSets {
    /// The file that is read, if there is any.
    pub(in crate::config) file: Option<PathBuf>,
    /// Each with where its table stands.
    pub(in crate::config) sets: BTreeMap<String, (Entry, Place)>,
}

/// What loading a data set takes beside its table.
pub(super) struct Opening<'a> {
    pub(super) workspace: &'a Path,
    #[cfg(not(feature = "remote"))]
    name: &'a str,
    place: &'a Place,
    #[cfg(feature = "remote")]
    settings: &'a FetchSettings,
    #[cfg(feature = "remote")]
    variable: &'a (dyn Fn(&str) -> Option<String> + Sync),
}

impl<F: Fn(&str) -> Option<OsString>> Merge<'_, F> {
    /// The data sets that the file, if there is one, names.
    pub(in crate::config) fn datasets(
        &mut self,
        file: Option<PathBuf>,
        written: BTreeMap<String, Entry>,
    ) -> NamedSets {
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

    /// The data set of a name, see [`Dataset::named`]. `variable` looks up an environment variable, such as those that hold
    /// keys; one of `[env]` counts where it finds none.
    ///
    /// # Errors
    ///
    /// There is no such table; the data set cannot be read or fetched, or is not as expected.
    pub fn load_dataset(
        &self,
        name: &str,
        variable: impl Fn(&str) -> Option<OsString> + Sync,
    ) -> Result<Dataset, Error> {
        let (entry, place) = self.datasets.sets.get(name).ok_or_else(|| self.unknown_dataset(name))?;
        #[cfg(not(feature = "remote"))]
        drop(variable);
        #[cfg(feature = "remote")]
        let variable = |name: &str| {
            let set = variable(name).map(|value| value.to_string_lossy().into_owned());
            set.or_else(|| self.env.get(name).cloned())
        };
        entry.load(&Opening {
            workspace: &self.workspace,
            #[cfg(not(feature = "remote"))]
            name,
            place,
            #[cfg(feature = "remote")]
            settings: &self.fetch,
            #[cfg(feature = "remote")]
            variable: &variable,
        })
    }

    /// The path of the data set of a name, from the root of the workspace, if it is a file or the files of a pattern there.
    #[doc(hidden)]
    #[must_use]
    pub fn dataset_path(&self, name: &str) -> Option<&Path> {
        match &self.datasets.sets.get(name)?.0 {
            Entry::File(table) => Some(table.path.0.as_ref()),
            _ => None,
        }
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

#[cfg(feature = "remote")]
impl Opening<'_> {
    /// The items, of a copy or fetched.
    pub(super) fn fetch(&self, remote: RemoteDataset<impl Source>) -> Result<Dataset, Error> {
        remote.load_by(self.settings, self.variable).map_err(|error| match error {
            // What is expected stands in the table, which is found by its place.
            Error::Dataset(changed @ DatasetError::Changed(_)) => {
                self.place.error(&changed.to_string()).into()
            }
            other => other,
        })
    }
}

#[cfg(not(feature = "remote"))]
impl Opening<'_> {
    /// The error of a data set that the program cannot fetch, for want of the feature that it takes.
    pub(super) fn without_remote(&self) -> Error {
        let problem = format!(
            "[{}] is fetched, which comes with the feature `remote` of the package `cobalt`, which this program is built \
             without; turn it on",
            dotted("datasets", self.name)
        );
        self.place.error(&problem).into()
    }
}
