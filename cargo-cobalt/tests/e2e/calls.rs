//! Unreadable tool calls: an error, shown once and not for each item.

use crate::project::Project;

const SOURCE: &str = r#"
use cobalt::{Dataset, Item, Output, ToolCalls};
use serde_json::json;

fn items() -> Dataset {
    Dataset::from_items((0..12).map(|index| cobalt::item! { "id": format!("e{index}") }))
}

/// Each item has its call in a different place and with a different value.
#[cobalt::experiment(dataset = items(), evaluators = [ToolCalls::not_called("no-weather", "get_weather")])]
fn calling(item: Item) -> Output {
    let city = item["id"].as_str().unwrap_or_default();
    let mut messages = vec![json!({ "role": "user", "content": "Weather?" }); city.len()];
    messages.push(json!({ "role": "assistant", "content": [{ "type": "invoke", "target": "get_weather", "payload": { "city": city } }] }));
    Output::new("It rains.").metadata("messages", messages)
}

fn main() {
    cobalt::main();
}
"#;

#[test]
fn an_error_of_every_item_is_shown_once_with_their_number() {
    let project = Project::empty();
    project.target("calling");
    let manifest = project.read("Cargo.toml");
    project.write(
        "Cargo.toml",
        &manifest.replace("[dev-dependencies]\n", "[dev-dependencies]\nserde_json = \"1\"\n"),
    );
    project.write("tests/calling.rs", SOURCE);
    let said = project.cobalt(&["run", "--ci"], 1);
    let piece = "may be a tool call in an unknown format, `{\"type\": \"invoke\", \"target\": \"…\", \"payload\": {…}}`";
    assert_eq!(said.stdout.matches(piece).count(), 1, "{}", said.stdout);
    let said = said
        .stdout_has("12 items (e")
        .stdout_has(", …): no-weather gave no score: the agent's `metadata.messages[");
    assert_eq!(said.stderr.matches(piece).count(), 1, "{}", said.stderr);
    assert_eq!(said.stderr.matches("same scoring error as item e").count(), 11, "{}", said.stderr);
}
