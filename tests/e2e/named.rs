//! Datasets from `cobalt.toml`, local and remote.

use std::fmt::Write as _;

use crate::sandbox::{Finished, Sandbox, fixture, numbered};
use crate::source::Source;

/// Items as lines of JSON.
fn lines(items: usize) -> String {
    numbered(items, 0).into_iter().fold(String::new(), |mut text, item| {
        writeln!(text, "{item}").unwrap();
        text
    })
}

fn run(sandbox: &Sandbox, filters: &[&str], variables: &[(&str, &str)], code: i32) -> Finished {
    let program = sandbox.program(fixture!("named")).args(filters.iter().copied());
    variables.iter().fold(program, |program, (name, value)| program.env(name, value)).run().code(code)
}

#[test]
fn a_file_is_run_over_by_its_name() {
    let sandbox = Sandbox::new();
    sandbox.write("cobalt.toml", "[datasets.desk]\ntype = \"file\"\npath = \"shared/desk.jsonl\"\n");
    sandbox.write("shared/desk.jsonl", &lines(3));
    assert_eq!(run(&sandbox, &["whole::"], &[], 0).cases_that("ok").len(), 3);
    assert_eq!(sandbox.report().dataset.unwrap().source, "shared/desk.jsonl");
    assert_eq!(run(&sandbox, &["some::"], &[], 0).cases_that("ok").len(), 2);
}

#[test]
fn a_name_that_is_not_there_fails_that_experiment_alone() {
    let sandbox = Sandbox::new();
    sandbox.write("cobalt.toml", "[datasets.desk]\ntype = \"file\"\npath = \"desk.jsonl\"\n");
    sandbox.write("desk.jsonl", &lines(1));
    let finished = run(&sandbox, &[], &[], 101);
    assert_eq!(finished.cases_that("FAILED"), ["misspelt::dataset"]);
    finished.says(&["no dataset `desks` in `", "cobalt.toml`; did you mean `desk`? available: `desk`"]);
}

#[test]
fn what_is_fetched_is_asked_for_once_by_the_key_of_its_variable() {
    let source = Source::locked(numbered(3, 0), "Bearer s3cret-of-the-test");
    let sandbox = Sandbox::new();
    let table = |more: &str| {
        let url = source.url();
        let text =
            format!("[datasets.desk]\ntype = \"url\"\nurl = \"{url}\"\nbearer-env = \"DESK_TOKEN\"\n{more}");
        sandbox.write("cobalt.toml", &text);
    };
    table("retries = 0\n");
    let token = [("DESK_TOKEN", "s3cret-of-the-test")];
    let unset = run(&sandbox, &["whole::"], &[], 101);
    assert_eq!(unset.cases_that("FAILED"), ["whole::dataset"]);
    unset.says(&["DESK_TOKEN"]);
    assert_eq!(source.asked(), 0, "no request without a token");

    assert_eq!(run(&sandbox, &["whole::"], &token, 0).cases_that("ok").len(), 3);
    let report = sandbox.report();
    assert_eq!(report.dataset.unwrap().source, source.url());
    assert_eq!(run(&sandbox, &["some::"], &token, 0).cases_that("ok").len(), 2);
    assert_eq!(source.asked(), 1, "the second run uses the copy of the first");

    table("retries = 0\nitems = 4\n");
    let changed = run(&sandbox, &["whole::"], &token, 101);
    assert_eq!(changed.cases_that("FAILED"), ["whole::dataset"]);
    changed.says(&["cobalt.toml:1:11: ", "has 3 items", "`items = 3` in its table of `cobalt.toml`"]);
}
