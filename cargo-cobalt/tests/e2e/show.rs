//! `cargo cobalt show`: the items of past runs.

use std::fs;

use serde_json::{Value, json};

use crate::command::{COBALT, program};
use crate::project::ProgramOutput;
use crate::snapshot::assert_printed;
use crate::store::{Kept, Store};

fn show(store: &Store, arguments: &[&str], code: i32) -> ProgramOutput {
    let mut command = program(COBALT, store.folder());
    ProgramOutput::by(command.args(["cobalt", "show"]).args(arguments), code)
}

/// A run of three items with two trials each, with thresholds: one passed, one below its pass mark, one in error.
fn gated() -> Store {
    let store = Store::new();
    let trial = |output: &str, tone: Value| {
        json!({
            "status": "ok", "latencyMs": 1500.0,
            "output": { "output": output, "metadata": { "model": "m", "tokens": { "input": 1200, "output": 34 }, "steps": ["a"] } },
            "evaluations": {
                "right": { "score": 1.0, "reason": "it is\nParis" },
                "tone": tone,
            },
        })
    };
    let item = |index: usize, key: &str, trials: Vec<Value>| {
        let mut item = trials[0].clone();
        for (name, value) in [
            ("index", json!(index)),
            ("key", json!(key)),
            (
                "input",
                json!({ "topic": "cities", "expected": format!("of {key}"), "input": "which \u{1b}[31mcity?", "id": key }),
            ),
            ("passed", json!(true)),
            ("runs", json!(trials)),
        ] {
            item[name] = value;
        }
        item
    };
    let good = json!({ "score": 0.75, "chainOfThought": "polite, so good" });
    let low = json!({ "score": 0.25, "reason": "rude" });
    let failed = json!({ "error": "the judge was silent" });
    let mut broken = trial("", good.clone());
    (broken["status"], broken["error"], broken["evaluations"]) =
        (json!("error"), json!("no route"), json!({}));
    let report = json!({
        "schema": 1, "id": "aaaaaaaaaaaa", "name": "desk", "timestamp": "2026-02-01T14:30:00.000Z",
        "config": { "runs": 2, "concurrency": 1, "timeout": 1000, "evaluators": ["right", "tone"], "passMarks": [0.5, 0.5] },
        "summary": { "totalItems": 3 }, "passed": true,
        "items": [
            item(0, "paris", vec![trial("Paris", good.clone()), trial("Paris!", good.clone())]),
            item(1, "parma", vec![trial("Parma", low), trial("Parma\nagain", failed)]),
            item(2, "rome", vec![broken.clone(), broken]),
        ],
    });
    let file = store.folder().join(".cobalt/results/2026-02-01T14-30-00_desk_aaaaaaaaaaaa.json");
    fs::write(file, report.to_string()).unwrap();
    store
}

#[test]
fn the_items_of_a_passing_run_are_a_table_with_their_outputs() {
    let said = show(&gated(), &[], 0);
    let lines: Vec<_> =
        said.stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        lines,
        [
            "desk, run aaaaaaaaaaaa of 2026-02-01 14:30 UTC: 3 items, 1 at pass marks, 2 in error",
            "key result right tone latency output",
            "paris passed 1 0.75 1.5 s Paris",
            "parma scoring error 1 0.25 1.5 s Parma",
            "rome error – – 1.5 s no route",
        ]
    );
}

#[test]
fn only_items_below_a_pass_mark_or_in_error_are_shown_where_that_is_asked() {
    let store = Store::with_a_drop();
    let said = show(&store, &["desk@latest", "--low"], 0);
    assert_printed!(said);
    assert_eq!(said.stdout.matches("below pass mark ").count(), 30, "{}", said.stdout);
    assert!(!said.stdout.contains("item-9 ") && said.stdout.contains("item-10 "), "{}", said.stdout);
    assert!(said.stdout.contains("that | `or` <not>"), "{}", said.stdout);
    assert_printed!(show(&store, &["aaaa", "--low"], 0));
}

