//! Resources.

use std::fs;

use serde_json::{Value, json};

use super::assistant::{Assistant, with_metadata};
use super::snapshot::{assert_kept, assert_ran, listed, pretty};
use super::stored::{assistant_of, silent_assistant_of};
use crate::project::Project;
use crate::store::{ITEMS, Kept, Store};

/// Maximum size of a response in bytes.
const MOST: usize = 60_000;

/// The content of a resource.
#[track_caller]
fn read(assistant: &mut Assistant, uri: &str) -> Value {
    let result = assistant.ask("resources/read", json!({ "uri": uri }));
    assert!(result.to_string().len() < MOST, "{uri}: {} bytes", result.to_string().len());
    let content = &result["contents"][0];
    assert_eq!((&content["uri"], &content["mimeType"]), (&json!(uri), &json!("application/json")));
    serde_json::from_str(content["text"].as_str().unwrap()).unwrap()
}

/// The code and the message of an error.
#[track_caller]
fn refused(assistant: &mut Assistant, uri: &str) -> (i64, String) {
    let error = assistant.refused("resources/read", json!({ "uri": uri }));
    assert_eq!(error["data"]["uri"], uri, "{error}");
    (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap().to_owned())
}

/// The errors for these URIs.
#[track_caller]
fn refusals<const N: usize>(assistant: &mut Assistant, uris: [&str; N]) -> String {
    let refusal = |uri: &str| {
        let (code, message) = refused(assistant, uri);
        (json!(uri), format!("{code}: {message}"))
    };
    listed(uris.map(refusal))
}

/// Keeps two items per run, as all items are similar.
fn with_two_items_each(mut content: Value) -> Value {
    let items = |run: &mut Value| run["items"].as_array_mut().unwrap().truncate(2);
    match content.get_mut("runs") {
        Some(runs) => runs.as_array_mut().unwrap().iter_mut().for_each(items),
        None => items(&mut content["run"]),
    }
    content
}

fn uris(listed: &Value) -> Vec<&str> {
    listed["resources"].as_array().unwrap().iter().map(|it| it["uri"].as_str().unwrap()).collect()
}

fn settings(content: &Value) -> Vec<(&str, &Value, &str)> {
    let settings = content["settings"].as_array().unwrap().iter();
    settings.map(|it| (it["key"].as_str().unwrap(), &it["value"], it["origin"].as_str().unwrap())).collect()
}

#[test]
fn of_many_runs_the_newest_twenty_are_listed() {
    let store = Store::new();
    for day in 1..=25 {
        store.keep(&Kept { id: &format!("{day:012x}"), day, ..Kept::default() });
    }
    let listed = assistant_of(&store, &[]).ask("resources/list", json!({}));
    let uris = uris(&listed);
    assert_eq!(uris.len(), 3 + 20);
    assert_eq!(uris[3], format!("cobalt://runs/{:012x}", 25));
}

#[test]
fn the_latest_results_are_the_newest_run_of_each_experiment_with_its_worst_items() {
    let store = Store::with_a_drop();
    let latest = read(&mut assistant_of(&store, &[]), "cobalt://latest-results");
    let root = store.folder().canonicalize().unwrap();
    assert_eq!(latest["project"]["root"], root.to_str().unwrap());
    let runs: Vec<_> = latest["runs"].as_array().unwrap().iter().map(|run| run["id"].clone()).collect();
    assert_eq!(runs, ["bbbbbbbbbbbb", "cccccccccccc"]);
    assert_eq!(latest["runs"][0]["itemsMatching"], ITEMS);
    assert_kept!("latest_results", pretty(&with_two_items_each(latest)));
}

#[test]
fn latest_results_of_many_experiments_have_a_row_each_beside_those_with_items() {
    let store = Store::new();
    for number in 1..=28 {
        let (id, name) = (format!("{number:012x}"), format!("experiment-{number}"));
        store.keep(&Kept { id: &id, name: &name, day: number, ..Kept::default() });
    }
    let latest = read(&mut assistant_of(&store, &[]), "cobalt://latest-results");
    assert_eq!(latest["runs"].as_array().unwrap().len(), 4);
    let others = latest["others"].as_array().unwrap();
    assert_eq!(others[0]["name"], "experiment-24");
    assert_eq!(others[0]["uri"], format!("cobalt://runs/{:012x}", 24));
    let missing = 24 - others.len();
    assert!(missing == 0 || latest["leftOut"][0] == format!("others: {missing} of 24"), "{latest}");
}

