//! Tools that fail by plan, in test binaries started directly.

use std::collections::BTreeMap;

use cobalt::Report;
use serde_json::{Value, json};

use crate::sandbox::{Program, Sandbox, fixture, numbered};

/// The faults of each trial, by the keys of items.
type Faults = BTreeMap<String, Vec<Vec<String>>>;

fn planned(sandbox: &Sandbox) -> Program {
    sandbox.program(fixture!("broken_tools"))
}

fn faults(report: &Report) -> Faults {
    let of_item = |item: &cobalt::report::ItemResult| {
        item.runs.iter().map(|run| run.faults.iter().map(ToString::to_string).collect()).collect()
    };
    report.items.iter().map(|item| (item.key.clone(), of_item(item))).collect()
}

/// Twenty items; the last one hangs while `E2E_BROKEN` is set.
fn items() -> Vec<Value> {
    let mut items = numbered(20, 0);
    items[19]["act"] = json!("hang-if-broken");
    items
}

/// The faults of a whole run.
fn of_whole_run(concurrency: usize) -> Faults {
    let sandbox = Sandbox::with_items(items());
    planned(&sandbox).env("E2E_CONCURRENCY", concurrency).run().code(0);
    faults(&sandbox.report())
}

#[test]
fn the_same_seed_gives_the_same_faults_at_any_concurrency() {
    let one = of_whole_run(1);
    assert_eq!(one, of_whole_run(16));
    let all: Vec<_> = one.values().flatten().collect();
    let failed = |number: usize| all.iter().filter(|faults| faults.len() == number).count();
    assert!(failed(0) > 5 && failed(1) > 3 && failed(2) > 5, "{all:?}");
    assert!(one.values().any(|trials| trials[0] != trials[1]), "trials are decided one by one");
}

#[test]
fn a_resumed_run_has_the_faults_of_a_whole_one() {
    let sandbox = Sandbox::with_items(items());
    let mut running = sandbox.start_until_kept(planned(&sandbox).env("E2E_BROKEN", 1), 19);
    running.kill();
    running.finish();
    planned(&sandbox).env("COBALT_RESUME", sandbox.cut_short()).run().code(0);
    assert_eq!(faults(&sandbox.report()), of_whole_run(5));
}

#[test]
fn a_variable_replaces_the_plan_and_set_changes_that_of_a_variant() {
    let sandbox = Sandbox::with_items(numbered(1, 0));
    let found = |program: Program| {
        program.run().code(0);
        let report = sandbox.reports().into_iter().max_by_key(|report| report.timestamp).unwrap();
        (report.name.clone(), faults(&report)["item-0"][0].clone())
    };
    let failed = ["search#1: error".to_owned()];
    assert_eq!(
        found(planned(&sandbox).env("COBALT_FAULTS", "search#1: error")),
        ("planned".to_owned(), failed.to_vec())
    );
    let changed =
        planned(&sandbox).env("E2E_AXIS", "search: stale").env("COBALT_SET", "faults=search#1: empty");
    let (name, faults) = found(changed.env("COBALT_VARIANT", "none").args(["holds_up"]));
    assert_eq!(
        (&*name, &faults[..]),
        ("holds_up::none,faults=search#1: empty", &["search#1: empty".to_owned()][..])
    );
    let invalid = planned(&sandbox).env("COBALT_FAULTS", "search").run().code(3);
    invalid.stderr_has(&["COBALT_FAULTS: the fault rule `search` is not valid: "]);
}

#[test]
fn a_resumed_run_with_another_plan_is_refused() {
    let sandbox = Sandbox::with_items(items());
    let mut running = sandbox.start_until_kept(planned(&sandbox).env("E2E_BROKEN", 1), 19);
    running.kill();
    running.finish();
    let resumed =
        planned(&sandbox).env("COBALT_RESUME", sandbox.cut_short()).env("E2E_FAULTS", "search: empty");
    resumed.run().code(3).stderr_has(&["the experiment or one of its evaluators has changed since"]);
}

