//! `cobalt_compare`.

use std::fs;

use serde_json::{Value, json};

use super::assistant::Assistant;
use super::schema::{answered, output_schema};
use super::snapshot::{answer, assert_kept, refusals, result, text};
use crate::store::{ITEMS, Kept, Store};

const TOOL: &str = "cobalt_compare";

fn assistant(store: &Store) -> Assistant {
    Assistant::over(store.folder(), &[], "2025-11-25")
}

/// All numbers with six significant digits, as the server returns them.
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
    let said = store.compare(&["aaaa", "bbbb", "--json"], 0);
    let command: Value = serde_json::from_str(&said.stdout).unwrap();
    for figures in ["base", "other", "items", "evaluators", "amounts", "notes"] {
        assert_eq!(compared[figures], rounded(&command["comparisons"][0][figures]), "{figures}");
    }
    // All items are similar.
    let mut shortened = result.clone();
    shortened["structuredContent"]["regressedItems"].as_array_mut().unwrap().truncate(1);
    assert_kept!("worse", answer(&shortened));
}

#[test]
fn several_runs_are_ranked_with_their_differences_beyond_noise() {
    let store = Store::with_variants();
    let mut assistant = assistant(&store);
    let schema = output_schema(&mut assistant, TOOL);
    let arguments = json!({ "runA": "aaaa", "runB": "bbbb", "otherRuns": ["cccc"] });
    let result = answered(&mut assistant, &schema, TOOL, arguments);
    let ranking = &result["structuredContent"]["ranking"];
    assert_eq!(ranking["runs"].as_array().unwrap().len(), 3);
    assert_eq!(ranking["recommendation"]["cheapest"], json!(0));
    let pairs = ranking["pairs"].as_array().unwrap();
    assert!(pairs.iter().all(|pair| pair["difference"]["verdict"] != "within-noise"), "{pairs:?}");
    let text = text(&result);
    for part in ["### `desk`: 3 variants compared", "| `right` | `mini` | `nano` |"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let many: Vec<_> = (0..7).map(|_| "cccc").collect();
    let too_many = [json!({ "runA": "aaaa", "runB": "bbbb", "otherRuns": many })];
    assert!(refusals(&mut assistant, TOOL, too_many).contains("at most eight runs are ranked"));
}

#[test]
fn what_became_better_is_told_likewise() {
    let store = Store::with_a_drop();
    let mut assistant = assistant(&store);
    let mut compared = result(&mut assistant, TOOL, json!({ "runA": "bbbb", "runB": "aaaa" }));
    compared["structuredContent"]["improvedItems"].as_array_mut().unwrap().truncate(1);
    assert_kept!("better", answer(&compared));
}

#[test]
fn noise_is_no_difference() {
    let store = Store::with_a_drop();
    store.keep(&Kept { id: "dddddddddddd", day: 4, right: ITEMS, ..Kept::default() });
    let mut assistant = assistant(&store);
    let compared = result(&mut assistant, TOOL, json!({ "runA": "aaaa", "runB": "dddd" }));
    assert_kept!("no_difference", answer(&compared));
    let same = result(&mut assistant, TOOL, json!({ "runA": "aaaa", "runB": "aaaa" }));
    assert_kept!("one_run_with_itself", answer(&same));
}

#[test]
fn what_was_replayed_of_either_run_is_said() {
    let store = Store::new();
    store.keep(&Kept::default());
    store.keep_replayed(&Kept { id: "bbbbbbbbbbbb", day: 2, ..Kept::default() });
    let mut assistant = assistant(&store);
    let schema = output_schema(&mut assistant, TOOL);
    let result = answered(&mut assistant, &schema, TOOL, json!({ "runA": "latest~1", "runB": "latest" }));
    let compared = &result["structuredContent"];
    assert_eq!((compared.get("baseTraffic"), &compared["otherTraffic"]["replayedItems"]), (None, &json!(39)));
    assert_kept!("replayed", text(&result));
}

#[test]
fn runs_of_different_experiments_are_compared_by_the_items_that_they_share() {
    let store = Store::with_a_drop();
    let mut assistant = assistant(&store);
    let compared = result(&mut assistant, TOOL, json!({ "runA": "desk@latest", "runB": "intent@latest" }));
    assert_eq!(compared["structuredContent"]["items"]["matched"], ITEMS);
    assert_kept!("different_experiments", text(&compared));
    let path = store.folder().join(store.keep(&Kept { id: "dddddddddddd", day: 4, ..Kept::default() }));
    let text = fs::read_to_string(&path).unwrap().replace("item-", "other-");
    fs::write(&path, text).unwrap();
    let strangers = [json!({ "runA": "aaaa", "runB": "dddd" })];
    assert_kept!("no_item_in_common", refusals(&mut assistant, TOOL, strangers));
}

#[test]
fn runs_without_an_evaluator_in_common_are_not_said_to_be_alike() {
    let store = Store::with_a_drop();
    let path = store.folder().join(store.keep(&Kept { id: "dddddddddddd", day: 4, ..Kept::default() }));
    let text = fs::read_to_string(&path).unwrap().replace("\"right\"", "\"kind\"");
    fs::write(&path, text).unwrap();
    let compared = result(&mut assistant(&store), TOOL, json!({ "runA": "aaaa", "runB": "dddd" }));
    assert_kept!("no_evaluator_in_common", answer(&compared));
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
    let unclear = [json!({ "runA": "latest~1", "runB": "latest" })];
    assert_kept!("several_projects", refusals(&mut assistant, TOOL, unclear));
}

#[test]
fn runs_that_are_not_there_and_paths_are_refused() {
    let store = Store::with_a_drop();
    let mut assistant = assistant(&store);
    let runs = ["zzzz", "../x.json", "desk@latest~9"].map(|run| json!({ "runA": run, "runB": "latest" }));
    assert_kept!("refused_runs", refusals(&mut assistant, TOOL, runs));
}
