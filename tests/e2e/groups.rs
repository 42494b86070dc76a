//! Evaluators that do not apply to every item, and statistics by a field of the items.

use serde_json::{Value, json};

use crate::sandbox::{Finished, Sandbox, fixture};

/// An item of a category; `source` is what its answer must cite, if anything.
fn item(category: &str, reply: &str, source: Option<&str>) -> Value {
    json!({ "category": category, "reply": reply, "answer": "see page 3", "source": source })
}

fn items() -> Vec<Value> {
    vec![
        item("billing", "see page 3", Some("page 3")),
        item("billing", "see page 3", None),
        item("access", "see page 3", None),
        item("access", "no idea", None),
        item("access", "see page 3", None),
    ]
}

fn run(items: Vec<Value>, settings: &str) -> (Sandbox, Finished) {
    let sandbox = Sandbox::with_items(items);
    sandbox.write("cobalt.toml", settings);
    let finished = sandbox.program(fixture!("grouped")).run();
    (sandbox, finished)
}

#[test]
fn what_does_not_apply_fails_no_item_and_is_left_out_of_the_statistics() {
    let (sandbox, finished) = run(items().into_iter().take(3).collect(), "");
    let warning = "warning: grouped: `polite` applied to none of the 3 items; check the condition under which it applies";
    finished.code(0).stderr_has(&[warning]).says(&["2 n/a", "polite  3 n/a"]);
    let report = serde_json::to_value(sandbox.report()).unwrap();
    let summary = &report["summary"];
    assert_eq!(summary["notApplicable"], json!({ "cites": 2, "polite": 3 }));
    assert_eq!((&summary["evalErrors"], &summary["passedItems"]), (&json!(0), &json!(3)));
    assert_eq!(
        (&summary["scores"]["cites"]["count"], &summary["scores"]["polite"]),
        (&json!(1), &Value::Null)
    );
    let evaluations = &report["items"][1]["runs"][0]["evaluations"];
    let evaluations = if evaluations.is_null() { &report["items"][1]["evaluations"] } else { evaluations };
    assert_eq!(evaluations["polite"], json!({ "reason": "nobody is addressed", "notApplicable": true }));
    assert_eq!(evaluations["cites"], json!({ "notApplicable": true }));
}

#[test]
fn a_threshold_on_an_evaluator_that_applied_to_no_item_says_so() {
    let (_, finished) = run(items(), "thresholds = [\"polite.avg >= 0.5\"]\n");
    finished
        .code(101)
        .says(&["`polite.avg >= 0.5` has nothing to measure: `polite` applied to none of the 5 items"]);
}

#[test]
fn statistics_are_grouped_by_the_field_that_the_configuration_names() {
    let settings = "group-by = \"category\"\nthresholds = [\"right.avg >= 0.5\"]\n";
    let (sandbox, finished) = run(items(), settings);
    finished.code(0).says(&[
        "by category: mean (95% CI); ↓ lowest mean",
        "billing      2",
        "access       3",
        "↓",
    ]);
    let report = serde_json::to_value(sandbox.report()).unwrap();
    assert_eq!(report["config"]["groupBy"], json!(["category"]));
    let field = &report["summary"]["groups"][0];
    assert_eq!(field["field"], "category");
    let group = |place: usize| &field["groups"][place];
    assert_eq!((&group(0)["value"], &group(0)["items"]), (&json!("billing"), &json!(2)));
    assert_eq!((&group(1)["value"], &group(1)["passedItems"]), (&json!("access"), &json!(2)));
    assert_eq!(group(0)["scores"]["cites"], json!({ "avg": 1.0, "count": 1, "passRate": 1.0 }));
    assert_eq!(group(1)["scores"].get("cites"), None, "it applied to no item of the group");
    assert!(group(1)["scores"]["right"]["ci95"]["low"].as_f64().unwrap() < 0.5);
}