#[test]
fn an_item_is_shown_in_full_with_every_trial() {
    let store = gated();
    let text = show(&store, &["latest", "parma"], 0).stdout;
    for part in [
        "desk::parma: scoring error\n",
        "index 1, run aaaaaaaaaaaa, latency 1.5 s\n",
        "\ninput\n  which \\u{1b}[31mcity?\n\nexpected\n  of parma\n",
        "\ntopic\n  cities\n",
        "\ntrial 1 of 2, 1.5 s\n\noutput\n  Parma\n",
        "\nmetadata\n  model: m\n  tokens: 1,234: 1,200 input, 34 output\n",
        "\nright\n  1, pass mark 0.5\n  reason: it is\n  Paris\n",
        "\ntone\n  0.25, below the pass mark of 0.5\n  reason: rude\n",
        "\ntrial 2 of 2, 1.5 s\n\noutput\n  Parma\n  again\n",
        "\ntone\n  no score\n  error: the judge was silent\n",
    ] {
        assert!(text.contains(part), "lacks {part:?}: {text}");
    }
    assert_printed!(show(&store, &["latest", "paris"], 0));
    assert_printed!(show(&store, &["latest", "rome"], 0));
}

#[test]
fn a_run_and_its_items_say_what_was_replayed() {
    let store = Store::new();
    store.keep_replayed(&Kept::default());
    let text = show(&store, &["latest"], 0).stdout;
    let lines: Vec<_> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        lines[1..7],
        [
            "traffic: 40 items: 39 replayed (recorded 2026-01-21), 1 live, live agent cost $0.030",
            "traffic: 1 item diverged from the recording",
            "traffic: 3 requests attributed by content",
            "traffic: 1 request not attributed to an item; see `cobalt::recording`",
            "traffic: 1 request retried, 1.5 s waited, which is not part of the latency",
            "key result right requests latency output",
        ]
    );
    assert_eq!(lines[7], "item-0 passed 1 2 replayed 10 ms this");
    assert_eq!(lines.last().unwrap(), "item-39 passed 1 1 replayed, 1 live, diverged 10 ms this");
    let text = show(&store, &["latest", "item-0"], 0).stdout;
    assert!(text.contains(", latency 10 ms (as recorded)\n"), "{text}");
    assert!(text.contains("\n  traffic: 2 requests replayed (recorded 2026-01-21)\n"), "{text}");
    let text = show(&store, &["latest", "item-39"], 0).stdout;
    assert!(text.contains(", latency 10 ms\n"), "it was replayed only in part: {text}");
    assert!(
        text.contains("\n  diverged: `messages[1].content`: recorded `red`, now `<b>blue</b>`\n"),
        "{text}"
    );
}

#[test]
fn a_run_and_its_items_say_what_was_retried() {
    let store = Store::new();
    store.keep_retried(&Kept::default());
    let text = show(&store, &["latest"], 0).stdout;
    let lines: Vec<_> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        lines[1..5],
        [
            "retried: 1 item, 2 transient failures; 1 item passed only after a retry",
            "key result right retried latency output",
            "item-0 passed 1 2 10 ms this",
            "item-1 passed 1 10 ms this",
        ]
    );
    let text = show(&store, &["latest", "item-0"], 0).stdout;
    let attempts = "\nattempts\n  3, retried after: the model\n  is <b>busy</b> (2 times)\n";
    assert!(text.contains(attempts), "{text}");
    assert!(!show(&store, &["latest", "item-1"], 0).stdout.contains("attempts"));
}

#[test]
fn an_item_is_found_by_its_key_its_beginning_its_index_and_its_case() {
    let store = gated();
    for arguments in [
        &["latest", "rome"][..],
        &["aaaa", "ro"],
        &["latest", "2"],
        &["desk@latest", "desk::rome"],
        &["desk::rome"],
    ] {
        assert_printed!(show(&store, arguments, 0));
    }
    assert_printed!(show(&store, &["latest", "par"], 4));
    assert_printed!(show(&store, &["latest", "pariss"], 4));
    assert_printed!(show(&store, &["zzzz"], 4));
    show(&store, &["latest", "rome", "--low"], 2);
}

