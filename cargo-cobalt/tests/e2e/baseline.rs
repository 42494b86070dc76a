//! `cargo cobalt baseline` on folders with result files: which runs become baselines, and how they are shown later.

use std::time::{Duration, SystemTime};

use cobalt_core::report::Timestamp;
use serde_json::{Value, json};

use crate::git::git;
use crate::project::{ProgramOutput, Project};
use crate::snapshot::assert_printed;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Writes the result file of a run with a single evaluator and these scores, dated this many days ago.
fn keep(project: &Project, name: &str, id: &str, days_ago: u32, scores: &[f64]) {
    write(project, &run(name, id, days_ago, scores));
}

fn write(project: &Project, run: &Value) {
    let file = format!(".cobalt/results/run_{}.json", run["id"].as_str().unwrap());
    project.write(&file, &run.to_string());
}

fn run(name: &str, id: &str, days_ago: u32, scores: &[f64]) -> Value {
    let item = |(index, score): (usize, &f64)| {
        json!({
            "index": index, "key": index.to_string(), "input": { "id": index.to_string(), "input": "a question" },
            "output": { "output": "a secret answer" }, "latencyMs": 5.0,
            "evaluations": { "right": { "score": score } }, "status": "ok", "passed": true,
        })
    };
    json!({
        "schema": 1, "id": id, "name": name, "timestamp": Timestamp::from(SystemTime::now() - DAY * days_ago).to_string(),
        "config": { "runs": 1, "concurrency": 5, "timeout": 1000, "evaluators": ["right"], "evaluatorHashes": ["a"] },
        "summary": { "totalItems": scores.len(), "scores": {} }, "passed": true,
        "dataset": { "source": "items.jsonl", "items": scores.len(), "hash": format!("{} items", scores.len()) },
        "items": scores.iter().enumerate().map(item).collect::<Vec<_>>(),
    })
}

/// The experiments that have a baseline, each with the ID of its baseline run.
fn set(project: &Project) -> Vec<(String, String)> {
    let shown: Vec<Value> =
        serde_json::from_str(&project.cobalt(&["baseline", "show", "--json"], 0).stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    shown.iter().map(|baseline| (text(&baseline["name"]), text(&baseline["id"]))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, id)| ((*name).to_owned(), (*id).to_owned())).collect()
}

fn with_runs() -> Project {
    let project = Project::empty();
    keep(&project, "desk", "aaaaaaaaaaaa", 19, &[1.0, 0.5, 0.0]);
    keep(&project, "desk", "bbbbbbbbbbbb", 17, &[1.0, 1.0, 0.5]);
    keep(&project, "intent", "cccccccccccc", 18, &[1.0, 1.0]);
    project
}

#[test]
fn the_newest_whole_run_of_each_experiment_becomes_its_baseline() {
    let project = with_runs();
    let mut partial = run("desk", "dddddddddddd", 11, &[1.0]);
    partial["partial"] = json!(true);
    write(&project, &partial);
    assert_printed!(project.cobalt(&["baseline", "set"], 0));
    assert_eq!(set(&project), pairs(&[("desk", "bbbbbbbbbbbb"), ("intent", "cccccccccccc")]));
    let file = project.read(".cobalt/baselines/desk.json");
    assert!(!file.contains("secret answer") && !file.contains("a question"), "{file}");
}

#[test]
fn runs_are_named_as_elsewhere_and_one_takes_the_place_of_another() {
    let project = with_runs();
    project.cobalt(&["baseline", "set", "--experiment", "int*"], 0);
    assert_eq!(set(&project), pairs(&[("intent", "cccccccccccc")]));
    project.cobalt(&["baseline", "set", "bbb"], 0);
    assert_printed!(project.cobalt(&["baseline", "set", "desk@latest~1"], 0));
    assert_eq!(set(&project), pairs(&[("desk", "aaaaaaaaaaaa"), ("intent", "cccccccccccc")]));
}

#[test]
fn a_baseline_that_is_worse_than_the_one_before_it_is_set_and_said_to_be() {
    let project = Project::empty();
    keep(&project, "desk", "aaaaaaaaaaaa", 3, &[1.0; 40]);
    project.cobalt(&["baseline", "set"], 0);
    keep(&project, "desk", "bbbbbbbbbbbb", 2, &[0.0; 40]);
    assert_printed!(project.cobalt(&["baseline", "set"], 0));
    let said = project.cobalt(&["baseline", "set", "aaa"], 0);
    assert!(!said.stderr.contains("worse"), "{said:?}");
    assert_eq!(set(&project), pairs(&[("desk", "aaaaaaaaaaaa")]));
}

