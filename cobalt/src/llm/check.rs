//! What stands in the way of asking models, or of an evaluator as a whole, before anything runs: [`MissingKey`] collects the
//! keys that several experiments lack.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::suggest;

/// Why an evaluator cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CheckError(pub(crate) Unfit);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfit {
    /// What is wrong, and what to do.
    #[error("{0}")]
    Problem(String),
    /// A key is missing. Told once for all experiments that need it.
    #[error("{asked_for} needs a key; set {variable}")]
    MissingKey {
        /// The variable that would hold it.
        variable: String,
        /// Whom the key is for: a model and its provider.
        asked_for: String,
    },
}

impl CheckError {
    /// An error that says what is wrong, and what to do.
    pub fn new(problem: impl Into<String>) -> Self {
        Self(Unfit::Problem(problem.into()))
    }

    /// An error that a key is missing, which the variable would hold; `asked_for` says whom it is for: a model and its
    /// provider. Keys that several experiments lack are told once, and no experiment of the process is run then.
    pub fn missing_key(variable: impl Into<String>, asked_for: impl Into<String>) -> Self {
        Self(Unfit::MissingKey { variable: variable.into(), asked_for: asked_for.into() })
    }
}

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
            suggest::list(experiments.iter().map(String::as_str)),
        )
    }
}
