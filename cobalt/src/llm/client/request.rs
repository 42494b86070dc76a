//! A request before it is sent: its address, its headers, and the key in the header that the vendor reads.
//!
//! Sources: <https://platform.openai.com/docs/api-reference/authentication>,
//! <https://ai.google.dev/gemini-api/docs/openai>, <https://docs.cohere.com/reference/about> and
//! <https://docs.voyageai.com/reference/embeddings-api> (bearer);
//! <https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle> (`api-key`);
//! <https://platform.claude.com/docs/en/api/overview> (`x-api-key`, `anthropic-version`).

use serde_json::Value;

use super::Target;
use super::anthropic;
use super::ordered::Ordered;
use crate::llm::Provider;

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
        let version = (target.provider == Provider::Anthropic).then(|| anthropic::VERSION.to_owned());
        let headers = key.chain(version.map(|version| ("anthropic-version", version))).collect();
        // A query, such as an `api-version`, stays behind the path.
        let url = match target.base_url.split_once('?') {
            Some((base, query)) => format!("{}{path}?{query}", base.trim_end_matches('/')),
            None => format!("{}{path}", target.base_url),
        };
        Self { url, headers, body: Ordered(body).text().into_bytes() }
    }
}
