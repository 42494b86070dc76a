//! What is needed of an experiment to tell of its items as people and programs know them.

use crate::report::{ItemResult, RunConfig};
use crate::reporters::explain;
use crate::session::Run;

/// An experiment as it is shown.
pub(super) struct Shown {
    name: String,
    pub(super) config: RunConfig,
    /// The items' names in test cases, by index.
    pub(super) names: Vec<String>,
}

impl Shown {
    pub(super) fn of(run: &Run) -> Self {
        let (name, config) = (run.plan().name().to_owned(), run.config().clone());
        Self { name, config, names: run.plan().dataset().case_keys() }
    }

    /// Why an item failed.
    pub(super) fn explain(&self, item: &ItemResult) -> String {
        explain(item, &self.name, &self.config)
    }
}
