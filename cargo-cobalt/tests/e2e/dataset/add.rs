//! `cargo cobalt dataset add`: adds items of runs to dataset files.

use std::fs;

use serde_json::{Value, json};

use crate::command::{COBALT, program};
use crate::project::{ProgramOutput, Project};
use crate::snapshot::assert_printed;
use crate::store::Store;

/// A store with a run `aaaaaaaaaaaa` of `desk`: `paris` passed, `rome` is below its pass mark, `oslo` failed with an error, and the
/// fourth item has no ID.
fn store() -> Store {
    let store = Store::new();
    let item = |index: usize, key: &str, status: &str, score: Option<u8>, input: Value, output: &str| {
        let evaluations = score.map_or(json!({}), |score| json!({ "right": { "score": score } }));
        json!({
            "index": index, "key": key, "status": status, "passed": score == Some(1), "latencyMs": 1.0, "input": input,
            "output": { "output": output }, "evaluations": evaluations,
            "error": (status != "ok").then_some("the agent broke"),
        })
    };
    let report = json!({
        "schema": 1, "id": "aaaaaaaaaaaa", "name": "desk", "timestamp": "2026-02-01T14:30:00.000Z",
        "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["right"], "passMarks": [0.5] },
        "summary": { "totalItems": 4 }, "passed": false,
        "items": [
            item(0, "paris", "ok", Some(1), json!({ "id": "paris", "input": "France?", "expectedOutput": "Paris" }), "Paris"),
            item(1, "rome", "ok", Some(0), json!({ "id": "rome", "input": "Italy?", "expectedOutput": "Rome" }), "Milan"),
            item(2, "oslo", "error", None, json!({ "id": "oslo", "input": format!("Norway? sk-{}", "9f86d081884c7d659a2feaa0c55ad015"), "answer": "Oslo" }), ""),
            item(3, "0123456789abcdef", "ok", Some(1), json!({ "input": ["a", { "b": 1 }] }), "key [redacted]"),
        ],
    });
    let file = store.folder().join(".cobalt/results/2026-02-01T14-30-00_desk_aaaaaaaaaaaa.json");
    fs::write(file, report.to_string()).unwrap();
    store
}

fn add(store: &Store, arguments: &[&str], code: i32) -> ProgramOutput {
    let mut command = program(COBALT, store.folder());
    ProgramOutput::by(command.args(["cobalt", "dataset", "add"]).args(arguments), code)
}

fn read(store: &Store, file: &str) -> String {
    fs::read_to_string(store.folder().join(file)).unwrap()
}

#[test]
fn an_item_that_failed_is_added_and_runs_in_the_next_run() {
    let project = Project::steered();
    project.answers(&[("paris", "Paris"), ("oslo", "error")]);
    project.cobalt(&["run", "--filter", "strict"], 0);
    let items = "{\"answer\":\"Rome\",\"id\":\"rome\",\"says\":\"Rome\"}";
    project.write("data/items.jsonl", items);
    assert_printed!(
        project.cobalt(&["dataset", "add", "data/items.jsonl", "--from-run", "strict@latest", "--failed"], 0)
    );
    assert_eq!(
        project.read("data/items.jsonl"),
        format!("{items}\n{{\"answer\":\"Oslo\",\"id\":\"oslo\",\"says\":\"error\"}}\n")
    );
    assert_printed!(project.cobalt(&["run", "--filter", "strict"], 0));
    let newest = project.newest_result();
    assert_eq!([&newest["items"][0]["key"], &newest["items"][1]["key"]], ["rome", "oslo"]);
    assert_eq!(newest["items"][1]["status"], "error");
    assert_printed!(
        project.cobalt(&["dataset", "add", "data/items.jsonl", "--from-run", "latest", "--failed"], 0)
    );
}

#[test]
fn items_are_named_by_their_keys_their_test_cases_or_their_indexes() {
    let store = store();
    for name in ["rome", "desk::rome", "1", "0003", "desk::0003", "0123456789abcdef"] {
        let said = add(&store, &["new.jsonl", "--from-run", "aaaa", "--item", name, "--dry-run"], 0);
        assert_printed!(said);
    }
    assert_printed!(add(&store, &["new.jsonl", "--from-run", "desk@latest", "--item", "rom"], 4));
    assert_printed!(add(&store, &["new.jsonl", "--from-run", "zzzz", "--item", "rome"], 4));
    assert_printed!(add(&store, &["new.jsonl", "--from-run", "latest"], 2));
    assert!(!store.folder().join("new.jsonl").exists());
}

#[test]
fn all_that_failed_are_added_and_what_looks_like_a_secret_is_told() {
    let store = store();
    let file = "deep/er/failed.json";
    let dry = add(&store, &[file, "--from-run", "latest", "--failed", "--dry-run"], 0);
    assert_printed!(dry);
    assert!(!store.folder().join("deep").exists());
    assert_printed!(add(&store, &[file, "--from-run", "latest", "--failed"], 0));
    let items: Value = serde_json::from_str(&read(&store, file)).unwrap();
    assert_eq!(items[0], json!({ "id": "rome", "input": "Italy?", "expectedOutput": "Rome" }));
    assert!(read(&store, file).ends_with("]\n"));
    assert_printed!(add(
        &store,
        &["outputs.jsonl", "--from-run", "latest", "--item", "0003", "--output-as-expected"],
        0
    ));
}

