//! Model traffic of agents, recorded and replayed by the test binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use cobalt::command::{Request, RequestKind};
use cobalt::report::{Status, Summary};
use cobalt_core::recordings::{RecordingFolder, Trial};
use serde_json::{Value, json};

use crate::model::Model;
use crate::sandbox::{Program, Sandbox, fixture};

fn items(count: usize) -> Vec<Value> {
    (0..count)
        .map(|number| json!({ "id": format!("i{number}"), "input": format!("question {number:03}") }))
        .collect()
}

fn recorded(sandbox: &Sandbox) -> Program {
    sandbox.program(fixture!("recorded")).env("NO_PROXY", "127.0.0.1")
}

fn with_model(sandbox: &Sandbox, model: &Model) -> Program {
    recorded(sandbox).env("OPENAI_BASE_URL", model.base_url()).env("OPENAI_API_KEY", KEY)
}

const KEY: &str = "sk-proj-9fK2mQx7Lp0ZbT4vWc8YhN3sRj6DgA1uEoIi5XkMnBqVtHyU";

/// The files of the items' recordings.
fn cassette_files(sandbox: &Sandbox) -> impl Iterator<Item = PathBuf> {
    let folder = sandbox.path("cassettes/recorded");
    let files = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|kind| kind == "json"))
}

/// The recordings of items, each valid.
fn cassettes(sandbox: &Sandbox) -> Vec<Value> {
    cassette_files(sandbox).map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap()).collect()
}

#[test]
fn what_the_first_run_records_is_replayed_without_a_key_and_without_a_server() {
    let (sandbox, model) = (Sandbox::with_items(items(4)), Model::start());
    with_model(&sandbox, &model).run().code(0);
    assert_eq!((model.asked(), cassettes(&sandbox).len()), (12, 4));
    let live = sandbox.report();
    let traffic = live.summary.traffic.as_ref().unwrap();
    assert_eq!((traffic.live_items, traffic.replayed_items, traffic.unattributed), (4, 0, 0));
    drop(model);
    for ci in ["", "true"] {
        let finished = recorded(&sandbox).env("CI", ci).run().code(0);
        finished
            .says(&["4 items: 4 replayed (recorded 20", "has nothing to measure: all 4 items were replayed"])
            .says(&["judges  0 calls, 4 replayed, ", "(as recorded; gpt-6-luna)"]);
    }
    let reports = sandbox.reports();
    let replayed = reports.iter().find(|report| report.id != live.id).unwrap();
    assert_eq!(replayed.summary.traffic.as_ref().unwrap().replayed_items, 4);
    for (now, then) in replayed.items.iter().zip(&live.items) {
        assert_eq!(now.runs[0].output, then.runs[0].output);
        assert_eq!(now.runs[0].latency_ms, then.runs[0].latency_ms, "the latency is that of the recording");
        assert_eq!(now.runs[0].traffic.as_ref().unwrap().asked, then.runs[0].traffic.as_ref().unwrap().asked);
    }
    assert_eq!(replayed.summary.judge_tokens, live.summary.judge_tokens);
    let judges = |summary: &Summary| (summary.judge_calls, summary.judge_cached, summary.judge_replayed);
    assert_eq!(judges(&live.summary), (Some(4), Some(0), None));
    assert_eq!(judges(&replayed.summary), (Some(0), Some(0), Some(4)));
    assert_eq!(replayed.summary.judge_cost, live.summary.judge_cost);
    assert_eq!(replayed.summary.judge_replayed_cost, live.summary.judge_cost);
}

#[test]
fn a_list_says_how_recordings_would_be_used() {
    let sandbox = Sandbox::with_items(items(1));
    let listed = |change: fn(Program) -> Program| {
        sandbox.write("events", "");
        let (variable, request) = Request::new(sandbox.path("events"), RequestKind::List).variable().unwrap();
        change(recorded(&sandbox)).env(variable, request).run().code(0);
        let events = fs::read_to_string(sandbox.path("events")).unwrap();
        let mut events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let listed = events.find(|event| event["event"] == "listed").unwrap();
        (listed["recordMode"].clone(), listed["renewsRecordings"].clone())
    };
    assert_eq!(listed(|program| program), (json!("auto"), Value::Null));
    assert_eq!(listed(|program| program.env("CI", "true")), (json!("replay"), Value::Null));
    let stale = |program: Program| program.env("COBALT_RECORD", "replay").env("COBALT_RECORD_STALE", "30d");
    assert_eq!(listed(stale), (json!("replay"), json!(true)));
    assert_eq!(listed(|program| program.env("COBALT_RECORD", "off")), (Value::Null, Value::Null));
}

