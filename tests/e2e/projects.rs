//! A project that depends on the library, built and tested by cargo and by nextest.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::sandbox::{Finished, Program, Sandbox, clean, fixture};

/// One build at a time: they share a target folder.
static BUILDING: Mutex<()> = Mutex::new(());

const TEST: &str = r#"
#[cobalt::evaluator]
fn right(item: &cobalt::Item, output: &str) -> bool {
    item["answer"] == output
}

#[cobalt::experiment(dataset = "datasets/questions.jsonl", evaluators = [right])]
async fn desk(item: cobalt::Item) -> Result<String, String> {
    println!("an agent prints what it likes");
    let broken = std::fs::remove_file("broken-once").is_ok();
    if broken { Err("the network is broken".to_owned()) } else { Ok(item["answer"].as_str().unwrap().to_owned()) }
}

#[cobalt::experiment(dataset = "datasets/questions.jsonl", evaluators = [right], thresholds = [right.avg >= 0.5])]
fn gated(item: cobalt::Item) -> String {
    item["answer"].as_str().unwrap().to_owned()
}

#[cobalt::experiment(dataset = "no-such-file.jsonl", evaluators = [right], ignore_without = "TRIAL_KEY")]
fn spared(item: cobalt::Item) -> String {
    item["answer"].as_str().unwrap().to_owned()
}

fn main() {
    cobalt::main();
}
"#;

/// A package of its own, with a data set and a test target.
fn project() -> Sandbox {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = here.parent().unwrap();
    let sandbox = Sandbox::new();
    sandbox.write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"trial\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dev-dependencies]\ncobalt = {{ path = {:?}, default-features = false }}\n\n\
             [[test]]\nname = \"evals\"\nharness = false\n",
            workspace.join("cobalt")
        ),
    );
    std::fs::copy(workspace.join("Cargo.lock"), sandbox.path("Cargo.lock")).unwrap();
    sandbox.write("src/lib.rs", "");
    sandbox.write("tests/evals.rs", TEST);
    sandbox.write(
        "datasets/questions.jsonl",
        "{\"id\": \"paris\", \"answer\": \"Paris\"}\n{\"id\": \"rome\", \"answer\": \"Rome\"}\n",
    );
    sandbox
}

/// Where the fixtures were built; what all projects build is kept beside them.
fn target() -> PathBuf {
    let profile = fixture!("several").parent().unwrap();
    profile.parent().unwrap().join("projects")
}

fn cargo(sandbox: &Sandbox, args: &[&str]) -> Finished {
    let _one_at_a_time = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = clean(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(sandbox.path("")).env("CARGO_TARGET_DIR", target()).env("CARGO_NET_OFFLINE", "true");
    Program::of(command).args(args.iter().copied()).patient().run()
}

#[test]
fn cargo_test_runs_experiments_as_cases_and_keeps_their_results() {
    let sandbox = project();
    let finished = cargo(&sandbox, &["test"]).code(0);
    let cases =
        ["desk::paris", "desk::rome", "gated::paris", "gated::rome", "gated::thresholds::right.avg>=0.5"];
    assert_eq!(finished.cases_that("ok"), cases);
    assert!(finished.stdout.contains("1 ignored"), "{finished}");
    let names: Vec<_> = sandbox.reports().into_iter().map(|report| report.name).collect();
    assert_eq!(names, ["desk", "gated"]);
    assert!(sandbox.path(".cobalt/.gitignore").exists());
    // From another folder the data set is found and the results lie where they lay.
    let folder = sandbox.path("datasets");
    let exact = ["test", "--test", "evals", "--", "--exact", "desk::rome"];
    let mut command = clean(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder).env("CARGO_TARGET_DIR", target()).env("CARGO_NET_OFFLINE", "true");
    let finished = Program::of(command).args(exact).patient().run().code(0);
    assert_eq!(finished.cases_that("ok"), ["desk::rome"]);
    assert_eq!(sandbox.reports().len(), 3);
}

#[test]
fn nextest_runs_each_experiment_once_and_a_retry_mends_what_broke() {
    let installed = clean("cargo").args(["nextest", "--version"]).output();
    if !installed.is_ok_and(|output| output.status.success()) {
        println!("skipped: cargo-nextest is not installed");
        return;
    }
    let sandbox = project();
    sandbox.write("broken-once", "");
    let finished = cargo(&sandbox, &["nextest", "run", "--retries", "1"]).code(0);
    let finished = finished.complains(&["TRY 1 FAIL", "2 tests run: 2 passed (1 flaky), 1 skipped"]);
    assert!(finished.stderr.contains("the network is broken"), "{finished}");
    let reports = sandbox.reports();
    assert_eq!(reports.iter().map(|report| &*report.name).collect::<Vec<_>>(), ["desk", "gated"]);
    assert!(reports.iter().all(|report| report.passed && report.items.len() == 2));
}
