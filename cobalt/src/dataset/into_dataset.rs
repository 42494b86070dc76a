//! [`IntoDataset`]: what an experiment accepts as its dataset, including datasets named in `cobalt.toml`.

use std::error::Error;
use std::path::{Path, PathBuf};

use super::{Dataset, read_package_file};

/// A dataset, or something that converts to one: a path relative to the package, or a `Result` of either.
///
/// ```
/// use cobalt::{Dataset, IntoDataset, item};
///
/// let dataset = Dataset::from_items([item! { "input": "2 + 2" }]);
/// assert_eq!(dataset.into_dataset()?.len(), 1);
/// assert_eq!(Dataset::from_serialize([item! { "input": "2 + 2" }]).into_dataset()?.len(), 1);
/// assert!("datasets/missing.jsonl".into_dataset().is_err());
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dataset",
    label = "expected a path, a `Dataset`, or a `Result` of one",
    note = "for items in code, use `Dataset::from_items([cobalt::item! {{ … }}])`; \
    for values of your own type, `Dataset::from_serialize(…)`"
)]
pub trait IntoDataset {
    /// Loads or returns the dataset.
    ///
    /// # Errors
    ///
    /// The file cannot be read as a dataset, or the `Result` is an error.
    fn into_dataset(self) -> Result<Dataset, Box<dyn Error + Send + Sync>>;
}

impl IntoDataset for Dataset {
    fn into_dataset(self) -> Result<Dataset, Box<dyn Error + Send + Sync>> {
        Ok(self)
    }
}

impl IntoDataset for &Dataset {
    fn into_dataset(self) -> Result<Dataset, Box<dyn Error + Send + Sync>> {
        Ok(self.clone())
    }
}

impl<D: IntoDataset, E: Into<Box<dyn Error + Send + Sync>>> IntoDataset for Result<D, E> {
    fn into_dataset(self) -> Result<Dataset, Box<dyn Error + Send + Sync>> {
        self.map_err(Into::into)?.into_dataset()
    }
}

impl IntoDataset for &Path {
    fn into_dataset(self) -> Result<Dataset, Box<dyn Error + Send + Sync>> {
        Ok(read_package_file(self, None)?)
    }
}

impl IntoDataset for PathBuf {
    fn into_dataset(self) -> Result<Dataset, Box<dyn Error + Send + Sync>> {
        self.as_path().into_dataset()
    }
}

impl IntoDataset for &str {
    fn into_dataset(self) -> Result<Dataset, Box<dyn Error + Send + Sync>> {
        Path::new(self).into_dataset()
    }
}

impl IntoDataset for String {
    fn into_dataset(self) -> Result<Dataset, Box<dyn Error + Send + Sync>> {
        self.as_str().into_dataset()
    }
}

/// A dataset defined in [`cobalt.toml`](crate::configuration#datasets).
///
/// Use it like any dataset, as in `dataset = Dataset::named("support")`. To change its items first, [`load`] it.
///
/// [`load`]: NamedDataset::load
#[derive(Clone, Debug)]
#[must_use = "a dataset is only read when it is loaded or passed to an experiment"]
pub struct NamedDataset {
    pub(crate) name: String,
}

impl Dataset {
    /// The dataset of the table `[datasets.NAME]` in [`cobalt.toml`](crate::configuration#datasets): a file, or a remote
    /// dataset.
    ///
    /// ```no_run
    /// use cobalt::Dataset;
    ///
    /// let some = Dataset::named("support").load()?.sample(50);
    /// assert!(some.len() <= 50);
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    pub fn named(name: impl Into<String>) -> NamedDataset {
        NamedDataset { name: name.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item;

    #[test]
    fn a_result_of_a_path_is_read() {
        let error = Ok::<_, std::io::Error>("missing.csv").into_dataset().unwrap_err().to_string();
        assert!(error.starts_with("failed to read missing.csv: "), "{error}");
    }

    #[test]
    fn an_error_is_handed_on_as_it_is() {
        let failed: Result<Dataset, &str> = Err("no network");
        assert_eq!(failed.into_dataset().unwrap_err().to_string(), "no network");
    }

    #[test]
    fn a_reference_shares_the_items() {
        let dataset = Dataset::from_items([item! { "a": 1 }]);
        assert_eq!((&dataset).into_dataset().unwrap().hash(), dataset.hash());
    }
}
