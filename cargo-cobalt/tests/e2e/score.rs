//! `cargo cobalt score`: evaluators run on the stored outputs of a run, and the agent is not called.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::command::program;
use crate::mcp::assistant::Assistant;
use crate::project::{ProgramOutput, Project};

const SOURCE: &str = include_str!("fixture/scored.rs");

/// A package with a run: `paris` is right, `rome` is wrong, and the agent broke on `oslo`.
fn with_run() -> (Project, Value) {
    let project = Project::empty();
    project.target("scored");
    project.write("tests/scored.rs", SOURCE);
    project.answers(&[("paris", "Paris"), ("rome", "Paris"), ("oslo", "error")]);
    project.cobalt(&["run"], 0);
    assert_eq!(project.read("calls").lines().count(), 3);
    let run = project.newest_result();
    (project, run)
}

/// Changes the evaluator `short`, so that the outputs pass.
fn change_evaluator(project: &Project) {
    project.write("tests/scored.rs", &SOURCE.replace("< 5", "< 50"));
}

/// Scores again and returns the new run. The agent must not be called.
fn score(project: &Project, flags: &[&str], code: i32) -> (Value, ProgramOutput) {
    let calls = project.read("calls");
    let said = project.cobalt(&[&["score"], flags].concat(), code);
    assert_eq!(project.read("calls"), calls, "the agent was called");
    (project.newest_result(), said)
}

fn item<'r>(run: &'r Value, key: &str) -> &'r Value {
    run["items"].as_array().unwrap().iter().find(|item| item["key"] == key).unwrap()
}

fn scores(run: &Value, key: &str) -> Value {
    let evaluations = item(run, key)["evaluations"].as_object().unwrap();
    evaluations.iter().map(|(name, evaluation)| (name.clone(), evaluation["score"].clone())).collect()
}

#[test]
fn a_changed_evaluator_scores_the_stored_outputs_and_thresholds_apply() {
    let (project, original) = with_run();
    assert_eq!(original["ciStatus"]["passed"], false);
    change_evaluator(&project);
    let (run, said) = score(&project, &[], 0);
    let id = original["id"].as_str().unwrap();
    assert_eq!(run["rescored"]["run"], id);
    assert_eq!(run["rescored"]["timestamp"], original["timestamp"]);
    assert_eq!(run["rescored"]["evaluators"], json!(["right", "short"]));
    assert_eq!(run["ciStatus"]["passed"], true);
    assert_eq!(scores(&original, "rome"), json!({ "right": 0.0, "short": 0.0, "called": 1.0 }));
    assert_eq!(scores(&run, "rome"), json!({ "right": 0.0, "short": 1.0, "called": 1.0 }));
    for part in ["output", "latencyMs", "status", "error"] {
        for key in ["paris", "rome", "oslo"] {
            assert_eq!(item(&run, key)[part], item(&original, key)[part], "{part} of {key}");
        }
    }
    assert_eq!((&run["git"], &run["sources"]), (&original["git"], &original["sources"]));
    assert_eq!(run["dataset"], original["dataset"]);
    said.stdout_has(&format!("origin  scores of run {id} (")).stderr_has(
        "evaluator `called` was not run, because it reads a file that the agent wrote; its stored scores are kept",
    );
    project.cobalt(&["history"], 0).stdout_has(&format!("(scores of {id})"));
    project
        .cobalt(&["compare", id, "latest"], 0)
        .stdout_has(&format!("both runs score the outputs of run {id}"));
}

#[test]
fn scores_of_evaluators_that_are_not_named_are_copied() {
    let (project, original) = with_run();
    // Both change.
    let source = SOURCE.replace("< 5", "< 50").replace("item[\"answer\"] == output", "output == \"Rome\"");
    project.write("tests/scored.rs", &source);
    let (run, _) = score(&project, &["latest", "--evaluator", "short"], 0);
    assert_eq!(run["rescored"]["evaluators"], json!(["short"]));
    assert_eq!(scores(&run, "paris"), json!({ "right": 1.0, "short": 1.0, "called": 1.0 }));
    // A run that was scored again can be scored again: its scores are copied, and the outputs are those of the first.
    let (again, _) = score(&project, &["latest", "--evaluator", "right"], 0);
    assert_eq!(scores(&again, "paris"), json!({ "right": 0.0, "short": 1.0, "called": 1.0 }));
    assert_eq!(again["rescored"]["run"], original["id"]);
    assert_eq!(again["rescored"]["scoresOf"], run["id"]);
    let files = project.results().len();
    score(&project, &["--evaluator", "shrt"], 3)
        .1
        .stderr_has("it has no evaluator `shrt`; did you mean `short`?");
    score(&project, &["--evaluator", "called"], 3).1.stderr_has("so it needs a new run");
    assert_eq!(project.results().len(), files);
}

