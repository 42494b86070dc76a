//! `cobalt_results`.

use std::fs;

use serde_json::{Value, json};

use super::assistant::Assistant;
use super::schema::{answered, output_schema};
use super::snapshot::{answer, assert_kept, refusals, result, text};
use crate::store::{ITEMS, Kept, Store};

const TOOL: &str = "cobalt_results";

fn assistant(store: &Store) -> Assistant {
    Assistant::over(store.folder(), &[], "2025-11-25")
}

/// The keys of the listed items.
fn keys(run: &Value) -> Vec<String> {
    run["items"].as_array().unwrap().iter().map(|item| item["key"].as_str().unwrap().to_owned()).collect()
}

fn ids(answer: &Value) -> Vec<String> {
    answer["runs"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()[..1].to_owned()).collect()
}

#[test]
fn runs_are_listed_the_newest_first_and_page_by_page() {
    let store = Store::with_a_drop();
    store.keep(&Kept { id: "dddddddddddd", day: 4, partial: true, ..Kept::default() });
    let mut assistant = assistant(&store);
    let schema = output_schema(&mut assistant, TOOL);
    assert_kept!("runs", answer(&answered(&mut assistant, &schema, TOOL, json!({}))));
    let mut list =
        |arguments| answered(&mut assistant, &schema, TOOL, arguments)["structuredContent"].clone();
    let first = list(json!({ "limit": 3 }));
    assert_eq!((ids(&first).len(), &first["runsMatching"]), (3, &json!(4)));
    // A new run does not shift the pages.
    store.keep(&Kept { id: "eeeeeeeeeeee", day: 5, ..Kept::default() });
    let rest = list(json!({ "limit": 3, "cursor": first["nextCursor"] }));
    assert_eq!((ids(&rest), rest.get("nextCursor")), (vec!["a".to_owned()], None));
    assert_eq!(ids(&list(json!({ "experiment": "intent" }))), ["c"]);
    store.keep(&Kept { id: "ffffffffffff", name: "desk/mini", day: 6, ..Kept::default() });
    for name in ["desk/mini", "desk-mini"] {
        assert_eq!(ids(&list(json!({ "experiment": name }))), ["f"]);
        let run = list(json!({ "runId": format!("{name}@latest") }));
        assert_eq!(run["run"]["id"], "ffffffffffff");
    }
    assert_eq!(ids(&list(json!({ "status": "partial" }))), ["d"]);
    assert_eq!(ids(&list(json!({ "status": "failed" }))).len(), 0);
}

#[test]
fn a_runs_items_come_the_worst_first_and_each_once() {
    let store = Store::with_a_drop();
    let mut assistant = assistant(&store);
    let schema = output_schema(&mut assistant, TOOL);
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let mut arguments = json!({ "runId": "latest", "limit": 7 });
        if !cursor.is_null() {
            arguments["cursor"] = cursor;
        }
        let result = answered(&mut assistant, &schema, TOOL, arguments);
        let run = &result["structuredContent"]["run"];
        assert_eq!((&run["id"], &run["itemsMatching"]), (&json!("bbbbbbbbbbbb"), &json!(ITEMS)));
        seen.extend(keys(run));
        cursor = run["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
        assert!(run["rest"].as_str().unwrap().contains(cursor.as_str().unwrap()));
    }
    let expected: Vec<_> = (10..ITEMS).chain(0..10).map(|index| format!("item-{index}")).collect();
    assert_eq!(seen, expected, "the ten correct items come last");
}

#[test]
fn the_text_tells_the_verdict_the_scores_and_the_worst_items() {
    let store = Store::with_a_drop();
    let mut assistant = assistant(&store);
    let schema = output_schema(&mut assistant, TOOL);
    let result = answered(&mut assistant, &schema, TOOL, json!({ "runId": "latest", "limit": 2 }));
    assert_kept!("first_items_of_a_run", answer(&result));
}

#[test]
fn what_was_replayed_is_said_of_lists_runs_and_items_without_hashes_of_messages() {
    let store = Store::new();
    store.keep(&Kept::default());
    store.keep_replayed(&Kept { id: "bbbbbbbbbbbb", day: 2, right: ITEMS - 1, ..Kept::default() });
    let mut assistant = assistant(&store);
    let schema = output_schema(&mut assistant, TOOL);
    let list = answered(&mut assistant, &schema, TOOL, json!({}));
    let runs = &list["structuredContent"]["runs"];
    assert_eq!((&runs[0]["replayedItems"], runs[1].get("replayedItems")), (&json!(39), None));
    assert!(text(&list).contains(" | passed, replayed | "), "{}", text(&list));
    let run = answered(&mut assistant, &schema, TOOL, json!({ "runId": "latest", "limit": 1 }));
    assert_kept!("replayed_run", text(&run));
    let run = &run["structuredContent"]["run"];
    assert_eq!(run["summary"]["traffic"]["replayedItems"], 39);
    assert_kept!("replayed_item", serde_json::to_string_pretty(&run["items"][0]["traffic"]).unwrap());
}