#[test]
fn a_run_that_failed_becomes_a_baseline_only_where_that_is_asked_for() {
    let project = with_runs();
    let mut failed = run("desk", "dddddddddddd", 11, &[0.0]);
    failed["passed"] = json!(false);
    write(&project, &failed);
    for runs in [&[][..], &["ddd"], &["ccc", "ddd"]] {
        assert_printed!(project.cobalt(&[&["baseline", "set"], runs].concat(), 2));
    }
    assert!(!project.path(".cobalt/baselines").exists(), "the other experiment's baseline is not set either");
    assert_printed!(project.cobalt(&["baseline", "set", "--allow-failed"], 0));
    assert_eq!(set(&project), pairs(&[("desk", "dddddddddddd"), ("intent", "cccccccccccc")]));
    assert!(project.read(".cobalt/baselines/desk.json").contains("\"failed\": true"));
    assert!(!project.read(".cobalt/baselines/intent.json").contains("failed"));
}

#[test]
fn failures_elsewhere_are_no_obstacle() {
    let project = Project::empty();
    project.write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"app\", \"other\"]\n");
    for (package, experiment, id, passed) in
        [("app", "desk", "aaaaaaaaaaaa", true), ("other", "faq", "bbbbbbbbbbbb", false)]
    {
        project.write(&format!("{package}/Cargo.toml"), &format!("[package]\nname = \"{package}\"\n"));
        let mut run = run(experiment, id, 3, &[1.0]);
        run["declaredAt"] = json!({ "file": format!("{package}/tests/evals.rs"), "line": 1 });
        run["passed"] = json!(passed);
        write(&project, &run);
    }
    let set_in = |folder: &str, code| {
        let mut command = project.command(&["baseline", "set"]);
        ProgramOutput::by(command.current_dir(project.path(folder)), code)
    };
    let said = set_in("app", 0);
    assert!(said.stdout.starts_with("desk: saved run") && !said.stdout.contains("faq"), "{said:?}");
    set_in("other", 2).stderr_has("run bbbbbbbbbbbb of `faq` failed");
    set_in("", 2).stdout_has("desk: run aaaaaaaaaaaa").stderr_has("run bbbbbbbbbbbb of `faq` failed");
    project.cobalt(&["baseline", "set", "--experiment", "desk"], 0);
    assert_eq!(set(&project), pairs(&[("desk", "aaaaaaaaaaaa")]));
}

#[test]
fn a_replayed_run_becomes_a_baseline_only_if_it_is_allowed_and_is_said_to_be_replayed() {
    let project = with_runs();
    let mut replayed = run("desk", "dddddddddddd", 11, &[1.0, 1.0]);
    let traffic = json!({ "replayed": 2, "recordedAt": "2026-01-21T09:00:00.000Z", "asked": ["a", "b"] });
    replayed["items"][0]["traffic"] = traffic;
    replayed["summary"]["traffic"] = json!({ "replayedItems": 1, "liveItems": 0, "replayed": 2, "live": 0 });
    write(&project, &replayed);
    assert_printed!(project.cobalt(&["baseline", "set"], 2));
    assert!(!project.path(".cobalt/baselines").exists(), "the other experiment's baseline is not set either");
    assert_printed!(project.cobalt(&["baseline", "set", "--allow-replayed"], 0));
    let file: Value = serde_json::from_str(&project.read(".cobalt/baselines/desk.json")).unwrap();
    assert_eq!((&file["replayed"], &file["items"][0]["replayed"]), (&json!(true), &json!(true)));
    assert_eq!(file["items"][0]["asked"], json!(["a", "b"]));
    assert!(!project.read(".cobalt/baselines/intent.json").contains("replayed"));
    // A later replayed run does not make it stale.
    replayed["id"] = json!("eeeeeeeeeeee");
    replayed["timestamp"] = json!(Timestamp::from(SystemTime::now() - DAY).to_string());
    write(&project, &replayed);
    let ProgramOutput { stdout, .. } = project.cobalt(&["baseline", "show", "--experiment", "desk"], 0);
    assert!(stdout.contains(" current "), "{stdout}");
    let note = "desk: run dddddddddddd was replayed in part: the latency and agent cost of 1 of 2 items are those of the recording\n";
    assert!(stdout.ends_with(note), "{stdout}");
    let shown = project.cobalt(&["baseline", "show", "--json"], 0).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&shown[0]["replayed"], &shown[1]["replayed"]), (&json!(true), &json!(false)));
}

#[test]
fn a_mistake_in_one_of_several_runs_changes_nothing() {
    let project = with_runs();
    let mut partial = run("desk", "dddddddddddd", 11, &[1.0]);
    partial["partial"] = json!(true);
    write(&project, &partial);
    assert_printed!(project.cobalt(&["baseline", "set", "ccc", "zzz"], 4));
    assert_printed!(project.cobalt(&["baseline", "set", "ccc", "ddd"], 2));
    assert_printed!(project.cobalt(&["baseline", "set", "aaa", "bbb"], 2));
    assert_printed!(project.cobalt(&["baseline", "set", "--experiment", "dsek"], 4));
    assert_printed!(Project::empty().cobalt(&["baseline", "set"], 4));
    assert!(!project.path(".cobalt/baselines").exists());
}

