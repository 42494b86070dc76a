//! Classifies messages of customers to a parcel service by intent, so that the right desk answers.
//!
//! It is trained from a file of examples at start-up. If it is not confident, it hands a message over to a person.

mod centroids;
mod features;
mod training;

use std::path::Path;

use centroids::Model;
use serde::{Deserialize, Serialize};
pub use training::{Example, TrainingError};

/// The minimum confidence for sending a message to a desk, from 0 to 1: below, it is wrong more often than right.
const MIN_CONFIDENCE: f64 = 0.5;

/// The intent of messages that a person must read.
pub const UNCLEAR: &str = "unclear";

/// A trained classifier.
#[derive(Debug)]
pub struct Classifier {
    model: Model,
}

/// A possible intent of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guess {
    /// The name of the intent, as in the examples.
    pub intent: String,
    /// Its probability, from 0 to 1.
    pub confidence: f64,
}

impl Classifier {
    /// Trains a classifier from a file of examples.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is empty, or has a line that is not an intent, a tab and a message.
    pub fn open(file: &Path) -> Result<Self, TrainingError> {
        training::read(file).map(|examples| Self::train(&examples))
    }

    /// Trains a classifier from these examples.
    pub fn train(examples: &[Example]) -> Self {
        Self { model: Model::train(examples) }
    }

    /// All intents, the most probable first. The confidences add up to 1.
    pub fn rank(&self, message: &str) -> Vec<Guess> {
        let ranking = self.model.classify(message).into_iter();
        ranking.map(|(intent, confidence)| Guess { intent: intent.to_owned(), confidence }).collect()
    }
}

/// The desk for a message: the most probable intent, or [`UNCLEAR`] if the confidence is too low.
pub fn decide(ranking: &[Guess]) -> &str {
    decide_with(ranking, MIN_CONFIDENCE)
}

/// The same with another minimum confidence.
pub fn decide_with(ranking: &[Guess], min_confidence: f64) -> &str {
    let sure = ranking.first().filter(|best| best.confidence >= min_confidence);
    sure.map_or(UNCLEAR, |best| &best.intent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classifier() -> Classifier {
        let examples = [
            ("track", "Where is my parcel?"),
            ("track", "It is late"),
            ("price", "How much is it?"),
            ("price", "What does a parcel cost?"),
        ];
        let example = |(intent, message): (&str, &str)| Example {
            intent: intent.to_owned(),
            message: message.to_owned(),
        };
        Classifier::train(&examples.map(example))
    }

    fn decision(message: &str) -> String {
        decide(&classifier().rank(message)).to_owned()
    }

    #[test]
    fn a_message_goes_to_the_desk_of_its_words() {
        assert_eq!(decision("Why is my parcel so late?"), "track");
        assert_eq!(decision("how much does that cost"), "price");
    }

    #[test]
    fn who_is_not_sure_hands_over() {
        let guess = |intent: &str, confidence| Guess { intent: intent.to_owned(), confidence };
        assert_eq!(decide(&[guess("track", 0.49), guess("price", 0.3)]), UNCLEAR);
        assert_eq!(decide(&[guess("track", 0.5), guess("price", 0.5)]), "track");
        assert_eq!(decide(&[]), UNCLEAR);
    }
}
