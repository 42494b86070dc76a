//! What agents record is saved, whether they then answer, fail, panic or time out.

use std::path::Path;

use cobalt::Report;
use cobalt::report::{Execution, Status};
use serde_json::{Value, json};

use crate::sandbox::{Finished, Sandbox, fixture};

/// 23 tokens of a model with a known price, a tool call, a message and a note.
fn records() -> Value {
    json!([
        { "model": "gpt-4o-mini", "in": 20, "out": 3 },
        { "tool": "weather" },
        { "message": { "role": "user", "content": "Is it raining?" } },
        { "attempt": 1 },
    ])
}

/// Their cost, at 0.15 and 0.60 USD per million tokens.
const COST: f64 = (20.0 * 0.15 + 3.0 * 0.60) / 1e6;

fn item(id: &str, act: Option<&str>) -> Value {
    json!({ "id": id, "answer": "a", "act": act, "record": records() })
}

/// One item for each way in which an agent can end.
fn one_of_each() -> Sandbox {
    Sandbox::with_items([
        item("good", None),
        item("no", Some("fail")),
        item("broke", Some("panic")),
        item("slow", Some("hang")),
    ])
}

fn is_close(one: Option<f64>, other: f64) -> bool {
    one.is_some_and(|one| (one - other).abs() < 1e-12)
}

/// Asserts that everything from [`records`] is in the metadata.
fn has_all(run: &Execution) {
    let expected = json!({
        "model": "gpt-4o-mini",
        "tokens": { "input": 20, "output": 3 },
        "usage": [{ "model": "gpt-4o-mini", "calls": 1, "tokens": { "input": 20, "output": 3 } }],
        "toolCalls": [{ "tool": "weather", "arguments": { "city": "York" }, "result": "rain" }],
        "messages": [{ "role": "user", "content": "Is it raining?" }],
        "note": { "attempt": 1 },
    });
    assert_eq!(Value::from(run.metadata().clone()), expected, "{run:?}");
}

#[test]
fn what_was_recorded_is_kept_however_the_agent_ends() {
    for fixture in [fixture!("steered"), fixture!("plain")] {
        let sandbox = one_of_each();
        let finished = sandbox.program(fixture).env("E2E_TIMEOUT_MS", 1_000).run().code(101);
        finished.says(&["  tokens  92, agent cost $0.000019"]);
        let report = sandbox.report();
        let ends: Vec<_> = report.items.iter().map(|item| item.status()).collect();
        assert_eq!(ends, [Status::Ok, Status::Error, Status::Error, Status::Timeout]);
        report.items.iter().for_each(|item| has_all(item.first_trial()));
        assert_eq!(report.summary.total_tokens, Some(4 * 23));
        assert!(is_close(report.summary.estimated_cost, 4.0 * COST), "{:?}", report.summary);
        assert!(report.items[1..].iter().all(|item| item.first_trial().output.is_none()));
        let kept = std::fs::read_to_string(&sandbox.result_files()[0]).unwrap();
        let kept: Value = serde_json::from_str(&kept).unwrap();
        let output = &kept["items"][3]["output"];
        assert_eq!((&output["output"], &output["metadata"]["model"]), (&json!(""), &json!("gpt-4o-mini")));
    }
}

#[test]
fn each_run_of_an_item_has_its_own_records_and_late_ones_are_ignored() {
    let mut late = item("late", None);
    // Far enough apart that both do not expire at once on a busy machine.
    late["wait_ms"] = json!(1_800);
    late["record_late"] = json!(true);
    let sandbox = Sandbox::with_items([late, item("no", Some("fail"))]);
    let program = sandbox.program(fixture!("plain")).env("E2E_TIMEOUT_MS", 1_200).env("E2E_RUNS", 3);
    program.run().code(101);
    let report = sandbox.report();
    assert_eq!(report.items[0].runs.len(), 3);
    assert_eq!(report.items[0].status(), Status::Timeout);
    report.items.iter().flat_map(|item| &item.runs).for_each(has_all);
    assert_eq!(report.summary.total_tokens, Some(6 * 23));
}

#[test]
fn what_a_failed_item_recorded_outlives_a_kill() {
    let mut open = item("open", Some("hang-if-broken"));
    open["wait_ms"] = json!(2);
    let sandbox = Sandbox::with_items([item("no", Some("fail")), item("good", None), open]);
    let program = sandbox.program(fixture!("steered")).env("E2E_BROKEN", 1);
    let mut running = sandbox.start_until_kept(program, 2);
    running.kill();
    running.finish();
    let id = sandbox.cut_short();
    sandbox.forget_calls();
    sandbox.program(fixture!("steered")).env("COBALT_RESUME", &id).run().code(101);
    assert_eq!(sandbox.calls(), ["start open 0", "end open 0"]);
    let report = sandbox.report();
    assert_eq!(report.items[0].status(), Status::Error);
    report.items.iter().for_each(|item| has_all(item.first_trial()));
    assert_eq!(report.summary.total_tokens, Some(3 * 23));
}

