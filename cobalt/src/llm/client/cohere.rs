//! Embeddings in the format of Cohere: at most 96 texts per request.
//!
//! Sources: <https://docs.cohere.com/reference/embed>, <https://docs.cohere.com/docs/embeddings> (`input_type`).

use cobalt_core::prices::{Tokens, reported_count};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ClientError, Embeddings, Target, send};

/// Relative to the base URL.
pub const PATH: &str = "/v2/embed";

#[derive(Deserialize)]
struct EmbeddingsResponse {
    embeddings: ByType,
    #[serde(default)]
    meta: Value,
}

#[derive(Deserialize)]
struct ByType {
    float: Vec<Vec<f32>>,
}

/// The body of a request. Texts are compared with each other, so none is a query for documents.
pub fn body(target: &Target, texts: &[&str]) -> Value {
    json!({"model": target.model, "texts": texts, "input_type": "clustering", "embedding_types": ["float"]})
}

/// Parses a response.
pub fn parse_response(answer: &[u8]) -> Result<Embeddings, ClientError> {
    let answer: EmbeddingsResponse = send::parse_json(answer, "embeddings")?;
    let input = reported_count(&answer.meta["billed_units"]["input_tokens"]).unwrap_or(0);
    Ok(Embeddings { vectors: answer.embeddings.float, tokens: Tokens::new(input, 0) })
}
