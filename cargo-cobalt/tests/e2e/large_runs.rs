//! Runs with more items than tables, reports and responses show: their figures are those of the whole run, in whichever form it is
//! stored.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::mcp::assistant::Assistant;
use crate::project::ProgramOutput;
use crate::store::{Kept, Store};

const A: &str = "aaaaaaaaaaaa";
const B: &str = "bbbbbbbbbbbb";
/// More than the 1,000 items that tables and reports show.
const ITEMS: usize = 2_500;

/// A run in which the last items are the worst: of ten items, one is in error, five are below the pass mark, and four passed.
fn keep(store: &Store, id: &'static str, day: u32, drop: f64) {
    let item = |index: usize| {
        let score = match index % 10 {
            1..=5 => 0.5 - index as f64 / 10_000.0 - drop,
            _ => 1.0 - drop,
        };
        let id = match index {
            7 => "a b".to_owned(),
            8 => "a-b".to_owned(),
            9 => "a!b".to_owned(),
            _ => format!("item-{index}"),
        };
        let mut item = json!({
            "index": index, "key": id, "status": "ok", "passed": true, "latencyMs": index, "input": { "id": id, "input": "what now?" },
            "output": { "output": "that" }, "evaluations": { "right": { "score": score, "reason": format!("it is worth {score}") } },
        });
        if index.is_multiple_of(10) {
            item["evaluations"] = json!({ "right": { "error": "no answer" } });
        }
        item
    };
    store.keep_edited(&Kept { id, day, ..Kept::default() }, |report| {
        report["items"] = (0..ITEMS).map(item).collect();
        report["summary"] = json!({ "totalItems": ITEMS, "scores": { "right": {
            "avg": 0.6, "min": 0.1, "max": 1.0, "p50": 0.5, "p95": 1.0, "p99": 1.0, "count": ITEMS } } });
    });
}

/// The same runs whole, and in parts.
fn stores() -> [Store; 2] {
    let store = || {
        let store = Store::new();
        keep(&store, A, 1, 0.0);
        keep(&store, B, 2, 0.01);
        store
    };
    [store(), store().into_parts()]
}

#[track_caller]
fn fails(store: &Store, arguments: &[&str]) -> String {
    let mut command = crate::command::program(crate::command::COBALT, store.folder());
    ProgramOutput::by(command.arg("cobalt").args(arguments), 4).stderr
}

#[test]
fn a_table_counts_all_items_and_json_has_them() {
    let stores = stores();
    let show =
        |arguments: &[&str]| stores.each_ref().map(|store| store.cobalt(&[&["show"], arguments].concat()));
    let [whole, parts] = show(&[B]);
    let heading = |said: &ProgramOutput| said.stdout.lines().next().unwrap().to_owned();
    assert_eq!(heading(&whole), heading(&parts));
    let counts = "2,500 items, 1,000 at pass marks, 1,250 below, 250 in error";
    assert!(heading(&parts).ends_with(counts), "{}", heading(&parts));
    assert_eq!((whole.stdout.lines().count(), parts.stdout.lines().count()), (2_502, 1_002));
    let note = "note: 1,000 of 2,500 items are shown, those in error or below a pass mark first";
    assert!(parts.stderr.contains(note), "{}", parts.stderr);
    // The last items have the lowest scores.
    assert!(parts.stdout.contains("item-2495") && !parts.stdout.contains("item-11 "), "{}", parts.stdout);
    let [whole, parts] = show(&[B, "--low"]);
    assert_eq!(heading(&whole), heading(&parts));
    let note = "note: 1,000 of 1,500 items in error or below a pass mark are shown";
    assert!(parts.stderr.contains(note), "{}", parts.stderr);
    for arguments in [&["--json"][..], &["--low", "--json"]] {
        let [whole, parts] = show(&[&[B], arguments].concat());
        assert_eq!(whole.stdout, parts.stdout, "{arguments:?}");
        let items: Vec<Value> = serde_json::from_str(&parts.stdout).unwrap();
        assert_eq!(items.len(), if arguments.len() == 1 { ITEMS } else { 1_500 });
    }
}

#[test]
fn an_item_is_found_by_any_of_its_names() {
    let stores = stores();
    for item in ["item-2499", "a-b-2", "a-b-3", "a!b", "2499", "desk::a-b-2", "item-249"] {
        let [whole, parts] = stores.each_ref().map(|store| store.cobalt(&["show", B, item]).stdout);
        assert_eq!(whole, parts, "{item}");
    }
    for (item, told) in [
        ("item-", "`item-0`, `item-1`, `item-2`, `item-3`, `item-4` and 2,492 more; use a longer prefix"),
        ("nothing", "available: `item-0`, `item-1`"),
        ("itm-2499", "did you mean `item-2499`?"),
    ] {
        let [whole, parts] = stores.each_ref().map(|store| fails(store, &["show", B, item]));
        assert!(parts.contains(told), "{parts}");
        assert_eq!(whole, parts);
    }
}

