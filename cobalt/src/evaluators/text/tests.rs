//! Shared test code of text evaluators, and tests of their common behaviour.

use cobalt_core::item::Output;
use serde_json::{Value, json};

use super::common::Measure;
use super::contains::Quantity;
use super::rouge::RougeVariant;
use crate::evaluators::tests::without_models;
use crate::evaluators::{EvalContext, Evaluator, Score};
use crate::metrics::{BleuSmoothing, BleuTokenizer};
use crate::settings::assert_round_trip;
use crate::{Bleu, ChrF, Contains, RegexMatch, Rouge, SquadExactMatch, TokenF1, Wer, metrics};

/// Scores an output for an item.
pub fn scored(evaluator: &dyn Evaluator, item: Value, output: Value) -> Result<Score, String> {
    let Value::Object(item) = item else { panic!("an item is an object") };
    let cx = EvalContext::new(item, Output::new(output));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(evaluator.evaluate(&cx)).map_err(|error| error.to_string())
}

/// The value and the reason.
#[track_caller]
pub fn value(evaluator: &dyn Evaluator, item: Value, output: Value) -> (f64, Option<String>) {
    let score = scored(evaluator, item, output).unwrap();
    (score.value(), score.why().map(str::to_owned))
}

/// Runs the check with these items.
pub fn checked(evaluator: &dyn Evaluator, items: Value) -> Result<(), String> {
    let items =
        items.as_array().expect("a list of items").iter().map(|item| item.as_object().unwrap().clone());
    without_models(evaluator, &items.collect::<Vec<_>>()).map_err(|error| error.to_string())
}

#[test]
fn choices_are_written_as_they_are_read() {
    assert_round_trip::<Measure>();
    assert_round_trip::<Quantity>();
    assert_round_trip::<RougeVariant>();
}

/// One evaluator of each type, comparing with `answers`.
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
        cobalt_core::item::Output::new(long("xy ")),
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

#[test]
fn a_part_of_what_the_agent_gave_is_looked_at_where_asked() {
    let part = Contains::text("c", "Paris").output("output.answer");
    assert_eq!(value(&part, json!({}), json!({"answer": "Paris", "place": "Rome"})).0, 1.0);
    let (score, why) = value(&part, json!({}), json!({"answer": "Rome", "place": "Paris"}));
    assert_eq!((score, &*why.unwrap()), (0.0, "`output.answer` does not contain `Paris`"));
    let error = scored(&part, json!({}), json!({"place": "Paris"})).unwrap_err();
    assert_eq!(error, "the agent's `output.answer` is missing or null");
    let error = checked(&part.output("answer"), json!([])).unwrap_err();
    assert!(error.starts_with("`answer` is not part of the agent's result; use `output`"), "{error}");
}

#[test]
fn what_is_looked_at_can_be_exchanged() {
    let other =
        |cx: &EvalContext| cx.with_output(Output::new("Paris")).with_item(crate::item! { "w": "Paris" });
    assert_eq!(value(&Contains::new("c", "w").context(other), json!({}), json!("Rome")).0, 1.0);
}

#[test]
fn an_output_of_null_is_an_error_not_a_score() {
    let error = scored(&Contains::text("c", "null"), json!({}), Value::Null).unwrap_err();
    assert_eq!(error, "the agent's `output` is missing or null");
}

#[test]
fn a_field_that_no_item_has_is_told_before_anything_runs() {
    let items = json!([{"input": "q", "keywords": "a"}, {"input": "r"}]);
    assert_eq!(checked(&Contains::new("c", "keywords"), items.clone()), Ok(()));
    for evaluator in [&Contains::new("c", "keyword") as &dyn Evaluator, &RegexMatch::new("r", "keyword")] {
        assert_eq!(
            checked(evaluator, items.clone()).unwrap_err(),
            "no item has `keyword` to compare with; did you mean `keywords`? available: `input`, `keywords`"
        );
    }
    let error = scored(&Contains::new("c", "keywords"), json!({"input": "r"}), json!("a")).unwrap_err();
    assert_eq!(error, "the item's `keywords` is missing or null; the item has `input`");
}

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

const OUTPUT: &str = "The mill stands still.";
const REFERENCE: &str = "The old mill stands still.";

#[test]
fn bleu_says_what_it_is_made_of() {
    let score = scored(&Bleu::new("b", "r"), json!({"r": REFERENCE}), json!(OUTPUT)).unwrap();
    assert_eq!(score.value(), metrics::Bleu::default().score(OUTPUT, &[REFERENCE]).score);
    assert_eq!(
        score.why(),
        Some("precisions 1, 0.75, 0.667, 0.5; brevity penalty 0.819 (5 tokens, reference 6)")
    );
    let kept = score.all_metadata();
    assert_eq!((&kept["outputLength"], &kept["referenceLength"]), (&json!(5), &json!(6)));
    assert_eq!(kept["precisions"].as_array().unwrap().len(), 4);
}

