//! Loading datasets from code: [`Dataset::from_file`] and similar functions, and `load` with the project's configuration.
//!
//! The code that reads and fetches is in [`dataset`](crate::dataset) and receives these settings.

use std::env;
use std::ffi::OsString;
use std::path::Path;

use cobalt_core::error_chain::BoxError;
use serde::Serialize;

use crate::config::Config;
#[cfg(not(feature = "remote"))]
use crate::config::dotted_key;
use crate::dataset::tables::LoadContext;
use crate::dataset::{Dataset, DatasetError, Format, IntoDataset, NamedDataset, read_package_file};
#[cfg(feature = "remote")]
use crate::dataset::{RemoteDataset, Source};
use crate::error::Error;

impl Dataset {
    /// Reads the items of a file, or of all files that match a pattern such as `data/train-*.parquet`. Relative paths start at the
    /// package directory.
    ///
    /// For the formats, compression and how they are detected, see [the module](crate::dataset#files). A `.json` file with one object
    /// per line is read as JSONL.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("questions.jsonl");
    /// std::fs::write(&path, "{\"input\": \"2 + 2\"}\n{\"input\": \"3 + 3\"}\n").unwrap();
    ///
    /// let dataset = cobalt::Dataset::from_file(&path)?;
    /// assert_eq!(dataset.len(), 2);
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The file cannot be read, is malformed, or has no items; or no file matches the pattern. The message names the file and the
    /// line.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Dataset, Error> {
        Ok(read_package_file(path.as_ref(), None)?)
    }

    /// Reads a JSON file with any extension: an array of objects, or an object with such an array as `items`.
    ///
    /// # Errors
    ///
    /// As for [`from_file`](Dataset::from_file).
    pub fn from_json(path: impl AsRef<Path>) -> Result<Dataset, Error> {
        Ok(read_package_file(path.as_ref(), Some(Format::Json))?)
    }

    /// Reads a JSONL file with any extension: one object per line.
    ///
    /// # Errors
    ///
    /// As for [`from_file`](Dataset::from_file).
    pub fn from_jsonl(path: impl AsRef<Path>) -> Result<Dataset, Error> {
        Ok(read_package_file(path.as_ref(), Some(Format::Jsonl))?)
    }

    /// Reads a CSV file with any extension: a header, then one row per item, split at tabs if the extension is `tsv` or `tab`. All values
    /// are strings, including their whitespace.
    ///
    /// # Errors
    ///
    /// As for [`from_file`](Dataset::from_file); also an empty or duplicate header name, a row that is longer or shorter than the header,
    /// or a misplaced quote.
    pub fn from_csv(path: impl AsRef<Path>) -> Result<Dataset, Error> {
        let path = path.as_ref();
        let format = if Format::is_split_at_tabs(path) { Format::Tsv } else { Format::Csv };
        Ok(read_package_file(path, Some(format))?)
    }

    /// Creates a dataset from values of any type that serializes to JSON objects.
    ///
    /// ```
    /// #[derive(serde::Serialize)]
    /// struct Question {
    ///     input: &'static str,
    ///     points: u32,
    /// }
    ///
    /// let dataset = cobalt::Dataset::from_serialize([Question { input: "2 + 2", points: 3 }])?;
    /// assert_eq!(dataset.get(0).unwrap()["points"], 3);
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A value cannot be serialized to JSON, or is not a JSON object.
    pub fn from_serialize(items: impl IntoIterator<Item = impl Serialize>) -> Result<Dataset, Error> {
        Ok(Dataset::from_values(items)?)
    }
}

impl NamedDataset {
    /// Loads the items from the file or the cached copy, or fetches them.
    ///
    /// # Errors
    ///
    /// The configuration is invalid or has no such table; the dataset cannot be read or fetched, or does not match what its table
    /// expects.
    pub fn load(self) -> Result<Dataset, Error> {
        Config::from_environment()?.load_dataset(&self.name, |name| env::var_os(name))
    }
}

impl IntoDataset for NamedDataset {
    fn into_dataset(self) -> Result<Dataset, BoxError> {
        Ok(self.load()?)
    }
}

#[cfg(feature = "remote")]
impl<S: Source> RemoteDataset<S> {
    /// Loads the items from the cached copy, or fetches them.
    ///
    /// The request runs on its own thread, so this can be called anywhere. In async code, it blocks the calling thread.
    ///
    /// # Errors
    ///
    /// The source cannot be reached, refuses the request or returns something that is not a dataset; there is no cached copy in offline
    /// mode; the items are not as expected; the copy cannot be written.
    pub fn load(self) -> Result<Dataset, Error> {
        let config = Config::from_environment()?;
        let variable = |name: &str| env::var(name).ok().or_else(|| config.env().get(name).cloned());
        Ok(self.load_with(config.fetch_settings(), &variable)?)
    }
}

#[cfg(feature = "remote")]
impl<S: Source> IntoDataset for RemoteDataset<S> {
    fn into_dataset(self) -> Result<Dataset, BoxError> {
        Ok(self.load()?)
    }
}

impl Config {
    /// Loads a dataset by name, see [`Dataset::named`]. `variable` looks up an environment variable, such as one that holds a key;
    /// `[env]` is the fallback.
    ///
    /// # Errors
    ///
    /// There is no such table; the dataset cannot be read or fetched, or is not as expected.
    pub fn load_dataset(
        &self,
        name: &str,
        variable: impl Fn(&str) -> Option<OsString> + Sync,
    ) -> Result<Dataset, Error> {
        let (table, place) = self.dataset_table(name)?;
        let variable = |name: &str| {
            let set = variable(name).map(|value| value.to_string_lossy().into_owned());
            set.or_else(|| self.env().get(name).cloned())
        };
        let opening = LoadContext {
            workspace: self.workspace_root(),
            settings: self.fetch_settings(),
            variable: &variable,
        };
        table.load(&opening).map_err(|error| match error {
            // The expectation is in the table, so name its location.
            changed @ DatasetError::Mismatch(_) => place.error(&changed.to_string()).into(),
            #[cfg(not(feature = "remote"))]
            off @ DatasetError::RemoteOff => {
                place.error(&format!("[{}] {off}", dotted_key("datasets", name))).into()
            }
            other => other.into(),
        })
    }
}
