//! What stands in the way of asking models, or of an evaluator as a whole, before anything runs.

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
