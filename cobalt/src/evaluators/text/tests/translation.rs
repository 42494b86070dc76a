//! `Bleu` and `ChrF`.

use serde_json::json;

use super::{checked, scored, value};
use crate::metrics::{self, BleuSmoothing, BleuTokenizer};
use crate::{Bleu, ChrF, Evaluator};

const OUTPUT: &str = "The mill stands still.";
const REFERENCE: &str = "The old mill stands still.";

#[test]
fn bleu_says_what_it_is_made_of() {
    let score = scored(&Bleu::new("b", "r"), json!({"r": REFERENCE}), json!(OUTPUT)).unwrap();
    assert_eq!(score.value(), metrics::Bleu::default().score(OUTPUT, &[REFERENCE]).score);
    assert_eq!(score.why(), Some("precisions 1, 0.75, 0.667, 0.5; brevity penalty 0.819: 5 tokens for 6"));
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
        (&Bleu::new("b", "r").max_order(usize::MAX), "words; count at most 1000"),
        (&Bleu::new("b", "r").smoothing(BleuSmoothing::AddK(f64::INFINITY)), "smoothing is by inf"),
        (&Bleu::new("b", "r").smoothing(BleuSmoothing::Floor(-1.0)), "smoothing is by -1"),
        (&ChrF::new("c", "r").char_order(usize::MAX), "letters; count at most 1000"),
        (&ChrF::new("c", "r").word_order(usize::MAX), "words; count at most 1000"),
        (&ChrF::new("c", "r").char_order(0), "neither letters nor words"),
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
