//! `generate-tests`: what an agent's file offers, whether there is an experiment for it, and how to get one.

use std::fmt::Write as _;
use std::path::Path;

use cobalt::redact::redacted;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::agent::{Place, at, package_of, reached, rust_files, shown};
use super::source::{self, Function};
use super::text::{Tools, data, name};
use crate::error::Error;
use crate::mcp::paths::inside;
use crate::mcp::projects::Project;

pub(super) const NAME: &str = "generate-tests";
/// The most functions that are named.
const MOST_FUNCTIONS: usize = 40;
/// The most experiments that are named.
const MOST_EXPERIMENTS: usize = 20;
/// The most bytes of all signatures.
const LONGEST_SIGNATURES: usize = 6000;
/// The most bytes of what the user said of the agent.
const LONGEST_CONTEXT: usize = 4000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Arguments {
    /// The agent's source file, relative to the project's root, such as `src/agents/summarizer.rs`.
    agent_file: String,
    /// What the agent is for, what it should and should not do, which cases matter.
    context: Option<String>,
    /// The project, by its name or folder; may be left out where only one is served.
    project: Option<String>,
}

impl super::Arguments for Arguments {
    fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    fn write(&self, project: &Project, tools: &Tools) -> Result<String, Error> {
        let path = inside(project, "agentFile", &self.agent_file)?;
        let file = shown(&project.root, &path);
        let wrong = |reason: String| Error::Arguments(format!("`agentFile`: `{file}` {reason}"));
        let text = source::read(&path)
            .ok_or_else(|| wrong("is no text that can be read, or larger than 1 MB".to_owned()))?;
        let functions = source::functions(&text)
            .map_err(|error| wrong(format!("is no Rust: line {}: {error}", error.span().start().line)))?;
        let experiments = experiments(project, &path, &functions);
        Ok(self.text(project, tools, &file, &functions, &experiments))
    }
}

impl Arguments {
    fn text(
        &self,
        project: &Project,
        tools: &Tools,
        file: &str,
        functions: &[Function],
        experiments: &[Place],
    ) -> String {
        let mut text = format!(
            "# Write an experiment for the agent in {}\n\nProject {}, in {}.\n",
            name(file),
            name(&project.name),
            name(&project.root.display().to_string())
        );
        text += &offered(file, functions);
        text += &known(tools, experiments);
        let context = self.context.as_deref().map(redacted);
        if let Some(context) = &context {
            let _ = write!(text, "\n## What the user says of it\n\n{}", data(context, LONGEST_CONTEXT));
        }
        text + &steps(tools, file, context.as_deref())
    }
}

/// The public functions of the file.
fn offered(file: &str, functions: &[Function]) -> String {
    let public: Vec<_> = functions.iter().filter(|function| function.is_public).collect();
    if public.is_empty() {
        return "\nThe file has no public function: an experiment is in another crate and can only call what is `pub`. Find out which \
                function is the agent, and make it public, or name the file that offers it.\n"
            .to_owned();
    }
    let mut signatures = String::new();
    for function in public.iter().take(MOST_FUNCTIONS) {
        let owner = function.owner.as_ref().map(|owner| format!("{owner}: ")).unwrap_or_default();
        let signature = function.signature.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = writeln!(signatures, "{file}:{}: {owner}{signature}", function.line);
    }
    let more = public.len().saturating_sub(MOST_FUNCTIONS);
    let more = if more > 0 { format!("\nand {more} more.\n") } else { String::new() };
    format!("\n## Its public functions\n\n{}{more}", data(signatures.trim_end(), LONGEST_SIGNATURES))
}

/// The experiments that call it already.
fn known(tools: &Tools, experiments: &[Place]) -> String {
    if experiments.is_empty() {
        return "\nNo experiment of its package calls any of them yet.\n".to_owned();
    }
    let mut text = "\n## Experiments that call it already\n\n".to_owned();
    for place in experiments.iter().take(MOST_EXPERIMENTS) {
        let _ = writeln!(
            text,
            "- {}: {}",
            name(&place.function),
            name(&format!("{}:{}", place.file, place.line))
        );
    }
    let run = experiments.first().map(|place| tools.call("cobalt_run", json!({ "file": place.file })));
    let _ = writeln!(
        text,
        "\nRead them first, and call {} to see what they measure. Write a new experiment only for what they leave out, and do not \
         replace them.",
        run.unwrap_or_default()
    );
    text
}

/// The experiments in the tests of the file's package that call one of its functions, by themselves or through others.
fn experiments(project: &Project, path: &Path, functions: &[Function]) -> Vec<Place> {
    let Some(package) = package_of(path) else { return Vec::new() };
    let mut places = Vec::new();
    for file in rust_files(&package.join("tests")).filter(|file| file != path) {
        let Some(text) = source::read(&file).filter(|text| text.contains("experiment")) else { continue };
        let of_file = source::functions(&text).unwrap_or_default();
        let calls = |function: &&Function| {
            let within = reached(function, &of_file);
            let calls = within.into_iter().chain([*function]).flat_map(|function| &function.calls);
            calls
                .into_iter()
                .any(|call| functions.iter().any(|agent| agent.is_public && call.may_mean(agent)))
        };
        let experiments = of_file.iter().filter(|function| function.is_experiment).filter(calls);
        places.extend(experiments.map(|function| at(&project.root, &file, function)));
    }
    places
}

fn steps(tools: &Tools, file: &str, context: Option<&str>) -> String {
    let generate = match context {
        Some(_) => format!(
            "Call {}, and with the `context` that the user gave, as above",
            tools.call("cobalt_generate", json!({ "agentFile": file }))
        ),
        None => format!(
            "Call {}. Add a `context` where you have learnt what the agent is for and what it must not do",
            tools.call("cobalt_generate", json!({ "agentFile": file }))
        ),
    };
    format!(
        "\n## What to do\n\n\
         1. Read {} and what it calls: what goes in, what comes out, which model and prompt it asks, what can go wrong.\n\
         2. {generate}. It asks the configured judge model for a data set of normal, edge and adversarial cases and for evaluators, and \
         writes a data file and a test target that compiles. It writes over nothing.\n\
         3. Read what it wrote. Mend expected answers that are wrong, items that repeat each other, and evaluators that would pass any \
         output or fail a right one. What the agent reads of an item must not hold the expected answer.\n\
         4. Call `cobalt_run` with the test file that it wrote as `file`{}. Where it does not build or cannot be run, mend the test \
         target: the errors name file and line.\n\
         5. Read the items that failed. Where the expectation is wrong, mend the item; where the agent is, leave it red and report it.\n\
         6. Report the cases that are covered, the scores, and what the agent gets wrong.\n",
        name(file),
        tools.beside(),
    )
}
