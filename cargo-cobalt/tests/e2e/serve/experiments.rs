//! `/api/experiments`, and what the overview of a run says about its source.

use std::fs;

use serde_json::{Value, json};

use super::server::{Server, command};
use crate::store::{Kept, Store};

const A: &str = "aaaaaaaaaaaa";
const B: &str = "bbbbbbbbbbbb";
const C: &str = "cccccccccccc";

fn scores(report: &mut Value, mean: f64) {
    report["summary"]["scores"]["right"] =
        json!({ "avg": mean, "count": 40, "ci95": { "low": mean - 0.1, "high": mean + 0.05 } });
    report["summary"]["estimatedCost"] = json!(0.5);
    report["summary"]["judgeCost"] = json!(0.25);
}

#[test]
fn runs_are_grouped_by_experiment() {
    let store = Store::new();
    store.keep_edited(&Kept::default(), |report| scores(report, 0.9));
    store.keep_edited(&Kept { id: B, day: 3, right: 10, ..Kept::default() }, |report| scores(report, 0.25));
    store.keep(&Kept { id: C, name: "intent", day: 2, ..Kept::default() });
    store.keep(&Kept { id: "dddddddddddd", day: 4, partial: true, ..Kept::default() });
    let server = Server::at(store.folder());
    let answer = server.json("/api/experiments");
    let [desk, intent] = [0, 1].map(|at| &answer["experiments"][at]);
    assert_eq!((&desk["name"], &desk["runs"], &desk["latest"]["id"]), (&json!("desk"), &json!(3), &json!(B)));
    assert_eq!((&intent["name"], &intent["runs"]), (&json!("intent"), &json!(1)));
    let recent = desk["recent"].as_array().unwrap();
    assert_eq!(
        recent.iter().map(|run| run["id"].as_str().unwrap()).collect::<Vec<_>>(),
        [A, B],
        "oldest first"
    );
    assert_eq!(
        (&recent[1]["score"], &recent[1]["low"], &recent[1]["high"]),
        (&json!(0.25), &json!(0.15), &json!(0.3))
    );
    assert_eq!(
        (&desk["agentCost"], &desk["judgeCost"], desk.get("userCost"), &desk["totalCost"]),
        (&json!(0.5), &json!(0.25), None, &json!(0.75))
    );
    assert!(intent.get("totalCost").is_none() && intent["recent"][0].get("score").is_none());
    assert_eq!(desk["change"], Value::Null, "there is no baseline");
}

#[test]
fn the_latest_run_is_compared_with_the_saved_baseline() {
    let store = Store::with_a_drop();
    let server = Server::at(store.folder());
    let change = || server.json("/api/experiments")["experiments"][0]["change"].clone();
    let save = |id: &str| store.cobalt(&["baseline", "set", id]);
    save(A);
    let change_from_a = change();
    assert_eq!((&change_from_a["of"], &change_from_a["baselineRun"]), (&json!(B), &json!(A)));
    let right = &change_from_a["scores"]["right"];
    assert_eq!((&right["change"], &right["verdict"]), (&json!(-0.75), &json!("worse")));
    let [low, high] = ["low", "high"].map(|bound| right[bound].as_f64().unwrap());
    assert!(low < -0.75 && high > -0.75 && high < 0.0, "{low} to {high}");
    save(B);
    assert_eq!(change(), Value::Null, "the latest run is the baseline");
}

#[test]
fn the_source_and_the_editor_are_named_to_this_machine_only() {
    let store = Store::new();
    for (id, file) in [(A, "tests/evals.rs"), (B, "tests/gone.rs"), (C, "../outside.rs")] {
        store.keep_edited(&Kept { id, ..Kept::default() }, |report| {
            report["declaredAt"] = json!({ "file": file, "line": 12 })
        });
    }
    fs::create_dir(store.folder().join("tests")).unwrap();
    fs::write(store.folder().join("tests/evals.rs"), "").unwrap();
    fs::write(store.folder().join("cobalt.toml"), "[dashboard]\neditor = \"zed\"\n").unwrap();
    let server = Server::at(store.folder());
    let overview = |id: &str| server.json(&format!("/api/runs/{id}/overview"));
    let there = store.folder().canonicalize().unwrap().join("tests/evals.rs");
    assert_eq!(overview(A)["source"], json!({ "path": "tests/evals.rs", "absolutePath": there, "line": 12 }));
    assert_eq!(overview(A)["editor"], "zed://file{path}:{line}:{column}");
    assert_eq!(overview(B)["source"], json!({ "path": "tests/gone.rs", "line": 12 }));
    assert_eq!(overview(C)["source"], json!({ "path": "../outside.rs", "line": 12 }));

    let mut with_token = command(store.folder(), &["--port", "0"]);
    let server = Server::by({
        with_token.env("COBALT_TOKEN", "0123456789abcdef");
        with_token
    });
    let answer = server.get(&format!("/api/runs/{A}/overview"), &["Authorization: Bearer 0123456789abcdef"]);
    let overview: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(overview["source"], json!({ "path": "tests/evals.rs", "line": 12 }));
    assert!(overview.get("editor").is_none());
    assert!(!answer.body.contains(store.folder().to_str().unwrap()), "{answer:?}");
}
