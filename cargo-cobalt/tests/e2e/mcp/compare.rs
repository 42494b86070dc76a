//! `cobalt_compare`.

use std::fs;

use serde_json::{Value, json};

use super::assistant::Assistant;
use super::schema::{answered, complaint, output_schema};
use crate::store::{ITEMS, Kept, Store};

const TOOL: &str = "cobalt_compare";

fn assistant(store: &Store) -> Assistant {
    Assistant::over(store.folder(), &[], "2025-11-25")
}

/// All figures with six digits, as the server gives them.
fn rounded(json: &Value) -> Value {
    match json {
        Value::Object(fields) => fields.iter().map(|(name, json)| (name.clone(), rounded(json))).collect(),
        Value::Array(elements) => elements.iter().map(rounded).collect(),
        Value::Number(number) if number.is_f64() => {
            format!("{:.5e}", number.as_f64().unwrap()).parse::<f64>().unwrap().into()
        }
        other => other.clone(),
    }
}

#[test]
fn a_drop_is_told_with_its_statistics_and_its_items() {
    let store = Store::with_a_drop();
    let mut assistant = assistant(&store);
    let schema = output_schema(&mut assistant, TOOL);
    let result = answered(&mut assistant, &schema, TOOL, json!({ "runA": "latest~1", "runB": "latest" }));
    let compared = &result["structuredContent"];
    assert_eq!((&compared["finding"], &compared["conclusion"]), (&json!("worse"), &json!("worse in right")));
    assert_eq!(
        (&compared["base"]["id"], &compared["other"]["id"]),
        (&json!("aaaaaaaaaaaa"), &json!("bbbbbbbbbbbb"))
    );
    assert_eq!((&compared["regressedCount"], &compared["improvedCount"]), (&json!(30), &json!(0)));
    let item = &compared["regressedItems"][0];
    assert_eq!((&item["key"], &item["scores"][0]["other"]), (&json!("item-10"), &json!(0.0)));
    assert_eq!(item["base"]["output"]["output"], "this");
    let said = store.compare(&["aaaa", "bbbb", "--json"], 0);
    let command: Value = serde_json::from_str(&said.stdout).unwrap();
    for figures in ["base", "other", "items", "evaluators", "amounts", "notes"] {
        assert_eq!(compared[figures], rounded(&command["comparisons"][0][figures]), "{figures}");
    }
    let text = result["content"][0]["text"].as_str().unwrap();
    for part in [
        "worse in",
        "`right` worse: 1.000 → 0.250, -0.750",
        "40 items: 30 worse",
        "`item-10` `right` 1.000 → 0.000",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn what_became_better_is_told_likewise() {
    let store = Store::with_a_drop();
    let mut assistant = assistant(&store);
    let compared = assistant.call(TOOL, json!({ "runA": "bbbb", "runB": "aaaa" }));
    assert_eq!((&compared["finding"], &compared["improvedCount"]), (&json!("better"), &json!(30)));
    assert_eq!(compared["improvedItems"][0]["key"], "item-10");
}

#[test]
fn noise_is_no_difference() {
    let store = Store::with_a_drop();
    store.keep(&Kept { id: "dddddddddddd", day: 4, right: ITEMS, ..Kept::default() });
    let mut assistant = assistant(&store);
    let compared = assistant.call(TOOL, json!({ "runA": "aaaa", "runB": "dddd" }));
    assert_eq!(compared["conclusion"], "no difference seen (within noise)");
    let same = assistant.call(TOOL, json!({ "runA": "aaaa", "runB": "aaaa" }));
    assert_eq!(same["finding"], "noDifference");
    assert!(same["notes"].to_string().contains("both are the same run"), "{same}");
}

#[test]
fn runs_of_different_experiments_are_compared_by_the_items_that_they_share() {
    let store = Store::with_a_drop();
    let mut assistant = assistant(&store);
    let compared = assistant.call(TOOL, json!({ "runA": "desk@latest", "runB": "intent@latest" }));
    assert_eq!(compared["items"]["matched"], ITEMS);
    assert!(compared["notes"].to_string().contains("intent"), "{}", compared["notes"]);
    let path = store.folder().join(store.keep(&Kept { id: "dddddddddddd", day: 4, ..Kept::default() }));
    let text = fs::read_to_string(&path).unwrap().replace("item-", "other-");
    fs::write(&path, text).unwrap();
    let said = complaint(&mut assistant, TOOL, json!({ "runA": "aaaa", "runB": "dddd" }));
    assert!(said.contains("no item in common"), "{said}");
}

#[test]
fn runs_without_an_evaluator_in_common_are_not_said_to_be_alike() {
    let store = Store::with_a_drop();
    let path = store.folder().join(store.keep(&Kept { id: "dddddddddddd", day: 4, ..Kept::default() }));
    let text = fs::read_to_string(&path).unwrap().replace("\"right\"", "\"kind\"");
    fs::write(&path, text).unwrap();
    let compared = assistant(&store).call(TOOL, json!({ "runA": "aaaa", "runB": "dddd" }));
    assert_eq!(compared["finding"], "nothingToCompare");
    let conclusion = compared["conclusion"].as_str().unwrap();
    assert!(conclusion.contains("no evaluator has scores in both runs"), "{conclusion}");
}

#[test]
fn runs_of_two_projects_are_compared() {
    let (one, two) = (Store::with_a_drop(), Store::new());
    two.keep(&Kept { id: "dddddddddddd", ..Kept::default() });
    let mut assistant = Assistant::over(one.folder(), &[one.folder(), two.folder()], "2025-11-25");
    let root = |store: &Store| json!(store.folder().canonicalize().unwrap());
    let compared = assistant.call(TOOL, json!({ "runA": "bbbb", "runB": "dddd" }));
    assert_eq!((&compared["project"]["root"], &compared["baseProject"]["root"]), (&root(&two), &root(&one)));
    let compared = assistant.call(TOOL, json!({ "runA": "aaaa", "runB": "latest" }));
    assert_eq!((&compared["project"]["root"], compared.get("baseProject")), (&root(&one), None));
    let said = complaint(&mut assistant, TOOL, json!({ "runA": "latest~1", "runB": "latest" }));
    assert!(said.contains("several projects are served"), "{said}");
}

#[test]
fn runs_that_are_not_there_and_paths_are_refused() {
    let store = Store::with_a_drop();
    let mut assistant = assistant(&store);
    for (run, expected) in [
        ("zzzz", "no run is named `zzzz`"),
        ("zzzz", "`cobalt_results` lists the runs"),
        ("../x.json", "looks like a path"),
        ("desk@latest~9", "only 2 whole runs"),
    ] {
        let said = complaint(&mut assistant, TOOL, json!({ "runA": run, "runB": "latest" }));
        assert!(said.contains(expected), "{run}: {said}");
    }
}
