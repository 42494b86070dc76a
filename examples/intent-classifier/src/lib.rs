//! A classifier of the messages that customers write to a parcel service: it tells what they want, so that the right
//! desk answers.
//!
//! It learns from a file of examples when it starts. Where it is not sure, it hands a message over to a person.

mod centroids;
mod features;
mod training;

use std::path::Path;

use centroids::Model;
use serde::{Deserialize, Serialize};
pub use training::{Example, TrainingError};

/// How sure the classifier must be to send a message to a desk, from 0 to 1: below, it is wrong more often than right.
const SURE_ENOUGH: f64 = 0.5;

/// What stands for an intent where a person must read the message.
pub const UNCLEAR: &str = "unclear";

/// A classifier that has learnt.
#[derive(Debug)]
pub struct Classifier {
    model: Model,
}

/// What a message may be about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guess {
    /// The name of the intent, as the examples have it.
    pub intent: String,
    /// How probable it is, from 0 to 1.
    pub confidence: f64,
}

impl Classifier {
    /// A classifier that learns from the examples of a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, a line is not an intent, a tab and a message, or there is none.
    pub fn open(file: &Path) -> Result<Self, TrainingError> {
        training::read(file).map(|examples| Self::train(&examples))
    }

    /// A classifier that learns from these examples.
    pub fn train(examples: &[Example]) -> Self {
        Self { model: Model::train(examples) }
    }

    /// All intents, the likeliest first. Their confidences add up to 1.
    pub fn rank(&self, message: &str) -> Vec<Guess> {
        let ranking = self.model.classify(message).into_iter();
        ranking.map(|(intent, confidence)| Guess { intent: intent.to_owned(), confidence }).collect()
    }
}

/// The desk that a message goes to: the likeliest intent, or [`UNCLEAR`] where it is not sure enough.
pub fn decide(ranking: &[Guess]) -> &str {
    let sure = ranking.first().filter(|best| best.confidence >= SURE_ENOUGH);
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
