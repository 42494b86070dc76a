//! Progress notifications of a run.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::assistant::Assistant;
use crate::project::Project;

/// Runs with a progress token; returns the result and the progress notifications.
fn run(assistant: &mut Assistant, arguments: &Value) -> (Value, Vec<Value>) {
    let call = json!({ "name": "cobalt_run", "arguments": arguments, "_meta": { "progressToken": "mine" } });
    let result = assistant.ask("tools/call", call);
    let is_progress = |message: &Value| message["method"] == "notifications/progress";
    let told = assistant.notifications.drain(..).filter(is_progress);
    (result, told.map(|message| message["params"].clone()).collect())
}

#[test]
fn each_item_is_told_of_and_progress_only_grows() {
    let project = Project::steered();
    project.answers(&[("paris", "Paris"), ("rome", "Paris"), ("oslo", "error")]);
    let mut assistant = Assistant::of(&project);
    let arguments = json!({ "experiments": ["strict"], "concurrency": 1 });
    let (result, told) = run(&mut assistant, &arguments);
    assert_eq!(result["isError"], false, "{result}");
    let first = &told[0];
    assert!(first["message"].as_str().unwrap().starts_with("building "), "{first}");
    assert!(told.iter().all(|progress| progress["progressToken"] == "mine"));
    let figures: Vec<_> = told.iter().map(|progress| progress["progress"].as_f64().unwrap()).collect();
    assert!(figures.is_sorted_by(|one, two| one < two), "{figures:?}");
    let last = told.last().unwrap();
    assert_eq!((&last["progress"], &last["total"]), (&json!(3.0), &json!(3.0)));
    assert!(last["message"].as_str().unwrap().starts_with("strict: 3 of 3, "), "{last}");
}

#[test]
fn a_slow_build_is_told_of_every_few_seconds_and_then_what_runs() {
    let project = Project::steered();
    project.rename("mcp_progress_slow");
    project.write("build.rs", "fn main() {\n    std::thread::sleep(std::time::Duration::from_secs(8));\n}\n");
    project.answers(&[("paris", "wait"), ("rome", "Rome")]);
    let mut assistant = Assistant::of(&project);
    let arguments = json!({ "experiments": ["strict"] });
    let call = json!({ "name": "cobalt_run", "arguments": arguments, "_meta": { "progressToken": "mine" } });
    let id = assistant.begin("tools/call", call);
    let (mut told, mut figures, mut last, mut longest) =
        (Vec::new(), Vec::new(), Instant::now(), Duration::ZERO);
    loop {
        let message = assistant.hear();
        assert!(message.get("result").is_none(), "the run ended too early: {message}, {told:?}");
        if message["method"] != "notifications/progress" {
            continue;
        }
        longest = longest.max(last.elapsed());
        last = Instant::now();
        figures.push(message["params"]["progress"].as_f64().unwrap());
        told.push(message["params"]["message"].as_str().unwrap().to_owned());
        if told.last().unwrap().starts_with("strict: 1 of 2 items done, ") {
            break;
        }
    }
    project.write("go-on", "");
    assert_eq!(assistant.answer_to(id)["result"]["structuredContent"]["passed"], true);
    assert!(longest < Duration::from_secs(5), "{longest:?}: {told:?}");
    assert!(figures.is_sorted_by(|one, two| one < two), "{figures:?}");
    let builds = told.iter().take_while(|message| message.starts_with("building ")).count();
    assert!(
        told[..builds].iter().any(|message| message.contains(": Compiling mcp_progress_slow v0.1.0")),
        "{told:?}"
    );
    assert!(told[builds..].iter().all(|message| message.starts_with("strict: ")), "{told:?}");
}

#[test]
fn without_a_token_nothing_is_told() {
    let project = Project::steered();
    let mut assistant = Assistant::of(&project);
    assistant.call("cobalt_run", json!({ "experiments": ["strict"] }));
    assert!(assistant.notifications.iter().all(|message| message["method"] != "notifications/progress"));
}

#[test]
fn many_items_do_not_flood_and_their_answer_has_its_room() {
    const ITEMS: usize = 3000;
    let project = Project::steered();
    let item = |place| {
        let says = if place % 2 == 0 { "x".repeat(500) } else { "Yes".to_owned() };
        format!("{}\n", json!({ "id": format!("item-{place}"), "answer": "Yes", "says": says }))
    };
    project.write("data/items.jsonl", &(0..ITEMS).map(item).collect::<String>());
    let mut assistant = Assistant::of(&project);
    let begun = Instant::now();
    let (result, told) = run(&mut assistant, &json!({ "filter": "*" }));
    let most = begun.elapsed().as_secs_f64() * 20.0 + 3.0;
    assert!((told.len() as f64) < most, "{} in {:?}", told.len(), begun.elapsed());
    // The items of both experiments.
    let last = told.last().unwrap();
    assert_eq!((&last["progress"], &last["total"]), (&json!(6000.0), &json!(6000.0)));
    assert!(result.to_string().len() < 60_000, "{}", result.to_string().len());
    let runs = result["structuredContent"]["runs"].as_array().unwrap();
    assert!(runs.iter().all(|run| run["itemsMatching"] == ITEMS && run["nextCursor"].is_string()));
    assert!(result["content"][0]["text"].as_str().unwrap().len() < 8000);
}