#[test]
fn json_has_the_items_as_the_result_file_has_them() {
    let store = gated();
    let json =
        |arguments: &[&str]| -> Value { serde_json::from_str(&show(&store, arguments, 0).stdout).unwrap() };
    let one = json(&["latest", "parma", "--json"]);
    assert_eq!((&one["key"], &one["runs"][1]["output"]["output"]), (&json!("parma"), &json!("Parma\nagain")));
    let keys =
        |list: &Value| list.as_array().unwrap().iter().map(|item| item["key"].clone()).collect::<Vec<_>>();
    assert_eq!(keys(&json(&["--json"])), ["paris", "parma", "rome"]);
    assert_eq!(keys(&json(&["latest", "--low", "--json"])), ["parma", "rome"]);
}

#[test]
fn the_finished_items_of_a_run_that_has_not_ended_are_shown() {
    let store = Store::new();
    let header = json!({
        "journal": 1, "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "tags": [],
        "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["right"], "passMarks": [0.5] },
        "dataset": { "source": "inline", "items": 5, "hash": "d" }, "definition": "f",
    });
    let item = json!({ "at": 12, "item": {
        "index": 0, "key": "paris", "status": "ok", "passed": true, "latencyMs": 1, "input": {},
        "output": { "output": "Paris" }, "evaluations": { "right": { "score": 1.0 } },
    } });
    fs::create_dir_all(store.folder().join(".cobalt/runs")).unwrap();
    fs::write(store.folder().join(".cobalt/runs/0123456789ab.jsonl"), format!("{header}\n{item}\n")).unwrap();
    let said = show(&store, &["0123"], 0);
    assert_printed!(said);
    assert!(
        said.stdout.contains("1 item, 1 at pass marks\n") && said.stdout.contains("Paris"),
        "{}",
        said.stdout
    );
}

#[test]
fn the_trace_of_an_item_is_a_tree_per_trial() {
    let store = Store::new();
    let trial = |spans: Value| {
        json!({ "status": "ok", "latencyMs": 1500.0, "output": { "output": "a" }, "evaluations": {}, "trace": spans,
            "metrics": { "retrieved": { "value": 1234.5, "unit": "documents" } } })
    };
    let spans = json!([
        { "id": "a", "name": "answer", "kind": "agent", "durationMs": 1400.0 },
        { "id": "b", "parent": "a", "name": "chat", "kind": "model", "durationMs": 900.0,
          "model": { "asked": "gpt-4o", "tokens": { "input": 1200, "output": 34 }, "replayed": true, "output": "a\u{1b}[2J\nb" } },
        { "id": "c", "parent": "a", "name": "t", "kind": "tool", "durationMs": 3.0, "status": "error",
          "tool": { "name": "search", "arguments": { "q": 1 }, "error": "no index" } },
    ]);
    let item = json!({ "index": 0, "key": "river", "passed": true, "input": {}, "output": { "output": "a" }, "latencyMs": 1500.0,
        "evaluations": {}, "runs": [trial(spans), trial(json!([]))] });
    let report = json!({
        "schema": 1, "id": "aaaaaaaaaaaa", "name": "desk", "timestamp": "2026-02-01T14:30:00.000Z", "summary": { "totalItems": 1 },
        "config": { "runs": 2, "concurrency": 1, "timeout": 1000, "evaluators": [] }, "passed": true, "items": [item],
    });
    let file = store.folder().join(".cobalt/results/2026-02-01T14-30-00_desk_aaaaaaaaaaaa.json");
    fs::write(file, report.to_string()).unwrap();
    let said = show(&store, &["latest", "river", "--trace"], 0);
    assert_eq!(
        said.stdout,
        "desk::0000: passed, 1.5 s\n\ntrial 1, 1.5 s\nagent answer (1.4 s)\n  \
         model gpt-4o (1,200 tokens in, 34 out, 900 ms, replayed) → a\\u{1b}[2J b\n  \
         tool search({\"q\":1}) (3 ms) failed: no index\n\ntrial 2, 1.5 s\nno spans were recorded\n"
    );
    let whole = show(&store, &["latest", "river"], 0).stdout;
    assert!(whole.contains("\nmetrics\n  retrieved: 1,234.5 documents\n"), "{whole}");
    assert!(whole.contains("\n  trace: 3 spans, shown with --trace\n"), "{whole}");
    show(&store, &["latest", "--trace"], 2);
}
