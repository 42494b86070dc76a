//! `JsonSchema`.

use serde_json::{Value, json};

use super::{checked, scored, value};
use crate::{Evaluator, JsonSchema};

fn order() -> Value {
    json!({
        "type": "object",
        "required": ["price", "items"],
        "properties": {
            "price": { "type": "number" },
            "items": { "type": "array", "items": { "type": "string" } },
        },
    })
}

#[test]
fn an_output_of_that_form_scores_1_as_json_and_as_text() {
    let order = JsonSchema::schema("order", order());
    let output = json!({"price": 3.5, "items": ["tea"]});
    assert_eq!(value(&order, json!({}), output.clone()), (1.0, None));
    assert_eq!(value(&order, json!({}), json!(output.to_string())), (1.0, None));
}

#[test]
fn the_first_violations_are_told_with_their_places() {
    let order = JsonSchema::schema("order", order());
    let (score, why) = value(&order, json!({}), json!({"price": "3", "items": []}));
    assert_eq!((score, &*why.unwrap()), (0.0, "/price: \"3\" is not of type \"number\""));
    let (_, why) = value(&order, json!({}), json!({"price": 3}));
    assert_eq!(why.unwrap(), "the whole: \"items\" is a required property");
    let worse = scored(&order, json!({}), json!({"price": 3, "items": [1, 2, 3, 4, 5]})).unwrap();
    let why = worse.why().unwrap();
    assert!(why.starts_with("/items/0: 1 is not") && why.ends_with("; and 2 more"), "{why}");
    assert_eq!(worse.all_metadata()["violations"], 5);
}

#[test]
fn text_that_is_no_json_scores_0() {
    let (score, why) = value(&JsonSchema::schema("any", json!(true)), json!({}), json!("Here you are: {}"));
    assert!(score == 0.0 && why.as_ref().unwrap().starts_with("no JSON: "), "{why:?}");
}

#[test]
fn a_schema_may_be_the_items_own() {
    let own = JsonSchema::new("own", "schema");
    assert_eq!(value(&own, json!({"schema": {"type": "object"}}), json!("{}")).0, 1.0);
    assert_eq!(value(&own, json!({"schema": "{\"type\": \"array\"}"}), json!("{}")).0, 0.0);
    let error = checked(&own, json!([{"schema": {}}, {"id": "x", "schema": {"type": "order"}}])).unwrap_err();
    assert!(
        error.starts_with("item `x`: the item's `schema`: the schema is no valid JSON schema: "),
        "{error}"
    );
}

#[test]
fn a_broken_schema_is_told_before_anything_runs() {
    let error = checked(&JsonSchema::schema("s", json!({"type": 3})), json!([])).unwrap_err();
    assert!(error.starts_with("the schema is no valid JSON schema: "), "{error}");
}

#[test]
fn what_a_reference_leads_to_outside_the_schema_is_not_fetched() {
    for elsewhere in ["https://example.com/s.json", "file:///etc/hosts", "other.json"] {
        for schema in [json!({"$ref": elsewhere}), json!({"items": {"$ref": elsewhere}})] {
            let error = checked(&JsonSchema::schema("s", schema), json!([])).unwrap_err();
            let expected = format!("`{elsewhere}` is not within it, and nothing is fetched; put what");
            assert!(error.contains(&expected), "{error}");
        }
    }
}

#[test]
fn a_format_is_not_asked_for_in_any_draft() {
    for draft in [
        "draft-04/schema#",
        "draft-06/schema#",
        "draft-07/schema#",
        "draft/2019-09/schema",
        "draft/2020-12/schema",
    ] {
        let host = if draft.starts_with("draft/") { "https" } else { "http" };
        let schema = json!({"$schema": format!("{host}://json-schema.org/{draft}"), "format": "ipv4"});
        assert_eq!(
            value(&JsonSchema::schema("s", schema), json!({}), json!("\"x\"")),
            (1.0, None),
            "{draft}"
        );
    }
}

#[test]
fn a_schema_is_read_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("order.json");
    std::fs::write(&path, order().to_string()).unwrap();
    let from_file = JsonSchema::file("order", &path);
    assert_eq!(value(&from_file, json!({}), json!({"price": 1, "items": []})).0, 1.0);
    assert_eq!(from_file.fingerprint(), JsonSchema::schema("order", order()).fingerprint());
    std::fs::write(&path, "{").unwrap();
    for broken in [JsonSchema::file("order", &path), JsonSchema::file("order", "no/such/schema.json")] {
        let error = checked(&broken, json!([])).unwrap_err();
        assert!(error.starts_with("the schema in `") && error.contains(".json`: "), "{error}");
    }
}
