//! A test binary that exits with 0 although it reported failures: the reported result counts.

use serde_json::json;

use crate::command::program;
use crate::project::{ProgramOutput, Project};

/// Twenty items, with the agent's answer given by `says`.
pub(crate) fn project(says: &str) -> Project {
    let project = Project::empty();
    project.rename("native_exit");
    project.target("native_exit");
    project.write("tests/native_exit.rs", include_str!("fixture/native_exit.rs"));
    let manifest = project.read("Cargo.toml");
    let tokio = "[dev-dependencies]\ntokio = { version = \"1\", features = [\"rt\"] }\n";
    project.write("Cargo.toml", &manifest.replace("[dev-dependencies]\n", tokio));
    let item = |number: usize| json!({ "id": format!("item-{number}"), "answer": "Paris", "says": says });
    project
        .write("data/items.jsonl", &(0..20).map(|number| format!("{}\n", item(number))).collect::<String>());
    project
}

const COUNTS: &str = "warning: `native_exit/native_exit` exited (exit status: 0), but had reported failures, which \
                      takes precedence";

#[test]
fn a_native_exit_handler_that_ends_the_process_with_0_hides_no_failure() {
    let low = project("Rome");
    low.cobalt(&["run", "--ci", "--experiment", "strict"], 1).stdout_has("strict: FAILED").stderr_has(COUNTS);
    low.cobalt(&["run", "--experiment", "strict"], 0)
        .stdout_has("strict: FAILED")
        .stderr_has("use --ci to fail here");
    low.cobalt(&["run", "--ci", "--experiment", "gated"], 1).stdout_has("gated: FAILED").stderr_has(COUNTS);
    low.cobalt(&["run", "--ci", "--experiment", "broken"], 3)
        .stderr_has("missing.jsonl")
        .stderr_has("but had reported exit code 3, which takes precedence");
    low.cobalt(&["run", "--ci", "--experiment", "strict", "--", "--fail-fast"], 1).stderr_has(COUNTS);
    low.cobalt(&["run", "--ci", "--experiment", "strict", "--", "--format", "pretty"], 1).stderr_has(COUNTS);
    let errors = project("error");
    errors.cobalt(&["run", "--ci", "--experiment", "strict"], 1).stdout_has("20 items in error");
}

#[test]
fn a_native_exit_handler_spoils_no_run_that_passes() {
    let good = project("Paris");
    let said = good.cobalt(&["run", "--ci", "--experiment", "strict", "--experiment", "gated"], 0);
    assert!(!said.stderr.contains("warning"), "{said:?}");
}

#[test]
fn a_process_that_ends_with_0_before_it_told_how_it_ends_is_an_error() {
    let late = project("Paris");
    for arguments in [&["run"][..], &["run", "--ci"]] {
        late.cobalt(&[arguments, &["--experiment", "late"]].concat(), 3).stderr_has(
            "`native_exit/native_exit` exited (exit status: 0) before reporting its result; finished items are saved",
        );
    }
}

#[cfg(unix)]
#[test]
fn cargo_test_reports_a_native_exit() {
    let test = |project: &Project| {
        let mut cargo = program("cargo", &project.path(""));
        ProgramOutput::by(cargo.args(["test", "--test", "native_exit", "--", "strict", "--exact"]), 0)
    };
    let expected = "error: this process failed (exit code 101), but something in it, such as native code, called `_exit`";
    test(&project("Rome")).stdout_has("test result: FAILED").stderr_has(expected);
    let passed = test(&project("Paris")).stdout_has("test result: ok");
    assert!(!passed.stderr.contains("error: "), "{passed:?}");
}
