//! Missing keys, and experiments that are ignored because of them.

use crate::sandbox::{Finished, Program, Sandbox, fixture, numbered};

fn keyed(sandbox: &Sandbox, args: &[&str]) -> Program {
    sandbox.program(fixture!("keyed")).args(args.iter().copied())
}

/// Started like nextest does.
fn alone(sandbox: &Sandbox, args: &[&str]) -> Program {
    keyed(sandbox, args).env("NEXTEST_EXECUTION_MODE", "process-per-test")
}

#[track_caller]
fn nothing_ran(sandbox: &Sandbox, finished: &Finished) {
    assert_eq!(finished.stdout, "", "{finished}");
    assert_eq!(sandbox.calls(), [""; 0]);
    assert!(!sandbox.path(".cobalt").exists(), "no journal is left");
}

#[test]
fn each_missing_key_is_said_once_before_anything_runs() {
    for value in [None, Some("")] {
        let sandbox = Sandbox::new();
        let program = keyed(&sandbox, &["desk", "sums", "travel", "free"]);
        let finished = value.into_iter().fold(program, |program, value| program.env("E2E_KEY", value)).run();
        let finished = finished.code(3).stderr_has(&[
            "error: E2E_KEY is unset or empty: it is the API key for model `m` of someone, needed by experiments `desk`, `sums`.",
            "\nerror: E2E_OTHER_KEY is unset or empty: it is the API key for model `m` of someone, needed by experiment `travel`.",
            "`ignore_without = \"E2E_KEY\"`",
            "`.env`",
        ]);
        assert_eq!(finished.stderr.matches("error: ").count(), 2, "{finished}");
        nothing_ran(&sandbox, &finished);
    }
}

#[test]
fn only_what_is_selected_needs_its_key_and_a_list_needs_none() {
    let sandbox = Sandbox::new();
    keyed(&sandbox, &["--list"]).run().code(0).says(&["desk::one: test", "travel::two: test"]);
    let finished = keyed(&sandbox, &["desk::", "free::"]).env("E2E_KEY", "k").run().code(0);
    assert_eq!(finished.cases_that("ok").len(), 4);
    alone(&sandbox, &["--exact", "free", "--nocapture"]).run().code(0);
    let sandbox = Sandbox::new();
    let finished = alone(&sandbox, &["--exact", "sums", "--nocapture"]).run().code(3);
    nothing_ran(&sandbox, &finished.stderr_has(&["E2E_KEY is unset", "needed by experiment `sums`."]));
}

#[test]
fn what_an_evaluator_objects_to_is_a_case_that_fails_and_the_others_run() {
    let sandbox = Sandbox::new();
    let finished = keyed(&sandbox, &["picky", "free"]).run().code(101);
    assert_eq!(finished.cases_that("FAILED"), ["picky::definition"]);
    assert_eq!(finished.cases_that("ok"), ["free::one", "free::two"]);
    finished.says(&["experiment `picky` cannot be run: evaluator `judge`: item `unfit` has no `docs`"]);
    let finished = keyed(&sandbox, &["picky::fit"]).env("E2E_FIT", 1).run().code(0);
    assert_eq!(finished.cases_that("ok"), ["picky::fit"], "the other item does not need a score");
}

#[test]
fn a_partial_run_is_resumed_whatever_the_items_are_that_it_leaves_out() {
    let sandbox = Sandbox::new();
    let program = keyed(&sandbox, &["picky::fit"]).env("E2E_FIT", 1).env("E2E_HANG", 1);
    let mut running = sandbox.start_until_kept(program, 0);
    running.kill();
    running.finish();
    let id = sandbox.cut_short();
    keyed(&sandbox, &[]).env("E2E_FIT", 1).env("COBALT_RESUME", &id).run().code(0);
    assert_eq!(sandbox.report().id, id);
}

#[test]
fn without_its_variable_an_experiment_is_one_ignored_case_and_its_data_are_not_read() {
    let sandbox = Sandbox::new();
    for value in [None, Some("")] {
        let program = keyed(&sandbox, &["spared", "free"]);
        let program = value.into_iter().fold(program, |program, value| program.env("E2E_KEY", value));
        let finished = program.run().code(0);
        finished.says(&["test spared    ... ignored (E2E_KEY is not set)", "2 passed; 0 failed; 1 ignored"]);
    }
    keyed(&sandbox, &["--exact", "spared"]).run().code(0).says(&["0 passed; 0 failed; 1 ignored"]);
    sandbox.write_items(numbered(3, 0));
    let finished = keyed(&sandbox, &["spared"]).env("E2E_KEY", "k").run().code(0);
    assert_eq!(finished.cases_that("ok"), ["spared::item-0", "spared::item-1", "spared::item-2"]);
}

#[test]
fn an_ignored_case_is_listed_as_such_and_run_where_that_is_asked_for() {
    let sandbox = Sandbox::new();
    for list in [keyed, alone] {
        let ignored = list(&sandbox, &["--list", "--format", "terse", "--ignored"]).run().code(0).stdout;
        assert_eq!(ignored, "spared: test\n");
        let all = list(&sandbox, &["--list", "--format", "terse"]).run().code(0).stdout;
        assert!(all.contains("\nspared: test\n"), "{all}");
    }
    let finished = keyed(&sandbox, &["--ignored"]).run().code(101);
    assert_eq!(finished.cases_that("FAILED"), ["spared"], "now the data is read");
    sandbox.write_items(numbered(3, 0));
    for args in [&["--ignored"][..], &["--include-ignored", "spared"], &["--exact", "spared", "--ignored"]] {
        keyed(&sandbox, args)
            .run()
            .code(3)
            .stderr_has(&["E2E_KEY is unset", "needed by experiment `spared`."]);
    }
    alone(&sandbox, &["--exact", "spared", "--nocapture"]).run().code(0).says(&["1 ignored"]);
    let forced = alone(&sandbox, &["--exact", "spared", "--nocapture", "--ignored"]).run();
    forced.code(3).stderr_has(&["E2E_KEY is unset"]);
}

#[test]
fn a_run_of_an_experiment_that_is_ignored_now_is_not_resumed_and_that_is_said() {
    let mut items = numbered(3, 0);
    items[2]["act"] = serde_json::json!("hang");
    let sandbox = Sandbox::with_items(items);
    let program = keyed(&sandbox, &["spared"]).env("E2E_KEY", "k").env("E2E_HANG", 1);
    let mut running = sandbox.start_until_kept(program, 2);
    running.kill();
    running.finish();
    let id = sandbox.cut_short();
    let resume = |sandbox: &Sandbox| keyed(sandbox, &[]).env("COBALT_RESUME", &id);
    let finished = resume(&sandbox).run().code(0);
    finished.stderr_has(&["belongs to experiment `spared`, which is ignored because E2E_KEY is not set"]);
    resume(&sandbox).env("E2E_KEY", "k").run().code(0);
    assert_eq!(sandbox.report().id, id);
}
