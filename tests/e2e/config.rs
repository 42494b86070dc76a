//! `cobalt.toml` and environment variables set what an experiment does not.

use std::time::Duration;

use serde_json::json;

use crate::sandbox::{Sandbox, fixture, numbered};

/// A package with items and this `cobalt.toml`.
fn configured(config: &str, items: usize) -> Sandbox {
    let sandbox = Sandbox::with_items(numbered(items, 0));
    sandbox.write("cobalt.toml", config);
    sandbox
}

const EXACT: &str = "evaluators = [{ type = \"exact-match\", name = \"exact\", field = \"answer\" }]\n";

#[test]
fn an_experiment_without_evaluators_has_those_of_the_file() {
    let sandbox = configured(
        "[[evaluators]]\ntype = \"exact-match\"\nname = \"exact\"\nfield = \"answer\"\n\n\
         [[evaluators]]\ntype = \"function\"\nname = \"graded\"\npass-mark = 0.9\n",
        5,
    );
    let finished = sandbox.program(fixture!("silent")).run().code(101);
    assert_eq!(finished.cases_that("ok"), ["silent::item-4"], "only its grade reaches the pass mark");
    let config = sandbox.report().config;
    assert_eq!(
        (config.evaluators, config.pass_marks),
        (vec!["exact".into(), "graded".into()], vec![0.5, 0.9])
    );

    sandbox.write("cobalt.toml", "evaluators = [\"graded\"]");
    sandbox.program(fixture!("silent")).run().code(0);
    let own = sandbox.program(fixture!("steered")).run().code(0);
    own.says(&["exact", "graded"]);
}

#[test]
fn without_any_evaluator_the_case_says_what_to_do() {
    let sandbox = Sandbox::with_items(numbered(2, 0));
    let finished = sandbox.program(fixture!("silent")).run().code(101);
    assert_eq!(finished.cases_that("FAILED"), ["silent::definition"]);
    finished.says(&["it has no evaluator", "add one", "set `evaluators` for all experiments in cobalt.toml"]);
    sandbox.write("cobalt.toml", "\nevaluators = [\"grade\"]");
    let finished = sandbox.program(fixture!("silent")).run().code(101);
    finished.says(&["cobalt.toml:2:15: unknown evaluator `grade`; did you mean `graded`?"]);
}

#[test]
fn how_many_run_at_a_time_follows_from_variable_experiment_file_and_default() {
    let sandbox = configured(&format!("concurrency = 3\n{EXACT}\n[ci]\nconcurrency = 2\n"), 8);
    let concurrency = |fixture, variables: &[(&str, &str)]| {
        let before = sandbox.reports().len();
        let program = sandbox.program(fixture);
        variables.iter().fold(program, |program, (name, value)| program.env(name, value)).run().code(0);
        let reports = sandbox.reports();
        assert_eq!(reports.len(), before + 1);
        // Files from the same second are sorted by experiment name and ID.
        let latest = reports.into_iter().max_by_key(|report| report.timestamp);
        latest.expect("at least one report").config.concurrency
    };
    let (silent, steered) = (fixture!("silent"), fixture!("steered"));
    assert_eq!(concurrency(silent, &[]), 3);
    assert_eq!(concurrency(steered, &[]), 4, "the experiment's own setting applies");
    assert_eq!(concurrency(steered, &[("COBALT_CI", "1")]), 2, "settings for CI apply in CI");
    assert_eq!(concurrency(steered, &[("COBALT_CI", "1"), ("COBALT_CONCURRENCY", "7")]), 7);
    sandbox.write("cobalt.toml", EXACT);
    assert_eq!(concurrency(silent, &[]), 5);
}

#[test]
fn the_timeout_of_the_file_ends_an_agent_that_hangs() {
    let mut items = numbered(3, 0);
    items[1]["act"] = json!("hang");
    let sandbox = Sandbox::with_items(items);
    sandbox.write("cobalt.toml", &format!("timeout = \"100ms\"\n{EXACT}"));
    let finished = sandbox.program(fixture!("silent")).run().code(101);
    assert!(finished.took < Duration::from_secs(10), "{finished}");
    assert_eq!(finished.cases_that("FAILED"), ["silent::item-1"]);
    let report = sandbox.report();
    assert_eq!((report.config.timeout, report.summary.timeouts), (100, 1));
    // The experiment sets 20 s; the variable takes precedence.
    let finished = sandbox.program(fixture!("steered")).env("COBALT_TIMEOUT", "150ms").run().code(101);
    assert!(finished.took < Duration::from_secs(10), "{finished}");
}

