//! A request before it is sent, and the types that go into and come out of the client.
//!
//! Sources: <https://platform.openai.com/docs/api-reference/authentication>,
//! <https://ai.google.dev/gemini-api/docs/openai>, <https://docs.cohere.com/reference/about> and
//! <https://docs.voyageai.com/reference/embeddings-api> (bearer);
//! <https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle> (`api-key`);
//! <https://platform.claude.com/docs/en/api/overview> (`x-api-key`, `anthropic-version`).

use cobalt_core::prices::Tokens;
use cobalt_core::redact::Secret;
use serde_json::Value;

use super::ordered::Ordered;
use crate::llm::Provider;

/// Of Anthropic's API.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// A request by POST with a body of JSON.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) url: String,
    /// That of the key first, where there is one.
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// To a path below the base URL of a target, with its key.
    pub(super) fn new(target: &Target, path: &str, body: &Value) -> Self {
        let key = target.api_key.iter().map(|key| match target.provider {
            Provider::Anthropic => ("x-api-key", key.0.clone()),
            Provider::Azure => ("api-key", key.0.clone()),
            _ => ("authorization", format!("Bearer {}", key.0)),
        });
        let version = (target.provider == Provider::Anthropic).then(|| ANTHROPIC_VERSION.to_owned());
        let headers = key.chain(version.map(|version| ("anthropic-version", version))).collect();
        // A query, such as an `api-version`, stays behind the path.
        let url = match target.base_url.split_once('?') {
            Some((base, query)) => format!("{}{path}?{query}", base.trim_end_matches('/')),
            None => format!("{}{path}", target.base_url),
        };
        Self { url, headers, body: Ordered(body).text().into_bytes() }
    }
}

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