#[test]
fn where_nothing_was_run_there_are_no_results() {
    let store = Store::new();
    fs::remove_dir_all(store.folder().join(".cobalt")).unwrap();
    let mut assistant = assistant_of(&store, &[]);
    assert_kept!("no_results", pretty(&read(&mut assistant, "cobalt://latest-results")));
    assert_eq!(uris(&assistant.ask("resources/list", json!({}))).len(), 3);
    assert_kept!("no_run", refusals(&mut assistant, ["cobalt://runs/latest"]));
}

#[test]
fn a_run_is_read_by_its_id_or_its_name_and_an_item_by_its_key() {
    let store = Store::with_a_drop();
    let mut assistant = assistant_of(&store, &[]);
    for name in ["bbbbbbbbbbbb", "bbb", "latest", "desk%40latest"] {
        let content = read(&mut assistant, &format!("cobalt://runs/{name}"));
        assert_eq!((&content["run"]["id"], &content["state"]), (&json!("bbbbbbbbbbbb"), &json!("ended")));
        assert_eq!(content["run"]["items"][0]["key"], "item-10", "lowest scores first");
    }
    let run = read(&mut assistant, "cobalt://runs/latest");
    assert_kept!("run", pretty(&with_two_items_each(run)));
    let content = read(&mut assistant, "cobalt://runs/aaaaaaaaaaaa/items/item-39");
    assert_kept!("item", pretty(&content));
}

#[test]
fn keys_with_anything_in_them_are_percent_encoded() {
    let store = Store::new();
    let file = store.folder().join(store.keep(&Kept::default()));
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"key\":\"item-0\"", "\"key\":\"../a b/100%?#größe\"")).unwrap();
    let mut assistant = assistant_of(&store, &[]);
    let encoded = "..%2Fa%20b%2F100%25%3F%23gr%C3%B6%C3%9Fe";
    let content = read(&mut assistant, &format!("cobalt://runs/aaaaaaaaaaaa/items/{encoded}"));
    assert_eq!(content["item"]["key"], "../a b/100%?#größe");
}

#[test]
fn what_is_not_there_is_said_to_be_missing_with_what_there_is() {
    let store = Store::with_a_drop();
    let mut assistant = assistant_of(&store, &[]);
    let missing = [
        "cobalt://nothing",
        "file:///etc/passwd",
        "cobalt://runs/../config",
        "cobalt://config?other=1",
        "cobalt://runs/dddddddddddd",
        "cobalt://runs/intnt%40latest",
        "cobalt://runs/bbbbbbbbbbbb/items/item-4O",
        "cobalt://runs/bbbbbbbbbbbb/items/..%2F..%2FCargo.toml",
    ];
    assert_kept!("missing", refusals(&mut assistant, missing));
    let invalid = [
        "cobalt://runs/%zz",
        "cobalt://runs/%FF",
        "cobalt://runs/..%2F..%2FCargo.toml",
        "cobalt://runs/%2Fetc%2Fpasswd/items/a",
        "cobalt://config?project=other",
    ];
    assert_kept!("invalid", refusals(&mut assistant, invalid));
    let mut newest = silent_assistant_of(&store, &[]);
    let asked = with_metadata(json!({ "uri": "cobalt://nothing" }), "2026-07-28", json!({}));
    assert_eq!(newest.refused("resources/read", asked)["code"], -32602);
}

#[test]
fn settings_are_told_with_their_origins_and_without_keys() {
    let store = Store::new();
    let file = "[judge]\nmodel = \"openai/small\"\napi-key = \"a-very-secret-thing\"\n\n[env]\nSERVICE_TOKEN = \"another-secret\"\n";
    fs::write(store.folder().join("cobalt.toml"), file).unwrap();
    fs::write(store.folder().join(".env"), "OPENAI_API_KEY=a-third-secret\nCOBALT_CONCURRENCY=7\n").unwrap();
    let mut assistant = assistant_of(&store, &[]);
    let content = read(&mut assistant, "cobalt://config");
    for secret in ["a-very-secret-thing", "another-secret", "a-third-secret"] {
        assert!(!content.to_string().contains(secret), "{content}");
    }
    assert_kept!("config", pretty(&content));
}

#[test]
fn the_key_in_the_address_of_a_model_is_not_told() {
    let store = Store::new();
    let file = "[judge]\nmodel = \"small\"\nprovider = \"openai\"\nbase-url = \"https://host.test/v1?key=plain-words\"\n";
    fs::write(store.folder().join("cobalt.toml"), file).unwrap();
    let mut assistant = assistant_of(&store, &[]);
    let content = read(&mut assistant, "cobalt://config");
    assert!(!content.to_string().contains("plain-words"), "{content}");
    assert!(settings(&content).contains(&(
        "judge.base-url",
        &json!("https://host.test/v1?key=[redacted]"),
        "cobalt.toml:4"
    )));
}

