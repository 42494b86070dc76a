//! The files that runs write.

use std::collections::BTreeSet;
use std::path::Path;

use cobalt::files::read_report;
use serde_json::{Value, json};

use crate::sandbox::{Program, Sandbox, fixture, numbered};

#[test]
fn two_processes_at_once_keep_both_results() {
    let sandbox = Sandbox::with_items(numbered(50, 2));
    let start = || sandbox.program(fixture!("gated")).start();
    let running: Vec<_> = (0..4).map(|_| start()).collect();
    running.into_iter().for_each(|running| drop(running.finish().code(0)));
    let reports = sandbox.reports();
    assert_eq!(reports.len(), 4);
    let mut ids: Vec<_> = reports.iter().map(|report| &report.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    assert!(reports.iter().all(|report| report.items.len() == 50));
    assert!(sandbox.journals().is_empty());
}

#[test]
fn any_name_makes_a_file_in_the_folder_of_results() {
    let sandbox = Sandbox::with_items(numbered(1, 0));
    let long = "x".repeat(300);
    for (name, slug) in [
        ("質問応答 テスト", "質問応答-テスト"),
        ("العَرَبِيَّة", "العَرَبِيَّة"),
        ("../../evil", "evil"),
        ("/etc/passwd", "etc-passwd"),
        ("a\nb\u{1b}[31m", "a-b-31m"),
        ("🚀", "experiment"),
        (&long, &long[..120]),
    ] {
        sandbox.program(fixture!("steered")).env("E2E_NAME", name).run().code(0);
        let files = sandbox.result_files();
        let [file] = &files[..] else { panic!("{files:?}") };
        let report = read_report(file).unwrap();
        assert_eq!(report.name, name);
        let expected = format!("{}_{slug}_{}.json", report.timestamp.for_file_name(), report.id);
        assert_eq!(file.file_name().unwrap().to_string_lossy(), expected);
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn a_result_file_has_the_shape_that_others_read() {
    let sandbox = Sandbox::with_items([
        json!({ "id": "right", "input": "q", "answer": "a", "tokens": 10 }),
        json!({ "id": "odd", "input": "q", "answer": "a", "act": "fail" }),
    ]);
    sandbox.program(fixture!("gated")).env("E2E_RUNS", 2).run();
    let file = &sandbox.result_files()[0];
    let json: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let fields = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(json["name"], "gated");
    assert_eq!(json["tags"], json!(["fixture", "gated"]));
    assert_eq!(json["config"]["timeout"], 20_000);
    assert_eq!(json["config"]["evaluators"], json!(["exact", "graded"]));
    for figure in ["avg", "min", "max", "p50", "p95", "p99"] {
        assert!(json["summary"]["scores"]["exact"][figure].is_number(), "{figure}");
    }
    let right = &json["items"][0];
    assert_eq!(right["output"]["metadata"]["model"], "gpt-4o-mini");
    assert_eq!(right["output"]["metadata"]["tokens"], json!({ "input": 10, "output": 5 }));
    assert_eq!(right["aggregated"]["evaluations"]["exact"]["scores"], json!([1.0, 1.0]));
    assert_eq!(right["runs"].as_array().unwrap().len(), 2);
    let odd = &json["items"][1];
    assert_eq!((&odd["status"], &odd["error"]), (&json!("error"), &json!("the agent said no")));
    assert_eq!(odd["output"], json!({ "output": "" }));
    let expected = ["passed", "summary", "thresholds", "violations"].map(str::to_owned);
    assert_eq!(fields(&json["ciStatus"]), BTreeSet::from(expected));
    let time = json["timestamp"].as_str().unwrap();
    assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
}

#[test]
fn a_draft_that_was_left_behind_is_no_result() {
    let sandbox = Sandbox::with_items(numbered(1, 0));
    sandbox.write(".cobalt/results/.0123456789ab.tmp", "{");
    sandbox.program(fixture!("steered")).env("COBALT_RESUME", "0123456789ab").run().code(3);
    sandbox.program(fixture!("steered")).run().code(0);
}

#[cfg(unix)]
#[test]
fn results_that_cannot_be_written_in_the_end_are_in_the_journal_still() {
    for fixture in [fixture!("gated"), fixture!("values")] {
        let sandbox = Sandbox::with_items(numbered(8, 100));
        let with_args = |program: Program| {
            if fixture.ends_with("values") { program.args(["current-thread"]) } else { program }
        };
        let running = sandbox.start_until_kept(with_args(sandbox.program(fixture)), 2);
        std::fs::remove_dir(sandbox.path(".cobalt/results")).unwrap();
        sandbox.write(".cobalt/results", "in the way");
        let finished = running.finish();
        assert!(!finished.status.success(), "{finished}");
        let id = sandbox.cut_short();
        let folder = sandbox.path(".cobalt/results").display().to_string();
        finished.stderr_has(&[
            "failed to create the folder",
            &folder,
            "set COBALT_DIR to another folder",
            &format!("COBALT_RESUME={id}"),
        ]);
        std::fs::remove_file(sandbox.path(".cobalt/results")).unwrap();
        sandbox.forget_calls();
        let again = sandbox.program(fixture).env("COBALT_RESUME", &id);
        with_args(again).run().code(0);
        assert_eq!(sandbox.calls(), [""; 0], "all items were finished");
        assert_eq!(sandbox.report().items.len(), 8);
    }
}

#[cfg(unix)]
#[test]
fn where_files_may_not_grow_what_was_written_before_is_kept() {
    let sandbox = Sandbox::with_items(numbered(120, 5));
    let limited = "trap '' XFSZ; ulimit -f 8; exec \"$0\"";
    let fixture = fixture!("gated").to_str().unwrap();
    let finished = sandbox.program(Path::new("sh")).args(["-c", limited, fixture]).run().code(3);
    let called = sandbox.starts().len();
    assert!(called < 120, "{called}: no more items are called");
    let id = sandbox.cut_short();
    finished.stderr_has(&["failed to write", ".jsonl`", "`ulimit -f`", &format!("COBALT_RESUME={id}")]);
    sandbox.forget_calls();
    sandbox.program(fixture!("gated")).env("COBALT_RESUME", &id).run().code(0);
    let missing = sandbox.starts().len();
    assert!((120 - called..120).contains(&missing), "{missing}");
    assert_eq!(sandbox.report().items.len(), 120);
}

#[cfg(unix)]
#[test]
fn a_journal_that_was_tidied_away_costs_no_results() {
    let sandbox = Sandbox::with_items(numbered(8, 100));
    let running = sandbox.start_until_kept(sandbox.program(fixture!("gated")), 2);
    std::fs::remove_dir_all(sandbox.path(".cobalt")).unwrap();
    let finished = running.finish().code(0);
    assert_eq!(finished.stderr, "");
    assert_eq!(sandbox.report().items.len(), 8);
}

#[test]
fn folders_can_be_put_elsewhere() {
    let sandbox = Sandbox::with_items(numbered(1, 0));
    sandbox.program(fixture!("steered")).env("COBALT_DIR", "out/cobalt").run().code(0);
    assert!(!sandbox.path(".cobalt").exists());
    assert_eq!(std::fs::read_dir(sandbox.path("out/cobalt/results")).unwrap().count(), 1);
    let elsewhere = sandbox.path("results only");
    sandbox.program(fixture!("steered")).env("COBALT_RESULTS_DIR", elsewhere.display()).run().code(0);
    assert_eq!(std::fs::read_dir(elsewhere).unwrap().count(), 1);
}

#[test]
fn a_folder_that_cannot_be_written_is_named_with_what_to_do() {
    let sandbox = Sandbox::with_items(numbered(1, 0));
    sandbox.write("file", "");
    for folder in ["file", "file/inside", "/proc/cobalt"] {
        for fixture in [fixture!("steered"), fixture!("values")] {
            let program = sandbox.program(fixture).env("COBALT_DIR", folder);
            let program =
                if fixture.ends_with("values") { program.args(["current-thread"]) } else { program };
            let finished = program.run();
            assert!(!finished.status.success(), "{finished}");
            finished.stderr_has(&["failed to create the folder `", &format!("{folder}/runs"), "COBALT_DIR"]);
            assert_eq!(sandbox.calls(), [""; 0], "nothing runs if results cannot be saved");
        }
    }
}

#[test]
fn files_of_the_original_can_be_read() {
    let shared = std::env::var_os("COBALT_SHARED");
    let shared = shared.unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared").into());
    let folder = Path::new(&shared).join("peer/results");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: folder {} does not exist", folder.display());
        return;
    };
    let mut read = 0;
    for path in entries.flatten().map(|entry| entry.path()) {
        let report = read_report(&path).unwrap();
        let json: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(report.schema, 0);
        assert_eq!(json["id"], report.id);
        assert_eq!(json["items"].as_array().unwrap().len(), report.items.len());
        assert_eq!(json["summary"]["totalItems"], report.summary.total_items);
        for (name, stats) in &report.summary.scores {
            assert_eq!(json["summary"]["scores"][name]["avg"], stats.avg, "{name}");
        }
        for (item, json) in report.items.iter().zip(json["items"].as_array().unwrap()) {
            assert_eq!(json["latencyMs"].as_f64().unwrap(), item.latency_ms());
            assert_eq!(json["runs"].as_array().map_or(1, Vec::len), item.runs.len());
        }
        read += 1;
    }
    assert!(read > 0, "the folder has result files");
}

#[test]
fn a_reader_that_goes_away_costs_no_results() {
    let sandbox = Sandbox::with_items(numbered(30, 2));
    let status = sandbox.program(fixture!("steered")).args(["--test-threads=1"]).run_unread();
    assert_eq!(status.code(), Some(101), "output that cannot be printed is a failure");
    assert_eq!(sandbox.report().items.len(), 30);
    assert!(sandbox.journals().is_empty());
}
