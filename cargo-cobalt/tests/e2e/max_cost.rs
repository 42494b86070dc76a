//! `run --max-cost`: runs stop when the budget is spent, and can be resumed.

use std::fs;
use std::path::PathBuf;

use crate::project::Project;

/// A package with two test targets, each with an experiment of five items that cost one cent each.
fn paid() -> Project {
    let project = Project::empty();
    let source = include_str!("fixture/paid.rs");
    for name in ["paid", "paid_again"] {
        project.target(name);
        project.write(&format!("tests/{name}.rs"), &source.replace("fn paid(", &format!("fn {name}(")));
    }
    project.write("cobalt.toml", "[prices.\"paid-model\"]\ninput = 0.01\noutput = 0.01\n");
    project.answers(&[("paris", ""), ("rome", ""), ("oslo", ""), ("bern", ""), ("riga", "")]);
    project
}

/// The journals of interrupted runs.
fn journals(project: &Project) -> Vec<PathBuf> {
    let files = fs::read_dir(project.path(".cobalt/runs")).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|kind| kind == "jsonl")).collect()
}

/// How many finished items the only journal has.
fn saved_items(project: &Project) -> usize {
    let [journal] = &*journals(project) else { panic!("one run is interrupted") };
    let text = fs::read_to_string(journal).unwrap();
    text.lines().filter(|line| line.contains("paid-model")).count()
}

#[test]
fn a_run_stops_when_its_budget_is_spent_and_is_resumed_with_another() {
    let project = paid();
    let said = project.cobalt(&["run", "--experiment", "paid", "--max-cost", "0.025"], 5);
    // A third item would cost another cent.
    assert_eq!((saved_items(&project), project.results().len()), (2, 0), "{said:?}");
    said.stderr_has("budget of $0.025 exhausted: $0.020 spent, and the next item may cost $0.010; no further requests are sent")
        .stderr_has("cargo cobalt run --resume");
    let id = journals(&project)[0].file_stem().unwrap().to_string_lossy().into_owned();
    project.cobalt(&["run", "--resume", &id, "--max-cost", "1"], 0);
    assert_eq!(project.newest_result()["items"].as_array().unwrap().len(), 5);
}

#[test]
fn all_test_targets_share_a_budget() {
    let project = paid();
    project.cobalt(&["run", "--max-cost", "0.07"], 5);
    assert_eq!((saved_items(&project), project.results().len()), (2, 1));
    project.cobalt(&["run", "--max-cost", "0.11"], 0);
}

#[test]
fn a_run_without_a_finished_item_is_run_again_and_another_is_resumed_with_its_flags() {
    let project = paid();
    let hint = "No item finished in `paid_again`: run again to start over.";
    let said = project.cobalt(&["run", "--max-cost", "0.05"], 5).stderr_has(hint);
    assert!(!said.stderr.contains("--resume"), "{said:?}");
    let said = project.cobalt(&["run", "--max-cost", "0.02", "--record", "off"], 5).stderr_has(hint);
    let id = journals(&project)[0].file_stem().unwrap().to_string_lossy().into_owned();
    said.stderr_has(&format!("  cargo cobalt run --resume {id} --record off --max-cost 0.02\n"));
}

#[test]
fn a_budget_is_a_positive_number() {
    let project = Project::empty();
    for wrong in ["0", "-1", "much"] {
        project.cobalt(&["run", &format!("--max-cost={wrong}")], 2).stderr_has("--max-cost");
    }
}
