//! Moderation of a text with OpenAI's API.
//!
//! Source: <https://platform.openai.com/docs/api-reference/moderations/create>.

use std::collections::BTreeMap;

use cobalt_core::prices::Tokens;
use serde::Deserialize;
use serde_json::{Value, json};

use super::request::Request;
use super::{Client, ClientError, Target, send};
use crate::llm::Moderation;

const PATH: &str = "/moderations";

#[derive(Deserialize)]
struct ModerationResponse {
    results: Vec<ModerationResult>,
}

#[derive(Deserialize)]
struct ModerationResult {
    flagged: bool,
    /// Old models omit unknown categories, or set them to `null`.
    #[serde(default)]
    category_scores: BTreeMap<String, Value>,
}

impl Client {
    /// Classifies a text with a moderation model, which is free of charge.
    pub(crate) async fn moderate(&self, target: &Target, text: &str) -> Result<Moderation, ClientError> {
        let body = json!({"model": target.model, "input": text});
        let request = Request { is_free: true, ..Request::new(target, PATH, &body) };
        let answer = self.send_required(target, &request).await?;
        parse_response(&answer).map_err(|error| send::response_error(target, &request, error))
    }
}

fn parse_response(answer: &[u8]) -> Result<Moderation, ClientError> {
    let answer: ModerationResponse = send::parse_json(answer, "moderation")?;
    let nothing = || ClientError::malformed("the response contains no result", Tokens::default());
    let found = answer.results.into_iter().next().ok_or_else(nothing)?;
    let scores = found.category_scores.into_iter();
    let category_scores = scores.filter_map(|(name, score)| Some((name, score.as_f64()?))).collect();
    Ok(Moderation { flagged: found.flagged, category_scores })
}
