//! Preconditions of the experiments: the messages are not in the training data, and their intents are.

use std::collections::BTreeSet;

use cobalt::Dataset;
use intent_classifier::UNCLEAR;

fn messages() -> Dataset {
    Dataset::from_file("datasets/messages.csv").unwrap()
}

fn training() -> Dataset {
    Dataset::from_file("data/training.tsv").unwrap()
}

/// The words of a text, without punctuation.
fn words(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

fn column(dataset: &Dataset, name: &str) -> impl Iterator<Item = String> {
    dataset.iter().map(move |item| item[name].as_str().unwrap().to_owned())
}

#[test]
fn no_message_is_one_that_the_classifier_has_learnt() {
    let learnt: BTreeSet<_> = column(&training(), "message").map(|message| words(&message)).collect();
    let leaked: Vec<_> =
        column(&messages(), "input").filter(|input| learnt.contains(&words(input))).collect();
    assert_eq!(leaked, [] as [&str; 0]);
}

#[test]
fn every_intent_is_learnt_and_asked_for() {
    let (training, messages) = (training(), messages());
    let learnt: BTreeSet<_> = column(&training, "intent").collect();
    let asked: BTreeSet<_> = column(&messages, "expectedOutput").filter(|intent| intent != UNCLEAR).collect();
    assert_eq!(learnt, asked);
    assert!(column(&messages, "alsoExpected").all(|intent| intent.is_empty() || learnt.contains(&intent)));
}