#[test]
fn fields_can_be_set_on_the_way() {
    let store = store();
    let line = |arguments: &[&str]| -> Value {
        let _ = fs::remove_file(store.folder().join("a.jsonl"));
        add(&store, &[&["a.jsonl", "--from-run", "latest", "--item"], arguments].concat(), 0);
        serde_json::from_str(&read(&store, "a.jsonl")).unwrap()
    };
    let set = line(&["rome", "--expected", "Roma", "--set", "source=a=b", "--set", "points=3", "--id", "it"]);
    let expected =
        json!({ "id": "it", "input": "Italy?", "expectedOutput": "Roma", "source": "a=b", "points": 3 });
    assert_eq!(set, expected);
    assert_eq!(line(&["rome", "--expected", "{\"a\": [1]}"])["expectedOutput"], json!({ "a": [1] }));
    assert_eq!(line(&["rome", "--expected", "-1"])["expectedOutput"], json!(-1));
    assert_eq!(line(&["rome", "--output-as-expected"])["expectedOutput"], "Milan");
    assert_eq!(line(&["rome", "--expected", "19.90"])["expectedOutput"], "19.90");
    let elsewhere = line(&["oslo", "--expected", "Bergen"]);
    assert_eq!([&elsewhere["answer"], &elsewhere["expectedOutput"]], [&json!("Bergen"), &Value::Null]);
    let refused = |arguments: &[&str]| {
        assert_printed!(add(
            &store,
            &[&["a.jsonl", "--from-run", "latest", "--item", "oslo"], arguments].concat(),
            2
        ));
    };
    refused(&["--output-as-expected"]);
    refused(&["--item", "rome", "--id", "it"]);
    refused(&["--set", "=x"]);
}

#[test]
fn an_item_of_the_same_id_with_other_content_is_refused_and_the_others_are_added() {
    let store = store();
    let there = "id,input,expectedOutput\r\nrome,Italy?,Roma\r\n";
    fs::write(store.folder().join("a.csv"), there).unwrap();
    assert_printed!(add(&store, &["a.csv", "--from-run", "latest", "--item", "rome", "--item", "paris"], 3));
    assert_eq!(read(&store, "a.csv"), format!("{there}paris,France?,Paris\r\n"));
    assert_printed!(add(&store, &["a.csv", "--from-run", "latest", "--item", "3"], 3));
    assert_printed!(add(&store, &["a.csv", "--from-run", "latest", "--item", "paris", "--set", "tag=x"], 3));
    add(&store, &["a.csv", "--from-run", "latest", "--item", "rome", "--id", "rome-2"], 0);
    assert!(read(&store, "a.csv").ends_with("rome-2,Italy?,Rome\r\n"));
}

#[test]
fn a_dry_run_prints_the_very_line_that_would_be_written_and_refuses_what_would_be() {
    let store = store();
    fs::write(store.folder().join("a.csv"), "note,input,id,tags,expectedOutput\n,?,x,,\n").unwrap();
    let rome = ["--from-run", "latest", "--item", "rome", "--expected", ""];
    let said = add(&store, &[&["a.csv", "--dry-run"], &rome[..]].concat(), 0);
    assert_eq!(said.stdout, ",Italy?,rome,,\n");
    assert_printed!(add(&store, &[&["new.csv", "--dry-run", "--set", " =a"], &rome[..]].concat(), 3));
}

#[test]
fn items_without_an_id_are_told_apart_by_their_inputs() {
    let store = store();
    let again = ["a.csv", "--from-run", "latest", "--item", "rome", "--set", "id=", "--expected"];
    fs::write(store.folder().join("a.csv"), "id,input,expectedOutput\n,Italy?,Roma\n").unwrap();
    assert_printed!(add(&store, &[&again[..], &["Rome"]].concat(), 3));
    assert_printed!(add(&store, &[&again[..], &["Roma"]].concat(), 0));
}

#[test]
fn what_cannot_be_changed_in_place_is_refused_with_what_to_do() {
    let store = store();
    fs::create_dir_all(store.folder().join(".cobalt/datasets")).unwrap();
    fs::write(store.folder().join(".cobalt/datasets/a.jsonl"), "{}\n").unwrap();
    for file in [
        "a.jsonl.gz",
        "a.parquet",
        "https://example.com/a.jsonl",
        ".cobalt/datasets/a.jsonl",
        "a.txt",
        ".cobalt",
    ] {
        assert_printed!(add(&store, &[file, "--from-run", "latest", "--item", "rome"], 3));
    }
    fs::write(store.folder().join("broken.jsonl"), "{\"input\": 1}\n{\n").unwrap();
    assert_printed!(add(&store, &["broken.jsonl", "--from-run", "latest", "--item", "rome"], 3));
}

#[test]
fn nothing_is_added_where_nothing_failed() {
    let store = Store::new();
    store.keep(&crate::store::Kept::default());
    assert_printed!(add(&store, &["a.jsonl", "--from-run", "latest", "--failed"], 0));
    assert!(!store.folder().join("a.jsonl").exists());
}
