//! Moderation of a text, as OpenAI speaks it.
//!
//! Source: <https://platform.openai.com/docs/api-reference/moderations/create>.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::request::Request;
use super::send::SendError;
use super::{Client, ClientError, Target, failure};
use crate::llm::Moderation;
use crate::llm::prices::Tokens;

const PATH: &str = "/moderations";
/// The model where the target names none.
const DEFAULT_MODEL: &str = "omni-moderation-latest";

#[derive(Deserialize)]
struct Answer {
    results: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    flagged: bool,
    /// Old models leave out the categories that they do not know, or say `null`.
    #[serde(default)]
    category_scores: BTreeMap<String, Value>,
}

impl Client {
    /// What a moderation model finds in a text. It costs nothing.
    pub(crate) async fn moderate(&self, target: &Target, text: &str) -> Result<Moderation, ClientError> {
        let model = if target.model.is_empty() { DEFAULT_MODEL } else { &target.model };
        let request = Request::new(target, PATH, &json!({"model": model, "input": text}));
        let answer = self.send(target, &request).await.map_err(|error| match error {
            SendError::Refused(refusal) => failure::refused(target, &request, &refusal),
            SendError::Failed(error) => error,
        })?;
        read(&answer).map_err(|error| failure::of_answer(target, &request, error))
    }
}

fn read(answer: &[u8]) -> Result<Moderation, ClientError> {
    let malformed = |problem: String| ClientError::malformed(problem, Tokens::default());
    let answer: Answer = serde_json::from_slice(answer)
        .map_err(|error| malformed(format!("the answer holds no moderation: {error}")))?;
    let found = answer.results.into_iter().next();
    let found = found.ok_or_else(|| malformed("the answer holds no moderation: no result".to_owned()))?;
    let scores = found.category_scores.into_iter();
    let category_scores = scores.filter_map(|(name, score)| Some((name, score.as_f64()?))).collect();
    Ok(Moderation { flagged: found.flagged, category_scores })
}
