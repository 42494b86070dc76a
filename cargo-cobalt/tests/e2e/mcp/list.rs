//! `cobalt_list`.

use serde_json::json;

use super::assistant::Assistant;
use crate::project::Project;

#[test]
fn experiments_are_named_with_the_places_of_their_sources() {
    let project = Project::steered();
    let mut assistant = Assistant::of(&project);
    let listed = assistant.call("cobalt_list", json!({}));
    let experiments = listed["experiments"].as_array().unwrap();
    let strict = experiments.iter().find(|row| row["experiment"]["name"] == "strict").unwrap();
    assert_eq!(strict["experiment"]["file"], "tests/evals.rs");
    assert_eq!(strict["experiment"]["items"], 2);
    assert_eq!(assistant.hang_up(), Some(0));
}

#[test]
fn a_project_that_does_not_build_is_told_of_by_file_and_line() {
    let project = Project::steered();
    project.rename("mcp_list_broken");
    project.write("tests/evals.rs", "fn main() {\n    let wrong: u8 = \"text\";\n}\n");
    let mut assistant = Assistant::of(&project);
    let result = assistant.fails("cobalt_list", json!({}));
    let error = &result["structuredContent"]["compileErrors"][0];
    assert_eq!((&error["file"], &error["line"]), (&json!("tests/evals.rs"), &json!(2)), "{result}");
    assert_eq!(error["code"], "E0308");
}
