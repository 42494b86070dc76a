//! `cobalt_generate` with a model that gives scripted answers.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use walkdir::WalkDir;

use super::assistant::Assistant;
use super::snapshot::{answer, assert_ran, listed, pretty, text};
use crate::project::Project;
use crate::receiver::{Receiver, Reply};

const KEY: &str = "key-0f9e8d7c6b5a4f3e2d1c";
/// A made-up key in the agent's source.
const OTHER_KEY: &str = "sk-a1b2c3d4e5f6a7b8c9d0e1f2";
const MANIFEST_COMMENT: &str = "# Kept as it is.\n";

/// A package with an agent, whose judge is a local fake model.
struct Desk {
    project: Project,
    model: Receiver,
}

impl Desk {
    /// The name must be unique, as packages share build output and cargo identifies them by name.
    fn new(name: &str, answers: &[Reply]) -> Self {
        let project = Project::empty();
        project.rename(name);
        project.write("Cargo.toml", &format!("{MANIFEST_COMMENT}{}", project.read("Cargo.toml")));
        project.write("src/lib.rs", "pub mod router;\n");
        project.write(
            "src/router.rs",
            &format!("const TOKEN: &str = \"{OTHER_KEY}\";\n\n/// The team.\npub fn route(message: &str) -> String {{\n    \
                      if message.contains(\"card\") {{ \"billing\".into() }} else {{ TOKEN[..0].to_owned() + \"general\" }}\n}}\n"),
        );
        let model = Receiver::start(answers);
        let judge = format!(
            "[judge]\nmodel = \"gpt-4o-mini\"\nbase-url = \"http://{}/v1\"\napi-key-env = \"DESK_KEY\"\n",
            model.host()
        );
        project.write("cobalt.toml", &judge);
        project.write(".env", &format!("DESK_KEY={KEY}\n"));
        Self { project, model }
    }

    /// All files with their content; `None` for folders.
    fn files(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        // Ignore entries that are removed in the meantime.
        let entries = WalkDir::new(self.project.path("")).into_iter().filter_map(Result::ok);
        entries.map(|entry| (entry.path().to_owned(), fs::read(entry.path()).ok())).collect()
    }

    /// Waits until the condition holds.
    fn wait_until(&self, holds: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !holds(self) {
            assert!(start.elapsed() < Duration::from_secs(240), "timed out");
            sleep(Duration::from_millis(20));
        }
    }
}

fn item(id: &str, kind: &str) -> Value {
    json!({ "id": id, "kind": kind, "input": "my card is lost", "expectedOutput": "billing", "fields": [] })
}

fn items() -> Value {
    json!([item("lost-card", "normal"), item("empty", "edge"), item("orders", "adversarial")])
}

/// The source of a test target whose agent returns `call`.
fn source(library: &str, target: &str, call: &str) -> String {
    format!(
        "//! The desk.\n\n#[cobalt::experiment(\n    name = \"desk\",\n    dataset = \"data/{target}.jsonl\",\n    \
         evaluators = [cobalt::ExactMatch::new(\"right_team\", \"expectedOutput\")],\n    \
         thresholds = [right_team.pass_rate >= 0.5],\n)]\nfn desk(item: cobalt::Item) -> String {{\n    \
         let message = item[\"input\"].as_str().unwrap_or_default();\n    {call}\n}}\n\n\
         fn main() {{\n    cobalt::main();\n}}\n"
    )
    .replace("LIBRARY", library)
}

