//! Embeddings in the format of OpenAI and most others.
//!
//! Sources: <https://platform.openai.com/docs/api-reference/embeddings/create>,
//! <https://ai.google.dev/gemini-api/docs/openai#embeddings>, <https://docs.voyageai.com/reference/embeddings-api>
//! (does not support `encoding_format: float`; returns numbers without it).

use cobalt_core::prices::reported_count;
use serde::Deserialize;
use serde_json::{Value, json};

use super::request::Request;
use super::{Client, ClientError, Embeddings, Target, cohere, openai, send};
use crate::llm::Provider;

const PATH: &str = "/embeddings";

#[derive(Deserialize)]
struct EmbeddingsResponse {
    data: Vec<Row>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct Row {
    /// Missing on servers that respond in order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl Client {
    /// Embeds texts in one request.
    pub(crate) async fn embed(&self, target: &Target, texts: &[&str]) -> Result<Embeddings, ClientError> {
        let request = match target.provider {
            Provider::Cohere => Request::new(target, cohere::PATH, &cohere::body(target, texts)),
            Provider::Voyage => Request::new(target, PATH, &body(target, texts, None)),
            _ => Request::new(target, PATH, &body(target, texts, Some("float"))),
        };
        let answer = self.send_required(target, &request).await?;
        let embedded = match target.provider {
            Provider::Cohere => cohere::parse_response(&answer),
            _ => parse_response(&answer),
        };
        let embedded = embedded.and_then(|embedded| check_complete(embedded, texts.len()));
        embedded.map_err(|error| send::response_error(target, &request, error))
    }
}

fn body(target: &Target, texts: &[&str], encoding: Option<&str>) -> Value {
    let mut body = json!({"model": target.model, "input": texts});
    if let Some(encoding) = encoding {
        body["encoding_format"] = json!(encoding);
    }
    body
}

fn parse_response(answer: &[u8]) -> Result<Embeddings, ClientError> {
    let answer: EmbeddingsResponse = send::parse_json(answer, "embeddings")?;
    let mut tokens = openai::tokens(&answer.usage);
    if tokens.input == 0 {
        // Voyage only returns the total.
        tokens.input = reported_count(&answer.usage["total_tokens"]).unwrap_or(0);
    }
    let mut rows = answer.data;
    rows.sort_by_key(|row| row.index);
    Ok(Embeddings { vectors: rows.into_iter().map(|row| row.embedding).collect(), tokens })
}

/// Checks that there is one vector per text, all of the same length.
fn check_complete(embedded: Embeddings, texts: usize) -> Result<Embeddings, ClientError> {
    let Embeddings { vectors, tokens } = &embedded;
    if vectors.len() != texts {
        let problem = format!("the response contains {} embeddings for {texts} texts", vectors.len());
        return Err(ClientError::malformed(problem, *tokens));
    }
    let length = vectors.first().map_or(0, Vec::len);
    let is_odd = |vector: &Vec<f32>| vector.is_empty() || vector.len() != length;
    if vectors.iter().any(is_odd) {
        let problem = "the response contains embeddings that are empty or differ in length";
        return Err(ClientError::malformed(problem, *tokens));
    }
    Ok(embedded)
}
