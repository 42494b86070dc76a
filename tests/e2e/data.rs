//! Invalid data and definitions: each fails as its own test case, and the others run.

use crate::sandbox::{Sandbox, fixture};

fn faulty() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("torn.jsonl", "{\"input\": 1}\n{\"input\":\n");
    sandbox
}

#[test]
fn what_cannot_be_run_is_a_failing_case_beside_those_that_can() {
    let sandbox = faulty();
    let finished = sandbox.program(fixture!("faulty")).args(["--test-threads=1"]).run().code(101);
    let broken = [
        "empty::dataset",
        "missing::dataset",
        "panicking::definition",
        "torn::dataset",
        "twice_exact::definition",
        "unwrapping::dataset",
    ];
    assert_eq!(finished.cases_that("FAILED"), broken);
    assert_eq!(finished.cases_that("ok"), ["healthy::one"]);
    finished.says(&[
        "`missing` cannot be used: ",
        "no-such-file.jsonl",
        "torn.jsonl:2: ",
        "the dataset is empty",
        "two evaluators are named `exact`",
        "a field",
    ]);
    assert_eq!(sandbox.report().name, "healthy");
}

#[test]
fn a_list_shows_the_cases_that_will_fail() {
    let finished = faulty().program(fixture!("faulty")).args(["--list", "--format", "terse"]).run().code(0);
    let cases: Vec<_> = finished.stdout.lines().collect();
    assert!(cases.contains(&"missing::dataset: test") && cases.contains(&"healthy::one: test"), "{cases:?}");
    assert_eq!(cases.len(), 7);
}

#[test]
fn broken_ones_fail_under_filters() {
    let broken = |args: &[&str]| {
        let finished = faulty().program(fixture!("faulty")).args(args.iter().copied()).run().code(101);
        finished.cases_that("FAILED").len()
    };
    for filter in ["healthy", "one", "no-such-item"] {
        assert_eq!(broken(&[filter]), 6, "any of them could have such an item: {filter}");
    }
    assert_eq!(
        broken(&["missing::first"]),
        3,
        "the data of others does not matter, but their definitions do"
    );
    assert_eq!(broken(&["--skip", "healthy"]), 6);
    for name in ["missing", "torn", "twice_exact", "panicking"] {
        assert_eq!(broken(&[name, "--exact"]), 1);
        assert_eq!(broken(&[&format!("{name}::an-item"), "--exact"]), 1);
        let listed = ["--list", "--exact", &format!("{name}::an-item")];
        let listed = faulty().program(fixture!("faulty")).args(listed).run().code(0).stdout;
        assert!(listed.starts_with(&format!("{name}::d")), "{listed}");
    }
}

#[test]
fn what_is_not_picked_is_not_read() {
    faulty().program(fixture!("faulty")).args(["--exact", "healthy::one"]).run().code(0);
}

#[test]
fn a_target_without_experiments_fails() {
    let finished = Sandbox::new().program(fixture!("none")).run().code(3);
    finished.stderr_has(&["no experiment is declared", "#[cobalt::experiment(..)]"]);
}

#[test]
fn two_experiments_of_one_name_fail_and_both_places_are_named() {
    let finished = Sandbox::new().program(fixture!("twins")).run().code(3);
    finished.stderr_has(&["two experiments are named `twin`", "twins.rs:9", "twins.rs:14"]);
    let finished = Sandbox::new().program(fixture!("alike")).run().code(3);
    let both = "the name `twin-one` in test cases and files: `twin/one` at tests/fixtures/alike.rs:9 and `twin one` at";
    finished.stderr_has(&[both, "alike.rs:14"]);
}
