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
struct Answer {
    results: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    flagged: bool,
    /// Old models omit unknown categories, or set them to `null`.
    #[serde(default)]
    category_scores: BTreeMap<String, Value>,
}

impl Client {
    /// Classifies a text with a moderation model, which is free of charge.
    pub(crate) async fn moderate(&self, target: &Target, text: &str) -> Result<Moderation, ClientError> {
        let request = Request::new(target, PATH, &json!({"model": target.model, "input": text}));
        let answer = self.send_whole(target, &request).await?;
        read(&answer).map_err(|error| send::of_answer(target, &request, error))
    }
}

fn read(answer: &[u8]) -> Result<Moderation, ClientError> {
    let answer: Answer = send::parsed(answer, "moderation")?;
    let nothing = || ClientError::malformed("the response contains no result", Tokens::default());
    let found = answer.results.into_iter().next().ok_or_else(nothing)?;
    let scores = found.category_scores.into_iter();
    let category_scores = scores.filter_map(|(name, score)| Some((name, score.as_f64()?))).collect();
    Ok(Moderation { flagged: found.flagged, category_scores })
}
