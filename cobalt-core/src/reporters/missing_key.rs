//! A missing API key, reported once for all experiments that need it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::wording;

/// An environment variable that should hold an API key but is unset or empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MissingKey {
    /// The variable's name.
    pub variable: String,
    /// What the key is for: models and their providers.
    pub asked_for: Vec<String>,
    /// The experiments that need it.
    pub experiments: Vec<String>,
}

impl MissingKey {
    /// A missing key of one experiment and one model.
    #[doc(hidden)]
    #[must_use]
    pub fn new(variable: String, asked_for: String, experiment: String) -> Self {
        Self { variable, asked_for: vec![asked_for], experiments: vec![experiment] }
    }

    /// Adds it to `keys`, merging it with the entry of the same variable.
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

/// The missing variable, and what to do.
impl fmt::Display for MissingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { variable, asked_for, experiments } = self;
        let noun = if experiments.len() == 1 { "experiment" } else { "experiments" };
        write!(
            f,
            "{variable} is unset or empty: it is the API key for {}, needed by {noun} {}. Set it, add it to a `.env` file \
             for `cargo cobalt`, or declare `ignore_without = \"{variable}\"` to ignore the experiment without it",
            asked_for.join(" and "),
            wording::join_quoted(experiments.iter().map(String::as_str)),
        )
    }
}
