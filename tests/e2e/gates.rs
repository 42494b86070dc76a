//! Baseline thresholds.

use std::path::PathBuf;

use cobalt::Report;
use cobalt::command::config::Config;
use cobalt::llm::prices::PriceTable;
use cobalt::report::Measurements;
use cobalt::report::comparison::Verdict;
use cobalt_core::store::write_baseline;
use serde_json::json;

use crate::sandbox::{Finished, Sandbox, fixture};

const GATE: &str = "silent::thresholds::vs_baseline.exact.drop<=0.05";

/// An experiment with 40 items; the agent answers the first ones differently if `E2E_BROKEN` is set.
fn gated(wrong_if_broken: usize) -> Sandbox {
    let item = |n: usize| {
        let act = if n < wrong_if_broken { json!("wrong-if-broken") } else { json!(null) };
        json!({ "id": format!("item-{n}"), "answer": "a", "act": act })
    };
    let sandbox = Sandbox::with_items((0..40).map(item));
    sandbox.write(
        "cobalt.toml",
        "evaluators = [{ type = \"exact-match\", name = \"exact\", field = \"answer\" }]\n\
         thresholds = [\"vs_baseline.exact.drop <= 0.05\", \"exact.avg >= 0.1\"]\n",
    );
    sandbox
}

/// Runs the experiment once and saves the run as its baseline.
fn with_baseline(wrong_if_broken: usize) -> (Sandbox, PathBuf) {
    let sandbox = gated(wrong_if_broken);
    sandbox.program(fixture!("silent")).run().code(0);
    let numbers = Measurements::from_report(&sandbox.report(), &PriceTable::default());
    let config = Config::load(&sandbox.path(""), |_| None).unwrap();
    let path = write_baseline(config.layout(), &numbers).unwrap();
    std::fs::remove_dir_all(sandbox.path(".cobalt/results")).unwrap();
    (sandbox, path)
}

/// The only report, and the summary line of the gate.
fn outcome(sandbox: &Sandbox, finished: &Finished) -> (Report, String) {
    let about = |line: &&str| line.contains("vs_baseline.exact.drop") && line.starts_with("  ");
    // Preceded by the names of failed test cases.
    let line = finished.stdout.lines().rfind(about).unwrap_or_else(|| panic!("{finished}"));
    (sandbox.report(), line.trim().to_owned())
}

#[test]
fn without_a_baseline_a_gate_is_inconclusive_and_says_how_to_set_one() {
    let sandbox = gated(0);
    let finished = sandbox.program(fixture!("silent")).run().code(0);
    assert!(finished.cases_that("ok").contains(&GATE.to_owned()), "{finished}");
    let (report, line) = outcome(&sandbox, &finished);
    assert_eq!(
        line,
        "inconclusive  `vs_baseline.exact.drop <= 0.05` has nothing to compare with: `silent` has no baseline yet; set \
         one with `cargo cobalt baseline set`"
    );
    let status = report.ci_status.unwrap();
    assert!(report.passed && status.passed && status.violations.is_empty() && report.baseline.is_none());
    assert_eq!(status.summary, "1 of 2 thresholds inconclusive");
    assert_eq!((&*status.inconclusive[0].category, &*status.inconclusive[0].metric), ("exact", "drop"));
}

#[test]
fn what_is_inconclusive_fails_where_that_is_asked_for() {
    let sandbox = gated(0);
    let program = sandbox.program(fixture!("silent")).env("COBALT_ON_INCONCLUSIVE", "fail");
    let finished = program.run().code(101);
    assert_eq!(finished.cases_that("FAILED"), [GATE]);
    let (report, line) = outcome(&sandbox, &finished);
    assert!(line.starts_with("inconclusive  ") && !report.passed, "{finished}");
    assert!(line.ends_with("(fails: `on-inconclusive` is `fail`)"), "{line}");
    let status = report.ci_status.unwrap();
    assert_eq!((status.passed, status.violations.len(), status.inconclusive.len()), (false, 1, 1));
}

#[test]
fn an_unchanged_agent_meets_its_gate() {
    let (sandbox, _) = with_baseline(0);
    let finished = sandbox.program(fixture!("silent")).env("COBALT_ON_INCONCLUSIVE", "fail").run().code(0);
    let (report, line) = outcome(&sandbox, &finished);
    assert_eq!(line, "met     vs_baseline.exact.drop<=0.05  (0)");
    let comparison = report.baseline.unwrap();
    assert_eq!((comparison.items.matched, comparison.evaluators[0].verdict), (40, Verdict::WithinNoise));
    assert!(comparison.notes.is_empty(), "{:?}", comparison.notes);
    finished.says(&["  vs. baseline ", ", 40 items in common", "exact", "1.000 → 1.000"]);
}

#[test]
fn a_drop_beyond_noise_misses_its_gate() {
    let (sandbox, _) = with_baseline(20);
    let finished = sandbox.program(fixture!("silent")).env("E2E_BROKEN", 1).run().code(101);
    assert_eq!(finished.cases_that("FAILED"), [GATE]);
    let (report, line) = outcome(&sandbox, &finished);
    assert!(
        line.starts_with("MISSED  the drop of exact is 0.5 (95% CI ") && line.contains("beyond noise"),
        "{line}"
    );
    assert_eq!(report.ci_status.unwrap().violations[0].actual, Some(0.5));
    finished.says(&["1.000 → 0.500", "worse"]);
}

