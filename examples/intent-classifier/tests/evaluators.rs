//! Unit tests of the evaluators.

mod scoring;

use cobalt::item;
use intent_classifier::{Guess, UNCLEAR};
use scoring::{Expected, calibrated, near_the_top, right_desk};

fn expected(intent: &str, also: &str) -> Expected {
    Expected { expected_output: intent.to_owned(), also_expected: also.to_owned() }
}

fn ranking(intents: &[&str]) -> Vec<Guess> {
    intents.iter().map(|&intent| Guess { intent: intent.to_owned(), confidence: 0.2 }).collect()
}

#[test]
fn a_wrong_desk_is_worse_than_a_person() {
    let worth = |desk| right_desk(&expected("price", "customs"), desk).value();
    assert_eq!([worth("price"), worth("customs"), worth(UNCLEAR), worth("track")], [1.0, 0.5, 0.25, 0.0]);
}

#[test]
fn a_person_is_right_where_the_message_is_unclear() {
    assert_eq!(right_desk(&expected(UNCLEAR, ""), UNCLEAR).value(), 1.0);
    assert_eq!(right_desk(&expected(UNCLEAR, ""), "track").value(), 0.0);
}

#[test]
fn to_be_sure_and_wrong_is_worst() {
    let score = |guess: &str, confidence: f64| {
        calibrated(&expected("price", "customs"), &item! { "guess": guess, "confidence": confidence })
            .unwrap()
    };
    assert_eq!((score("price", 1.0).value(), score("customs", 1.0).value()), (1.0, 1.0));
    assert_eq!((score("price", 0.5).value(), score("track", 0.5).value()), (0.75, 0.75));
    assert_eq!(score("track", 1.0).value(), 0.0);
    assert_eq!(score("track", 0.9).why(), Some("90% sure of track, which is wrong"));
}

#[test]
fn a_guess_without_a_confidence_cannot_be_scored() {
    let error = calibrated(&expected("price", ""), &item! { "guess": "price" }).unwrap_err();
    assert_eq!(error, "the metadata has no number `confidence`");
    assert!(calibrated(&expected("price", ""), &item! {}).is_err());
}

#[test]
fn the_second_place_is_half_the_first() {
    let score = |intents: &[&str]| near_the_top(&expected("price", ""), ranking(intents)).value();
    assert_eq!(score(&["price", "track", "send"]), 1.0);
    assert_eq!(score(&["track", "price", "send"]), 0.5);
    assert_eq!(score(&["track", "send", "price"]), 0.0);
    assert_eq!(score(&["track"]), 0.0);
}

#[test]
fn two_intents_may_be_in_either_order() {
    let score = |intents: &[&str]| near_the_top(&expected("price", "customs"), ranking(intents)).value();
    assert_eq!(score(&["customs", "price", "send"]), 1.0);
    assert_eq!(score(&["customs", "send", "price"]), 0.75);
}
