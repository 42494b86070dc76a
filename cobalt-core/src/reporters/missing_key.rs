//! A key that is missing, told once for all experiments that need it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::wording;

/// A variable that should hold a key and does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MissingKey {
    /// The variable's name.
    pub variable: String,
    /// Whom the key is for: models and their providers.
    pub asked_for: Vec<String>,
    /// The experiments that need it.
    pub experiments: Vec<String>,
}

impl MissingKey {
    /// The key that one experiment needs for one model.
    #[doc(hidden)]
    #[must_use]
    pub fn new(variable: String, asked_for: String, experiment: String) -> Self {
        Self { variable, asked_for: vec![asked_for], experiments: vec![experiment] }
    }

    /// Adds it to those that are known: one of the same variable takes in whom it is for, and the experiments.
    #[doc(hidden)]
    pub fn add_to(self, keys: &mut Vec<Self>) {
        let Some(known) = keys.iter_mut().find(|known| known.variable == self.variable) else {
            keys.push(self);
            return;
        };
        let add = |known: &mut Vec<String>, more: Vec<String>| {
            let more: Vec<_> = more.into_iter().filter(|text| !known.contains(text)).collect();
            known.extend(more);
        };
        add(&mut known.asked_for, self.asked_for);
        add(&mut known.experiments, self.experiments);
    }
}

/// What is missing, and what to do.
impl fmt::Display for MissingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { variable, asked_for, experiments } = self;
        let noun = if experiments.len() == 1 { "experiment" } else { "experiments" };
        write!(
            f,
            "{variable} is not set, or empty: {} needs it as a key, in {noun} {}; set it, or write it into a file `.env` \
             for `cargo cobalt`, or declare `ignore_without = \"{variable}\"` to have an experiment ignored where it is \
             missing",
            asked_for.join(" and "),
            wording::list(experiments.iter().map(String::as_str)),
        )
    }
}
