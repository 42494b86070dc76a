//! Requests, and the input and output types of the client.
//!
//! Sources: <https://platform.openai.com/docs/api-reference/authentication>,
//! <https://ai.google.dev/gemini-api/docs/openai>, <https://docs.cohere.com/reference/about> and
//! <https://docs.voyageai.com/reference/embeddings-api> (bearer);
//! <https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle> (`api-key`);
//! <https://platform.claude.com/docs/en/api/overview> (`x-api-key`, `anthropic-version`).

use cobalt_core::prices::Tokens;
use cobalt_core::redact::Secret;
use serde_json::Value;

use super::ordered_json::OrderedJson;
use crate::llm::Provider;

/// The version of Anthropic's API.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// A POST request with a JSON body.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) url: String,
    /// The key's header first, if there is one.
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
    /// Whether it costs nothing.
    pub(super) is_free: bool,
}

impl Request {
    /// A request to a path relative to the target's base URL, with its key.
    pub(super) fn new(target: &Target, path: &str, body: &Value) -> Self {
        let key = target.api_key.iter().map(|key| match target.provider {
            Provider::Anthropic => ("x-api-key", key.0.clone()),
            Provider::Azure => ("api-key", key.0.clone()),
            _ => ("authorization", format!("Bearer {}", key.0)),
        });
        let version = (target.provider == Provider::Anthropic).then(|| ANTHROPIC_VERSION.to_owned());
        let headers = key.chain(version.map(|version| ("anthropic-version", version))).collect();
        // Keep a query, such as `api-version`, after the path.
        let url = match target.base_url.split_once('?') {
            Some((base, query)) => format!("{}{path}?{query}", base.trim_end_matches('/')),
            None => format!("{}{path}", target.base_url),
        };
        Self { url, headers, body: OrderedJson(body).text().into_bytes(), is_free: false }
    }
}

/// A model, and how to reach it.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) provider: Provider,
    pub(crate) model: String,
    /// As in the vendor's own libraries, without a trailing slash.
    pub(crate) base_url: String,
    pub(crate) api_key: Option<Secret>,
    /// Sent unchanged; if `None`, 0 is sent to models that support it.
    pub(crate) temperature: Option<f64>,
}

/// A model's answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reply {
    /// The JSON text of the answer, or the raw text.
    pub(crate) text: String,
    pub(crate) tokens: Tokens,
}

/// The embeddings of texts, in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Embeddings {
    pub(crate) vectors: Vec<Vec<f32>>,
    pub(crate) tokens: Tokens,
}

/// Why there is no answer. Keys are redacted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum ClientError {
    /// A permanent failure.
    #[error("{0}")]
    Failed(String),
    /// The request was rejected for its content; another request may succeed.
    #[error("{0}")]
    Refused(String),
    /// The response was invalid or unusable.
    #[error("{problem}")]
    Malformed {
        problem: String,
        /// The tokens it used nevertheless.
        tokens: Tokens,
    },
}

impl ClientError {
    pub(super) fn malformed(problem: impl Into<String>, tokens: Tokens) -> Self {
        Self::Malformed { problem: problem.into(), tokens }
    }
}