#[test]
fn reports_count_all_items_and_draw_them() {
    let stores = stores();
    let export =
        |format: &str| stores.each_ref().map(|store| store.cobalt(&["export", B, "--format", format]).stdout);
    let lines = |text: &str, part: &str| -> Vec<String> {
        text.lines().filter(|line| line.contains(part)).map(str::to_owned).collect()
    };
    let [whole, parts] = export("markdown");
    for part in ["### ", "<summary>", "more item", "- items: "] {
        assert_eq!(lines(&whole, part), lines(&parts, part));
    }
    assert!(parts.contains("<summary>250 items in error, 1,250 items below pass mark</summary>"), "{parts}");
    assert!(parts.contains("more items"), "{parts}");
    assert!(parts.contains("1,000 of 2,500 items are shown"), "{parts}");
    let [whole, parts] = export("html");
    let charts = |page: &str| -> Vec<String> {
        let labels = page.split("aria-label=\"Histogram of ").skip(1);
        labels.map(|label| label.split('"').next().unwrap().to_owned()).collect()
    };
    assert_eq!(charts(&whole), charts(&parts));
    assert_eq!(charts(&parts).len(), 2, "scores and latencies");
    let counts =
        |page: &str| page.split("<noscript>").nth(1).unwrap().split("</p>").next().unwrap().to_owned();
    assert_eq!(counts(&whole), counts(&parts));
    assert!(counts(&parts).contains("1,500 of them with errors or below a pass mark"), "{}", counts(&parts));
    let [whole, parts] = export("csv");
    assert_eq!(whole, parts);
}

/// An assistant over each store.
fn assistants(stores: &[Store; 2]) -> [Assistant; 2] {
    stores.each_ref().map(|store| Assistant::over(store.folder(), &[], "2025-11-25"))
}

#[test]
fn an_assistant_reads_all_items_of_a_large_run_worst_first() {
    let stores = stores();
    let mut assistants = assistants(&stores);
    for arguments in [
        json!({}),
        json!({ "status": "low" }),
        json!({ "status": "error", "limit": 3 }),
        json!({ "evaluator": "right", "maxScore": 0.3 }),
        json!({ "status": "passed", "limit": 2 }),
    ] {
        let mut arguments = arguments;
        arguments["runId"] = json!(B);
        let params = json!({ "name": "cobalt_results", "arguments": arguments });
        let pages = assistants.each_mut().map(|assistant| assistant.ask("tools/call", params.clone()));
        let [whole, parts] = pages.each_ref().map(|page| &page["structuredContent"]["run"]);
        assert_eq!(whole, parts, "{arguments}");
        assert_eq!(pages[0]["content"][0], pages[1]["content"][0], "{arguments}");
        assert_eq!(parts["itemsBelowPassMark"], 1_250);
    }
    let [_, assistant] = &mut assistants;
    let (mut seen, mut cursor, mut lowest) = (Vec::new(), Value::Null, 0.0);
    loop {
        let mut arguments = json!({ "runId": B, "status": "low" });
        if !cursor.is_null() {
            arguments["cursor"] = cursor;
        }
        let page = assistant.call("cobalt_results", arguments)["run"].clone();
        assert_eq!(page["itemsMatching"], 1_250);
        for item in page["items"].as_array().unwrap() {
            let score = item["evaluations"]["right"]["score"].as_f64().unwrap();
            assert!(score >= lowest, "{item}");
            lowest = score;
            seen.push(item["key"].as_str().unwrap().to_owned());
        }
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!((seen.len(), seen.iter().collect::<HashSet<_>>().len()), (1_250, 1_250));
    assert_eq!(seen[0], "item-2495");
}

#[test]
fn prompts_and_comparisons_are_about_all_items_of_a_large_run() {
    let stores = stores();
    let mut assistants = assistants(&stores);
    let same = |answers: [String; 2]| {
        let [whole, parts] = [0, 1].map(|at| {
            let folder = stores[at].folder();
            let canonical = folder.canonicalize().unwrap();
            let text = answers[at].replace(&canonical.display().to_string(), "…");
            let text = text.replace(&folder.display().to_string(), "…");
            text.replace(folder.file_name().unwrap().to_str().unwrap(), "…")
        });
        assert_eq!(whole, parts);
        parts
    };
    let prompt = |name: &str| json!({ "name": name, "arguments": {} });
    let improve = assistants
        .each_mut()
        .map(|assistant| assistant.ask("prompts/get", prompt("improve-agent"))["messages"].to_string());
    assert!(same(improve).contains("1,500 of 2,500 items need work, worst first"));
    let regression = assistants
        .each_mut()
        .map(|assistant| assistant.ask("prompts/get", prompt("regression-check"))["messages"].to_string());
    let regression = same(regression);
    assert!(regression.contains("2,500 items in both"), "{regression}");
    assert!(regression.contains("before:"), "{regression}");
    for (method, params) in [
        ("tools/call", json!({ "name": "cobalt_compare", "arguments": { "runA": A, "runB": B } })),
        ("resources/read", json!({ "uri": "cobalt://latest-results" })),
        ("resources/read", json!({ "uri": format!("cobalt://runs/{B}") })),
        ("resources/read", json!({ "uri": format!("cobalt://runs/{B}/items/item-2499") })),
        (
            "completion/complete",
            json!({
                "ref": { "type": "ref/resource", "uri": "cobalt://runs/{runId}/items/{key}" },
                "argument": { "name": "key", "value": "item-24" }, "context": { "arguments": { "runId": B } },
            }),
        ),
    ] {
        let answers =
            assistants.each_mut().map(|assistant| assistant.ask(method, params.clone()).to_string());
        same(answers);
    }
}