#[test]
fn a_request_that_is_not_recorded_is_an_error_even_if_the_agent_hides_it() {
    let (sandbox, model) = (Sandbox::with_items(items(2)), Model::start());
    with_model(&sandbox, &model).run().code(0);
    let asked = model.asked();
    let finished = with_model(&sandbox, &model).env("E2E_SECOND", "Really?").run().code(101);
    finished.says(&[
        "the nearest recorded request, number 2, differs in `messages[2].content`",
        "COBALT_RECORD=auto",
    ]);
    assert_eq!(model.asked(), asked, "nothing leaves the machine");
    let report = sandbox.reports().into_iter().max_by_key(|report| report.timestamp).unwrap();
    assert!(report.items.iter().all(|item| item.status() == Status::Error), "{report:?}");
    with_model(&sandbox, &model).env("E2E_SECOND", "Really?").env("COBALT_RECORD", "auto").run().code(0);
    assert_eq!(model.asked(), asked + 2, "the first turns are kept, and the judge has seen these outputs");
    recorded(&sandbox).env("E2E_SECOND", "Really?").run().code(0);
}

#[test]
fn each_trial_has_answers_of_its_own() {
    let (sandbox, model) = (Sandbox::with_items(items(2)), Model::start());
    with_model(&sandbox, &model).env("COBALT_RUNS", 3).run().code(0);
    drop(model);
    recorded(&sandbox).env("COBALT_RUNS", 3).run().code(0);
    recorded(&sandbox).env("COBALT_RUNS", 4).run().code(101).says(&["the item has no recording of trial 4"]);
}

#[test]
fn items_that_a_first_run_did_not_reach_are_recorded_by_the_next() {
    let (sandbox, model) = (Sandbox::with_items(items(4)), Model::start());
    with_model(&sandbox, &model).env("COBALT_SHARD", "1/2").run();
    let before = cassettes(&sandbox).len();
    assert!((1..4).contains(&before), "{before}");
    let asked = model.asked();
    // Nothing is recorded under CI, without a key, or if a mode is chosen.
    for replay in [
        with_model(&sandbox, &model).env("CI", "true"),
        recorded(&sandbox),
        with_model(&sandbox, &model).env("COBALT_RECORD", "replay"),
    ] {
        replay.run().code(101).says(&["the item has no recording"]);
    }
    assert_eq!(model.asked(), asked);
    with_model(&sandbox, &model).run().code(0).says(&[&format!("4 items: {before} replayed (recorded 20")]);
    assert_eq!((model.asked() - asked, cassettes(&sandbox).len()), (3 * (4 - before), 4));
    drop(model);
    recorded(&sandbox).env("CI", "true").run().code(0).says(&["4 items: 4 replayed"]);
}

#[test]
fn what_cannot_be_recorded_again_stays_recorded() {
    let (sandbox, model) = (Sandbox::with_items(items(2)), Model::start());
    with_model(&sandbox, &model).run().code(0);
    let before = cassettes(&sandbox);
    // The server is gone.
    let program = with_model(&sandbox, &model);
    drop(model);
    let failed = program.env("COBALT_RECORD", "record").run().code(101);
    failed.stderr_has(&[
        "note: 2 trials of `recorded` could not be recorded:",
        "i0.json`: a request was not answered; its recording is unchanged",
    ]);
    assert_eq!(cassettes(&sandbox), before);
    recorded(&sandbox).run().code(0);
}

#[test]
fn no_file_has_a_key() {
    fn check(folder: &Path) {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                check(&path);
            } else {
                let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                assert!(!text.contains(&KEY[8..]) && !text.contains("Bearer"), "{path:?}");
            }
        }
    }

    let (sandbox, model) = (Sandbox::with_items(items(3)), Model::start());
    with_model(&sandbox, &model).run().code(0);
    check(&sandbox.path(""));
}

#[test]
fn two_processes_that_record_at_once_lose_nothing() {
    let (sandbox, model) = (Sandbox::with_items(items(20)), Model::start());
    let start = || with_model(&sandbox, &model).env("COBALT_RECORD", "record").start();
    let (one, other) = (start(), start());
    one.finish().code(0);
    other.finish().code(0);
    assert_eq!(cassettes(&sandbox).len(), 20);
    drop(model);
    recorded(&sandbox).run().code(0);
}

