//! `docs/mcp.md` documents exactly the tools, prompts and resources of the server, with their arguments.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::assistant::Assistant;
use crate::project::Project;

const PAGE: &str = include_str!("../../../../docs/mcp.md");

type Names = BTreeSet<String>;

/// The page without its examples.
fn prose() -> String {
    PAGE.split("```").step_by(2).collect()
}

/// The section of a page below a heading, up to the next heading of the same level.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let level = heading.split(' ').next().unwrap();
    let after = page
        .split_once(&format!("\n{heading}\n"))
        .unwrap_or_else(|| panic!("heading `{heading}` is missing"))
        .1;
    after.split_once(&format!("\n{level} ")).map_or(after, |(section, _)| section)
}

/// The table rows that start with a name in backticks: this name without the backticks, and the cells.
fn rows(text: &str) -> impl Iterator<Item = (String, Vec<&str>)> {
    text.lines().filter_map(|line| {
        let cells: Vec<_> = line.strip_prefix("| `")?.split(" | ").collect();
        Some((cells[0].trim_end_matches('`').to_owned(), cells))
    })
}

fn names<'a>(values: impl IntoIterator<Item = &'a Value>, field: &str) -> Names {
    values.into_iter().map(|value| value[field].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_tool_and_argument_is_documented_and_every_documented_one_is_there() {
    let project = Project::steered();
    let listed = Assistant::of(&project).ask("tools/list", json!({}));
    let arguments =
        |tool: &Value| tool["inputSchema"]["properties"].as_object().unwrap().keys().cloned().collect();
    let tools = listed["tools"].as_array().unwrap().iter();
    let tools: BTreeMap<String, Names> =
        tools.map(|tool| (tool["name"].as_str().unwrap().to_owned(), arguments(tool))).collect();
    let page = prose();
    let part = section(&page, "## Tools");
    let headings = part.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`'));
    let documented: BTreeMap<String, Names> = headings
        .map(|tool| {
            let section = section(part, &format!("### `{tool}`"));
            (tool.to_owned(), rows(section).map(|(argument, _)| argument).collect())
        })
        .collect();
    assert_eq!(documented, tools);
}

#[test]
fn tools_that_ask_other_machines_say_so() {
    let project = Project::steered();
    let listed = Assistant::of(&project).ask("tools/list", json!({}));
    let tools = listed["tools"].as_array().unwrap().iter();
    let asking = names(tools.filter(|tool| tool["annotations"]["openWorldHint"] == true), "name");
    // Listing experiments reads their datasets, which may be fetched.
    assert_eq!(asking, ["cobalt_generate", "cobalt_list", "cobalt_run"].map(str::to_owned).into());
}

#[test]
fn every_prompt_and_argument_is_documented_and_every_documented_one_is_there() {
    let project = Project::steered();
    let listed = Assistant::of(&project).ask("prompts/list", json!({}));
    let prompts = listed["prompts"].as_array().unwrap();
    let page = prose();
    let (documented, arguments) = section(&page, "## Prompts").split_once("| argument | of |").unwrap();
    let documented: Names = rows(documented).map(|(prompt, _)| prompt).collect();
    assert_eq!(documented, names(prompts, "name"));
    for prompt in prompts {
        let name = prompt["name"].as_str().unwrap();
        let is_of_it = |cells: &[&str]| cells[1] == "all" || cells[1].contains(&format!("`{name}`"));
        let documented: Names =
            rows(arguments).filter(|(_, cells)| is_of_it(cells)).map(|(argument, _)| argument).collect();
        assert_eq!(documented, names(prompt["arguments"].as_array().unwrap(), "name"), "{name}");
    }
}

#[test]
fn every_resource_is_documented_and_every_documented_one_is_there() {
    let project = Project::steered();
    let mut assistant = Assistant::of(&project);
    let listed = assistant.ask("resources/list", json!({}));
    let templates = assistant.ask("resources/templates/list", json!({}));
    let mut uris = names(listed["resources"].as_array().unwrap(), "uri");
    uris.extend(names(templates["resourceTemplates"].as_array().unwrap(), "uriTemplate"));
    let page = prose();
    let documented: Names = rows(section(&page, "## Resources")).map(|(uri, _)| uri).collect();
    assert_eq!(documented, uris);
}

#[test]
fn the_files_for_assistants_are_as_they_are_written_and_can_be_read() {
    let blocks = PAGE.split("```json\n").skip(1).map(|rest| rest.split_once("```").unwrap().0);
    let blocks: Vec<Value> = blocks
        .map(|block| serde_json::from_str(block).unwrap_or_else(|error| panic!("{error}: {block}")))
        .collect();
    let project = Project::empty();
    project.cobalt(&["update"], 0);
    let written: Value = serde_json::from_str(&project.read(".mcp.json")).unwrap();
    assert_eq!(blocks[0], written);
}
