//! `cobalt_list`.

use serde_json::json;

use super::assistant::Assistant;
use super::snapshot::{answer, assert_ran, result};
use crate::project::Project;

#[test]
fn experiments_are_named_with_the_places_of_their_sources() {
    let project = Project::steered();
    let mut assistant = Assistant::of(&project);
    assert_ran!("experiments", answer(&result(&mut assistant, "cobalt_list", json!({}))));
    let listed = assistant.call("cobalt_list", json!({ "filter": "smo*" }));
    assert_eq!(listed["experiments"].as_array().unwrap().len(), 1);
    assert_eq!(listed["experiments"][0]["experiment"]["thresholds"], json!(["right.pass_rate>=0.5"]));
    assert_ran!("no_match", answer(&assistant.fails("cobalt_list", json!({ "filter": "none-such" }))));
    assert_eq!(assistant.hang_up(), Some(0));
}

#[test]
fn a_project_that_does_not_build_is_told_of_by_file_and_line() {
    let project = Project::steered();
    project.rename("mcp_list_broken");
    project.write("tests/evals.rs", "fn main() {\n    let wrong: u8 = \"text\";\n}\n");
    let mut assistant = Assistant::of(&project);
    let result = assistant.fails("cobalt_list", json!({}));
    assert_ran!("compile_error", answer(&result));
}

#[test]
fn a_member_of_a_workspace_is_listed_with_paths_that_can_be_opened() {
    let project = Project::steered();
    project.rename("mcp_list_member");
    for file in ["src/lib.rs", "tests/evals.rs", "tests/foreign.rs", "data/items.jsonl"] {
        project.write(&format!("desk/{file}"), &project.read(file));
    }
    project.write("desk/Cargo.toml", &project.read("Cargo.toml").replace("[workspace]\n", ""));
    project.write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"desk\"]\n");
    let mut assistant = Assistant::over(&project.path("desk"), &[], "2025-11-25");
    let listed = assistant.call("cobalt_list", json!({}));
    let paths: Vec<_> = listed["experiments"].as_array().unwrap().iter().map(|row| &row["path"]).collect();
    let expected = project.path("desk/tests/evals.rs").canonicalize().unwrap();
    assert!(!paths.is_empty() && paths.iter().all(|path| **path == json!(expected)), "{paths:?}");
}
