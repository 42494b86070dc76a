//! What an agent may ask about the execution that it is called for.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::dataset::{Dataset, DecodeError, Item, decode};

/// The item that the agent is called for, and its place in the experiment.
///
/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct Context {
    item: Arc<Item>,
    key: Arc<str>,
    index: usize,
    run_index: usize,
    dataset: Dataset,
}

impl Context {
    pub(crate) fn new(dataset: Dataset, index: usize, key: Arc<str>, run_index: usize) -> Self {
        let item = Arc::clone(dataset.shared(index));
        Self { item, key, index, run_index, dataset }
    }

    /// The item as it stands in the data set.
    #[must_use]
    pub fn item(&self) -> &Item {
        &self.item
    }

    pub(crate) fn shared_item(&self) -> &Arc<Item> {
        &self.item
    }

    /// The item as a type of your own.
    ///
    /// # Errors
    ///
    /// Names the path of the field that does not fit `T`.
    pub fn item_as<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        decode(&self.item)
    }

    /// The item's identity: its `id`, or a hash of its input. It is `items[].key` of the result file.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    pub(crate) fn shared_key(&self) -> &Arc<str> {
        &self.key
    }

    /// The item's place in the data set, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Which of the item's runs this is, from 0; always 0 when the experiment has one run.
    #[must_use]
    pub fn run_index(&self) -> usize {
        self.run_index
    }

    /// The whole data set.
    #[must_use]
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }
}
