//! `cargo cobalt run --rerun-failed` and `--changed`: which items are run again, and what is said of it.

use std::fs;

use serde_json::Value;

use crate::project::{Project, Said};

/// The items of the newest run, each with whether it was one of a part of the data set.
fn newest(project: &Project) -> (Vec<String>, bool) {
    let files = fs::read_dir(project.path(".cobalt/results")).unwrap().flatten();
    let report =
        |file: fs::DirEntry| serde_json::from_slice::<Value>(&fs::read(file.path()).unwrap()).unwrap();
    let newest = files.map(report).max_by_key(|report| report["timestamp"].to_string()).unwrap();
    let items = newest["items"].as_array().unwrap().iter();
    let keys = items.map(|item| item["key"].as_str().unwrap().to_owned()).collect();
    (keys, newest["partial"] == true)
}

/// Runs the experiment `strict` with these flags, and answers with what it ran, if anything.
fn runs(project: &Project, flags: &[&str]) -> (Option<Vec<String>>, Said) {
    let before = project.results().len();
    let said = project.cobalt(&[&["run", "--filter", "strict"], flags].concat(), 0);
    ((project.results().len() > before).then(|| newest(project).0), said)
}

fn some(keys: &[&str]) -> Option<Vec<String>> {
    Some(keys.iter().map(|&key| key.to_owned()).collect())
}

#[test]
fn what_failed_last_time_is_run_again_until_it_passes() {
    let project = Project::steered();
    project.answers(&[("paris", "Paris"), ("rome", "Paris"), ("oslo", "error")]);
    let (items, said) = runs(&project, &["--rerun-failed"]);
    assert_eq!(items, some(&["paris", "rome", "oslo"]), "there is no earlier run");
    said.tells("(all, as there is no earlier run)");

    project.answers(&[("paris", "Paris"), ("rome", "Rome"), ("oslo", "error")]);
    let (items, said) = runs(&project, &["--rerun-failed"]);
    assert_eq!(items, some(&["rome", "oslo"]));
    assert!(newest(&project).1, "a run of some items is partial");
    said.tells("partial run (2 failed last time)").says("strict: FAILED, 1 item in error");

    let (items, _) = runs(&project, &["--rerun-failed", "--", "strict::rome"]);
    assert_eq!(items, None, "it has passed since");
    project.answers(&[("paris", "Paris"), ("rome", "Rome"), ("oslo", "Oslo")]);
    assert_eq!(runs(&project, &["--rerun-failed"]).0, some(&["oslo"]));
    let (items, said) = runs(&project, &["--rerun-failed", "--ci"]);
    assert_eq!(items, None);
    said.tells("strict: nothing to run: no item failed last time, in run `")
        .says("1 experiment had no item to run");
    project.cobalt(&["run", "--rerun-failed", "--changed"], 2).tells("cannot be used with");
}

#[test]
fn what_has_changed_is_run_again_and_everything_where_a_source_has() {
    let project = Project::steered();
    let (items, _) = runs(&project, &["--changed"]);
    assert_eq!(items, some(&["paris", "rome"]));
    let (items, said) = runs(&project, &["--changed"]);
    assert_eq!(items, None);
    said.tells("strict: nothing to run: nothing has changed since run `");

    project.answers(&[("paris", "Paris"), ("rome", "Paris"), ("oslo", "Oslo")]);
    let (items, said) = runs(&project, &["--changed"]);
    assert_eq!(items, some(&["rome", "oslo"]));
    said.tells("partial run (1 without a result yet, 1 changed since)");

    project.write("src/prompt.txt", "Be brief.");
    let (items, said) = runs(&project, &["--changed", "--", "strict::oslo"]);
    assert_eq!(items, some(&["oslo"]));
    said.tells("(1 last run before the sources changed)");
    assert_eq!(
        runs(&project, &["--changed"]).0,
        some(&["paris", "rome"]),
        "of oslo there is a result by them"
    );
    assert_eq!(runs(&project, &["--changed"]).0, None);
    project.write("notes.md", "No source.");
    assert_eq!(runs(&project, &["--changed"]).0, None);
    let declared = project.read("tests/evals.rs");
    project.write("tests/evals.rs", &format!("{declared}// The end.\n"));
    assert_eq!(runs(&project, &["--changed"]).0, some(&["paris", "rome", "oslo"]));
    assert!(!newest(&project).1, "all items are a whole run");
}
