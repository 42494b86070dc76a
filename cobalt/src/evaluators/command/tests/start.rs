//! How a program is found and started, and what identifies it.

use super::{PLENTY, ask, assert_says, loop_of, refused, shell};
use crate::dataset::Dataset;
use crate::evaluators::{CommandEvaluator, Evaluator, Setup};

#[tokio::test]
async fn the_environment_is_passed_on_with_what_is_added() {
    let script = r#"echo "{\"score\": 1, \"reason\": \"$MODE $PWD ${PATH:+set}\"}""#;
    let score = ask(&loop_of(script).env("MODE", "strict")).await.unwrap();
    let root = crate::paths::package_root();
    assert_eq!(score.why(), Some(&*format!("strict {} set", root.display())));
}

fn check(evaluator: &CommandEvaluator) -> Result<(), String> {
    let config = crate::config::Config::load(tempfile::tempdir().unwrap().path(), |_| None).unwrap();
    let setup = Setup { dataset: Dataset::from_items([crate::item! {}]), models: config.shared_models() };
    evaluator.check(&setup).map_err(|error| error.to_string())
}

#[test]
fn a_program_is_found_before_the_run_or_it_is_said_where_it_was_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let started = folder.path().join("started");
    let evaluator = shell(&format!("touch {}", started.display()));
    check(&evaluator).unwrap();
    assert!(!started.exists(), "it is not run for that");

    let error = |program: &str| check(&CommandEvaluator::new("c", program)).unwrap_err();
    assert_says(
        &error("no-such-program"),
        &["`no-such-program` is in none of the folders of PATH; install it"],
    );
    let root = crate::paths::package_root();
    let looked_for =
        format!("`tools/score` is not there; looked for `{}`", root.join("tools/score").display());
    assert_says(&error("tools/score"), &[&looked_for]);
    assert_says(&error("./Cargo.toml"), &["cannot be run; make it executable, or write its interpreter"]);
    assert_says(&error(""), &["the command is empty"]);
    let only_here = CommandEvaluator::new("c", "sh").env("PATH", "/no/such/folder");
    assert_says(&check(&only_here).unwrap_err(), &["none of the folders of PATH"]);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_no_panic_without_a_check() {
    assert_says(&refused(&CommandEvaluator::new("c", "no-such-program")).await, &["none of the folders"]);
}

#[test]
fn the_fingerprint_has_the_command_and_no_secret() {
    let evaluator =
        CommandEvaluator::new("c", "score").arg("--fast").env("API_KEY", "hunter2").env("MODE", "a");
    let fingerprint = evaluator.fingerprint();
    assert_says(&fingerprint, &["\"score\"", "\"--fast\"", "\"MODE\": \"a\"", "\"API_KEY\": \"[redacted]\""]);
    assert!(!fingerprint.contains("hunter2"), "{fingerprint}");
    assert_ne!(fingerprint, evaluator.clone().arg("--slow").fingerprint());
    assert_eq!(fingerprint, evaluator.processes(4).timeout(PLENTY).fingerprint());
}
