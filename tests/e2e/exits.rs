//! Processes that exit before their experiments have run never succeed.

use crate::projects::{cargo, package};
use crate::sandbox::{Finished, Sandbox, clean};

/// An experiment with two items. `TRIAL_EXIT` selects what calls `exit(0)` at the second one.
const EXPERIMENT: &str = r#"
use cobalt::{Dataset, Item};

fn exits(place: &str) -> bool {
    std::env::var("TRIAL_EXIT").is_ok_and(|chosen| chosen == place)
}

#[cobalt::evaluator]
fn right(item: &Item, output: &str) -> bool {
    if exits("evaluator") && item["input"] == "pong" {
        std::process::exit(0);
    }
    output == "PING" || output == "PONG"
}

#[cobalt::experiment(
    dataset = Dataset::from_items([cobalt::item! { "input": "ping" }, cobalt::item! { "input": "pong" }]),
    evaluators = [right],
    concurrency = 1,
)]
async fn shouted(item: Item) -> String {
    if exits("agent") && item["input"] == "pong" {
        std::process::exit(0);
    }
    if exits("panic hook") && item["input"] == "pong" {
        panic!("the agent broke");
    }
    item["input"].as_str().unwrap().to_uppercase()
}
"#;

const MAIN: &str = r#"
fn main() {
    if exits("panic hook") {
        std::panic::set_hook(Box::new(|_| std::process::exit(0)));
    }
    if std::env::args().any(|argument| argument == "--serve") {
        return println!("a helper that runs no experiment");
    }
    if exits("helper") {
        let program = std::env::current_exe().unwrap();
        assert!(std::process::Command::new(&program).arg("--serve").status().unwrap().success());
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "\"$0\" --serve; exit $?"]).arg(program);
        assert!(shell.status().unwrap().success());
    }
    cobalt::main();
}
"#;

const WITHOUT_HARNESS: &str = "[[test]]\nname = \"evals\"\nharness = false\n";

/// A package whose only test target contains the experiment.
fn project(name: &str, target: &str, main: &str) -> Sandbox {
    let sandbox = package(name, &format!("{}\n{target}", crate::projects::light()));
    sandbox.write("tests/evals.rs", &format!("{EXPERIMENT}{main}"));
    sandbox
}

fn has_nextest() -> bool {
    let installed = clean("cargo").args(["nextest", "--version"]).output();
    let is_installed = installed.is_ok_and(|output| output.status.success());
    if !is_installed {
        println!("skipped in part: cargo-nextest is not installed");
    }
    is_installed
}

/// Asserts that cargo and nextest both fail with this message.
#[track_caller]
fn fails(sandbox: &Sandbox, env: &[(&str, &str)], says: &[&str]) {
    let assert_fails = |finished: Finished| {
        assert!(!finished.status.success(), "{finished}");
        let text = format!("{}{}", finished.stdout, finished.stderr);
        says.iter().for_each(|part| assert!(text.contains(part), "the output lacks `{part}`\n{finished}"));
    };
    assert_fails(cargo(sandbox, &["test"], env));
    if has_nextest() {
        assert_fails(cargo(sandbox, &["nextest", "run"], env));
    }
}

#[test]
fn an_exit_while_experiments_run_fails_and_names_them() {
    let sandbox = project("exits", WITHOUT_HARNESS, MAIN);
    for place in ["agent", "evaluator", "panic hook"] {
        let says =
            ["something in this process called `exit` while running `shouted`", "Resume with COBALT_RESUME="];
        fails(&sandbox, &[("TRIAL_EXIT", place)], &says);
    }
    let finished = cargo(&sandbox, &["test"], &[]).code(0);
    assert_eq!(finished.cases_that("ok"), ["shouted::0000", "shouted::0001"]);
    // The harness's own output and exit do not count.
    cargo(&sandbox, &["test", "--", "--help"], &[]).code(0);
    cargo(&sandbox, &["test", "--", "--list"], &[]).code(0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_helper_that_the_test_target_starts_of_itself_may_exit() {
    let sandbox = project("helped", WITHOUT_HARNESS, MAIN);
    let finished = cargo(&sandbox, &["test", "--test", "evals"], &[("TRIAL_EXIT", "helper")]).code(0);
    assert!(finished.stdout.contains("a helper that runs no experiment"), "{finished}");
    assert_eq!(finished.cases_that("ok"), ["shouted::0000", "shouted::0001"]);
}

#[test]
fn a_test_target_without_harness_false_fails_with_the_remedy() {
    let sandbox = project("harnessed", "", "\n#[test]\nfn another() {}\n");
    let remedy = "[[test]]\nname = \"evals\"\nharness = false\n";
    let finished = cargo(&sandbox, &["test", "--test", "evals"], &[]).code(3);
    assert_eq!(finished.cases_that("FAILED"), ["__cobalt_shouted_needs_harness_false"]);
    finished.says(&["experiment `shouted` was not run", remedy, "fn main() { cobalt::main(); }"]);
    // A filter excludes the case that would fail.
    cargo(&sandbox, &["test", "another"], &[]).code(3).stderr_has(&["`harness = false`"]);
    fails(&sandbox, &[], &["`harness = false`", "cobalt::main()"]);
}

#[test]
fn a_main_that_never_runs_the_experiments_fails_with_the_remedy() {
    let main = "\nfn main() {\n    println!(\"nothing is run\");\n}\n";
    let sandbox = project("unreached", WITHOUT_HARNESS, main);
    let says = ["ran none of its experiments (tests/evals.rs:", "`fn main() { cobalt::main(); }`"];
    fails(&sandbox, &[], &says);
}

#[test]
fn experiments_of_a_library_leave_its_unit_tests_alone_and_run_in_a_test_target() {
    let manifest = format!(
        "{}\n{WITHOUT_HARNESS}",
        crate::projects::light().replace("dev-dependencies", "dependencies")
    );
    let sandbox = package("collected", &manifest);
    sandbox.write("src/lib.rs", &format!("{EXPERIMENT}\n#[test]\nfn unit() {{}}\n"));
    sandbox.write("tests/evals.rs", "use collected as _;\n\nfn main() {\n    cobalt::main();\n}\n");
    sandbox.write("tests/plain.rs", "use collected as _;\n\n#[test]\nfn plain() {}\n");
    let finished = cargo(&sandbox, &["test", "--tests"], &[]).code(0);
    assert_eq!(finished.cases_that("ok"), ["plain", "shouted::0000", "shouted::0001", "unit"]);
}
