//! Served projects: those given on the command line, and the assistant's roots.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::assistant::{Assistant, of_roots, with_metadata};
use super::snapshot::{assert_kept, listed};
use crate::project::Project;

/// The newest protocol version in which the server can send requests.
const VERSION: &str = "2025-11-25";

/// Creates a package without experiments in a subfolder; returns its path.
fn package(project: &Project, folder: &str) -> String {
    project.write(&format!("{folder}/src/lib.rs"), "");
    let name = Path::new(folder).file_name().unwrap().to_str().unwrap();
    let manifest =
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n");
    project.write(&format!("{folder}/Cargo.toml"), &manifest);
    path(project, folder)
}

/// The canonical path of a subfolder.
fn path(project: &Project, folder: &str) -> String {
    project.path(folder).canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// The root of the project that was used; the call fails because the project has no experiments.
#[track_caller]
fn about(assistant: &mut Assistant, arguments: Value) -> String {
    let result = assistant.fails("cobalt_list", arguments);
    let root = result["structuredContent"]["project"]["root"].as_str();
    root.unwrap_or_else(|| panic!("{result}")).to_owned()
}

/// The error if no project could be chosen.
#[track_caller]
fn refusal(assistant: &mut Assistant, arguments: Value) -> String {
    let result = assistant.fails("cobalt_list", arguments);
    assert_eq!(result.get("structuredContent"), None, "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

/// The errors for these arguments, each of which selects no project.
#[track_caller]
fn refusals<const N: usize>(assistant: &mut Assistant, all: [Value; N]) -> String {
    listed(all.map(|arguments| (arguments.clone(), refusal(assistant, arguments))))
}

/// An assistant with roots, in a folder that is not a project.
fn with_roots(folders: &Project, roots: &[&str]) -> Assistant {
    fs::remove_file(folders.path("Cargo.toml")).unwrap();
    let mut assistant =
        Assistant::speaking(folders, &[], VERSION, json!({ "roots": { "listChanged": true } }));
    assistant.roots = Some(roots.iter().map(|root| format!("file://{root}")).collect());
    assistant
}

#[test]
fn projects_of_the_command_line_are_told_apart_by_name_or_folder() {
    let folders = Project::empty();
    let [one, other, third] = ["a/same", "b/same", "c/third"].map(|folder| package(&folders, folder));
    let arguments = ["--project", "a/same", "--project", &other, "--project", "c/third/src"];
    let mut assistant = Assistant::speaking(&folders, &arguments, VERSION, json!({}));
    assert_eq!(about(&mut assistant, json!({ "project": one })), one);
    assert_eq!(about(&mut assistant, json!({ "project": format!("{other}/src/") })), other);
    assert_eq!(about(&mut assistant, json!({ "project": "third" })), third);
    // The current folder is a project, too, but was not given on the command line.
    let unclear = [json!({ "project": "same" }), json!({}), json!({ "project": path(&folders, ".") })];
    assert_kept!("of_the_command_line", refusals(&mut assistant, unclear));
}

#[test]
fn a_folder_that_is_no_project_ends_the_server_at_once() {
    let folders = Project::empty();
    folders.cobalt(&["mcp", "--project", "none"], 3).stderr_has("error: failed to read the folder `none`");
    fs::remove_file(folders.path("Cargo.toml")).unwrap();
    let said =
        folders.cobalt(&["mcp", "--project", "src"], 3).stderr_has("error: `src` is not in a Cargo project");
    assert_eq!(said.stdout, "");
}

#[test]
fn roots_are_served_beside_the_current_folder() {
    let folders = Project::empty();
    let (here, there) = (path(&folders, "."), package(&folders, "there"));
    let mut assistant = Assistant::speaking(&folders, &[], VERSION, json!({ "roots": {} }));
    assistant.roots =
        Some(vec![format!("file://{there}"), format!("file://{here}"), format!("file://{here}/src")]);
    assert_eq!(about(&mut assistant, json!({ "project": "there" })), there);
    assert_eq!(about(&mut assistant, json!({ "project": here })), here);
    assert_kept!("roots_beside_the_current_folder", refusals(&mut assistant, [json!({})]));
}

#[test]
fn an_assistant_that_tells_no_roots_is_not_asked_for_them() {
    let project = Project::empty();
    let mut assistant = Assistant::of(&project);
    assert_eq!(about(&mut assistant, json!({})), path(&project, "."));
    assert_eq!(assistant.notifications, Vec::<Value>::new());
}

#[test]
fn a_call_waits_for_roots_that_are_asked_for() {
    let folders = Project::empty();
    let root = package(&folders, "root");
    let mut assistant = with_roots(&folders, &[]);
    assistant.roots = None;
    let call = assistant.begin("tools/call", json!({ "name": "cobalt_list", "arguments": {} }));
    let asked = assistant.hear();
    assert_eq!(asked["method"], "roots/list");
    assistant.tell_roots(&asked, &[format!("file://{root}")]);
    let answer = assistant.answer_to(call);
    assert_eq!(answer["result"]["structuredContent"]["project"]["root"], root, "{answer}");
}

#[test]
fn a_call_does_not_wait_for_ever_for_roots() {
    let project = Project::empty();
    let mut assistant = Assistant::speaking(&project, &[], VERSION, json!({ "roots": {} }));
    assert_eq!(about(&mut assistant, json!({})), path(&project, "."));
    assert_eq!(assistant.notifications[0]["method"], "roots/list");
}

#[test]
fn roots_that_change_are_served_from_then_on() {
    let folders = Project::empty();
    let [before, after] = ["before", "after"].map(|folder| package(&folders, folder));
    let mut assistant = with_roots(&folders, &[&before]);
    assert_eq!(about(&mut assistant, json!({})), before);
    assistant.roots = None;
    assistant.notify("notifications/roots/list_changed", json!({}));
    let asked = assistant.hear();
    assistant.tell_roots(&asked, &[format!("file://{after}")]);
    assistant.roots = Some(vec![format!("file://{after}")]);
    assert_eq!(about(&mut assistant, json!({})), after);
    assert_kept!("root_that_is_gone", refusals(&mut assistant, [json!({ "project": "before" })]));
}

#[test]
fn an_assistant_that_does_not_say_that_its_roots_change_is_asked_for_a_project_that_is_not_known() {
    let folders = Project::empty();
    let [before, after] = ["before", "after"].map(|folder| package(&folders, folder));
    let mut assistant = with_roots(&folders, &[&before]);
    assert_eq!(about(&mut assistant, json!({})), before);
    assistant.roots = Some(vec![format!("file://{after}")]);
    assert_eq!(about(&mut assistant, json!({ "project": "after" })), after);
    // This changes the list of resources, with a single notification.
    let changed = "notifications/resources/list_changed";
    let told = assistant.notifications.pop().unwrap_or_else(|| assistant.hear());
    assert_eq!(told["method"], changed, "{told}");
    assert_eq!(about(&mut assistant, json!({ "project": "after" })), after);
    assert!(!assistant.notifications.iter().any(|told| told["method"] == changed));
}

#[test]
fn packages_below_a_root_are_served_and_roots_that_come_to_nothing_are_told_of() {
    let folders = Project::empty();
    let below = package(&folders, "mono repo/tools/ünder");
    package(&folders, "mono repo/app");
    for hidden in ["mono repo/app/inner", "mono repo/.git/hidden", "mono repo/node_modules/foreign"] {
        package(&folders, hidden);
    }
    folders.write("nothing/notes.txt", "");
    let [mono, nothing] = ["mono repo", "nothing"].map(|folder| path(&folders, folder).replace(' ', "%20"));
    let mut assistant = with_roots(&folders, &[&mono, &mono, &nothing, "/no/such/folder"]);
    assert_eq!(about(&mut assistant, json!({ "project": "ünder" })), below);
    let unclear = [json!({}), json!({ "project": "nothing" })];
    assert_kept!("roots_without_a_project", refusals(&mut assistant, unclear));
    assistant.roots = Some(vec!["https://example.com/".to_owned()]);
    assert_kept!("root_of_another_machine", refusals(&mut assistant, [json!({ "project": "other" })]));
}

#[test]
fn without_requests_to_the_assistant_its_roots_are_asked_for_instead_of_an_answer() {
    let folders = Project::empty();
    let (here, there) = (path(&folders, "."), package(&folders, "there"));
    let mut assistant = Assistant::silent(&folders, &[]);
    let mut call = |arguments: Value, capabilities: Value, told: Option<Value>| {
        let mut params = json!({ "name": "cobalt_list", "arguments": arguments });
        if let Some(told) = told {
            params["inputResponses"] = json!({ "roots": told });
        }
        assistant.ask("tools/call", with_metadata(params, "2026-07-28", capabilities))
    };
    let (roots, there_asked) = (json!({ "roots": {} }), json!({ "project": "there" }));
    let root = |result: Value| result["structuredContent"]["project"]["root"].clone();
    // Known projects need no roots, and assistants without roots are not asked for them.
    assert_eq!(root(call(json!({}), roots.clone(), None)), here);
    assert_eq!(call(there_asked.clone(), json!({}), None)["isError"], true);
    let asked = call(there_asked.clone(), roots.clone(), None);
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(asked["inputRequests"]["roots"]["method"], "roots/list", "{asked}");
    // If the answer does not help, roots are not requested again.
    let refused = call(there_asked.clone(), roots.clone(), Some(json!({ "roots": "none" })));
    assert_eq!(refused["isError"], true, "{refused}");
    let told = of_roots(&[format!("file://{there}")]);
    assert_eq!(root(call(there_asked.clone(), roots.clone(), Some(told))), there);
    assert_eq!(root(call(there_asked, roots, None)), there);
}