#[test]
fn the_thresholds_of_the_file_decide_where_an_experiment_has_none() {
    let mut items = numbered(4, 0);
    items[1]["says"] = json!("something else");
    let sandbox = Sandbox::with_items(items);
    let gate = |bound| format!("{EXACT}thresholds = [\"exact.pass_rate >= {bound}\"]\n");
    sandbox.write("cobalt.toml", &gate("0.75"));
    let finished = sandbox.program(fixture!("silent")).run().code(0);
    assert_eq!(
        finished.cases_that("ok").len(),
        4 + 1,
        "items below the pass mark no longer fail\n{finished}"
    );
    sandbox.write("cobalt.toml", &gate("0.8"));
    let finished = sandbox.program(fixture!("silent")).run().code(101);
    assert_eq!(finished.cases_that("FAILED"), ["silent::thresholds::exact.pass_rate>=0.8"]);
}

#[test]
fn a_threshold_over_no_evaluator_of_the_experiment_is_found_before_the_agent_is_called() {
    let sandbox = configured(&format!("{EXACT}thresholds = [\"exakt.avg >= 0.5\"]\n"), 2);
    let finished = sandbox.program(fixture!("silent")).run().code(101);
    finished.says(&[
        "cobalt.toml:2: the threshold `exakt.avg>=0.5` is for an evaluator `exakt` that it does not have; did you mean `exact`?",
    ]);
    assert!(sandbox.reports().is_empty());
}

#[test]
fn the_thresholds_for_ci_are_added_and_forgive_nothing() {
    let mut items = numbered(4, 0);
    items[1]["says"] = json!("something else");
    let sandbox = Sandbox::with_items(items);
    sandbox.write(
        "cobalt.toml",
        &format!("{EXACT}ci.thresholds = [\"exact.avg >= 0.5\", \"latency.p95 <= 1h\"]\n"),
    );
    let finished = sandbox.program(fixture!("silent")).env("COBALT_CI", 1).run().code(101);
    let added = ["silent::thresholds::exact.avg>=0.5", "silent::thresholds::latency.p95<=1h"];
    assert_eq!(finished.cases_that("ok")[3..], added);
    assert_eq!(finished.cases_that("FAILED"), ["silent::item-1"], "strict, as without the variables");
    let finished = sandbox.program(fixture!("silent")).args(["--list", "--format=terse"]).run().code(0);
    assert!(!finished.stdout.contains("thresholds"), "{finished}");
}

#[test]
fn the_prices_of_the_file_are_those_of_the_report() {
    let sandbox = configured(&format!("{EXACT}[prices.gpt-4o-mini]\ninput = 1_000_000\noutput = 0\n"), 2);
    sandbox.program(fixture!("silent")).run().code(0);
    assert_eq!(sandbox.report().summary.estimated_cost, Some(10.0 + 11.0));
}

#[test]
fn runs_are_kept_where_the_file_says() {
    let sandbox = configured(&format!("{EXACT}[storage]\ndir = \"kept/here\"\nresults = \"scores\"\n"), 2);
    sandbox.program(fixture!("silent")).run().code(0);
    assert!(sandbox.path("kept/here/runs").is_dir() && !sandbox.path(".cobalt").exists());
    assert_eq!(std::fs::read_dir(sandbox.path("scores")).unwrap().count(), 1);
    sandbox.program(fixture!("silent")).env("COBALT_DIR", "elsewhere").run().code(0);
    assert_eq!(std::fs::read_dir(sandbox.path("elsewhere/results")).unwrap().count(), 1);
}

#[test]
fn a_variable_of_the_file_reaches_data_and_agent_unless_it_is_set() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "cobalt.toml",
        "[env]\nE2E_SAYS = \"No idea.\"\nRUST_TEST_THREADS = \"1\"\nE2E_EMPTY = \"\"\n",
    );
    let several = || sandbox.program(fixture!("several"));
    let finished = several().run().code(101);
    assert_eq!(finished.cases_that("FAILED"), ["desk::0002"]);
    let finished = several().args(["desk", "--test-threads=1"]).run().code(101);
    assert_eq!(finished.cases_that("FAILED"), ["desk::0002"], "the arguments still apply");
    let finished = several().env("E2E_SAYS", "Because.").run().code(0);
    assert_eq!(finished.cases_that("ok").len(), 8, "{finished}");

    let sandbox = Sandbox::with_items([json!({ "id": "net", "act": "fail-if-broken", "answer": "a" })]);
    sandbox.write("cobalt.toml", "[env]\nE2E_BROKEN = \"1\"\n");
    let finished = sandbox.program(fixture!("steered")).run().code(101);
    finished.says(&["the network is broken"]);
}