#[test]
fn a_drop_that_noise_may_hide_is_inconclusive_and_says_what_would_settle_it() {
    let (sandbox, _) = with_baseline(2);
    let finished = sandbox.program(fixture!("silent")).env("E2E_BROKEN", 1).run().code(0);
    let (report, line) = outcome(&sandbox, &finished);
    assert!(
        line.starts_with("inconclusive  the drop of exact is 0.05 ") && line.ends_with(" needed"),
        "{line}"
    );
    assert!(report.passed && report.ci_status.unwrap().inconclusive[0].actual.is_some());
}

#[test]
fn a_damaged_baseline_is_told_before_any_agent_is_called() {
    let (sandbox, path) = with_baseline(0);
    sandbox.forget_calls();
    std::fs::write(&path, "{\"measurements\": 1").unwrap();
    let finished = sandbox.program(fixture!("silent")).run().code(101);
    assert_eq!(finished.cases_that("FAILED"), ["silent::baseline"]);
    assert!(sandbox.calls().is_empty() && sandbox.journals().is_empty());
    finished.says(&["silent.json`: neither a baseline file nor a result file: "]);
}

#[test]
fn a_run_of_some_items_is_held_against_nothing() {
    let (sandbox, path) = with_baseline(0);
    std::fs::write(&path, "damaged").unwrap();
    sandbox.program(fixture!("silent")).args(["silent::item-1"]).run().code(0);
    assert!(sandbox.report().baseline.is_none());
}

#[test]
fn a_retry_of_some_items_is_held_against_nothing() {
    let (sandbox, path) = with_baseline(4);
    let attempt = |only: &str, number: u32| {
        sandbox
            .program(fixture!("silent"))
            .env("E2E_BROKEN", 1)
            .env("COBALT_ONLY", only)
            .env("NEXTEST_EXECUTION_MODE", "process-per-test")
            .env("NEXTEST_RUN_ID", only)
            .env("NEXTEST_ATTEMPT", number)
            .args(["--exact", "silent", "--nocapture"])
            .run()
    };
    attempt("", 1).code(0);
    std::fs::write(&path, "damaged").unwrap();
    for number in [1, 2] {
        attempt("failed", number).code(0);
        let report = sandbox.reports().into_iter().find(|report| report.partial).unwrap();
        assert_eq!((report.items.len(), report.baseline), (4, None), "attempt {number}");
    }
}

#[test]
fn a_damaged_baseline_fails_whatever_cases_were_asked_for_that_need_it() {
    let (sandbox, path) = with_baseline(0);
    std::fs::write(&path, "damaged").unwrap();
    let finished = sandbox.program(fixture!("silent")).args(["thresholds"]).run().code(101);
    assert_eq!(finished.cases_that("FAILED"), ["silent::baseline"]);
}

#[test]
fn of_the_files_that_are_named_the_one_of_the_experiment_counts() {
    let (sandbox, path) = with_baseline(0);
    let text = std::fs::read_to_string(&path).unwrap();
    sandbox.write("kept/other.json", &text.replace("\"silent\"", "\"desk\""));
    sandbox.write("kept/this.json", &text);
    std::fs::write(&path, "damaged, and not looked at").unwrap();
    let run = |files: &[&str]| {
        let _ = std::fs::remove_dir_all(sandbox.path(".cobalt/results"));
        let list = std::env::join_paths(files).unwrap();
        sandbox.program(fixture!("silent")).env("COBALT_BASELINE", list.to_str().unwrap()).run()
    };
    run(&["kept/other.json", "kept/this.json"]).code(0).says(&["met     vs_baseline.exact.drop<=0.05"]);
    let finished = run(&["kept/other.json"]).code(0);
    finished.says(&["the given baselines are for `desk`, not for `silent`"]);
    let finished = run(&["kept/none.json"]).code(101);
    finished.says(&["test silent::baseline", "kept/none.json"]);
}

#[test]
fn an_old_baseline_and_one_of_another_evaluator_are_said_to_be() {
    let (sandbox, path) = with_baseline(0);
    let text = std::fs::read_to_string(&path).unwrap();
    let year = text.find("\"timestamp\":").unwrap() + "\"timestamp\": ".len();
    let year = year + text[year..].find("20").unwrap();
    std::fs::write(&path, format!("{}2020{}", &text[..year], &text[year + 4..])).unwrap();
    sandbox.write(
        "cobalt.toml",
        "evaluators = [{ type = \"exact-match\", name = \"exact\", field = \"answer\", trim = true }]\n\
         [baseline]\nmax-age = \"60d\"\n",
    );
    let finished = sandbox.program(fixture!("silent")).run().code(0);
    let notes = sandbox.report().baseline.unwrap().notes;
    assert!(notes.iter().any(|note| note.contains("different settings")), "{notes:?}");
    assert!(
        notes.iter().any(|note| note.contains(" days old; update it with `cargo cobalt baseline set`")),
        "{notes:?}"
    );
    finished.says(&["note: the baseline is "]);
}

#[test]
fn a_gate_of_an_evaluator_that_is_not_there_is_found_before_the_agent_is_called() {
    let sandbox = gated(0);
    sandbox.write(
        "cobalt.toml",
        "evaluators = [{ type = \"exact-match\", name = \"exact\", field = \"answer\" }]\n\
         thresholds = [\"vs_baseline.exat.drop <= 0.05\"]\n",
    );
    let finished = sandbox.program(fixture!("silent")).run().code(101);
    finished.says(&["an evaluator `exat` that it does not have; did you mean `exact`?"]);
    assert!(sandbox.reports().is_empty());
}
