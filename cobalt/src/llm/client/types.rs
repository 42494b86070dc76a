//! What goes into the client and what comes out of it.

use crate::llm::Provider;
use crate::prices::Tokens;
use crate::redact::Secret;

/// A model, and how to reach it.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) provider: Provider,
    pub(crate) model: String,
    /// As the vendor's own libraries take it, without a slash at its end.
    pub(crate) base_url: String,
    pub(crate) api_key: Option<Secret>,
    /// Sent as it stands; without one, 0 goes to the models that take it.
    pub(crate) temperature: Option<f64>,
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reply {
    /// The JSON text of the answer, or whatever the model wrote.
    pub(crate) text: String,
    pub(crate) tokens: Tokens,
}

/// The vectors of texts, in their order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Embedded {
    pub(crate) vectors: Vec<Vec<f32>>,
    pub(crate) tokens: Tokens,
}

/// Why there is no answer. Keys are redacted in all texts.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum ClientError {
    /// It is of no use to ask again.
    #[error("{0}")]
    Failed(String),
    /// Likewise, for what is in the request: another one may well be taken.
    #[error("{0}")]
    Refused(String),
    /// There was an answer, but not in the form of the API, or none of use.
    #[error("{problem}")]
    Malformed {
        problem: String,
        /// What it used, although it is of no use.
        tokens: Tokens,
    },
}

impl ClientError {
    pub(super) fn malformed(problem: impl Into<String>, tokens: Tokens) -> Self {
        Self::Malformed { problem: problem.into(), tokens }
    }
}
