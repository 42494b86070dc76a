//! The references of all evaluators that have some.

use serde_json::json;

use super::{checked, scored, value};
use crate::{Bleu, ChrF, Evaluator, Rouge, SquadExactMatch, TokenF1, Wer};

/// One of each, which compare with `answers`.
fn all() -> Vec<Box<dyn Evaluator>> {
    vec![
        Box::new(Bleu::new("bleu", "answers")),
        Box::new(ChrF::new("chrf", "answers")),
        Box::new(Rouge::one("rouge", "answers")),
        Box::new(Wer::new("wer", "answers")),
        Box::new(TokenF1::new("f1", "answers")),
        Box::new(SquadExactMatch::new("exact", "answers")),
    ]
}

#[test]
fn the_nearest_of_several_references_counts() {
    let item = json!({"answers": ["nothing of it", "the old mill", "mill"]});
    for evaluator in &all() {
        assert_eq!(value(&**evaluator, item.clone(), json!("the old mill")), (1.0, None), "{evaluator:?}");
        let (score, why) = value(&**evaluator, item.clone(), json!("xyz"));
        assert!(score == 0.0 && why.is_some(), "{evaluator:?}");
    }
    let score = scored(&Wer::new("wer", "answers"), item, json!("an old mill")).unwrap();
    assert_eq!(score.all_metadata()["reference"], 1);
}

#[test]
fn a_reference_that_is_no_text_is_compared_as_templates_show_it() {
    for evaluator in &all() {
        assert_eq!(value(&**evaluator, json!({"answers": 42.0}), json!("42")).0, 1.0, "{evaluator:?}");
        assert_eq!(value(&**evaluator, json!({"answers": [true, 7]}), json!(7)).0, 1.0, "{evaluator:?}");
    }
}

#[test]
fn a_reference_that_is_missing_is_an_error_not_a_score() {
    for evaluator in &all() {
        let error = |item| scored(&**evaluator, item, json!("a")).unwrap_err();
        assert_eq!(
            error(json!({"answers": []})),
            "the item's `answers` is an empty list; write at least one text"
        );
        assert_eq!(error(json!({"answers": ["a", null]})), "the item's `answers[1]` is null; write a text");
        assert_eq!(error(json!({"a": 1})), "the item's `answers` is missing or null; the item has `a`");
        let error = checked(&**evaluator, json!([{"answer": "a"}])).unwrap_err();
        assert!(
            error.starts_with("no item has `answers` to compare with; did you mean `answer`?"),
            "{error}"
        );
    }
}

#[test]
fn long_texts_do_not_hold_up_the_runtime() {
    let long = |word: &str| word.repeat(20_000);
    let cx = crate::EvalContext::new(
        crate::item! { "answers": long("ab ") },
        crate::experiment::Output::new(long("xy ")),
    );
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for evaluator in &all() {
        let first = runtime.block_on(async {
            tokio::select! {
                biased;
                score = evaluator.evaluate(&cx) => format!("{score:?}"),
                () = tokio::task::yield_now() => "the runtime".to_owned(),
            }
        });
        assert_eq!(first, "the runtime");
        let score = runtime.block_on(evaluator.evaluate(&cx)).unwrap();
        assert_eq!(score.value(), 0.0, "{evaluator:?}");
    }
}
