//! `TokenF1` and `SquadExactMatch`.

use serde_json::json;

use super::value;
use crate::{SquadExactMatch, TokenF1};

#[test]
fn case_punctuation_and_articles_play_no_part() {
    let item = json!({"answer": "The old mill!"});
    assert_eq!(value(&SquadExactMatch::new("e", "answer"), item.clone(), json!("old Mill")), (1.0, None));
    assert_eq!(value(&TokenF1::new("f", "answer"), item, json!("mill, old")), (1.0, None));
}

#[test]
fn what_was_compared_is_told_where_it_differs() {
    let item = json!({"answers": ["The mill.", "a millhouse"]});
    let (score, why) = value(&SquadExactMatch::new("e", "answers"), item.clone(), json!("The old mill"));
    assert_eq!((score, &*why.unwrap()), (0.0, "expected `mill`, `millhouse`, got `old mill`"));
    let (score, why) = value(&TokenF1::new("f", "answers"), item, json!("The old mill"));
    assert!((score - 2.0 / 3.0).abs() < 1e-12, "{score}");
    assert_eq!(why.unwrap(), "precision 0.5, recall 1, F1 0.667");
}

#[test]
fn two_texts_of_which_nothing_is_left_match_but_share_nothing() {
    let item = json!({"answer": "the"});
    assert_eq!(value(&SquadExactMatch::new("e", "answer"), item.clone(), json!("")), (1.0, None));
    assert_eq!(value(&TokenF1::new("f", "answer"), item, json!("")).0, 0.0);
}
