//! Embeddings in the format of Cohere: at most 96 texts per request.
//!
//! Sources: <https://docs.cohere.com/reference/embed>, <https://docs.cohere.com/docs/embeddings> (`input_type`).

use cobalt_core::prices::Tokens;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ClientError, Embedded, Target, send};

/// Relative to the base URL.
pub const PATH: &str = "/v2/embed";

#[derive(Deserialize)]
struct Answer {
    embeddings: Embeddings,
    #[serde(default)]
    meta: Value,
}

#[derive(Deserialize)]
struct Embeddings {
    float: Vec<Vec<f32>>,
}

/// The body of a request. Texts are compared with each other, so none is a query for documents.
pub fn body(target: &Target, texts: &[&str]) -> Value {
    json!({"model": target.model, "texts": texts, "input_type": "clustering", "embedding_types": ["float"]})
}

/// Parses a response.
pub fn read(answer: &[u8]) -> Result<Embedded, ClientError> {
    let answer: Answer = send::parsed(answer, "embeddings")?;
    let input = answer.meta["billed_units"]["input_tokens"].as_f64().unwrap_or(0.0);
    Ok(Embedded { vectors: answer.embeddings.float, tokens: Tokens::new(input as u64, 0) })
}