#[cfg(unix)]
#[test]
fn what_is_recorded_before_ctrl_c_stays_valid() {
    let (sandbox, model) = (Sandbox::with_items(items(40)), Model::start());
    let mut running = with_model(&sandbox, &model).env("E2E_WAIT", 50).env("E2E_CONCURRENCY", 2).start();
    let began = Instant::now();
    while cassettes(&sandbox).len() < 5 && began.elapsed() < Duration::from_secs(30) && !running.has_ended() {
        sleep(Duration::from_millis(10));
    }
    running.signal("INT");
    running.finish().code(130);
    let kept = cassettes(&sandbox);
    assert!((5..40).contains(&kept.len()), "{}", kept.len());
    // Trials in progress keep what was answered.
    assert!(kept.iter().all(|cassette| {
        let trial = &cassette["trials"][0];
        trial["interactions"].as_array().unwrap().len() == 2 || trial["partial"] == true
    }));
}

#[test]
fn a_busy_provider_is_asked_again_for_every_item() {
    let (sandbox, model) = (Sandbox::with_items(items(60)), Model::failing_one_in_five());
    with_model(&sandbox, &model).env("E2E_CONCURRENCY", 32).run().code(0);
    let traffic = sandbox.report().summary.traffic.unwrap();
    assert!(traffic.retried > 10 && traffic.unattributed == 0, "{traffic:?}");
    drop(model);
    recorded(&sandbox).run().code(0);
}

#[test]
fn a_run_stops_when_its_budget_is_used_up_and_can_be_resumed() {
    let (sandbox, model) = (Sandbox::with_items(items(20)), Model::start());
    let program = || with_model(&sandbox, &model).env("COBALT_RECORD", "off").env("E2E_CONCURRENCY", 1);
    let stopped = program().env("COBALT_MAX_COST", "0.05").run().code(5);
    stopped.stderr_has(&["budget of $0.050 exhausted: ", "Resume with COBALT_RESUME="]);
    let asked = model.asked();
    // A request costs about half a cent.
    assert!((8..24).contains(&asked), "{asked}");
    program().env("COBALT_RESUME", sandbox.cut_short()).run().code(0);
    assert_eq!(sandbox.report().items.len(), 20);
}

/// The answered requests and questions in the recordings, those of trials in progress included.
fn kept_answers(sandbox: &Sandbox) -> usize {
    let in_trial = |trial: &Trial| trial.interactions.len() + trial.judges.len();
    let in_file = |path: PathBuf| {
        let cassette = RecordingFolder::read_file(&path).unwrap();
        cassette.iter().flat_map(|cassette| &cassette.trials).map(in_trial).sum::<usize>()
    };
    cassette_files(sandbox).map(in_file).sum()
}

#[test]
fn concurrent_requests_stay_within_budget() {
    for concurrency in [1, 16] {
        let (sandbox, model) = (Sandbox::with_items(items(40)), Model::start());
        let program = || with_model(&sandbox, &model).env("E2E_CONCURRENCY", concurrency);
        program().env("COBALT_MAX_COST", "0.05").run().code(5).stderr_has(&["Resume with COBALT_RESUME="]);
        // A request costs about half a cent.
        let asked = model.asked();
        assert!((6..=12).contains(&asked), "{asked}");
        assert_eq!(kept_answers(&sandbox), asked, "everything paid is kept");
        program().env("COBALT_RESUME", sandbox.cut_short()).run().code(0);
        assert_eq!(model.asked(), 3 * 40, "nothing is paid twice");
    }
}

#[cfg(unix)]
#[test]
fn killed_runs_keep_answered_requests() {
    let (sandbox, model) = (Sandbox::with_items(items(40)), Model::start());
    let mut running = with_model(&sandbox, &model).env("E2E_WAIT", 50).env("E2E_CONCURRENCY", 2).start();
    let began = Instant::now();
    while kept_answers(&sandbox) < 7 && began.elapsed() < Duration::from_secs(30) && !running.has_ended() {
        sleep(Duration::from_millis(10));
    }
    running.signal("KILL");
    running.finish();
    let (asked, kept) = (model.asked(), kept_answers(&sandbox));
    assert!(kept >= 7 && asked - kept <= 2, "only requests in flight are lost: {asked}, {kept}");
    with_model(&sandbox, &model).run().code(0);
    assert!(model.asked() <= 3 * 40 + 2, "{}", model.asked());
}