#[test]
fn a_baseline_of_another_experiment_is_not_overwritten() {
    let project = with_runs();
    keep(&project, "help desk", "dddddddddddd", 16, &[1.0]);
    keep(&project, "help-desk", "eeeeeeeeeeee", 15, &[1.0]);
    project.cobalt(&["baseline", "set", "ddd"], 0);
    assert_printed!(project.cobalt(&["baseline", "set", "eee"], 2));
    assert_printed!(project.cobalt(&["baseline", "set"], 2));
    assert_eq!(set(&project), pairs(&[("help desk", "dddddddddddd")]));
}

#[test]
fn of_two_experiments_that_would_share_a_file_neither_is_lost() {
    let project = Project::empty();
    keep(&project, "help desk", "dddddddddddd", 16, &[1.0]);
    keep(&project, "help-desk", "eeeeeeeeeeee", 15, &[1.0]);
    assert_printed!(project.cobalt(&["baseline", "set"], 2));
    assert!(!project.path(".cobalt/baselines").exists());
}

#[test]
fn a_table_shows_which_baselines_are_stale_and_why() {
    let project = with_runs();
    assert_printed!(project.cobalt(&["baseline", "show"], 0));
    project.cobalt(&["baseline", "set"], 0);
    keep(&project, "desk", "dddddddddddd", 16, &[1.0, 1.0, 1.0, 1.0]);
    let mut other = run("intent", "eeeeeeeeeeee", 16, &[1.0, 1.0]);
    other["config"]["evaluatorHashes"] = json!(["b"]);
    write(&project, &other);
    keep(&project, "new", "ffffffffffff", 15, &[1.0]);
    let ProgramOutput { stdout, stderr } = project.cobalt(&["baseline", "show"], 0);
    let lines: Vec<_> =
        stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(lines[0], "experiment run start (UTC) commit items state scores");
    assert!(
        lines[1].starts_with("desk bbbbbbbbbbbb 20") && lines[1].ends_with(" 3 stale right 0.833"),
        "{stdout}"
    );
    assert!(lines[3].starts_with("desk: the datasets differ: 1 item added"), "{stdout}");
    assert!(stdout.contains("intent: `right` had different settings"), "{stdout}");
    assert!(stderr.contains("No baseline yet: `new`"), "{stderr}");
    assert!(stderr.contains("save it with `cargo cobalt baseline set`"), "{stderr}");
    let shown = project.cobalt(&["baseline", "show", "--json", "--experiment", "desk"], 0).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&shown[0]["state"], &shown[0]["newestRun"]), (&json!("stale"), &json!("dddddddddddd")));
    assert_printed!(project.cobalt(&["baseline", "show", "--experiment", "zzz"], 0));
}

#[test]
fn a_baseline_is_stale_by_its_age_unless_it_is_the_newest_run() {
    let project = with_runs();
    keep(&project, "old", "dddddddddddd", 40, &[1.0, 0.0]);
    project.cobalt(&["baseline", "set"], 0);
    let state = |name: &str| {
        let shown = project.cobalt(&["baseline", "show", "--json", "--experiment", name], 0).stdout;
        serde_json::from_str::<Value>(&shown).unwrap()[0]["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state("old"), "newest");
    keep(&project, "old", "eeeeeeeeeeee", 1, &[1.0, 0.0]);
    assert_eq!(state("old"), "stale");
    assert_printed!(project.cobalt(&["baseline", "show"], 0));
    project.write("cobalt.toml", "[baseline]\nmax-age = \"60d\"\n");
    assert_eq!(state("old"), "current");
}

#[test]
fn a_damaged_baseline_is_an_error_beside_the_others_and_can_be_set_anew() {
    let project = with_runs();
    project.cobalt(&["baseline", "set"], 0);
    project.write(".cobalt/baselines/desk.json", "<<<<<<< ours\n");
    assert_printed!(project.cobalt(&["baseline", "show"], 3));
    project.cobalt(&["baseline", "set"], 0);
    assert_printed!(project.cobalt(&["baseline", "show"], 0));
}

#[test]
fn what_git_would_leave_out_is_said() {
    let project = with_runs();
    let said = project.cobalt(&["baseline", "set"], 0);
    assert!(!said.stderr.contains("commit"), "not in a git repository: {said:?}");
    git(&project, &["init", "--quiet"]);
    project.write(".gitignore", "target/\n");
    assert_printed!(project.cobalt(&["baseline", "set"], 0));
    project.write(".gitignore", "target/\n.cobalt/\n");
    assert_printed!(project.cobalt(&["baseline", "set"], 0));
    project.write(".gitignore", "**/.cobalt/*\n!**/.cobalt/baselines/\n");
    assert_printed!(project.cobalt(&["baseline", "set"], 0));
}
