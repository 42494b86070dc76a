//! The classifier's evaluators: functions, which unit tests can call too.

use cobalt::{Item, Score};
use intent_classifier::{Guess, UNCLEAR};
use serde::Deserialize;

/// The fields of an item that only evaluators see.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Expected {
    /// The intent of the desk that must act, or `unclear` if a person must read the message.
    pub(crate) expected_output: String,
    /// A second intent of the message; empty if there is only one.
    pub(crate) also_expected: String,
}

impl Expected {
    fn intents(&self) -> Vec<&str> {
        let both = [&*self.expected_output, &*self.also_expected];
        both.into_iter().filter(|intent| !intent.is_empty()).collect()
    }
}

/// The value of a decision to the customer: handing over to a person costs time, but a wrong desk costs more.
#[cobalt::evaluator]
pub(crate) fn right_desk(expected: &Expected, output: &str) -> Score {
    let (score, reason) = match output {
        desk if desk == expected.expected_output => (1.0, "the right desk"),
        desk if desk == expected.also_expected => (0.5, "the other thing that it is about"),
        UNCLEAR => (0.25, "handed over"),
        _ => (0.0, "the wrong desk"),
    };
    Score::new(score).reason(format!("{output}: {reason}, expected {}", expected.intents().join(" and ")))
}

/// One minus the squared error of the confidence (Brier, 1950). Confident and wrong is worst. The pass mark is the score of a
/// confidence of 50%: below it, admitting uncertainty would have been better.
#[cobalt::evaluator(pass_mark = 0.75)]
pub(crate) fn calibrated(expected: &Expected, metadata: &Item) -> Result<Score, String> {
    let guess = metadata.get("guess").and_then(|guess| guess.as_str());
    let confidence = metadata.get("confidence").and_then(|confidence| confidence.as_f64());
    let guess = guess.ok_or("the metadata has no text `guess`")?;
    let confidence = confidence.ok_or("the metadata has no number `confidence`")?;
    let is_right = expected.intents().contains(&guess);
    let off_by = if is_right { 1.0 - confidence } else { confidence };
    let verdict = if is_right { "right" } else { "wrong" };
    let reason = format!("{:.0}% sure of {guess}, which is {verdict}", confidence * 100.0);
    Ok(Score::new(1.0 - off_by * off_by).reason(reason))
}

/// The rank of a message's intents: each counts 1 if no other guess is before it, 1/2 if one is, and 0 further down.
#[cobalt::evaluator]
pub(crate) fn near_the_top(expected: &Expected, output: Vec<Guess>) -> Score {
    let intents = expected.intents();
    let mut sum = 0.0;
    let mut places = Vec::new();
    for intent in &intents {
        let Some(place) = output.iter().position(|guess| guess.intent == *intent) else {
            places.push(format!("{intent} is missing"));
            continue;
        };
        let others = output[..place].iter().filter(|guess| !intents.contains(&&*guess.intent)).count();
        sum += match others {
            0 => 1.0,
            1 => 0.5,
            _ => 0.0,
        };
        places.push(format!("{intent} at place {}", place + 1));
    }
    Score::new(sum / intents.len() as f64).reason(places.join(", "))
}