#[test]
fn items_are_chosen_by_what_became_of_them() {
    let store = Store::with_a_drop();
    let mut assistant = assistant(&store);
    let schema = output_schema(&mut assistant, TOOL);
    let mut matching = |arguments: Value| {
        answered(&mut assistant, &schema, TOOL, arguments)["structuredContent"]["run"]["itemsMatching"]
            .clone()
    };
    assert_eq!(matching(json!({ "runId": "bbbb", "status": "passed" })), 10);
    assert_eq!(matching(json!({ "runId": "bbbb", "status": "failed" })), 30);
    assert_eq!(matching(json!({ "runId": "bbbb", "status": "low" })), 30);
    assert_eq!(matching(json!({ "runId": "bbbb", "status": "error" })), 0);
    assert_eq!(matching(json!({ "runId": "bbbb", "evaluator": "right", "maxScore": 0.5 })), 30);
    assert_eq!(matching(json!({ "runId": "bbbb", "maxScore": 1 })), ITEMS);
}

#[test]
fn items_below_a_pass_mark_and_items_in_error_are_counted_apart() {
    let store = Store::with_a_drop();
    let mut assistant = assistant(&store);
    let schema = output_schema(&mut assistant, TOOL);
    let mut answer =
        |arguments: Value| answered(&mut assistant, &schema, TOOL, arguments)["structuredContent"].clone();
    let rows = answer(json!({}))["runs"].clone();
    let row = rows.as_array().unwrap().iter().find(|row| row["id"] == "bbbbbbbbbbbb").unwrap();
    let counts =
        ["passedItems", "failedItems", "itemsBelowPassMark", "itemsInError"].map(|name| row[name].clone());
    assert_eq!(counts, [json!(10), json!(30), json!(30), json!(0)]);
    let run = answer(json!({ "runId": "bbbb" }))["run"].clone();
    let counts = ["itemsAtPassMarks", "itemsBelowPassMark", "itemsInError"].map(|name| run[name].clone());
    assert_eq!(counts, [json!(10), json!(30), json!(0)]);
    assert_eq!((&run["summary"]["passedItems"], &run["summary"]["failedItems"]), (&json!(10), &json!(0)));
}

#[test]
fn runs_are_named_as_on_the_command_line_but_by_no_path() {
    let store = Store::with_a_drop();
    let outside = tempfile::NamedTempFile::with_suffix(".json").unwrap();
    fs::write(outside.path(), fs::read(store.folder().join(store.keep(&Kept::default()))).unwrap()).unwrap();
    let mut assistant = assistant(&store);
    for (name, id) in
        [("latest", "b"), ("latest~1", "a"), ("intent@latest", "c"), ("ccc", "c"), ("desk@latest~1", "a")]
    {
        let run = assistant.call(TOOL, json!({ "runId": name }))["run"].clone();
        assert!(run["id"].as_str().unwrap().starts_with(id), "{name}: {}", run["id"]);
    }
    let inside = ".cobalt/results/2026-02-01T14-30-00_desk_aaaaaaaaaaaa.json";
    let outside = outside.path().to_str().unwrap();
    let names = [inside, "./x", "../x", outside, "a/../../etc/passwd", "/etc/passwd", "~/x", "zzzz"];
    let names = names.map(|name| json!({ "runId": name }));
    assert_kept!("names_of_no_run", refusals(&mut assistant, TOOL, names));
}

#[test]
fn a_run_is_found_by_its_commit() {
    let store = Store::with_a_drop();
    store.git(&["init", "--quiet", "--initial-branch", "main"]);
    store.git(&["commit", "--quiet", "--allow-empty", "--message", "one"]);
    let commit = store.git(&["rev-parse", "HEAD"]);
    store.keep(&Kept { id: "dddddddddddd", day: 4, commit: Some(&commit), ..Kept::default() });
    let mut assistant = assistant(&store);
    assert_eq!(assistant.call(TOOL, json!({ "runId": "main" }))["run"]["id"], "dddddddddddd");
}

