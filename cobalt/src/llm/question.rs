//! What a model is asked, and what may come back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A question whose answer is an object of a certain form.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// What the model is to be, and how it is to answer.
    pub(crate) system: String,
    /// What it is asked.
    pub(crate) prompt: String,
    /// The form of the answer.
    pub(crate) schema: Schema,
    /// Which time the same is asked on purpose, from 0: a further time is a request of its own, whatever is in the cache.
    pub(crate) which: u32,
}

/// The form of an answer, which the model is forced to where its API can.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    /// A name of letters, digits, `_` and `-`.
    pub(crate) name: &'static str,
    /// The JSON schema of an object: every property required, none besides.
    pub(crate) schema: Value,
}

/// What a moderation model finds in a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Moderation {
    pub(crate) flagged: bool,
    pub(crate) category_scores: BTreeMap<String, f64>,
}

/// Why a model gave no answer. Keys are redacted in all texts.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct AskError(pub(crate) String);
