//! An agent with spans, run in every supported way: its trace is in the result file.

use std::fs;

use serde_json::json;

use crate::command::program;
use crate::project::{ProgramOutput, Project};

/// An agent that asks a model and calls a tool, as a crate with OpenTelemetry's names tells it.
const EVALS: &str = r#"
use tracing::{Instrument, info_span};

#[cobalt::evaluator]
fn answered(output: &str) -> bool {
    !output.is_empty()
}

#[cobalt::experiment(
    dataset = cobalt::Dataset::from_items([cobalt::item! { "input": "York" }, cobalt::item! { "input": "Bath" }]),
    evaluators = [answered],
)]
async fn traced(item: cobalt::Item) -> String {
    let city = item["input"].as_str().unwrap().to_owned();
    let tool = info_span!(
        "execute_tool",
        gen_ai.tool.name = "weather",
        gen_ai.tool.call.arguments = format!("{{\"city\":\"{city}\"}}"),
        gen_ai.tool.call.result = "18 °C",
    );
    let weather = async { "18 °C" }.instrument(tool).await;
    let chat = info_span!(
        "chat",
        gen_ai.operation.name = "chat",
        gen_ai.request.model = "m",
        gen_ai.usage.input_tokens = 20,
        gen_ai.usage.output_tokens = 3,
    );
    async { format!("{weather} in {city}") }.instrument(chat).await
}

fn main() {
    cobalt::main();
}
"#;

#[test]
fn a_trace_is_in_the_result_of_every_kind_of_run() {
    let project = Project::with_features();
    let tracing = "[dev-dependencies]\ntracing = { version = \"0.1\", default-features = false }\n";
    project.write("Cargo.toml", &project.read("Cargo.toml").replace("[dev-dependencies]\n", tracing));
    project.target("evals");
    project.write("tests/evals.rs", EVALS);

    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let of_cargo = |arguments: &[&str]| {
        let mut command = program(&cargo, &project.path(""));
        command.args(arguments);
        command
    };
    let mut runs = vec![project.command(&["run", "--ci"]), of_cargo(&["test"])];
    if of_cargo(&["nextest", "--version"]).output().unwrap().status.success() {
        runs.push(of_cargo(&["nextest", "run"]));
    } else {
        println!("skipped in part: cargo-nextest is not installed");
    }
    for mut run in runs {
        ProgramOutput::by(&mut run, 0);
        assert_traced(&project);
        fs::remove_dir_all(project.path(".cobalt")).unwrap();
    }
}

fn assert_traced(project: &Project) {
    let report = project.newest_result();
    for (item, city) in report["items"].as_array().unwrap().iter().zip(["York", "Bath"]) {
        let trace = &item["trace"];
        let kinds = trace.as_array().unwrap().iter().map(|span| &span["kind"]);
        assert_eq!(kinds.collect::<Vec<_>>(), ["tool", "model"], "{trace}");
        let tool = json!({ "name": "weather", "arguments": { "city": city }, "result": "18 °C" });
        assert_eq!(trace[0]["tool"], tool);
        assert_eq!(trace[1]["model"]["tokens"], json!({ "input": 20, "output": 3 }));
        assert_eq!(item["output"]["metadata"]["tokens"], json!({ "input": 20, "output": 3 }));
    }
}