/// The model's response with these items and this source.
fn says(items: Value, source: &str) -> Reply {
    let answer = json!({ "analysis": "A desk.", "items": items, "source": source }).to_string();
    let choice =
        json!({ "index": 0, "message": { "role": "assistant", "content": answer }, "finish_reason": "stop" });
    let usage = json!({ "prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100 });
    Reply::Json(json!({ "choices": [choice], "usage": usage }).to_string())
}

#[test]
fn what_does_not_compile_is_handed_back_and_what_does_is_left() {
    let wrong = source(
        "generate_mended",
        "router_evals",
        "let team: u8 = LIBRARY::router::route(message);\n    team",
    );
    let right = source("generate_mended", "router_evals", "LIBRARY::router::route(message)");
    let mut with_key = items();
    with_key[2]["input"] = json!(format!("is {OTHER_KEY} for a card?"));
    let desk = Desk::new("generate_mended", &[says(items(), &wrong), says(with_key, &right)]);
    let before = desk.project.read("Cargo.toml");
    let mut assistant = Assistant::of(&desk.project);
    let arguments = json!({ "agentFile": "src/router.rs", "datasetSize": 3, "context": format!("Cards are for billing, with {OTHER_KEY}.") });
    let meta = json!({ "progressToken": "here" });
    let call = json!({ "name": "cobalt_generate", "arguments": arguments, "_meta": meta });
    let result = assistant.ask("tools/call", call);
    assert_ne!(result["isError"], true, "{result}");
    let made = &result["structuredContent"];
    assert_eq!((&made["usage"]["calls"], &made["usage"]["tokens"]["input"]), (&json!(2), &json!(2000)));
    assert_ran!("made_at_the_second_attempt", answer(&result));

    assert_eq!(desk.project.read("tests/router_evals.rs"), right);
    let lines = desk.project.read("data/router_evals.jsonl");
    assert_ran!("data_file", lines);
    let manifest = desk.project.read("Cargo.toml");
    let added = manifest.strip_prefix(&before).unwrap_or_else(|| panic!("{manifest}"));
    assert_ran!("added_to_the_manifest", added);

    let asked = desk.model.received();
    let prompt = |at: usize| asked[at].json()["messages"][1]["content"].as_str().unwrap().to_owned();
    assert_eq!(asked[0].headers["authorization"], format!("Bearer {KEY}"));
    let question = prompt(0);
    // The instructions are the same as in the page for assistants.
    let (task, rest) = question.split_once("\n# Cobalt\n").unwrap();
    let (instructions, package) = rest.split_once("\n# The package").unwrap();
    assert!(instructions.contains("#[cobalt::experiment("), "{instructions}");
    assert_ran!("question", format!("{task}\n[instructions]\n\n# The package{package}"));
    // The first prompt is repeated before the errors of the first answer.
    assert_ran!("question_after_errors", prompt(1).replace(&question, "[question]"));
    assert!(!asked.iter().any(|request| request.body.contains(OTHER_KEY)), "keys must not be sent");
    let told: Vec<_> =
        assistant.notifications.iter().filter(|it| it["method"] == "notifications/progress").collect();
    assert!(
        told.iter().any(|it| it["params"]["message"].as_str().unwrap().contains("attempt 2")),
        "{told:?}"
    );
    assert!(!result.to_string().contains(KEY) && !result.to_string().contains(OTHER_KEY), "{result}");

    // A second call does not overwrite the files.
    let files = desk.files();
    let refused = assistant.fails("cobalt_generate", json!({ "agentFile": "src/router.rs" }));
    assert_ran!("files_that_exist", answer(&refused));
    assert_eq!((desk.files(), desk.model.received().len()), (files, 2));
    desk.project.cobalt(&["run", "--ci"], 0).stdout_has("right_team");
}

#[test]
fn in_a_fresh_project_the_new_experiment_has_a_name_of_its_own() {
    let call = "LIBRARY::router::route(message)";
    let named = |name: &str| {
        source("generate_named", "generate_named_evals", call)
            .replace("name = \"desk\"", &format!("name = {name:?}"))
    };
    // The first two are the same as the existing name in test cases; the last one is the name that the error proposes.
    let answers = ["generate_named!", "generate_named", "generate_named_evals"];
    let desk = Desk::new("generate_named", &answers.map(|name| says(items(), &named(name))));
    let library = "pub mod router;\n\n/// The team.\npub fn team(message: &str) -> String {\n    router::route(message)\n}\n";
    desk.project.write("src/lib.rs", library);
    desk.project.cobalt(&["init"], 0);
    desk.project.cobalt(&["run", "--ci"], 0).stdout_has("generate_named: passed");
    let mut assistant = Assistant::of(&desk.project);
    let made = assistant.call("cobalt_generate", json!({ "agentFile": "src/lib.rs", "datasetSize": 3 }));
    assert_eq!(made["experiments"], json!(["generate_named_evals"]));
    assert_ran!("names_that_are_taken", pretty(&made["attempts"]));
    let prompt = desk.model.received()[0].json()["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(prompt.contains("These names of experiments are taken: `generate_named`."), "{prompt}");
    assert!(prompt.contains("`name = \"generate_named_evals\"`"), "{prompt}");
    desk.project.cobalt(&["run", "--ci"], 0).stdout_has("generate_named_evals: passed");

    // The name of a replaced target is not taken.
    let more = Desk { model: Receiver::start(&[says(items(), &named("generate_named_evals"))]), ..desk };
    let settings = more.project.read("cobalt.toml");
    let before = settings.lines().find(|line| line.starts_with("base-url")).unwrap();
    let url = format!("base-url = \"http://{}/v1\"", more.model.host());
    more.project.write("cobalt.toml", &settings.replace(before, &url));
    let again = json!({ "agentFile": "src/lib.rs", "datasetSize": 3, "overwrite": true });
    let made = assistant.call("cobalt_generate", again);
    assert_eq!(
        (made["attempts"].as_array().unwrap().len(), &made["experiments"][0]),
        (1, &json!("generate_named_evals"))
    );
}

#[test]
fn what_never_compiles_leaves_everything_as_it_was() {
    let broken = source("generate_undone", "desk", "missing(message)");
    let few = json!([item("one", "normal")]);
    let answers = [
        says(few, &broken),
        says(items(), &broken.replace("missing(message)", "include_str!(\"../.env\").to_owned()")),
        says(items(), "fn main( {"),
        says(items(), &broken),
    ];
    let desk = Desk::new("generate_undone", &answers);
    desk.project.write("evals/desk.rs", "// mine\n");
    desk.project.write("data/desk.jsonl", "{}\n");
    // In this workspace root, cargo checks another package by default.
    let manifest = desk.project.read("Cargo.toml");
    let workspace = "[workspace]\nmembers = [\"other\"]\ndefault-members = [\"other\"]\n";
    desk.project.write("Cargo.toml", &format!("{}\n{workspace}", manifest.replace("[workspace]\n", "")));
    let other = "[package]\nname = \"generate_undone_other\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    desk.project.write("other/Cargo.toml", other);
    desk.project.write("other/src/lib.rs", "");
    let before = desk.files();
    let mut assistant = Assistant::of(&desk.project);
    let arguments = json!({ "agentFile": "src/router.rs", "outputFile": "evals/desk.rs", "overwrite": true, "datasetSize": 3 });
    let result = assistant.fails("cobalt_generate", arguments);
    assert_ran!("never_compiles", answer(&result));
    assert!(!result.to_string().contains(KEY), "{result}");
    assert_eq!(desk.files(), before);
}

#[test]
fn what_is_cancelled_leaves_nothing() {
    let broken = source("generate_cancelled", "router_evals", "missing(message)");
    let desk = Desk::new("generate_cancelled", &[says(items(), &broken), Reply::Never]);
    let before = desk.files();
    let arguments = json!({ "agentFile": "src/router.rs", "datasetSize": 3 });
    let mut assistant = Assistant::of(&desk.project);
    let id = assistant.begin("tools/call", json!({ "name": "cobalt_generate", "arguments": arguments }));
    desk.wait_until(|desk| desk.model.received().len() == 2);
    assert!(
        desk.project.path("tests/router_evals.rs").is_file(),
        "the checked file must exist until the call ends"
    );
    assistant.notify("notifications/cancelled", json!({ "requestId": id }));
    desk.wait_until(|desk| desk.files() == before);
    assert_eq!(assistant.hang_up(), Some(0));
}

#[test]
fn a_server_that_ends_leaves_nothing() {
    let broken = source("generate_ended", "router_evals", "missing(message)");
    let desk = Desk::new("generate_ended", &[says(items(), &broken), Reply::Never]);
    let before = desk.files();
    let arguments = json!({ "agentFile": "src/router.rs", "datasetSize": 3 });
    let mut assistant = Assistant::of(&desk.project);
    assistant.begin("tools/call", json!({ "name": "cobalt_generate", "arguments": arguments }));
    desk.wait_until(|desk| desk.model.received().len() == 2);
    assert_eq!(assistant.hang_up(), Some(0));
    assert_eq!(desk.files(), before);
}

#[test]
fn what_cannot_come_to_a_good_end_is_refused_before_a_model_is_asked() {
    let desk = Desk::new("generate_refused", &[Reply::Status(500, "")]);
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("agent.rs"), "pub fn f() {}").unwrap();
    desk.project.write("src/broken.rs", "fn (");
    desk.project.write("src/main.rs", "mod command;\nfn main() {}\n");
    desk.project.write("src/command.rs", "pub fn ask() {}\n");
    desk.project.write("src/lib.rs", "pub mod router;\n#[path = \"../parts/odd.rs\"]\nmod odd;\n");
    desk.project.write("parts/odd.rs", "pub fn odd() {}\n");
    desk.project.write("tests/other.rs", "mod shared;\n");
    desk.project.write("tests/shared/mod.rs", "\n");
    desk.project.write("notes.md", "An agent.\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path(), desk.project.path("linked")).unwrap();
    let mut assistant = Assistant::of(&desk.project);
    let before = desk.files();
    let mut all = Vec::new();
    let mut refused = |arguments: Value| {
        let result = assistant.fails("cobalt_generate", arguments.clone());
        assert!(!result.to_string().contains(KEY), "{arguments}: {result}");
        all.push((arguments, text(&result).to_owned()));
    };
    let absolute = |name: &str| outside.path().join(name).display().to_string();
    refused(json!({ "agentFile": "../agent.rs" }));
    refused(json!({ "agentFile": absolute("agent.rs") }));
    refused(json!({ "agentFile": "notes.md" }));
    refused(json!({ "agentFile": "src/broken.rs" }));
    refused(json!({ "agentFile": "src/command.rs" }));
    let output = |path: &str| json!({ "agentFile": "src/router.rs", "outputFile": path });
    refused(output("../evals.rs"));
    refused(output(&absolute("evals.rs")));
    refused(output("tests/evals.txt"));
    refused(output("src/evals.rs"));
    refused(output("src/router.rs"));
    // Cargo would execute `build.rs` during the check.
    for place in ["build.rs", "examples/evals.rs", "benches/evals.rs", "tests/evals/main.rs"] {
        refused(output(place));
    }
    for place in ["tests/shared/mod.rs", "parts/odd.rs"] {
        let over = json!({ "agentFile": "src/router.rs", "outputFile": place, "overwrite": true });
        refused(over);
    }
    if cfg!(unix) {
        refused(json!({ "agentFile": "linked/agent.rs" }));
        refused(output("linked/evals.rs"));
    }
    refused(json!({ "agentFile": "src/router.rs", "datasetSize": 0 }));
    refused(json!({ "agentFile": "src/router.rs", "datasetSize": 101 }));
    assert_eq!(desk.files(), before);

    desk.project.write(".env", "");
    refused(json!({ "agentFile": "src/router.rs" }));
    fs::remove_file(desk.project.path("src/lib.rs")).unwrap();
    refused(json!({ "agentFile": "src/command.rs" }));
    assert_eq!(desk.model.received().len(), 0);
    assert_ran!("refused_arguments", listed(all));
}
