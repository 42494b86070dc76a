//! `Contains`.

use serde_json::json;

use super::{checked, scored, value};
use crate::Contains;

#[test]
fn all_texts_are_asked_for_unless_it_is_said_otherwise() {
    let cities = || Contains::texts("cities", ["Paris", "Rome"]);
    assert_eq!(value(&cities(), json!({}), json!("Rome, Paris")), (1.0, None));
    let (one, why) = value(&cities(), json!({}), json!("Paris"));
    assert_eq!((one, &*why.unwrap()), (0.0, "`output` does not contain `Rome`"));
    assert_eq!(value(&cities().any(), json!({}), json!("Paris")), (1.0, None));
    let (neither, why) = value(&cities().any(), json!({}), json!("Bern"));
    assert_eq!((neither, &*why.unwrap()), (0.0, "`output` contains none of `Paris`, `Rome`"));
    assert_eq!(value(&cities().none(), json!({}), json!("Bern")), (1.0, None));
    let (there, why) = value(&cities().none(), json!({}), json!("Paris"));
    assert_eq!((there, &*why.unwrap()), (0.0, "`output` contains `Paris`"));
}

#[test]
fn what_was_found_and_what_is_missing_is_kept() {
    let score = scored(&Contains::new("c", "words"), json!({"words": ["a", "b", 3]}), json!("a 3")).unwrap();
    assert_eq!(
        serde_json::to_value(score.all_metadata()).unwrap(),
        json!({"found": ["a", "3"], "missing": ["b"]})
    );
}

#[test]
fn a_field_holds_a_text_or_a_list_of_texts() {
    let contains = Contains::new("c", "answer.words");
    assert_eq!(value(&contains, json!({"answer": {"words": "b c"}}), json!("a b c")).0, 1.0);
    assert_eq!(value(&contains, json!({"answer": {"words": ["b", "d"]}}), json!("a b c")).0, 0.0);
    let error = scored(&contains, json!({"answer": {"words": ["b", null]}}), json!("b")).unwrap_err();
    assert_eq!(error, "the item's `answer.words[1]` is null; write a text");
}

#[test]
fn case_counts_unless_it_is_said_otherwise() {
    let school = Contains::text("c", "École");
    assert_eq!(value(&school, json!({}), json!("l'école")).0, 0.0);
    assert_eq!(value(&school.case_sensitive(false), json!({}), json!("l'ÉCOLE")).0, 1.0);
}

#[test]
fn what_is_there_with_case_is_there_without() {
    for (text, output) in [("ΑΣ", "ΒΑΣΗ"), ("οδος", "ΟΔΟΣ"), ("ΟΔΟΣ", "οδοσήμανση"), ("İ", "İzmir")]
    {
        let contains = Contains::text("c", text).case_sensitive(false);
        assert_eq!(value(&contains, json!({}), json!(output)), (1.0, None), "{text} {output}");
    }
}

#[test]
fn an_empty_list_asks_for_nothing_and_an_empty_text_is_a_mistake() {
    let (item, empty) = (json!({"w": []}), json!({"w": ["a", ""]}));
    let field = Contains::new("c", "w");
    assert_eq!(value(&field, item.clone(), json!("x")), (1.0, None));
    assert_eq!(value(&field.clone().none(), item.clone(), json!("x")), (1.0, None));
    let error = scored(&field.clone().any(), item, json!("x")).unwrap_err();
    assert_eq!(error, "the item's `w` is an empty list, of which no output can contain any");
    let error = scored(&field, empty.clone(), json!("a")).unwrap_err();
    assert_eq!(error, "the item's `w` holds an empty text, which every output contains");
    let error =
        checked(&field, json!([{"id": "good", "w": "a"}, {"id": "bad", "w": ["a", ""]}])).unwrap_err();
    assert_eq!(error, "item `bad`: the item's `w` holds an empty text, which every output contains");
    assert!(checked(&Contains::texts("c", [""; 1]), json!([])).unwrap_err().contains("is empty"));
    assert!(checked(&Contains::texts("c", [""; 0]), json!([])).unwrap_err().contains("name at least one"));
}

#[test]
fn a_blank_output_contains_nothing() {
    assert_eq!(value(&Contains::text("c", "a"), json!({}), json!("")).0, 0.0);
    assert_eq!(value(&Contains::text("c", "a").none(), json!({}), json!("")).0, 1.0);
}

#[test]
fn an_output_that_is_no_text_is_looked_at_as_templates_show_it() {
    assert_eq!(
        value(&Contains::text("c", "\"city\": \"Paris\""), json!({}), json!({"city": "Paris"})).0,
        1.0
    );
    assert_eq!(value(&Contains::text("c", "1"), json!({}), json!(1.0)).0, 1.0);
    assert_eq!(value(&Contains::text("c", "1.0"), json!({}), json!(1.0)).0, 0.0);
}