#[test]
fn a_mistake_in_the_settings_is_told_in_their_place() {
    let store = Store::new();
    fs::write(store.folder().join("cobalt.toml"), "[judge]\nmodel = 7\n").unwrap();
    let mut assistant = assistant_of(&store, &[]);
    let content = read(&mut assistant, "cobalt://config");
    assert_kept!("config_with_a_mistake", pretty(&content));
    let quoted = "webhooks = [\"https://user:a-very-secret-thing@example.com\"]\n";
    fs::write(store.folder().join("cobalt.toml"), quoted).unwrap();
    let content = read(&mut assistant, "cobalt://config");
    assert_kept!("config_with_a_mistake_in_an_address", pretty(&content));
    let failed = assistant.fails("cobalt_results", json!({})).to_string();
    let (_, refused) = refused(&mut assistant, "cobalt://latest-results");
    for told in [content.to_string(), failed, refused] {
        assert!(told.contains("cobalt.toml:1") && !told.contains("a-very-secret-thing"), "{told}");
    }
    assert_eq!(uris(&assistant.ask("resources/list", json!({}))).len(), 3);
}

#[test]
fn each_of_several_projects_has_its_own_resources() {
    let (one, other) = (Store::with_a_drop(), Store::new());
    other.keep(&Kept { id: "dddddddddddd", day: 9, ..Kept::default() });
    let mut assistant = assistant_of(&one, &[&other]);
    let listed = assistant.ask("resources/list", json!({}));
    let uris = uris(&listed);
    assert_eq!(uris.len(), 3 + 3 + 4);
    let name = other.folder().file_name().unwrap().to_str().unwrap();
    assert_eq!(uris[6], format!("cobalt://runs/dddddddddddd?project={name}"));
    let root = other.folder().canonicalize().unwrap();
    for uri in &uris[3..7] {
        if !uri.contains("experiments") {
            assert_eq!(read(&mut assistant, uri)["project"]["root"], root.to_str().unwrap());
        }
    }
    let templates = assistant.ask("resources/templates/list", json!({}));
    assert_kept!("templates_of_several_projects", pretty(&templates));
    assert_kept!("several_projects", refusals(&mut assistant, ["cobalt://config"]));
    // The run ID identifies the project.
    assert_eq!(read(&mut assistant, "cobalt://runs/dddd")["project"]["name"], name);
}

#[test]
fn a_large_run_is_read_within_bounds() {
    let store = Store::new();
    let file = store.folder().join(store.keep(&Kept::default()));
    let mut report: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let items: Vec<_> = (0..10_000)
        .map(|index| {
            let mut item = report["items"][index % ITEMS].clone();
            (item["index"], item["key"]) = (json!(index), json!(format!("key-{index}")));
            item["input"]["id"] = json!(format!("key-{index}"));
            let length = if index == 3 { 1_000_000 } else { 100 };
            item["output"]["output"] = json!("\"é\\\n".repeat(length / 4));
            item
        })
        .collect();
    (report["items"], report["summary"]["totalItems"]) = (items.into(), json!(10_000));
    fs::write(&file, report.to_string()).unwrap();
    let mut assistant = assistant_of(&store, &[]);
    let run = read(&mut assistant, "cobalt://runs/aaaaaaaaaaaa");
    assert_eq!(run["run"]["itemsMatching"], 10_000);
    assert!(run["run"]["rest"].as_str().unwrap().contains("cobalt_results"));
    let item = read(&mut assistant, "cobalt://runs/aaaaaaaaaaaa/items/key-3");
    assert!(item["item"]["output"]["output"].as_str().unwrap().contains("more characters]"));
    read(&mut assistant, "cobalt://latest-results");
}

#[test]
fn experiments_are_those_of_the_tool_that_lists_also_where_they_do_not_build() {
    let project = Project::steered();
    project.rename("mcp_resources_broken");
    let mut assistant = Assistant::of(&project);
    let listed = read(&mut assistant, "cobalt://experiments");
    assert_eq!(listed, assistant.call("cobalt_list", json!({})));
    assert_eq!(listed["experiments"].as_array().unwrap().len(), 2);
    project.write("tests/evals.rs", "fn main() {\n    let wrong: u8 = \"text\";\n}\n");
    let broken = read(&mut assistant, "cobalt://experiments");
    assert_ran!("experiments_that_do_not_build", pretty(&broken));
}
