//! Jobs of a pull request, which compare with the latest run of the branch that it goes to: nothing is committed or copied.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::git::git;
use crate::project::{ProgramOutput, Project};

/// Variables of a job.
type Variables<'a> = [(&'a str, &'a str)];

const GITHUB_PUSH: &Variables<'_> = &[("GITHUB_ACTIONS", "true"), ("GITHUB_REF_NAME", "main")];
const GITHUB_PULL_REQUEST: &Variables<'_> = &[
    ("GITHUB_ACTIONS", "true"),
    ("GITHUB_REF_NAME", "7/merge"),
    ("GITHUB_HEAD_REF", "fix"),
    ("GITHUB_BASE_REF", "main"),
];
const GITLAB_PUSH: &Variables<'_> = &[("GITLAB_CI", "true"), ("CI_COMMIT_BRANCH", "main")];
const GITLAB_MERGE_REQUEST: &Variables<'_> = &[
    ("GITLAB_CI", "true"),
    ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "fix"),
    ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
];

/// A repository whose agent answers a given percentage of 200 items correctly.
fn repository() -> Project {
    let project = Project::empty();
    project.target("noisy");
    project.write("tests/noisy.rs", include_str!("../fixture/noisy.rs"));
    let item = |id| format!("{}\n", serde_json::json!({ "id": format!("q{id}"), "input": "SECRET" }));
    project.write("data/items.jsonl", &(0..200).map(item).collect::<String>());
    project.write("steer", "80 % with seed 1");
    // Cargo rewrites the lock file, which would be an uncommitted change.
    project.cobalt(&["list"], 0);
    git(&project, &["init", "--quiet", "--initial-branch", "main"]);
    commit(&project, "an agent");
    project
}

fn commit(project: &Project, message: &str) {
    git(project, &["add", "--all"]);
    git(project, &["commit", "--quiet", "--message", message]);
}

/// A job in a fresh clone: its repository, and what it printed.
fn job(of: &Project, store: &Path, variables: &Variables<'_>, code: i32) -> (Project, ProgramOutput) {
    let clone = of.cloned();
    let output = run(&clone, store, variables, &[], code);
    (clone, output)
}

fn run(
    project: &Project,
    store: &Path,
    variables: &Variables<'_>,
    more: &[&str],
    code: i32,
) -> ProgramOutput {
    let arguments = ["run", "--ci", "--filter", "gated", "--push", "--baseline", "target"];
    let mut command = project.command(&[&arguments[..], more].concat());
    command.env("COBALT_REMOTE", store).envs(variables.iter().copied());
    ProgramOutput::by(&mut command, code)
}

/// The IDs of the newest run of a project and of its baseline.
fn ids(project: &Project) -> (String, Value) {
    let report = project.newest_result();
    (report["id"].as_str().unwrap().to_owned(), report["baseline"]["base"]["id"].clone())
}

fn a_pull_request_is_compared_with_its_target(push: &Variables<'_>, pull_request: &Variables<'_>) {
    let store = TempDir::new().unwrap();
    let main = repository();
    let (first, said) = job(&main, store.path(), push, 0);
    said.stderr_has("warning: no baseline: branch `main` (`target`) has no complete run");
    let (first, _) = ids(&first);

    // On a branch, within noise: the job passes, and nothing but the store carries the baseline.
    let fix = main.cloned();
    git(&fix, &["checkout", "--quiet", "-b", "fix"]);
    fix.write("steer", "80 % with seed 2");
    commit(&fix, "other words");
    let (done, _) = job(&fix, store.path(), pull_request, 0);
    let (id, base) = ids(&done);
    assert_eq!(base, *first);
    assert!(!done.path(".cobalt/baselines").exists() && done.results() == ["gated"], "only its own result");
    assert!(id != first);

    // A drop fails the job, and the run of the branch before is not taken for one of `main`.
    fix.write("steer", "50 % with seed 5");
    commit(&fix, "worse words");
    let (done, said) = job(&fix, store.path(), pull_request, 1);
    assert_eq!(ids(&done).1, *first);
    assert!(said.stdout.contains("drop"), "{said:?}");
}

#[test]
fn a_job_of_github_is_compared_with_the_latest_run_of_its_base() {
    a_pull_request_is_compared_with_its_target(GITHUB_PUSH, GITHUB_PULL_REQUEST);
}

#[test]
fn a_job_of_gitlab_is_compared_with_the_latest_run_of_its_target() {
    a_pull_request_is_compared_with_its_target(GITLAB_PUSH, GITLAB_MERGE_REQUEST);
}

#[test]
fn a_push_is_compared_with_the_run_of_an_earlier_commit_even_if_its_job_is_started_again() {
    let store = TempDir::new().unwrap();
    let main = repository();
    let (first, _) = job(&main, store.path(), GITHUB_PUSH, 0);
    main.write("steer", "80 % with seed 2");
    commit(&main, "other words");
    for _ in 0..2 {
        let (done, _) = job(&main, store.path(), GITHUB_PUSH, 0);
        assert_eq!(ids(&done).1, *ids(&first).0);
    }
}

#[test]
fn a_redacted_run_is_a_baseline_and_shows_which_items_changed() {
    let store = TempDir::new().unwrap();
    let main = repository();
    main.write("cobalt.toml", "[storage]\npush-redacted = true\n");
    commit(&main, "settings");
    let (first, _) = job(&main, store.path(), GITHUB_PUSH, 0);
    let data = main.read("data/items.jsonl");
    main.write("data/items.jsonl", &data.replacen("SECRET", "another", 10));
    main.write("steer", "50 % with seed 5");
    commit(&main, "worse");
    let (done, _) = job(&main, store.path(), GITHUB_PULL_REQUEST, 1);
    let report = done.newest_result();
    assert_eq!(report["baseline"]["base"]["id"], ids(&first).0);
    assert_eq!(report["baseline"]["items"]["changed"].as_array().map(Vec::len), Some(10));
    let fetched =
        std::process::Command::new("grep").args(["-r", "SECRET"]).arg(done.path(".cobalt/remote")).output();
    assert!(fetched.unwrap().stdout.is_empty());
}

#[test]
fn without_the_store_runs_of_this_machine_suffice_with_a_warning_and_else_the_job_fails() {
    let main = repository();
    let lost = main.path("no/such/folder");
    let mut command = main.command(&["run", "--ci", "--filter", "gated", "--baseline", "branch:main"]);
    let said = ProgramOutput::by(command.env("COBALT_REMOTE", &lost), 3);
    said.stderr_has("error: failed to open the remote store");
    assert!(!main.path(".cobalt/results").exists(), "nothing was run");

    main.cobalt(&["run", "--filter", "gated"], 0);
    let mut command = main.command(&["run", "--ci", "--filter", "gated", "--baseline", "branch:main"]);
    let said = ProgramOutput::by(command.env("COBALT_REMOTE", &lost), 0);
    said.stderr_has("warning: failed to open the remote store")
        .stderr_has("using only the runs of this machine");
    assert!(ids(&main).1.is_string());
}

#[test]
fn outside_of_a_job_the_branch_has_to_be_named() {
    let main = repository();
    main.cobalt(&["run", "--baseline", "target"], 4).stderr_has("name the branch, e.g. `branch:main`");
}
