//! Baseline gates end to end: a run becomes the baseline, and later runs are compared with it.

use std::fs;

use serde_json::Value;

use crate::git::git;
use crate::project::{ProgramOutput, Project};
use crate::snapshot::assert_printed;

/// A package whose agent answers a given percentage of 200 items correctly.
fn noisy() -> Project {
    let project = Project::empty();
    project.target("noisy");
    project.write("tests/noisy.rs", include_str!("fixture/noisy.rs"));
    items(&project, 0..200);
    steer(&project, 80, 1);
    project
}

fn items(project: &Project, ids: std::ops::Range<u32>) {
    let item = |id| format!("{}\n", serde_json::json!({ "id": format!("q{id}") }));
    project.write("data/items.jsonl", &ids.map(item).collect::<String>());
}

fn steer(project: &Project, percent: u32, seed: u32) {
    project.write("steer", &format!("{percent} % with seed {seed}"));
}

fn run(project: &Project, arguments: &[&str], code: i32) -> ProgramOutput {
    project.cobalt(&[&["run", "--ci", "--filter", "gated"], arguments].concat(), code)
}

/// The latest report of the gated experiment.
fn report(project: &Project) -> Value {
    project.newest_result_of("gated")
}

#[test]
fn a_gate_stands_noise_and_catches_a_drop() {
    let project = noisy();
    assert_printed!(run(&project, &[], 0));
    assert_printed!(run(&project, &["--on-inconclusive", "fail"], 1));
    assert_printed!(project.cobalt(&["baseline", "set"], 2));
    project.cobalt(&["baseline", "set", "--allow-failed"], 0);
    assert_printed!(run(&project, &["--on-inconclusive", "fail"], 0));

    for seed in [2, 3, 8, 10] {
        steer(&project, 80, seed);
        run(&project, &[], 0);
    }
    assert_eq!(report(&project)["ciStatus"]["inconclusive"].as_array().map(Vec::len), Some(1));
    steer(&project, 50, 5);
    assert_printed!(run(&project, &[], 1));
    let report = report(&project);
    assert_eq!(report["baseline"]["evaluators"][0]["verdict"], "worse");
    assert_eq!(report["ciStatus"]["violations"][0]["metric"], "drop");

    // Compared with the broken agent, the fixed one did not drop.
    steer(&project, 80, 6);
    assert_printed!(run(&project, &["--baseline", "latest", "--on-inconclusive", "fail"], 0));
}

#[test]
fn a_stale_baseline_is_said_and_only_what_is_common_is_judged() {
    let project = noisy();
    run(&project, &[], 0);
    project.cobalt(&["baseline", "set"], 0);
    items(&project, 100..300);
    assert_printed!(run(&project, &["--on-inconclusive", "fail"], 0));
    items(&project, 300..400);
    assert_printed!(run(&project, &[], 1));
    project.write(".cobalt/baselines/gated.json", "<<<<<<< ours\n");
    assert_printed!(run(&project, &[], 3));
}

#[test]
fn a_baseline_may_come_from_a_commit_a_folder_or_a_file() {
    let project = noisy();
    git(&project, &["init", "--quiet"]);
    run(&project, &[], 0);
    project.cobalt(&["baseline", "set"], 0);
    git(&project, &["add", "--all"]);
    git(&project, &["commit", "--quiet", "--message", "baselines"]);
    fs::rename(project.path(".cobalt/baselines"), project.path("kept")).unwrap();
    fs::remove_dir_all(project.path(".cobalt/results")).unwrap();

    // As in a fresh clone: no runs, and the file is only in the commit.
    run(&project, &["--baseline", "HEAD", "--on-inconclusive", "fail"], 0);
    let baseline = report(&project)["baseline"]["base"]["id"].as_str().unwrap().to_owned();
    assert!(project.read("kept/gated.json").contains(&baseline), "the committed baseline is used");
    run(&project, &["--baseline", "kept", "--on-inconclusive", "fail"], 0);
    run(&project, &["--baseline", "kept/gated.json", "--on-inconclusive", "fail"], 0);
    assert_printed!(run(&project, &["--on-inconclusive", "fail"], 1));

    // Runs of the commit take precedence, unless they were made with uncommitted changes.
    run(&project, &["--baseline", "HEAD"], 0);
    assert_eq!(report(&project)["baseline"]["base"]["id"], *baseline);
    git(&project, &["checkout", "--quiet", "--", "."]);
    run(&project, &[], 0);
    let newest = report(&project)["id"].clone();
    run(&project, &["--baseline", "HEAD", "--on-inconclusive", "fail"], 0);
    assert_eq!(report(&project)["baseline"]["base"]["id"], newest);

    git(&project, &["rm", "--quiet", "-r", "--cached", ".cobalt"]);
    git(&project, &["commit", "--quiet", "--message", "no baselines"]);
    assert_printed!(run(&project, &["--baseline", "HEAD", "--on-inconclusive", "fail"], 1));
    assert_printed!(run(&project, &["--baseline", "nothing"], 4));
    assert_printed!(run(&project, &["--baseline", "./data"], 4));
}

