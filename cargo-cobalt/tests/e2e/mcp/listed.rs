//! The lists of tools, resources and prompts.

use serde_json::json;

use super::assistant::Assistant;
use super::snapshot::{assert_kept, pretty};
use super::stored::assistant_of;
use crate::project::Project;
use crate::store::Store;

#[test]
fn tools_are_listed_with_what_they_do_and_the_schemas_of_arguments_and_answers() {
    let project = Project::empty();
    assert_kept!("tools", pretty(&Assistant::of(&project).ask("tools/list", json!({}))));
}

#[test]
fn prompts_are_listed_with_their_arguments() {
    let project = Project::empty();
    assert_kept!("prompts", pretty(&Assistant::of(&project).ask("prompts/list", json!({}))));
}

#[test]
fn resources_are_listed_with_the_newest_runs_and_all_others_are_found_by_templates() {
    let store = Store::with_a_drop();
    let mut assistant = assistant_of(&store, &[]);
    let mut listed = assistant.ask("resources/list", json!({}));
    // The size depends on the paths in the settings.
    listed["resources"][2]["size"] = json!("[bytes]");
    assert_kept!("resources", pretty(&listed));
    assert_kept!("resource_templates", pretty(&assistant.ask("resources/templates/list", json!({}))));
    assert_eq!(assistant.hang_up(), Some(0));
}