#[test]
fn shards_have_the_faults_of_the_whole_run() {
    let mut both = Faults::new();
    for shard in ["1/2", "2/2"] {
        let sandbox = Sandbox::with_items(items());
        planned(&sandbox).env("COBALT_SHARD", shard).run().code(0);
        both.extend(faults(&sandbox.report()));
    }
    assert_eq!(both, of_whole_run(5));
}

#[test]
fn variants_with_faults_say_how_an_agent_holds_up_under_each() {
    let sandbox = Sandbox::with_items(numbered(12, 0));
    let finished = planned(&sandbox).env("E2E_AXIS", "search: stale").args(["holds_up"]).run().code(0);
    let pass_rates: BTreeMap<_, _> = sandbox
        .reports()
        .into_iter()
        .map(|report| {
            (report.name.clone(), (report.summary.scores["exact"].avg, faults(&report)["item-0"][0].len()))
        })
        .collect();
    let expected = [
        ("holds_up::none", (1.0, 0)),
        ("holds_up::search-1-malformed", (1.0, 1)),
        ("holds_up::search-stale", (1.0, 0)),
        ("holds_up::search-timeout", (0.0, 2)),
    ];
    assert_eq!(pass_rates, expected.map(|(name, found)| (name.to_owned(), found)).into());
    finished.says(&["holds_up: 4 variants", "none better than search-timeout"]);
}

#[test]
fn faults_are_applied_to_recorded_results_and_tools_are_not_called_again() {
    let sandbox = Sandbox::with_items(numbered(1, 0));
    let run = |mode: &str, faults: &str| {
        sandbox.forget_calls();
        let program =
            planned(&sandbox).env("E2E_RECORDED", 1).env("COBALT_RECORD", mode).env("E2E_FAULTS", faults);
        program.args(["recorded"]).run().code(0);
        let report = sandbox.reports().into_iter().max_by_key(|report| report.timestamp).unwrap();
        let trial = report.items[0].first_trial().clone();
        (trial.output.unwrap().text().into_owned(), trial.faults.len(), sandbox.calls())
    };
    let [search, add] = ["called search".to_owned(), "called add".to_owned()];
    let found = || r#"["about \"item-0\""]"#.to_owned();
    assert_eq!(run("record", "search: slow 5ms"), (found(), 1, vec![search, add.clone()]));
    assert_eq!(run("replay", "none"), (found(), 0, vec![add.clone()]));
    let timed_out = "the tool `search` timed out".to_owned();
    assert_eq!(run("replay", "search: timeout"), (timed_out, 1, vec![add.clone()]));
    assert_eq!(run("replay", "search#1: empty"), (found(), 1, vec![add]), "the call is repeated");
    let cassette = std::fs::read_to_string(sandbox.path("cassettes/recorded/item-0.json")).unwrap();
    assert!(!cassette.contains("\"add\"") && cassette.matches("\"search\"").count() == 1, "{cassette}");
    let finished = planned(&sandbox).env("E2E_RECORDED", 1).env("COBALT_RECORD", "replay");
    sandbox.write_items([json!({ "id": "new", "input": "x", "answer": "x" })]);
    finished.args(["recorded"]).run().code(101).says(&[
        "not recorded: a call of the tool `search`; the item has no recording of this tool",
        "COBALT_RECORD=auto",
    ]);
}

#[test]
fn an_invalid_plan_is_an_error_before_anything_runs() {
    let sandbox = Sandbox::with_items(items());
    let finished = planned(&sandbox).env("E2E_FAULTS", "search: timout").run().code(101);
    finished.says(&[
        "fixtures/broken_tools.rs:",
        "the fault rule `search: timout` is not valid: there is no fault `timout`; did you mean `timeout`?",
    ]);
    let finished = planned(&sandbox).env("E2E_AXIS", "search").args(["holds_up"]).run().code(101);
    finished.says(&["variant `search`: the fault rule `search` is not valid", "as in `search: timeout`"]);
    assert!(sandbox.calls().is_empty());
}
