//! A data set that is to be fetched, as a value.

use std::time::Duration;

use super::Source;
use super::load::load;
use super::session::Lookup;
use super::terms::Terms;
use crate::dataset::settings::FetchSettings;
use crate::dataset::{Dataset, DatasetError};

/// A data set that is to be fetched.
///
/// It stands wherever a data set can, as in `dataset = Dataset::from_url("…")`. To change its items first, [`load`] it.
///
/// [`load`]: RemoteDataset::load
#[derive(Clone, Debug)]
#[must_use = "a data set is only fetched when it is loaded or given to an experiment"]
pub struct RemoteDataset<S> {
    pub(super) source: S,
    pub(super) terms: Terms,
}

impl<S: Source> RemoteDataset<S> {
    pub(super) fn new(source: S) -> Self {
        Self { source, terms: Terms::default() }
    }

    /// How long the server may be silent, before its answer and within it; 60 s unless it is set. A long answer may take longer
    /// as a whole.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.terms.timeout = timeout;
        self
    }

    /// How often a request is sent again after a failure that may pass; 4 unless it is set. To a server that is silent it is sent
    /// twice at most.
    pub fn retries(mut self, retries: u32) -> Self {
        self.terms.retries = retries;
        self
    }

    /// How many bytes the data set may have, unpacked; 1 GiB unless it is set.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.terms.max_bytes = bytes;
        self
    }

    /// How old a copy may be before it is fetched again. Without it, a copy is used until `--refresh`.
    pub fn max_age(mut self, age: Duration) -> Self {
        self.terms.max_age = Some(age);
        self
    }

    /// How many items there must be; any other number is an error.
    pub fn expect_items(mut self, items: usize) -> Self {
        self.terms.items = Some(items);
        self
    }

    /// How the [hash](Dataset::hash) of the items must begin; at least 8 digits of it. Any other is an error.
    pub fn expect_hash(mut self, hash: impl Into<String>) -> Self {
        self.terms.hash = Some(hash.into());
        self
    }

    /// The items, by these settings: of the copy that is kept, or fetched.
    pub(crate) fn load_by(
        self,
        settings: &FetchSettings,
        variable: Lookup<'_>,
    ) -> Result<Dataset, DatasetError> {
        load(&self.source, &self.terms, settings, variable)
    }
}
