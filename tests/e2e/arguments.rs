//! The arguments of a Rust test binary, as passed by cargo, editors and people.

use crate::sandbox::{Finished, Sandbox, fixture};

fn several(args: &[&str]) -> Finished {
    Sandbox::new().program(fixture!("several")).args(args.iter().copied()).run()
}

const CASES: [&str; 8] = [
    "desk::reset-password",
    "desk::billing-refund-EU",
    "desk::0002",
    "sums::two",
    "sums::four",
    "sums::thresholds::exact.pass_rate>=0.5",
    "sums::thresholds::latency.p95<=5s",
    "Übersetzung-質問::猫",
];

const TABLES: &str = "
desk: passed, 3 of 3 items passed
          mean       95% CI    min    p50    p95    max  pass rate
  exact  1.000  0.439–1.000  1.000  1.000  1.000  1.000       100%
  items   3
  time    TIME
  run     ID
  file    .cobalt/results/FILE

sums: passed, 2 thresholds met
          mean       95% CI    min    p50    p95    max  pass rate
  exact  0.500  0.095–0.905  0.000  0.500  0.950  1.000        50%
  items   2, 1 at pass marks, 1 below
  time    TIME
  below pass mark
          four: exact 0
  met     exact.pass_rate>=0.5  (0.5)
  met     latency.p95<=5s  (TIME)
  run     ID
  file    .cobalt/results/FILE

Übersetzung 質問: passed, 1 of 1 item passed
          mean       95% CI    min    p50    p95    max  pass rate
  exact  1.000  0.207–1.000  1.000  1.000  1.000  1.000       100%
  items   1
  time    TIME
  run     ID
  file    .cobalt/results/FILE
";

const CONCLUSION: &str =
    "\ntest result: ok. 8 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in TIME\n";

#[test]
fn a_run_prints_cases_as_libtest_does_and_then_the_scores() {
    let cases = "\nrunning 8 tests
test desk::reset-password                   ... ok
test desk::billing-refund-EU                ... ok
test desk::0002                             ... ok
test sums::two                              ... ok
test sums::four                             ... ok
test sums::thresholds::exact.pass_rate>=0.5 ... ok
test sums::thresholds::latency.p95<=5s      ... ok
test Übersetzung-質問::猫                      ... ok
";
    let finished = several(&["--test-threads=1"]).code(0);
    assert_eq!(finished.masked(), format!("{cases}{CONCLUSION}{TABLES}"));
    assert_eq!(finished.stderr, "");
}

#[test]
fn an_experiment_is_found_by_the_name_that_it_is_declared_with_too() {
    let case = ["Übersetzung-質問::猫"];
    for form in ["Übersetzung 質問", "Übersetzung-質問"] {
        assert_eq!(several(&[form]).code(0).cases_that("ok"), case, "{form}");
        assert_eq!(several(&["--exact", &format!("{form}::猫")]).code(0).cases_that("ok"), case, "{form}");
        assert_eq!(
            several(&["--list", form]).code(0).stdout.lines().next(),
            Some("Übersetzung-質問::猫: test")
        );
        let others = several(&["--skip", form]).code(0).cases();
        assert!(others.len() == 7 && others.iter().all(|(name, _)| !name.starts_with('Ü')), "{others:?}");
    }
}

#[test]
fn a_quiet_run_prints_a_sign_for_each_case() {
    let finished = several(&["-q", "--test-threads", "1"]).code(0);
    assert_eq!(finished.masked(), format!("\nrunning 8 tests\n........{CONCLUSION}{TABLES}"));
    let terse = several(&["--format=terse", "--test-threads=1"]).code(0);
    assert_eq!(terse.masked(), finished.masked());
}