#[test]
fn items_in_progress_when_the_budget_is_used_up_are_run_again_if_a_request_was_refused() {
    let (sandbox, model) = (Sandbox::with_items(items(20)), Model::start());
    let program = || with_model(&sandbox, &model).env("COBALT_RECORD", "off").env("E2E_CONCURRENCY", 8);
    program().env("COBALT_MAX_COST", "0.08").run().code(5);
    program().env("COBALT_RESUME", sandbox.cut_short()).run().code(0);
    let report = sandbox.report();
    assert!(report.items.len() == 20 && report.items.iter().all(|item| item.status() == Status::Ok));
}

#[test]
fn items_in_error_have_changed_for_a_run_that_records_them() {
    let (sandbox, model) = (Sandbox::with_items(items(3)), Model::start());
    let program = || with_model(&sandbox, &model).env("COBALT_SOURCES", "the same");
    program().run().code(0);
    program().env("E2E_SECOND", "Really?").run().code(101);
    let changed = || program().env("E2E_SECOND", "Really?").env("COBALT_ONLY", "changed");
    changed().run().stderr_has(&["nothing has changed"]);
    let asked = model.asked();
    changed().env("COBALT_RECORD", "auto").run().code(0).stderr_has(&["3 in error last time"]);
    assert_eq!(model.asked(), asked + 3, "only the second turns are sent");
}

/// An agent that sends its requests to this server, and not to the gateway.
fn bypassing(sandbox: &Sandbox, model: &Model) -> Program {
    let host = model.base_url().trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    sandbox.program(fixture!("bypassing")).env("E2E_HOST", host).env("OPENAI_API_KEY", KEY)
}

#[test]
fn bypassing_the_gateway_is_not_silent() {
    let (sandbox, model) = (Sandbox::with_items(items(4)), Model::start());
    let program = || bypassing(&sandbox, &model);
    for reported in ["", "1"] {
        program().env("E2E_REPORTED", reported).run().code(0).stderr_has(&[
            "warning: 4 items of `bypassing` sent no request through the gateway",
            "`i0`, `i1`, `i2` and 1 more; ",
            "docs/real-agents.md",
        ]);
    }
    let sent = "the agent sent no request through the gateway; ";
    for ci in ["CI", "COBALT_CI"] {
        program().env(ci, "1").run().code(101).says(&[sent]);
        let asked = "the agent asked a model, but sent no request through the gateway; ";
        program()
            .env(ci, "1")
            .env("E2E_REPORTED", 1)
            .env("COBALT_RECORD", "auto")
            .run()
            .code(101)
            .says(&[asked]);
    }
    program().env("COBALT_RECORD", "replay").run().code(101).says(&[sent]);
    let off = program().env("COBALT_RECORD", "off").run().code(0);
    assert!(!off.stderr.contains("warning"), "{off}");
}

#[test]
fn agents_without_a_model_can_be_allowed() {
    let (sandbox, model) = (Sandbox::with_items(items(2)), Model::start());
    let program = || bypassing(&sandbox, &model).env("E2E_HOST", "").env("E2E_ALLOWED", 1);
    let finished = program().run().code(0);
    assert!(!finished.stderr.contains("warning"), "{finished}");
    program().env("CI", "true").run().code(0);
    program().env("CI", "true").env("E2E_REPORTED", 1).run().code(101).says(&["the agent asked a model"]);
}

#[test]
fn a_missing_key_is_reported_once() {
    let (sandbox, model) = (Sandbox::with_items(items(40)), Model::start());
    let finished = bypassing(&sandbox, &model).env("OPENAI_API_KEY", "").run().code(3);
    let output = format!("{}{}", finished.stdout, finished.stderr);
    let said = "nothing is recorded yet: set `OPENAI_API_KEY` to record `bypassing`";
    assert_eq!(output.matches(said).count(), 1, "{finished}");
    assert!(
        !output.contains("poisoned") && output.matches("OPENAI_API_KEY is needed").count() <= 2,
        "{finished}"
    );
    assert_eq!(model.asked(), 0);
}

#[test]
fn unreachable_providers_are_errors() {
    let (sandbox, model) = (Sandbox::with_items(items(2)), Model::start());
    let program = with_model(&sandbox, &model).env("COBALT_RECORD", "record").env("E2E_SWALLOWS", 1);
    drop(model);
    program.run().code(101).says(&["cannot reach http://127.0.0.1:"]);
}