#[test]
fn a_mistake_in_the_file_stops_everything_and_is_named() {
    let sandbox = configured(&format!("{EXACT}\nconcurency = 3\n"), 2);
    let expected = "cobalt.toml:3:1: unknown key `concurency`; did you mean `concurrency`?";
    let finished = sandbox.program(fixture!("silent")).run().code(3);
    let finished = finished.stderr_has(&["error: ", expected]);
    assert_eq!(finished.stdout, "");
    sandbox.program(fixture!("silent")).args(["--list"]).run().code(3).stderr_has(&[expected]);
    sandbox.program(fixture!("values")).args(["current-thread"]).run().code(1).stderr_has(&[expected]);
    assert!(sandbox.calls().is_empty() && !sandbox.path(".cobalt").exists());
}

#[test]
fn a_mistake_in_a_variable_stops_everything_and_is_named() {
    let sandbox = configured(EXACT, 2);
    let finished = sandbox.program(fixture!("silent")).env("COBALT_CONCURRENCY", "many").run().code(3);
    finished.stderr_has(&["COBALT_CONCURRENCY is `many`; expected a whole number of at least 1"]);
    let finished = sandbox.program(fixture!("silent")).env("COBALT_CONFIG", "no-such.toml").run().code(3);
    finished.stderr_has(&["no-such.toml", "requested by COBALT_CONFIG"]);
}

#[test]
fn an_experiment_as_a_value_follows_the_file_too() {
    let sandbox = configured("[storage]\ndir = \"kept\"\n[ci]\nconcurrency = 1\n", 2);
    let finished =
        sandbox.program(fixture!("values")).args(["current-thread"]).env("COBALT_CI", 1).run().code(0);
    let report: cobalt::Report = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(report.config.concurrency, 1);
    assert_eq!(std::fs::read_dir(sandbox.path("kept/results")).unwrap().count(), 1);
}

#[test]
fn a_run_is_not_resumed_where_the_file_has_changed_what_counts() {
    let mut items = numbered(4, 0);
    items[2]["act"] = json!("hang");
    let sandbox = Sandbox::with_items(items);
    sandbox.write("cobalt.toml", EXACT);
    let mut running = sandbox.start_until_kept(sandbox.program(fixture!("silent")), 3);
    running.kill();
    let _ = running.finish();
    let id = sandbox.cut_short();
    sandbox.write("cobalt.toml", &format!("timeout = \"100ms\"\n{EXACT}"));
    let resume = || sandbox.program(fixture!("silent")).env("COBALT_RESUME", &id);
    resume().run().code(3).stderr_has(&["has changed since"]);
    sandbox.write("cobalt.toml", &format!("concurrency = 1\n{EXACT}"));
    sandbox.forget_calls();
    let running = sandbox.start_until(resume(), || sandbox.calls() == ["start item-2 0"]);
    running.signal("KILL");
    let _ = running.finish();
}

#[test]
fn numbers_that_no_machine_can_run_are_refused_with_the_most_that_it_can() {
    let sandbox = Sandbox::with_items(numbered(2, 0));
    for (variable, value, says) in [
        (
            "COBALT_RUNS",
            "999999999999",
            "COBALT_RUNS is `999999999999`; expected a whole number from 1 to 10,000",
        ),
        ("E2E_RUNS", "999999999999", "`runs` is 999999999999, but the maximum is 10,000"),
        ("E2E_TIMEOUT_MS", "18446744073709551615", "h, but the maximum is 720h"),
    ] {
        let finished = sandbox.program(fixture!("steered")).env(variable, value).run();
        assert!(matches!(finished.status.code(), Some(3 | 101)), "{finished}");
        let said = format!("{}{}", finished.stdout, finished.stderr);
        assert!(said.contains(says) && !said.contains("panicked"), "{variable}: {finished}");
    }
    sandbox
        .program(fixture!("steered"))
        .env("COBALT_RUNS", 10_000)
        .env("COBALT_CONCURRENCY", usize::MAX)
        .run()
        .code(0);
}
