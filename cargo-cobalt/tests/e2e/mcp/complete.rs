//! Completion of partially typed arguments.

use std::fs;

use serde_json::{Value, json};

use super::assistant::Assistant;
use super::stored::assistant_of;
use crate::store::{Kept, Store};

const RUN: &str = "cobalt://runs/{runId}";
const ITEM: &str = "cobalt://runs/{runId}/items/{key}";

fn of_template(template: &str) -> Value {
    json!({ "type": "ref/resource", "uri": template })
}

fn of_prompt(prompt: &str) -> Value {
    json!({ "type": "ref/prompt", "name": prompt })
}

#[track_caller]
fn complete(
    assistant: &mut Assistant,
    reference: Value,
    argument: &str,
    typed: &str,
    context: Value,
) -> Value {
    let argument = json!({ "name": argument, "value": typed });
    let params = json!({ "ref": reference, "argument": argument, "context": { "arguments": context } });
    assistant.ask("completion/complete", params)["completion"].clone()
}

#[test]
fn run_ids_are_completed_the_newest_first() {
    let store = Store::with_a_drop();
    let mut assistant = assistant_of(&store, &[]);
    let mut values = |typed: &str, context: Value| {
        complete(&mut assistant, of_template(RUN), "runId", typed, context)["values"].clone()
    };
    assert_eq!(values("", json!({})), json!(["latest", "bbbbbbbbbbbb", "cccccccccccc", "aaaaaaaaaaaa"]));
    assert_eq!(values("a", json!({})), json!(["aaaaaaaaaaaa"]));
    assert_eq!(values("x", json!({})), json!([]));
    assert_eq!(values("", json!({ "experiment": "intent" })), json!(["latest", "cccccccccccc"]));
    store.keep(&Kept { id: "ffffffffffff", name: "desk/mini", day: 1, ..Kept::default() });
    for name in ["desk/mini", "desk-mini"] {
        assert_eq!(values("", json!({ "experiment": name })), json!(["latest", "ffffffffffff"]));
    }
}

#[test]
fn keys_are_those_of_the_run_that_was_chosen_before() {
    let store = Store::with_a_drop();
    let file = store.folder().join(".cobalt/results/2026-02-02T14-30-00_intent_cccccccccccc.json");
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("\"key\":\"item-7\"", "\"key\":\"other\""))
        .unwrap();
    let mut assistant = assistant_of(&store, &[]);
    let mut values = |run: &str, typed: &str| {
        complete(&mut assistant, of_template(ITEM), "key", typed, json!({ "runId": run }))["values"].clone()
    };
    assert_eq!(values("cccccccccccc", "o"), json!(["other"]));
    assert_eq!(values("aaaaaaaaaaaa", "o"), json!([]));
    assert_eq!(values("aaaaaaaaaaaa", "item-7"), json!(["item-7"]));
    assert_eq!(values("dddddddddddd", ""), json!([]));
}

#[test]
fn of_more_than_a_hundred_the_first_are_told_and_how_many_there_are() {
    let store = Store::new();
    for number in 0..120 {
        let id = format!("{number:012x}");
        store.keep(&Kept { id: &id, day: 1 + number % 28, ..Kept::default() });
    }
    let mut assistant = assistant_of(&store, &[]);
    let completion = complete(&mut assistant, of_template(RUN), "runId", "0", json!({}));
    assert_eq!(completion["values"].as_array().unwrap().len(), 100);
    assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(120), &json!(true)));
}

#[test]
fn arguments_of_prompts_are_experiments_runs_and_sources_of_the_project() {
    let (store, other) = (Store::with_a_drop(), Store::new());
    for file in
        ["src/agent.rs", "src/deep/other.rs", "target/debug/built.rs", ".hidden/x.rs", "src/readme.md"]
    {
        let path = store.folder().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
    }
    fs::write(store.folder().join("target/CACHEDIR.TAG"), "").unwrap();
    other.keep(&Kept { id: "dddddddddddd", name: "distant", day: 4, ..Kept::default() });
    let mut assistant = assistant_of(&store, &[&other]);
    let mut values = |prompt: &str, argument: &str, typed: &str, context: Value| {
        complete(&mut assistant, of_prompt(prompt), argument, typed, context)["values"].clone()
    };
    let name = |store: &Store| store.folder().file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(values("improve-agent", "experiment", "", json!({})), json!(["distant", "desk", "intent"]));
    let there = json!({ "project": name(&other) });
    assert_eq!(values("improve-agent", "experiment", "d", there.clone()), json!(["distant"]));
    assert_eq!(values("regression-check", "baseline", "d", json!({})), json!(["dddddddddddd"]));
    let sources = values("generate-tests", "agentFile", "src/", json!({ "project": name(&store) }));
    let mut sources: Vec<_> = sources.as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    sources.sort_unstable();
    assert_eq!(sources, ["src/agent.rs", "src/deep/other.rs"]);
    assert_eq!(values("generate-tests", "agentFile", "", there), json!([]));
    let served = name(&other);
    assert_eq!(values("generate-tests", "project", &served, json!({})), json!([served]));
    assert_eq!(values("improve-agent", "threshold", "", json!({})), json!([]));
}

#[test]
fn a_template_that_there_is_not_is_refused() {
    let store = Store::new();
    let mut assistant = assistant_of(&store, &[]);
    let params =
        json!({ "ref": of_template("cobalt://other/{id}"), "argument": { "name": "id", "value": "" } });
    assert_eq!(assistant.refused("completion/complete", params)["code"], -32602);
}