#[test]
fn a_job_that_is_started_again_is_judged_with_the_earlier_attempts_at_its_commit() {
    let project = noisy();
    run(&project, &[], 0);
    project.cobalt(&["baseline", "set", "--allow-failed"], 0);
    git(&project, &["init", "--quiet"]);
    project.write(".gitignore", "/steer\n/target\n");
    project.write("notes.txt", "as committed");
    git(&project, &["add", "--all"]);
    git(&project, &["commit", "--quiet", "--message", "an agent"]);
    steer(&project, 72, 7);
    assert_printed!(run(&project, &[], 0));
    let first = report(&project)["id"].clone();
    steer(&project, 72, 9);
    let printed = run(&project, &[], 0).stdout;
    let expected = "gated: passed, 1 of 1 threshold inconclusive, with 1 earlier run of this commit\n";
    assert!(printed.contains(expected), "{printed}");
    let second = report(&project);
    assert_eq!(second["pooled"], serde_json::json!([first]));
    assert_eq!(second["items"][0]["runs"], Value::Null, "the items are only those of this run");
    steer(&project, 72, 11);
    let printed = run(&project, &[], 0).stdout;
    let note =
        "note: 2 earlier runs of this commit would not make a score worse, if counted as additional trials";
    assert!(printed.contains(note), "{printed}");
    assert_eq!(report(&project)["pooled"], serde_json::json!([first, second["id"]]));
    let drop = |report: &Value| report["ciStatus"]["thresholds"][0]["actual"].as_f64().unwrap();
    let averages = [&report(&project), &second]
        .map(|report| report["summary"]["scores"]["right"]["avg"].as_f64().unwrap());
    assert!(drop(&report(&project)) != drop(&second) && averages[0] != averages[1], "{averages:?}");
    // Earlier runs do not hide a collapse, which is reported as drift.
    steer(&project, 0, 12);
    let printed = run(&project, &[], 1).stdout;
    for expected in [
        "gated: FAILED, 1 of 1 threshold missed, with 3 earlier runs of this commit, from which it differs beyond noise\n",
        "  drift   the mean of `right` is 0.000 in this run and 0.",
    ] {
        assert!(printed.contains(expected), "{printed}");
    }
    steer(&project, 72, 11);
    project.write("notes.txt", "changed since");
    let said = run(&project, &[], 0);
    assert!(!said.stdout.contains("of this commit"), "{}", said.stdout);
}

#[test]
fn every_experiment_has_a_baseline_of_its_own_and_a_run_of_some_items_is_none() {
    let project = noisy();
    project.cobalt(&["run"], 0);
    assert_printed!(project.cobalt(&["run", "--baseline", "latest"], 0));
    project.write("cobalt.toml", "[ci]\nthresholds = [\"vs_baseline.score.drop <= 0.1\"]\n");
    steer(&project, 40, 2);
    let said = project.cobalt(&["run", "--ci", "--baseline", "open@latest"], 1);
    assert_printed!(said);
    project.write("data/other.json", &project.newest_result_of("open").to_string());
    for other in ["open@latest", "data/other.json"] {
        assert_printed!(project.cobalt(&["run", "--filter", "gated", "--baseline", other], 4));
    }

    project.cobalt(&["run", "--filter", "open", "--", "q1"], 0);
    let partial = fs::read_dir(project.path(".cobalt/results")).unwrap().flatten().map(|file| file.path());
    let is_partial =
        |path: &std::path::PathBuf| fs::read_to_string(path).unwrap().contains("\"partial\": true");
    let partial = partial.into_iter().find(is_partial).unwrap();
    assert_printed!(project.cobalt(&["run", "--baseline", partial.to_str().unwrap()], 2));
}
