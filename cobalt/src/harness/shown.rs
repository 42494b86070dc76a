//! What is needed of an experiment to tell of its items as people and programs know them.

use crate::report::{ItemResult, RunConfig};
use crate::reporters::{Repeated, explain};
use crate::session::Run;

/// An experiment as it is shown.
pub(super) struct Shown {
    name: String,
    pub(super) config: RunConfig,
    /// The items' names in test cases, by index.
    pub(super) names: Vec<String>,
    repeated: Repeated,
}

/// Why an item failed.
pub(super) enum Why {
    Explained(String),
    /// By the same errors of evaluators as an earlier item, which this text names.
    Repeated(String),
}

impl Shown {
    pub(super) fn of(run: &Run) -> Self {
        let (name, config) = (run.plan().name().to_owned(), run.config().clone());
        let names = run.plan().dataset().case_keys();
        Self { name, config, names, repeated: Repeated::default() }
    }

    /// Why an item failed. Errors of evaluators that an earlier item has, too, are not shown again.
    pub(super) fn explain(&mut self, item: &ItemResult) -> Why {
        let explained = explain(item, &self.name, &self.config);
        match self.repeated.earlier(item, &self.names[item.index], &self.config) {
            Some(earlier) => {
                let head = explained.lines().next().unwrap_or_default();
                Why::Repeated(format!("{head}\n  the same evaluation error as item {earlier}"))
            }
            None => Why::Explained(explained),
        }
    }
}
