//! Ratings from 1 to 5, and the score that they make.

use std::pin::Pin;

use serde_json::{Map, Value, json};

use crate::evaluators::asking::answer_schema::{object, string};
use crate::evaluators::asking::{answer, tagged};
use crate::evaluators::{EvalError, Score};
use crate::future::join_all;
use crate::llm::{Asking, ModelChoice, Schema};
use crate::wording::{count, decimal};

const LOWEST: u8 = 1;
const HIGHEST: u8 = 5;

const TASK: &str = "\
Rate the output of an AI agent by the criterion below, and by nothing else. The other texts help to rate it, and are not rated \
themselves. Go through the steps one by one, and then fill in the form: first `reason`, one to three sentences that name what \
decided; then `score`, a whole number from 1 (the criterion is not met at all) to 5 (it is met in full).";

/// A rating, and why.
#[derive(Debug)]
pub(super) struct Rating {
    rating: u8,
    reason: Option<String>,
}

/// The question for one output.
pub(super) fn prompt(criterion: &str, steps: &[String], texts: &[(&str, String)]) -> String {
    let steps: Vec<_> =
        steps.iter().enumerate().map(|(index, step)| format!("{}. {step}", index + 1)).collect();
    let task = format!("{TASK}\n\nThe criterion: {criterion}\n\nThe steps:\n{}", steps.join("\n"));
    let texts: Vec<_> = texts.iter().map(|(name, text)| (*name, text.as_str())).collect();
    tagged::prompt(&task, &texts)
}

/// Asks for so many ratings, side by side.
pub(super) async fn ask(
    asking: &Asking,
    model: &ModelChoice,
    prompt: &str,
    samples: u32,
) -> Result<Vec<Rating>, EvalError> {
    let asked = (0..samples).map(|which| -> Pin<Box<dyn Future<Output = _> + Send>> {
        Box::pin(tagged::ask(asking, model, prompt.to_owned(), schema(), which, read))
    });
    join_all(asked.collect()).await.into_iter().collect()
}

fn schema() -> Schema {
    let ratings: Vec<_> = (LOWEST..=HIGHEST).collect();
    let rating = json!({ "type": "integer", "enum": ratings, "description": "the rating" });
    Schema { name: "rating", schema: object(&[("reason", string("what decided")), ("score", rating)]) }
}

fn read(answer: &Map<String, Value>) -> Result<Rating, String> {
    let score = answer::field(answer, "score")?;
    let rating = (LOWEST..=HIGHEST).find(|rating| score.as_f64() == Some(f64::from(*rating)));
    let rating = rating.ok_or_else(|| {
        let score = answer::shown(score);
        format!("`score` is {score}; it must be a whole number from {LOWEST} to {HIGHEST}")
    })?;
    Ok(Rating { rating, reason: answer::reasons(answer, "reason") })
}

/// The mean of at least one rating, brought to 0..=1.
pub(super) fn score(ratings: &[Rating]) -> Score {
    let sum: f64 = ratings.iter().map(|rating| f64::from(rating.rating)).sum();
    let mean = sum / ratings.len() as f64;
    let value = (mean - f64::from(LOWEST)) / f64::from(HIGHEST - LOWEST);
    let with_reason = |what: String, reason: &Option<String>| match reason {
        Some(reason) => format!("{what}: {reason}"),
        None => what,
    };
    let reason = match ratings {
        [Rating { rating, reason }] => with_reason(format!("rated {rating} of {HIGHEST}"), reason),
        ratings => {
            let each = ratings.iter().map(|rating| with_reason(rating.rating.to_string(), &rating.reason));
            let (mean, answers) = (decimal(mean, 2), count(ratings.len(), "answer"));
            format!(
                "rated {mean} of {HIGHEST}, the mean of {answers}; {}",
                each.collect::<Vec<_>>().join("; ")
            )
        }
    };
    let each = ratings.iter().map(|Rating { rating, reason }| json!({ "rating": rating, "reason": reason }));
    Score::new(value).reason(reason).metadata("rating", mean).metadata("ratings", each.collect::<Vec<_>>())
}
