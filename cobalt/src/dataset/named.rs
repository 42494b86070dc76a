//! Data sets that `cobalt.toml` names, so that code does not say where they are kept.

use super::Dataset;

/// A data set that [`cobalt.toml`](crate::config#data-sets) names.
///
/// It stands wherever a data set can, as in `dataset = Dataset::named("support")`. To change its items first, [`load`] it.
///
/// [`load`]: NamedDataset::load
#[derive(Clone, Debug)]
#[must_use = "a data set is only read when it is loaded or given to an experiment"]
pub struct NamedDataset {
    pub(crate) name: String,
}

impl Dataset {
    /// The data set of the table `[datasets.NAME]` of [`cobalt.toml`](crate::config#data-sets): a file, or one that is
    /// fetched.
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