#[test]
fn a_failure_prints_what_was_expected_the_output_and_the_reason() {
    let sandbox = Sandbox::new();
    let program = sandbox.program(fixture!("several")).env("E2E_SAYS", "No idea.");
    let finished = program.args(["--test-threads=1", "desk"]).run().code(101);
    let expected = "
running 3 tests
test desk::reset-password    ... ok
test desk::billing-refund-EU ... ok
test desk::0002              ... FAILED

failures:

---- desk::0002 ----
item cdc5ab0672314548 of `desk`
  input: \"Why?\"
  expected: \"Because.\"
  output: \"No idea.\"
  exact: 0, below the pass mark of 0.5 (expected \"Because.\", got \"No idea.\")


failures:
    desk::0002

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 5 filtered out; finished in TIME

desk: FAILED, 2 of 3 items passed
          mean       95% CI    min    p50    p95    max  pass rate
  exact  0.667  0.208–0.939  0.000  1.000  1.000  1.000      66.7%
  items   3
  time    TIME
  below pass mark
          0002: exact 0
  run     ID
  file    .cobalt/results/FILE
";
    assert_eq!(finished.masked(), expected);
}

#[test]
fn a_list_names_every_case() {
    let lines: String = CASES.iter().map(|case| format!("{case}: test\n")).collect();
    assert_eq!(several(&["--list"]).code(0).stdout, format!("{lines}\n8 tests, 0 benchmarks\n"));
    assert_eq!(several(&["--list", "--format", "terse"]).code(0).stdout, lines);
    assert_eq!(several(&["--list", "--format=terse", "--ignored"]).code(0).stdout, "");
    assert_eq!(several(&["--list", "-q", "--exact", "sums::two"]).code(0).stdout, "sums::two: test\n");
    let one = several(&["--list", "two"]).code(0).stdout;
    assert_eq!(one, "sums::two: test\n\n1 test, 0 benchmarks\n");
}

#[test]
fn several_filters_pick_what_any_of_them_matches_and_the_rest_is_counted() {
    let finished = several(&["reset", "sums::t"]).code(0);
    let expected = ["desk::reset-password", CASES[5], CASES[6], "sums::two"];
    assert_eq!(finished.cases_that("ok"), expected);
    finished.says(&["running 4 tests", "4 passed", "4 filtered out"]);
    let finished = several(&["--exact", "sums::two", "desk::0002"]).code(0);
    assert_eq!(finished.cases_that("ok"), ["desk::0002", "sums::two"]);
}

#[test]
fn exact_experiment_runs_all_its_cases() {
    let finished = several(&["sums", "--exact"]).code(0);
    assert_eq!(finished.cases_that("ok"), ["sums::four", CASES[5], CASES[6], "sums::two"]);
    assert!(!finished.stdout.contains("partial"), "{finished}");
    assert_eq!(several(&["Übersetzung 質問", "--exact", "--nocapture"]).code(0).cases_that("ok"), [CASES[7]]);
    assert_eq!(
        several(&["--exact", "--skip", "sums", "--skip", "desk"]).code(0).cases_that("ok"),
        [CASES[7]]
    );
    several(&["--exact", "sum"]).code(0).says(&["running 0 tests"]);
}

#[test]
fn what_cargo_and_editors_send_is_taken() {
    for args in [
        &["--nocapture"][..],
        &["--no-capture"],
        &["--show-output"],
        &["--include-ignored"],
        &["--test"],
        &["--color", "never"],
        &["--color=never", "--test-threads", "3"],
        &["-Zunstable-options", "--report-time"],
        &["-Z", "unstable-options", "--ensure-time"],
        &["--format", "pretty", "--exact"],
        &["--fail-fast"],
    ] {
        several(args).code(0).says(&["running 8 tests", "8 passed"]);
    }
}

#[test]
fn nothing_is_ignored_or_a_benchmark() {
    let none = "0 passed; 0 failed; 0 ignored; 0 measured; 8 filtered out";
    several(&["--ignored"]).code(0).says(&["running 0 tests", none]);
    several(&["--bench"]).code(0).says(&["running 0 tests", none]);
}

#[test]
fn json_is_one_event_a_line_and_nothing_else_on_stdout() {
    let args = ["--format", "json", "-Z", "unstable-options", "--shuffle"];
    let finished = several(&args).code(0);
    let events: Vec<serde_json::Value> =
        finished.stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert_eq!(events.len(), 1 + 2 * 8 + 1);
    assert_eq!(events[0]["event"], "started");
    assert_eq!((&events[17]["event"], &events[17]["passed"]), (&"ok".into(), &8.into()));
    finished.stderr_has(&["desk: passed, 3 of 3 items passed", "shuffle seed"]);
}

#[test]
fn a_failure_in_json_has_its_text() {
    let sandbox = Sandbox::new();
    let program = sandbox.program(fixture!("several")).env("E2E_SAYS", "\"No\"\n\\idea");
    let finished = program.args(["--format=json", "-Zunstable-options", "desk"]).run().code(101);
    let events = finished.stdout.lines().map(|line| serde_json::from_str(line).expect(line));
    let failed: serde_json::Value =
        events.into_iter().find(|event: &serde_json::Value| event["event"] == "failed").unwrap();
    let text = failed["stdout"].as_str().unwrap();
    assert!(text.contains(r#"output: "\"No\"\n\\idea""#), "{text}");
}

#[test]
fn cases_are_shuffled_by_their_seed() {
    let order = |args: &[&str]| {
        let stdout = several(args).code(0).stdout;
        let tests = stdout.lines().filter_map(|line| line.strip_prefix("test ")?.split(' ').next());
        tests.map(str::to_owned).collect::<Vec<_>>()
    };
    let seeded = order(&["--shuffle-seed=3", "--test-threads=1"]);
    assert_eq!(seeded, order(&["--shuffle-seed", "3", "--test-threads=1"]));
    let in_order = order(&["--test-threads=1"]);
    assert_ne!(seeded, in_order);
    let mut sorted = (seeded, in_order);
    sorted.0.sort();
    sorted.1.sort();
    assert_eq!(sorted.0, sorted.1);
}

#[test]
fn after_the_first_failure_nothing_more_is_run_where_that_was_asked() {
    let sandbox = Sandbox::with_items(
        [serde_json::json!({ "id": "bad", "answer": 1, "says": 2 })]
            .into_iter()
            .chain(crate::sandbox::numbered(30, 50)),
    );
    let program = sandbox.program(fixture!("steered")).env("E2E_CONCURRENCY", 1);
    let finished = program.args(["--fail-fast", "--test-threads=1"]).run().code(101);
    let finished = finished.says(&["0 passed; 1 failed; 30 ignored"]);
    assert!(sandbox.starts().len() < 10, "{:?}", sandbox.starts());
    finished.stderr_has(&[&format!("COBALT_RESUME={}", sandbox.cut_short())]);
}

#[test]
fn threads_of_the_environment_count() {
    let run =
        |threads: &str| Sandbox::new().program(fixture!("several")).env("RUST_TEST_THREADS", threads).run();
    assert_eq!(run("1").code(0).masked(), several(&["--test-threads=1"]).masked());
    run("none").code(2).stderr_has(&["RUST_TEST_THREADS"]);
}

#[test]
fn a_log_file_is_written() {
    let sandbox = Sandbox::new();
    let program = sandbox.program(fixture!("several"));
    program.args(["--logfile", "cases.log", "--test-threads=1"]).run().code(0);
    let log = std::fs::read_to_string(sandbox.path("cases.log")).unwrap();
    assert!(log.contains("test desk::0002                             ... ok\n"), "{log}");
}

#[test]
fn what_nobody_knows_is_a_usage_error() {
    for args in [&["--frobnicate"][..], &["--format=xml"], &["--test-threads=many"], &["--test-threads=0"]] {
        let sandbox = Sandbox::new();
        let finished = sandbox.program(fixture!("several")).args(args.iter().copied()).run().code(2);
        assert!(finished.stderr.starts_with("error: "), "{finished}");
        assert!(!sandbox.path(".cobalt").exists());
    }
}

#[test]
fn help_is_no_run() {
    let sandbox = Sandbox::new();
    sandbox.program(fixture!("several")).args(["--help"]).run().code(0).says(&["--skip", "--exact"]);
    assert!(!sandbox.path(".cobalt").exists());
}