/// The experiment `silent` with settings of `cobalt.toml`.
fn silent(sandbox: &Sandbox, settings: &str, code: i32) -> (Finished, Report) {
    sandbox.write("cobalt.toml", settings);
    let finished = sandbox.program(fixture!("silent")).run().code(code);
    (finished, sandbox.report())
}

#[test]
fn thresholds_on_tokens_and_cost_count_what_failed_items_used() {
    let exact = "evaluators = [{ type = \"exact-match\", name = \"exact\", field = \"answer\" }]\n";
    let bounds = format!(
        "{exact}thresholds = [\"tokens.total <= 30\", \"cost.total <= {COST}\", \"tokens.avg <= 23\"]"
    );
    let sandbox = Sandbox::with_items([item("good", None), item("no", Some("fail"))]);
    let (_, report) = silent(&sandbox, &bounds, 101);
    let outcomes: Vec<_> = report.thresholds().iter().map(|it| (it.passed, it.actual)).collect();
    assert_eq!((outcomes[0], outcomes[2]), ((false, Some(46.0)), (true, Some(23.0))));
    assert!(!outcomes[1].0 && is_close(outcomes[1].1, 2.0 * COST), "{outcomes:?}");
}

#[test]
fn recorded_calls_of_tools_are_scored() {
    let settings = "[[evaluators]]\ntype = \"tool-calls\"\nname = \"asks\"\ncheck = \"called\"\ntool = \"weather\"\n\
                    [[evaluators]]\ntype = \"tool-calls\"\nname = \"few\"\ncheck = \"at-most\"\nlimit = 1\n";
    let mut twice = item("twice", None);
    twice["record"] = json!([{ "tool": "weather" }, { "tool": "weather" }]);
    let mut none = item("none", None);
    none["record"] = json!([{ "message": { "role": "user", "content": "Hello" } }]);
    let sandbox = Sandbox::with_items([item("good", None), twice, none]);
    let (_, report) = silent(&sandbox, settings, 101);
    let scores = |name: &str| report.items.iter().map(|item| item.scores(name).next()).collect::<Vec<_>>();
    assert_eq!(scores("asks"), [Some(1.0), Some(1.0), Some(0.0)]);
    assert_eq!(scores("few"), [Some(1.0), Some(0.5), Some(1.0)]);
}

/// The usage of an item that records these calls.
fn used(fixture: &Path, calls: Value) -> (Report, Finished) {
    let sandbox = Sandbox::with_items([json!({ "id": "one", "answer": "a", "record": calls })]);
    let finished = sandbox.program(fixture).run();
    (sandbox.report(), finished)
}

#[test]
fn each_of_two_models_has_its_own_price_and_a_given_cost_stands_in_for_one() {
    let mini = json!({ "model": "gpt-4o-mini", "in": 20, "out": 3 });
    let gpt = json!({ "model": "gpt-4o", "in": 20, "out": 3 });
    let both = COST + (20.0 * 2.5 + 3.0 * 10.0) / 1e6;
    let (report, _) = used(fixture!("steered"), json!([mini, gpt, mini]));
    assert!(is_close(report.summary.estimated_cost, both + COST), "{:?}", report.summary);
    assert_eq!(report.summary.total_tokens, Some(69));

    let unknown = json!({ "model": "our-model", "in": 1, "out": 1 });
    let (report, finished) = used(fixture!("steered"), json!([mini, unknown]));
    assert_eq!((report.summary.estimated_cost, report.summary.unpriced_items), (None, 1));
    assert_eq!(report.summary.unpriced_models, ["our-model"]);
    finished.says(&["  tokens  25, agent cost unknown for 1 item"]);

    let given = json!({ "model": "our-model", "in": 1, "out": 1, "cost": 0.25 });
    let (report, _) = used(fixture!("steered"), json!([mini, given]));
    assert!(is_close(report.summary.estimated_cost, COST + 0.25), "{:?}", report.summary);
    assert_eq!(report.summary.unpriced_items, 0);
}

#[test]
fn a_cost_that_is_none_is_the_error_of_its_item_and_its_tokens_count() {
    let (report, finished) =
        used(fixture!("steered"), json!([{ "model": "gpt-4o-mini", "in": 20, "out": 3, "cost": -1 }]));
    finished
        .code(101)
        .says(&["the agent reports a cost of -1, expected a finite number of US dollars, at least 0"]);
    assert_eq!(report.items[0].status(), Status::Error);
    assert_eq!(report.summary.total_tokens, Some(23));
}