#[test]
fn evaluators_see_corrected_expectations_but_no_other_question() {
    let (project, original) = with_run();
    let line = |id: &str, input: &str, answer: &str| {
        format!("{}\n", json!({ "id": id, "input": input, "answer": answer, "says": "Paris" }))
    };
    project.write(
        "data/items.jsonl",
        &[line("a", "x", "Rome"), line("b", "y", "Rome"), line("c", "z", "Rome")].concat(),
    );
    project.cobalt(&["run"], 0);
    let corrected =
        [line("new", "n", "Paris"), line("a", "x", "Paris"), line("b", "other", "Paris")].concat();
    project.write("data/items.jsonl", &corrected);
    let (run, said) = score(&project, &["--evaluator", "right"], 0);
    assert_ne!(run["rescored"]["run"], original["id"], "the latest run is scored");
    let right = |key| item(&run, key)["evaluations"]["right"]["score"].clone();
    assert_eq!([right("a"), right("b"), right("c")], [json!(1.0), json!(0.0), json!(0.0)]);
    assert_eq!(run["items"].as_array().unwrap().len(), 3);
    assert_eq!(run["partial"], Value::Null);
    said.stderr_has("1 item has changed except for `input`")
        .stderr_has("1 item has a different `input` in the dataset now")
        .stderr_has("1 item is not in the dataset any more")
        .stderr_has("1 item is only in the dataset now");
}

#[test]
fn a_partial_run_stays_partial_and_keeps_its_indexes() {
    let (project, _) = with_run();
    project.cobalt(&["run", "--", "scored::rome"], 0);
    let part = project.newest_result();
    let (run, _) = score(&project, &[part["id"].as_str().unwrap()], 0);
    assert_eq!(
        (&run["partial"], &run["items"][0]["index"], &run["items"][0]["key"]),
        (&json!(true), &json!(1), &json!("rome"))
    );
    assert_eq!(run["items"].as_array().unwrap().len(), 1);
}

#[test]
fn an_interrupted_scoring_is_resumed_without_the_agent() {
    let (project, original) = with_run();
    // Like a crash in a library, once `paris` is saved.
    let crashing = "if output == \"Paris\" && Path::new(\"crash\").exists() && item_of_rome(item) { std::process::exit(0) }";
    let source = SOURCE.replace(
        "fn short(output: &str) -> bool {",
        &format!("fn short(item: &Item, output: &str) -> bool {{ {crashing}"),
    ) + "\nfn item_of_rome(item: &Item) -> bool { item[\"id\"] == \"rome\" }\n";
    project.write("tests/scored.rs", &source);
    project.write("crash", "");
    let said = project.cobalt(&["score"], 3);
    let journal = fs::read_dir(project.path(".cobalt/runs"))
        .unwrap()
        .flatten()
        .find(|file| file.path().extension().is_some_and(|it| it == "jsonl"));
    let id = journal.expect("it is interrupted").path().file_stem().unwrap().to_string_lossy().into_owned();
    said.stderr_has(&format!("--resume {id}"));
    fs::remove_file(project.path("crash")).unwrap();
    project.cobalt(&["score", &id], 4);
    let calls = project.read("calls");
    project.cobalt(&["run", "--resume", &id], 0);
    assert_eq!(project.read("calls"), calls, "the agent was called");
    let run = project.newest_result();
    assert_eq!((&run["id"], &run["rescored"]["run"]), (&json!(id), &original["id"]));
    assert_eq!(run["items"].as_array().unwrap().len(), 3);
}

#[test]
fn cargo_test_scores_the_run_that_a_variable_names() {
    let (project, original) = with_run();
    change_evaluator(&project);
    let calls = project.read("calls");
    let test = |run: &str| -> Command {
        let mut cargo = program("cargo", &project.path(""));
        cargo.args(["test", "--test", "scored"]).env("COBALT_SCORE", run);
        cargo
    };
    let id = original["id"].as_str().unwrap();
    // The item in error fails.
    let named = &mut test(&id[..6]);
    ProgramOutput::by(named.env("COBALT_SCORE_EVALUATORS", "short"), 101)
        .stderr_has("scores of run")
        .stdout_has("scored::thresholds::short.pass_rate>=0.5");
    let run = project.newest_result();
    assert_eq!(
        (&run["rescored"]["run"], &run["rescored"]["evaluators"]),
        (&original["id"], &json!(["short"]))
    );
    ProgramOutput::by(&mut test("nosuchrun"), 3)
        .stderr_has("run `nosuchrun` cannot be scored: there is no such run here");
    assert_eq!(project.read("calls"), calls, "the agent was called");
}

#[test]
fn an_assistant_scores_a_run_again() {
    let (project, original) = with_run();
    change_evaluator(&project);
    let calls = project.read("calls");
    let mut assistant = Assistant::of(&project);
    let ran = assistant.call("cobalt_run", json!({ "score": "latest", "evaluators": ["short"] }));
    assert_eq!(ran["runs"][0]["rescored"]["run"], original["id"], "{ran}");
    assert_eq!(project.read("calls"), calls, "the agent was called");
}