#[test]
fn bleu_takes_all_references_together() {
    let item = json!({"r": ["the old mill", "mill stands still"]});
    let both = value(&Bleu::new("b", "r"), item, json!("the old mill stands still")).0;
    let first =
        value(&Bleu::new("b", "r"), json!({"r": "the old mill"}), json!("the old mill stands still")).0;
    assert!(both > first, "{both} {first}");
}

#[test]
fn bleu_has_the_settings_of_the_metric() {
    let item = json!({"r": "A B C"});
    assert_eq!(value(&Bleu::new("b", "r"), item.clone(), json!("a b c")).0, 0.0);
    assert_eq!(value(&Bleu::new("b", "r").case_sensitive(false), item, json!("a b c")), (1.0, None));
    let item = json!({"r": "c b a"});
    assert_eq!(value(&Bleu::new("b", "r").max_order(1), item.clone(), json!("a b c")).0, 1.0);
    assert_eq!(value(&Bleu::new("b", "r").smoothing(BleuSmoothing::None), item, json!("a b c")).0, 0.0);
    let item = json!({"r": "水車は止まった"});
    assert_eq!(value(&Bleu::new("b", "r"), item.clone(), json!("水車が止まった")).0, 0.0);
    assert!(
        value(&Bleu::new("b", "r").tokenizer(BleuTokenizer::Char), item, json!("水車が止まった")).0 > 0.3
    );
    let error = checked(&Bleu::new("b", "r").max_order(0), json!([{"r": "a"}])).unwrap_err();
    assert!(error.contains("at least 1"), "{error}");
}

#[test]
fn chrf_is_that_of_the_nearest_reference() {
    let item = json!({"r": ["nothing", REFERENCE]});
    let score = scored(&ChrF::new("c", "r"), item.clone(), json!(OUTPUT)).unwrap();
    assert_eq!(score.value(), metrics::ChrF::default().score(OUTPUT, &["nothing", REFERENCE]).score);
    assert_eq!(score.why(), Some("precision 0.871, recall 0.737, chrF2 0.76"));
    let kept = score.all_metadata();
    assert_eq!(kept["reference"], 1);
    let [precision, recall] = ["precision", "recall"].map(|figure| kept[figure].as_f64().unwrap());
    assert!((5.0 * precision * recall / (4.0 * precision + recall) - score.value()).abs() < 1e-12);
    let plus_plus = scored(&ChrF::new("c", "r").word_order(2), item, json!(OUTPUT)).unwrap();
    assert_eq!(plus_plus.value(), metrics::ChrF::plus_plus().score(OUTPUT, &[REFERENCE]).score);
    assert!(plus_plus.why().unwrap().ends_with(", chrF2++ 0.756"), "{plus_plus:?}");
}

#[test]
fn chrf_has_the_settings_of_the_metric() {
    let item = json!({"r": "A B C"});
    assert_eq!(value(&ChrF::new("c", "r"), item.clone(), json!("a b c")).0, 0.0);
    assert_eq!(value(&ChrF::new("c", "r").case_sensitive(false), item, json!("a b c")), (1.0, None));
    let item = json!({"r": "cba"});
    assert_eq!(value(&ChrF::new("c", "r").char_order(1), item.clone(), json!("abc")).0, 1.0);
    assert!(value(&ChrF::new("c", "r"), item, json!("abc")).0 < 1.0);
    assert_eq!(value(&ChrF::new("c", "r").char_order(1).beta(0.0), json!({"r": "ab"}), json!("a")).0, 1.0);
    for broken in [
        ChrF::new("c", "r").char_order(0),
        ChrF::new("c", "r").beta(-1.0),
        ChrF::new("c", "r").beta(f64::NAN),
    ] {
        assert!(checked(&broken, json!([{"r": "a"}])).is_err(), "{broken:?}");
    }
}

#[test]
fn settings_that_give_no_score_are_told_before_anything_runs() {
    let broken: [(&dyn Evaluator, &str); 6] = [
        (&Bleu::new("b", "r").max_order(usize::MAX), "words are too long; the maximum is 1000"),
        (&Bleu::new("b", "r").smoothing(BleuSmoothing::AddK(f64::INFINITY)), "the smoothing value is inf"),
        (&Bleu::new("b", "r").smoothing(BleuSmoothing::Floor(-1.0)), "the smoothing value is -1"),
        (&ChrF::new("c", "r").char_order(usize::MAX), "characters are too long; the maximum is 1000"),
        (&ChrF::new("c", "r").word_order(usize::MAX), "words are too long; the maximum is 1000"),
        (&ChrF::new("c", "r").char_order(0), "`char_order` and `word_order` are both 0"),
    ];
    for (evaluator, problem) in broken {
        let error = checked(evaluator, json!([{"r": "a"}])).unwrap_err();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn a_blank_text_shares_nothing() {
    for evaluator in [&Bleu::new("b", "r") as &dyn Evaluator, &ChrF::new("c", "r")] {
        for (reference, output) in [("", ""), ("a", " "), (" ", "a")] {
            let (score, why) = value(evaluator, json!({"r": reference}), json!(output));
            assert!(score == 0.0 && why.is_some());
        }
    }
}