#[test]
fn what_makes_no_sense_is_refused_with_what_to_do() {
    let store = Store::with_a_drop();
    let mut assistant = assistant(&store);
    let page = assistant.call(TOOL, json!({ "runId": "bbbb", "limit": 3 }));
    let cursor = &page["run"]["nextCursor"];
    let all = [
        json!({ "evaluator": "right" }),
        json!({ "maxScore": 0.5 }),
        json!({ "status": "low" }),
        json!({ "limit": 0 }),
        json!({ "limit": -1 }),
        json!({ "experiment": "desks" }),
        json!({ "cursor": "x" }),
        json!({ "runId": "latest", "experiment": "desk" }),
        json!({ "runId": "latest", "status": "partial" }),
        json!({ "runId": "latest", "evaluator": "rigth" }),
        json!({ "runId": "latest", "maxScore": 1.5 }),
        json!({ "runId": "latest", "cursor": "x" }),
        json!({ "runId": "latest~x" }),
        json!({ "runId": "latest", "colour": 1 }),
        json!({ "runId": "aaaa", "cursor": cursor }),
        json!({ "runId": "bbbb", "status": "low", "cursor": cursor }),
    ];
    assert_kept!("refused_arguments", refusals(&mut assistant, TOOL, all));
}

#[test]
fn a_file_that_is_no_result_is_left_out_and_named() {
    let store = Store::with_a_drop();
    let broken = ".cobalt/results/2026-02-09T14-30-00_desk_ffffffffffff.json";
    fs::write(store.folder().join(broken), "{\"id\": \"ffff").unwrap();
    let mut assistant = assistant(&store);
    let listed = result(&mut assistant, TOOL, json!({}));
    assert_eq!(ids(&listed["structuredContent"]), ["b", "c", "a"]);
    assert_kept!("file_that_is_no_result", answer(&listed));
    let named = [json!({ "runId": "ffff" })];
    assert_kept!("file_that_is_no_result_by_its_id", refusals(&mut assistant, TOOL, named));
}

#[test]
fn a_run_that_was_cut_off_is_read_as_far_as_it_came() {
    let store = Store::with_a_drop();
    let header = json!({
        "journal": 1, "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "tags": [],
        "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["right"], "passMarks": [0.5] },
        "dataset": { "source": "inline", "items": 5, "hash": "d" }, "definition": "f",
    });
    let entry = |index: usize, score: f64| {
        json!({ "at": 12, "item": {
            "index": index, "key": format!("item-{index}"), "status": "ok", "passed": true, "latencyMs": 1, "input": {},
            "output": { "output": "a" }, "evaluations": { "right": { "score": score } },
        } })
    };
    let lines =
        [header, entry(0, 0.0), entry(2, 0.5), entry(0, 1.0)].map(|line| format!("{line}\n")).concat();
    fs::create_dir_all(store.folder().join(".cobalt/runs")).unwrap();
    fs::write(store.folder().join(".cobalt/runs/0123456789ab.jsonl"), lines).unwrap();
    let mut assistant = assistant(&store);
    let schema = output_schema(&mut assistant, TOOL);
    let listed = answered(&mut assistant, &schema, TOOL, json!({}));
    assert_kept!("runs_and_one_cut_off", answer(&listed));
    let result = answered(&mut assistant, &schema, TOOL, json!({ "runId": "0123" }));
    assert_kept!("run_cut_off", answer(&result));
}

#[test]
fn of_several_projects_that_one_is_asked_which_has_the_run() {
    let (one, two) = (Store::with_a_drop(), Store::new());
    two.keep(&Kept { id: "dddddddddddd", ..Kept::default() });
    let mut assistant = Assistant::over(one.folder(), &[one.folder(), two.folder()], "2025-11-25");
    let found = assistant.call(TOOL, json!({ "runId": "dddd" }));
    assert_eq!(found["project"]["root"], json!(two.folder().canonicalize().unwrap()));
    two.keep(&Kept::default());
    let unclear = ["latest", "aaaa"].map(|run| json!({ "runId": run }));
    assert_kept!("several_projects", refusals(&mut assistant, TOOL, unclear));
    fs::write(one.folder().join("cobalt.toml"), "[nonsense").unwrap();
    let found = assistant.call(TOOL, json!({ "runId": "dddd" }));
    assert_eq!(found["run"]["id"], "dddddddddddd", "broken settings of the other project must not matter");
}
