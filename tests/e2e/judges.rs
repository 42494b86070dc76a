//! Reports on judges: calls, cost, and missing keys.

use std::collections::BTreeSet;

use serde_json::json;

use crate::model::{Model, TOKENS};
use crate::sandbox::{Program, Sandbox, fixture, numbered};

fn judged(sandbox: &Sandbox, model: &Model) -> Program {
    sandbox
        .program(fixture!("judged"))
        .env("OPENAI_BASE_URL", model.base_url())
        .env("OPENAI_API_KEY", "sk-of-a-test")
        .env("NO_PROXY", "127.0.0.1")
}

/// The cost of a response of `gpt-6-luna`.
fn each() -> f64 {
    let (input, cached, output) = TOKENS;
    ((input - cached) as f64 * 0.1 + cached as f64 * 0.01 + output as f64 * 0.5) / 1e6
}

#[test]
fn judges_are_shown_with_calls_tokens_and_cost_and_cost_nothing_from_the_cache() {
    let (sandbox, model) = (Sandbox::with_items(numbered(3, 0)), Model::start());
    let finished = judged(&sandbox, &model).run().code(0);
    finished.says(&["  judges  3 calls, 120,030 tokens, judge cost $0.0066 (gpt-6-luna)\n"]);
    let summary = sandbox.report().summary;
    assert!((summary.judge_cost.unwrap() - 3.0 * each()).abs() < 1e-12, "{summary:?}");
    assert_eq!(
        (summary.judge_calls, summary.judge_cached, summary.judge_tokens),
        (Some(3), Some(0), Some(120_030))
    );
    assert!(summary.estimated_cost.unwrap() < each() / 100.0, "the agent cost is separate");
    judged(&sandbox, &model)
        .run()
        .code(0)
        .says(&["  judges  0 calls, 3 cached, judge cost $0.00 (gpt-6-luna)\n"]);
    assert_eq!(model.asked(), 3);
    let mut costs: Vec<_> = sandbox.reports().iter().filter_map(|report| report.summary.judge_cost).collect();
    costs.sort_by(f64::total_cmp);
    assert_eq!(costs, [0.0, summary.judge_cost.unwrap()]);
}

#[test]
fn a_run_where_one_in_five_calls_fails_judges_every_item_once() {
    let (sandbox, model) = (Sandbox::with_items(numbered(200, 0)), Model::failing_one_in_five());
    judged(&sandbox, &model).env("E2E_CONCURRENCY", 50).run().code(0);
    let report = sandbox.report();
    let keys: BTreeSet<_> = report.items.iter().map(|item| &item.key).collect();
    assert_eq!((report.items.len(), keys.len()), (200, 200), "no item is lost or duplicated");
    for item in &report.items {
        let evaluation = item.runs[0].evaluations.get("judge").unwrap();
        assert_eq!((evaluation.score, &evaluation.error), (Some(1.0), &None), "{}", item.key);
        assert_eq!(evaluation.judge.as_ref().unwrap().calls, 1, "{}", item.key);
    }
    let (input, _, output) = TOKENS;
    let summary = &report.summary;
    let counted = (summary.judge_calls, summary.judge_cached, summary.judge_tokens);
    assert_eq!(counted, (Some(200), Some(0), Some(200 * (input + output))));
    assert_eq!(model.asked(), 250);
}

#[test]
fn what_judges_cost_can_be_bounded() {
    let model = Model::start();
    for (threshold, code, shown) in [
        ("judge_cost.total <= 0.006", 101, "MISSED  judge_cost.total<=0.006  ($0.0066)"),
        ("judge_cost.max < 0.003", 0, "met     judge_cost.max<0.003  ($0.0022)"),
    ] {
        let sandbox = Sandbox::with_items(numbered(3, 0));
        sandbox.write("cobalt.toml", &format!("thresholds = [\"{threshold}\"]\n"));
        judged(&sandbox, &model).run().code(code).says(&[shown]);
    }
}

#[test]
fn local_judges_without_a_price_are_free() {
    let (sandbox, model) = (Sandbox::with_items(numbered(2, 0)), Model::start());
    sandbox.write("cobalt.toml", "thresholds = [\"judge_cost.total <= 1\"]\n");
    judged(&sandbox, &model).env("E2E_MODEL", "gpt-of-nobody").run().code(0).says(&[
        "  judges  2 calls, 80,020 tokens, judge cost $0.00 (gpt-of-nobody)\n",
        "met     judge_cost.total<=1  ($0.00)",
    ]);
    assert!(sandbox.report().summary.unpriced_models.is_empty());
}

#[test]
fn totals_of_judges_are_those_of_all_items_after_a_resume() {
    let mut items = numbered(5, 0);
    items[3]["act"] = json!("hang-if-broken");
    let (sandbox, model) = (Sandbox::with_items(items), Model::start());
    sandbox.write("cobalt.toml", "cache.enabled = false\n");
    let program = judged(&sandbox, &model).env("E2E_BROKEN", 1).env("E2E_CONCURRENCY", 1);
    let mut running = sandbox.start_until_kept(program, 3);
    running.kill();
    running.finish();
    judged(&sandbox, &model).env("COBALT_RESUME", sandbox.cut_short()).run().code(0);
    let summary = sandbox.report().summary;
    assert_eq!((summary.judge_calls, model.asked()), (Some(5), 5));
    assert!((summary.judge_cost.unwrap() - 5.0 * each()).abs() < 1e-12);
}

#[test]
fn totals_of_judges_are_those_of_all_items_after_a_retry_of_nextest() {
    let mut items = numbered(5, 0);
    items[3]["act"] = json!("fail-if-broken");
    let (sandbox, model) = (Sandbox::with_items(items), Model::start());
    let attempt = |number| {
        let program = judged(&sandbox, &model).args(["--exact", "judged", "--nocapture"]);
        let program = program.env("NEXTEST_EXECUTION_MODE", "process-per-test").env("NEXTEST_RUN_ID", "r");
        program.env("NEXTEST_ATTEMPT", number)
    };
    attempt(1).env("E2E_BROKEN", 1).run().code(101);
    assert_eq!(sandbox.report().summary.judge_calls, Some(4));
    attempt(2).run().code(0);
    let summary = sandbox.report().summary;
    assert_eq!((summary.judge_calls, summary.judge_cached, model.asked()), (Some(5), Some(0), 5));
    assert!((summary.judge_cost.unwrap() - 5.0 * each()).abs() < 1e-12);
}

#[test]
fn without_a_key_nobody_is_asked() {
    for value in [None, Some("")] {
        let (sandbox, model) = (Sandbox::with_items(numbered(2, 0)), Model::start());
        let program = sandbox.program(fixture!("judged")).env("OPENAI_BASE_URL", model.base_url());
        let program = value.into_iter().fold(program, |program, value| program.env("OPENAI_API_KEY", value));
        program.run().code(3).stderr_has(&[
            "error: OPENAI_API_KEY is unset or empty: it is the API key for `gpt-6-luna` of openai, needed by experiment `judged`.",
        ]);
        assert!(model.asked() == 0 && sandbox.calls().is_empty());
    }
}
