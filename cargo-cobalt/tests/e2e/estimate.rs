//! `run --estimate`: what a run would cost, according to earlier runs.

use cobalt_core::recordings::{Cassette, RecordingFolder};
use serde_json::{Value, json};

use crate::project::Project;
use crate::snapshot::assert_printed;

/// A run of two items on this day of February. `summary` has what is known of its cost.
fn keep(project: &Project, experiment: &str, id: &str, day: u32, summary: &Value) {
    let mut run = json!({
        "schema": 1, "id": id, "name": experiment, "timestamp": format!("2026-02-{day:02}T14:30:00.000Z"),
        "config": { "runs": 1, "concurrency": 1, "timeout": 1, "evaluators": ["right"], "evaluatorHashes": ["1"] },
        "summary": { "totalItems": 2, "successfulItems": 2 }, "items": [],
    });
    let known = run["summary"].as_object_mut().unwrap();
    known.extend(summary.as_object().unwrap().clone());
    project.write(
        &format!(".cobalt/results/2026-02-{day:02}T14-30-00_{experiment}_{id}.json"),
        &run.to_string(),
    );
}

fn estimate(project: &Project, more: &[&str], code: i32) -> crate::project::ProgramOutput {
    let arguments = ["run", "--estimate", "--experiment", "strict", "--experiment", "gated"];
    project.cobalt(&[&arguments[..], more].concat(), code)
}

#[test]
fn each_part_of_the_cost_is_that_of_the_latest_run_that_knows_it() {
    let project = Project::steered();
    // The latest run does not know what the judges cost; in the one before, most of their answers came from the cache.
    keep(&project, "strict", "cccccccccccc", 3, &json!({ "estimatedCost": 0.06, "evalErrors": 1 }));
    let judged = json!({ "estimatedCost": 0.5, "judgeCost": 0.01, "judgeCalls": 1, "judgeCached": 1 });
    keep(&project, "strict", "bbbbbbbbbbbb", 2, &judged);
    keep(&project, "gated", "aaaaaaaaaaaa", 1, &json!({ "estimatedCost": 0.01 }));
    assert_printed!(estimate(&project, &[], 0));
    // Five trials of two items.
    estimate(&project, &["--runs", "5"], 0).stdout_has("2 experiments: total cost $0.45");
    assert_eq!(project.results().len(), 3, "nothing was run");
}

#[test]
fn a_total_without_all_of_its_parts_says_so() {
    let project = Project::steered();
    let judged = json!({ "judgeCost": 0.01, "judgeCalls": 2, "judgeCached": 0 });
    keep(&project, "strict", "bbbbbbbbbbbb", 2, &judged);
    assert_printed!(estimate(&project, &[], 0));
}

#[test]
fn replayed_and_ignored_experiments_cost_nothing() {
    let project = Project::with_features();
    project.target("keyed");
    project.write("tests/judge/mod.rs", include_str!("fixture/judge.rs"));
    project.write("tests/keyed.rs", include_str!("fixture/keyed.rs"));
    keep(&project, "free", "aaaaaaaaaaaa", 1, &json!({ "estimatedCost": 0.04 }));
    RecordingFolder::new(project.path("cassettes/free")).write("one", &Cassette::new("free", "one")).unwrap();
    let arguments = ["run", "--estimate", "--experiment", "free", "--experiment", "spared"];
    assert_printed!(project.cobalt(&arguments, 0));
    // The earlier run knows only the agent cost.
    project
        .cobalt(&[&arguments[..], &["--record", "record"]].concat(), 0)
        .stdout_has("total cost at least $0.020");
}

#[test]
fn an_experiment_that_cannot_run_is_an_error() {
    let project = Project::steered();
    std::fs::remove_file(project.path("data/items.jsonl")).unwrap();
    assert_printed!(estimate(&project, &[], 3));
}

#[test]
fn test_cases_cannot_be_selected() {
    let said = Project::empty().cobalt(&["run", "--estimate", "--", "strict::paris"], 2);
    said.stderr_has("cannot be used with arguments after `--`").stderr_has("--experiment");
}
