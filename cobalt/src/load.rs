//! Data sets as code asks for them: [`Dataset::from_file`] and its kin, and what `load` gives by the settings of the project.
//!
//! What reads and fetches is in [`dataset`](crate::dataset), and is handed these settings.

use std::env;
use std::ffi::OsString;
use std::path::Path;

use cobalt_core::causes::BoxError;
use serde::Serialize;

use crate::config::Config;
#[cfg(not(feature = "remote"))]
use crate::config::dotted;
use crate::dataset::tables::Opening;
use crate::dataset::{Dataset, DatasetError, Format, IntoDataset, NamedDataset, read_package_file};
#[cfg(feature = "remote")]
use crate::dataset::{RemoteDataset, Source};
use crate::error::Error;

impl Dataset {
    /// The items of a file, or of all files that a pattern such as `data/train-*.parquet` stands for; a relative path
    /// begins at the package's folder.
    ///
    /// Which formats there are, also compressed, and what tells them, says [the module](crate::dataset#files). A `.json`
    /// file with an object per line is read as JSONL.
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
    /// Where the file cannot be read, breaks the rules of its format, or has no items; where no file matches a pattern.
    /// The message names the file and the line.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Dataset, Error> {
        Ok(read_package_file(path.as_ref(), None)?)
    }

    /// The items of a JSON file, whatever its extension: an array of objects, or an object with such an array as
    /// `items`.
    ///
    /// # Errors
    ///
    /// As for [`from_file`](Dataset::from_file).
    pub fn from_json(path: impl AsRef<Path>) -> Result<Dataset, Error> {
        Ok(read_package_file(path.as_ref(), Some(Format::Json))?)
    }

    /// The items of a JSONL file, whatever its extension: an object per line.
    ///
    /// # Errors
    ///
    /// As for [`from_file`](Dataset::from_file).
    pub fn from_jsonl(path: impl AsRef<Path>) -> Result<Dataset, Error> {
        Ok(read_package_file(path.as_ref(), Some(Format::Jsonl))?)
    }

    /// The items of a CSV file, whatever its extension: a header, then a row per item, split at tabs where the
    /// extension is `tsv` or `tab`. All values are strings, with the spaces that they are written with.
    ///
    /// # Errors
    ///
    /// As for [`from_file`](Dataset::from_file); also for a header with an empty or repeated name, a row that is
    /// longer or shorter than the header, and a misplaced quote.
    pub fn from_csv(path: impl AsRef<Path>) -> Result<Dataset, Error> {
        let path = path.as_ref();
        let format = if Format::is_split_at_tabs(path) { Format::Tsv } else { Format::Csv };
        Ok(read_package_file(path, Some(format))?)
    }

    /// A data set of values of your own type, which serialize as JSON objects.
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
    /// Where a value cannot be written as JSON, or is not an object in JSON.
    pub fn from_serialize(items: impl IntoIterator<Item = impl Serialize>) -> Result<Dataset, Error> {
        Ok(Dataset::of_values(items)?)
    }
}

impl NamedDataset {
    /// The items: of the file, of the copy that is kept, or fetched.
    ///
    /// # Errors
    ///
    /// The configuration cannot be used, or has no such table; the data set cannot be read or fetched, or is not as its
    /// table expects.
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
    /// The items: of the copy that is kept, or fetched.
    ///
    /// It waits for the answer on a thread of its own, and so can be called anywhere, also in async code, where it holds up
    /// the thread it is called on.
    ///
    /// # Errors
    ///
    /// The source cannot be asked, refuses or gives something that is no data set; there is no copy and nothing is to be
    /// fetched; the items are not as expected; the copy cannot be written.
    pub fn load(self) -> Result<Dataset, Error> {
        let config = Config::from_environment()?;
        let variable = |name: &str| env::var(name).ok().or_else(|| config.env().get(name).cloned());
        Ok(self.load_by(config.fetch_settings(), &variable)?)
    }
}

#[cfg(feature = "remote")]
impl<S: Source> IntoDataset for RemoteDataset<S> {
    fn into_dataset(self) -> Result<Dataset, BoxError> {
        Ok(self.load()?)
    }
}

impl Config {
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
        let (table, place) = self.dataset_table(name)?;
        let variable = |name: &str| {
            let set = variable(name).map(|value| value.to_string_lossy().into_owned());
            set.or_else(|| self.env().get(name).cloned())
        };
        let opening = Opening {
            workspace: self.workspace_root(),
            settings: self.fetch_settings(),
            variable: &variable,
        };
        table.load(&opening).map_err(|error| match error {
            // What is expected stands in the table, which is found by its place.
            changed @ DatasetError::Changed(_) => place.error(&changed.to_string()).into(),
            #[cfg(not(feature = "remote"))]
            off @ DatasetError::RemoteOff => {
                place.error(&format!("[{}] {off}", dotted("datasets", name))).into()
            }
            other => other.into(),
        })
    }
}
