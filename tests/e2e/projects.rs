//! A project that depends on the library, built and tested by cargo and by nextest.

use std::path::{Path, PathBuf};
use std::process::Command;
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
    // On stdout, this could split the line of another test case under `cargo test`.
    eprintln!("an agent prints what it likes");
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

/// Only the dependency on the library.
pub(crate) fn light() -> String {
    let cobalt = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("cobalt");
    format!(
        "[dev-dependencies]\ncobalt = {{ package = \"cobalt-evals\", path = {cobalt:?}, default-features = false }}\n"
    )
}

/// A separate package with an empty library. Packages with the same name share build output, so different ones need different names.
pub(crate) fn package(name: &str, manifest: &str) -> Sandbox {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let sandbox = Sandbox::new();
    let head =
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n");
    sandbox.write("Cargo.toml", &format!("{head}{manifest}"));
    std::fs::copy(workspace.join("Cargo.lock"), sandbox.path("Cargo.lock")).unwrap();
    sandbox.write("src/lib.rs", "");
    sandbox
}

/// A package with a dataset and a test target.
fn project() -> Sandbox {
    let sandbox = package("trial", &format!("{}\n[[test]]\nname = \"evals\"\nharness = false\n", light()));
    sandbox.write("tests/evals.rs", TEST);
    sandbox.write(
        "datasets/questions.jsonl",
        "{\"id\": \"paris\", \"answer\": \"Paris\"}\n{\"id\": \"rome\", \"answer\": \"Rome\"}\n",
    );
    sandbox
}

/// The target folder of the fixtures; the projects' shared target folder is next to it.
fn target() -> PathBuf {
    let profile = fixture!("several").parent().unwrap();
    profile.parent().unwrap().join("projects")
}

/// Cargo in a folder, with the same settings as in the end-to-end tests of the command, which share the builds.
fn command(folder: &Path) -> Command {
    let mut command = clean(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder).env("CARGO_TARGET_DIR", target());
    command.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_PROFILE_DEV_STRIP", "symbols");
    command.env("CARGO_NET_OFFLINE", "true");
    command
}

/// Runs cargo in a package, with these variables.
pub(crate) fn cargo(sandbox: &Sandbox, args: &[&str], env: &[(&str, &str)]) -> Finished {
    let _one_at_a_time = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = command(&sandbox.path(""));
    command.envs(env.iter().copied());
    Program::of(command).args(args.iter().copied()).patient().run()
}

#[test]
fn cargo_test_runs_experiments_as_cases_and_keeps_their_results() {
    let sandbox = project();
    let finished = cargo(&sandbox, &["test"], &[]).code(0);
    let cases =
        ["desk::paris", "desk::rome", "gated::paris", "gated::rome", "gated::thresholds::right.avg>=0.5"];
    assert_eq!(finished.cases_that("ok"), cases);
    assert!(finished.stdout.contains("1 ignored"), "{finished}");
    let names: Vec<_> = sandbox.reports().into_iter().map(|report| report.name).collect();
    assert_eq!(names, ["desk", "gated"]);
    assert!(sandbox.path(".cobalt/.gitignore").exists());
    // From another folder, the same dataset and results folder are used.
    let folder = sandbox.path("datasets");
    let exact = ["test", "--test", "evals", "--", "--exact", "desk::rome"];
    let finished = Program::of(command(&folder)).args(exact).patient().run().code(0);
    assert_eq!(finished.cases_that("ok"), ["desk::rome"]);
    assert_eq!(sandbox.reports().len(), 3);
}

#[test]
fn an_experiment_of_another_test_target_has_its_name_for_itself() {
    let sandbox = project();
    let manifest = std::fs::read_to_string(sandbox.path("Cargo.toml")).unwrap();
    sandbox.write("Cargo.toml", &format!("{manifest}\n[[test]]\nname = \"more_evals\"\nharness = false\n"));
    sandbox.write("tests/more_evals.rs", &TEST.replace("fn gated(", "fn more_gated("));
    let finished = cargo(&sandbox, &["test", "--no-fail-fast"], &[]).code(101);
    assert_eq!(finished.cases_that("FAILED"), ["desk::definition"]);
    finished.says(&["the name is declared twice, at tests/more_evals.rs:7 and at tests/evals.rs:7"]);
    let names: Vec<_> = sandbox.reports().into_iter().map(|report| report.name).collect();
    assert_eq!(names, ["desk", "gated", "more_gated"], "the duplicate runs only in the first target");
    sandbox.write(
        "tests/more_evals.rs",
        &TEST.replace("fn gated(", "fn more_gated(").replace("fn desk(", "fn help("),
    );
    cargo(&sandbox, &["test"], &[]).code(0);
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
    let finished = cargo(&sandbox, &["nextest", "run", "--retries", "1"], &[]).code(0);
    let finished = finished.stderr_has(&["TRY 1 FAIL", "2 tests run: 2 passed (1 flaky), 1 skipped"]);
    assert!(finished.stderr.contains("the network is broken"), "{finished}");
    let reports = sandbox.reports();
    assert_eq!(reports.iter().map(|report| &*report.name).collect::<Vec<_>>(), ["desk", "gated"]);
    assert!(reports.iter().all(|report| report.passed && report.items.len() == 2));
}

/// The library under another name, and by a path within a module of the package.
const RENAMED: &str = r#"
use evals::{EvalContext, Item, Score};

mod agents {
    pub(crate) use ::evals as library;
}

#[evals::evaluator(crate = evals)]
fn right(item: &Item, output: &str, context: &EvalContext) -> Result<Score, String> {
    Ok(Score::new(f64::from(u8::from(item["answer"] == output && context.output_text() == output))))
}

#[agents::library::evaluator(crate = crate::agents::library, pass_mark = 0.2)]
async fn short(output: String, context: crate::agents::library::EvalContext) -> f64 {
    if output.len() < 9 && context.output_text() == output { 1.0 } else { 0.0 }
}

#[evals::experiment(
    dataset = "datasets/questions.jsonl",
    evaluators = [right, short],
    thresholds = [score.avg >= 0.9, right.pass_rate >= share(), evaluators["short"].min >= 0.5, latency.p95 <= 5s],
    crate = evals,
)]
async fn desk(item: Item, _context: evals::Context) -> Result<String, std::io::Error> {
    Ok(item["answer"].as_str().unwrap().to_owned())
}

#[agents::library::experiment(
    dataset = "datasets/questions.jsonl",
    evaluators = [right],
    crate = crate::agents::library,
)]
fn plain(item: Item, _context: crate::agents::library::Context) -> String {
    item["answer"].as_str().unwrap().to_owned()
}

fn share() -> f64 {
    0.5
}

fn main() {
    evals::main();
}
"#;

#[test]
fn the_library_may_have_another_name() {
    let renamed = light().replace("cobalt = { ", "evals = { ");
    let sandbox = package("renamed", &format!("{renamed}\n[[test]]\nname = \"renamed\"\nharness = false\n"));
    sandbox.write("tests/renamed.rs", RENAMED);
    sandbox.write("datasets/questions.jsonl", "{\"id\": \"paris\", \"answer\": \"Paris\"}\n");
    let finished = cargo(&sandbox, &["test"], &[]).code(0);
    let cases = [
        "desk::paris",
        "desk::thresholds::latency.p95<=5s",
        "desk::thresholds::right.pass_rate>=0.5",
        "desk::thresholds::score.avg>=0.9",
        "desk::thresholds::short.min>=0.5",
        "plain::paris",
    ];
    let mut passed = finished.cases_that("ok");
    passed.sort_unstable();
    assert_eq!(passed, cases, "{finished}");
}
