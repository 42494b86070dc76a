//! `RegexMatch`.

use serde_json::json;

use super::{checked, scored, value};
use crate::{Evaluator, RegexMatch};

#[test]
fn a_part_of_the_output_matches_unless_the_whole_is_asked_for() {
    let year = RegexMatch::pattern("year", r"\d{4}");
    assert_eq!(value(&year, json!({}), json!("in 1999.")), (1.0, None));
    let (score, why) = value(&year.clone().whole(true), json!({}), json!("in 1999."));
    assert_eq!((score, &*why.unwrap()), (0.0, r"`output` as a whole does not match `\d{4}`"));
    assert_eq!(value(&year.clone().whole(true), json!({}), json!("1999")).0, 1.0);
    let (score, why) = value(&year.whole(true).whole(false), json!({}), json!("never"));
    assert_eq!((score, &*why.unwrap()), (0.0, r"nothing in `output` matches `\d{4}`"));
}

#[test]
fn what_may_not_match_is_quoted_where_it_does() {
    let polite = RegexMatch::pattern("polite", r"\bstupid\b").case_sensitive(false).not(true);
    assert_eq!(value(&polite, json!({}), json!("Clever.")), (1.0, None));
    let (score, why) = value(&polite, json!({}), json!("Stupid!"));
    assert_eq!((score, &*why.unwrap()), (0.0, r"`output` matches `\bstupid\b`: `Stupid`"));
    let score = scored(&polite, json!({}), json!("Stupid!")).unwrap();
    assert_eq!(score.all_metadata()["match"], "Stupid");
}

#[test]
fn an_item_may_have_its_own_pattern() {
    let own = RegexMatch::new("own", "form.pattern");
    assert_eq!(value(&own, json!({"form": {"pattern": "^a+$"}}), json!("aaa")).0, 1.0);
    assert_eq!(value(&own, json!({"form": {"pattern": "^b+$"}}), json!("aaa")).0, 0.0);
    let error = scored(&own, json!({"form": {"pattern": 3}}), json!("3")).unwrap_err();
    assert_eq!(error, "the item's `form.pattern` is 3, which is no text");
    let error = scored(&own, json!({"form": {"pattern": "("}}), json!("3")).unwrap_err();
    assert_eq!(error, "the item's `form.pattern`: `(` is no regular expression: unclosed group");
}

#[test]
fn a_broken_pattern_is_told_before_anything_runs() {
    let broken = RegexMatch::pattern("b", "[a").context(Clone::clone);
    assert_eq!(
        checked(&broken, json!([])).unwrap_err(),
        "`[a` is no regular expression: unclosed character class"
    );
    let items = json!([{"p": "a"}, {}, {"p": "[a"}]);
    let error = checked(&RegexMatch::new("b", "p"), items.clone()).unwrap_err();
    assert_eq!(error, "item `0002`: the item's `p`: `[a` is no regular expression: unclosed character class");
    assert_eq!(checked(&RegexMatch::new("b", "p").context(Clone::clone), items), Ok(()));
}

#[test]
fn an_empty_output_can_match() {
    assert_eq!(value(&RegexMatch::pattern("e", "").whole(true), json!({}), json!("")).0, 1.0);
    assert_eq!(value(&RegexMatch::pattern("e", ".+"), json!({}), json!("")).0, 0.0);
}

#[test]
fn the_fingerprint_says_how_it_matches() {
    let plain = RegexMatch::pattern("e", "a");
    assert_eq!(plain.fingerprint(), RegexMatch::pattern("e", "a").fingerprint());
    for other in [
        RegexMatch::pattern("e", "b"),
        plain.clone().whole(true),
        plain.clone().not(true),
        plain.clone().case_sensitive(false),
        plain.clone().output("output.a"),
    ] {
        assert_ne!(other.fingerprint(), plain.fingerprint());
    }
}
