//! `Wer`.

use serde_json::json;

use super::{scored, value};
use crate::Wer;

#[test]
fn the_score_is_1_without_the_share_of_words_that_are_wrong() {
    let item = json!({"said": "the old ferry has left"});
    let score = scored(&Wer::new("w", "said"), item, json!("the ferry is left early")).unwrap();
    assert!((score.value() - 0.4).abs() < 1e-12, "{score:?}");
    assert_eq!(score.why(), Some("WER 0.6: 1 substituted, 1 missing, 1 too many for 5 words"));
    assert_eq!(
        serde_json::to_value(score.all_metadata()).unwrap(),
        json!({"rate": 0.6, "hits": 3, "substitutions": 1, "deletions": 1, "insertions": 1})
    );
}

#[test]
fn more_errors_than_words_are_no_score_below_0() {
    let (score, why) = value(&Wer::new("w", "said"), json!({"said": "yes"}), json!("no I do not"));
    assert_eq!((score, &*why.unwrap()), (0.0, "WER 4: 1 substituted, 3 too many for 1 word"));
}

#[test]
fn letters_are_counted_where_asked() {
    let (score, why) =
        value(&Wer::new("w", "said").characters(true), json!({"said": "meadow"}), json!("meadaw"));
    assert!((score - 5.0 / 6.0).abs() < 1e-12, "{score}");
    assert_eq!(why.unwrap(), "CER 0.167: 1 substituted for 6 characters");
}

#[test]
fn a_blank_text_is_right_for_a_blank_reference_only() {
    let wer = Wer::new("w", "said");
    assert_eq!(value(&wer, json!({"said": " "}), json!("")), (1.0, None));
    assert_eq!(value(&wer, json!({"said": ""}), json!("yes")).0, 0.0);
    let (score, why) = value(&wer, json!({"said": "yes"}), json!(""));
    assert_eq!((score, &*why.unwrap()), (0.0, "WER 1: 1 missing for 1 word"));
}
