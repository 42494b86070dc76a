//! `Rouge`.

use serde_json::json;

use super::{scored, value};
use crate::{Evaluator, Rouge};

#[test]
fn f1_is_the_score_unless_precision_or_recall_is_asked_for() {
    let item = json!({"summary": "the ferry left late"});
    let output = json!("the ferry left");
    let rouge = Rouge::one("r", "summary");
    let (score, why) = value(&rouge, item.clone(), output.clone());
    assert!((score - 6.0 / 7.0).abs() < 1e-12, "{score}");
    assert_eq!(why.unwrap(), "precision 1, recall 0.75, F1 0.857");
    assert_eq!(value(&rouge.clone().precision(), item.clone(), output.clone()), (1.0, None));
    assert_eq!(value(&rouge.clone().recall(), item.clone(), output.clone()).0, 0.75);
    let kept = scored(&rouge, item, output).unwrap();
    assert_eq!(
        (&kept.all_metadata()["precision"], &kept.all_metadata()["recall"]),
        (&json!(1.0), &json!(0.75))
    );
}

#[test]
fn each_variant_counts_something_else() {
    let item = json!({"s": "the ferry left.\nit rained."});
    let score = |rouge: Rouge| value(&rouge, item.clone(), json!("it rained.\nthe ferry left.")).0;
    assert_eq!(score(Rouge::one("r", "s")), 1.0);
    assert_eq!(score(Rouge::two("r", "s")), 0.75);
    assert!((score(Rouge::l("r", "s")) - 0.6).abs() < 1e-12);
    assert_eq!(score(Rouge::lsum("r", "s")), 1.0);
}

#[test]
fn words_are_stemmed_where_asked() {
    let item = json!({"s": "leaving ferries"});
    assert_eq!(value(&Rouge::one("r", "s"), item.clone(), json!("ferry leaves")).0, 0.0);
    assert_eq!(value(&Rouge::one("r", "s").stemmer(true), item, json!("ferry leaves")).0, 1.0);
}

#[test]
fn a_text_of_which_nothing_counts_scores_0_and_says_so() {
    for (item, output, whose) in [
        (json!({"s": "a b"}), json!(" "), "`output`"),
        (json!({"s": ""}), json!("a b"), "`s`"),
        (json!({"s": ["паром", "лодка"]}), json!("a ferry"), "`s`"),
    ] {
        let (score, why) = value(&Rouge::one("r", "s"), item, output);
        let why = why.unwrap();
        assert!(
            score == 0.0 && why.starts_with(whose) && why.contains("neither a letter from a to z"),
            "{why}"
        );
    }
}

#[test]
fn a_text_without_a_pair_of_words_says_so() {
    for (reference, output, whose) in [("mill", "the mill", "`s`"), ("the mill", "mill", "`output`")] {
        let (score, why) = value(&Rouge::two("r", "s"), json!({"s": reference}), json!(output));
        let why = why.unwrap();
        assert!(score == 0.0 && why.starts_with(&format!("{whose} has no two words")), "{why}");
    }
    let (_, why) = value(&Rouge::two("r", "s"), json!({"s": "old mill"}), json!("the mill"));
    assert_eq!(why.unwrap(), "precision 0, recall 0, F1 0");
}

#[test]
fn a_score_that_is_nearly_full_is_not_called_full() {
    let text = |last: &str| json!("word ".repeat(4_999) + last);
    let (score, why) = value(&Rouge::one("r", "s"), json!({"s": text("end")}), text("start"));
    assert!(score < 1.0 && score > 0.9995, "{score}");
    assert_eq!(why.unwrap(), "precision 0.999, recall 0.999, F1 0.999");
}

#[test]
fn each_setting_changes_the_fingerprint() {
    let plain = Rouge::one("r", "s");
    for other in [
        Rouge::two("r", "s"),
        Rouge::one("r", "t"),
        plain.clone().stemmer(true),
        plain.clone().recall(),
        plain.clone().output("output.a"),
        plain.clone().pass_mark(0.9),
    ] {
        assert_ne!(other.fingerprint(), plain.fingerprint());
    }
}
