//! `generate-tests`: an agent's public functions, its existing experiments, and how to write a new one; or how to add items to an
//! existing dataset.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use cobalt_core::redact::redacted;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::agent::{FunctionLocation, locate, package_of, reachable, relative_path, rust_files};
use super::source::{self, Function};
use super::text::{DATA_WARNING, ToolCallWriter, fenced_data, inline_name};
use crate::error::Error;
use crate::mcp::paths::resolve_existing;
use crate::mcp::projects::Project;

pub const NAME: &str = "generate-tests";
/// The maximum number of functions.
const MOST_FUNCTIONS: usize = 40;
/// The maximum number of experiments.
const MOST_EXPERIMENTS: usize = 20;
/// The maximum size of all signatures, in bytes.
const LONGEST_SIGNATURES: usize = 6000;
/// The maximum size of the user's context, in bytes.
const LONGEST_CONTEXT: usize = 4000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arguments {
    /// For a new experiment: the agent's source file, relative to the project root, such as `src/agents/summarizer.rs`.
    agent_file: Option<String>,
    /// For 5 to 10 more items: an existing file with experiments, such as `tests/evals.rs`.
    experiment_file: Option<String>,
    /// The focus of the tests: `edge-cases`, `adversarial`, `coverage`, or free text. Default: a mix.
    focus: Option<String>,
    /// What the agent is for, what it should and should not do, which cases matter.
    context: Option<String>,
    /// Project name or folder. Optional if only one project is served.
    project: Option<String>,
}

impl super::text::Arguments for Arguments {
    fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    fn write(&self, project: &Project, tools: &ToolCallWriter) -> Result<String, Error> {
        match (&self.agent_file, &self.experiment_file) {
            (Some(agent), None) => self.new_experiment(project, tools, agent),
            (None, Some(experiment)) => self.more_items(project, tools, experiment),
            _ => Err(Error::Arguments(
                "pass either `agentFile`, to write a new experiment for that agent, or `experimentFile`, to add items to an existing \
                 experiment"
                    .to_owned(),
            )),
        }
    }
}

/// The source file of an argument: its path, its path relative to the project root, its text and its functions.
fn source_file(
    project: &Project,
    argument: &str,
    typed: &str,
) -> Result<(PathBuf, String, String, Vec<Function>), Error> {
    let path = resolve_existing(project, argument, typed)?;
    let file = relative_path(&project.root, &path);
    let wrong = |reason: String| Error::Arguments(format!("`{argument}`: `{file}` {reason}"));
    let text = source::read(&path)
        .ok_or_else(|| wrong("is not readable as text, or is larger than 1 MB".to_owned()))?;
    let functions = source::functions(&text)
        .map_err(|error| wrong(format!("is not valid Rust: line {}: {error}", error.span().start().line)))?;
    Ok((path, file, text, functions))
}

impl Arguments {
    fn new_experiment(
        &self,
        project: &Project,
        tools: &ToolCallWriter,
        typed: &str,
    ) -> Result<String, Error> {
        let (path, file, _, functions) = source_file(project, "agentFile", typed)?;
        let experiments = experiments(project, &path, &functions);
        Ok(self.text(project, tools, &file, &functions, &experiments))
    }

    /// The prompt for more items in the dataset of the experiments in a file.
    fn more_items(&self, project: &Project, tools: &ToolCallWriter, typed: &str) -> Result<String, Error> {
        let (_, file, text, functions) = source_file(project, "experimentFile", typed)?;
        let experiments: Vec<_> = functions.iter().filter(|function| function.is_experiment).collect();
        if experiments.is_empty() {
            return Err(Error::Arguments(format!(
                "`experimentFile`: `{file}` has no function with `#[cobalt::experiment]`; `cobalt_list` lists the experiments and \
                 their files"
            )));
        }
        let mut prompt = format!(
            "# Add items to the dataset of {}\n\nProject {}, in {}.\n\n## Experiments in this file\n\n{DATA_WARNING}",
            inline_name(&file),
            inline_name(&project.name),
            inline_name(&project.root.display().to_string())
        );
        let lines: Vec<_> = text.lines().collect();
        for experiment in experiments.iter().take(MOST_EXPERIMENTS) {
            let (first, last) = (experiment.lines.start().saturating_sub(1), *experiment.lines.end());
            let source = lines.get(first..last.min(lines.len())).unwrap_or_default().join("\n");
            let _ = write!(
                prompt,
                "\n{}\n\n{}",
                inline_name(&format!("{file}:{}", experiment.line)),
                fenced_data(
                    &redacted(&source),
                    LONGEST_SIGNATURES / experiments.len().clamp(1, MOST_EXPERIMENTS)
                )
            );
        }
        let context = self.context.as_deref().map(redacted);
        if let Some(context) = &context {
            let _ = write!(
                prompt,
                "\n## What the user says about the agent\n\n{}",
                fenced_data(context, LONGEST_CONTEXT)
            );
        }
        Ok(prompt + &self.steps_for_items(tools, &file))
    }

    fn steps_for_items(&self, tools: &ToolCallWriter, file: &str) -> String {
        format!(
            "\n## What to do\n\n\
             1. Call {} for the experiments of {} with their datasets, evaluators and last runs. Read the dataset itself, and the \
             agent that the experiment calls.\n\
             2. Find the gaps: which inputs are too similar, which kinds of question, length, language and mistake are missing, and \
             what could mislead the agent.\n\
             3. Write 5 to 10 new items. {} Give each the same fields as the existing items, an expected answer that you have \
             checked, and a unique `id` that says what it is about.\n\
             4. Append them to the data file, in its format. Do not change existing items: their results are compared from run to \
             run. `cargo cobalt dataset check` finds duplicate IDs and missing fields.\n\
             5. Call {}{}, and read the failed items. If an expected answer is wrong, correct the item; if the agent is wrong, leave \
             the item failing and report it.\n\
             6. Report each item with its purpose, the scores, and what the agent gets wrong. The baseline does not include the new \
             items: set a new one once the user agrees.\n",
            tools.call("cobalt_list", json!({})),
            inline_name(file),
            self.focus_in_words(),
            tools.call("cobalt_run", json!({ "file": file })),
            tools.project_note(),
        )
    }

    /// The focus of a new experiment, if given.
    fn new_experiment_focus(&self) -> Option<String> {
        self.focus.as_deref().filter(|focus| !focus.trim().is_empty()).map(|_| self.focus_in_words())
    }

    /// The focus of new items, as instructions.
    fn focus_in_words(&self) -> String {
        match self.focus.as_deref().map(str::trim).filter(|focus| !focus.is_empty()) {
            None => "Mix normal, edge and adversarial cases.".to_owned(),
            Some("edge-cases") => {
                "All of them edge cases: empty, very long, malformed, ambiguous or unusual input.".to_owned()
            }
            Some("adversarial") => "All of them adversarial: input that tries to mislead the agent, to make it break its rules or \
                                    reveal what it must not."
                .to_owned(),
            Some("coverage") => "All of them for kinds of input that are easily overlooked.".to_owned(),
            Some(focus) => format!("All of them about {}.", inline_name(&redacted(focus))),
        }
    }

    fn text(
        &self,
        project: &Project,
        tools: &ToolCallWriter,
        file: &str,
        functions: &[Function],
        experiments: &[FunctionLocation],
    ) -> String {
        let mut text = format!(
            "# Write an experiment for the agent in {}\n\nProject {}, in {}.\n",
            inline_name(file),
            inline_name(&project.name),
            inline_name(&project.root.display().to_string())
        );
        text += &public_functions(file, functions);
        text += &existing_experiments(tools, experiments);
        let focus = self.new_experiment_focus();
        let context = self.context.as_deref().map(redacted);
        if let Some(context) = &context {
            let _ =
                write!(text, "\n## What the user says about it\n\n{}", fenced_data(context, LONGEST_CONTEXT));
        }
        if let Some(focus) = &focus {
            let _ = write!(
                text,
                "\n## Focus of the tests\n\n{focus} Say so in the `context` of `cobalt_generate`, and check that the items it writes \
                 follow it.\n"
            );
        }
        text + &steps(tools, file, context.as_deref())
    }
}

/// The public functions of the file.
fn public_functions(file: &str, functions: &[Function]) -> String {
    let public: Vec<_> = functions.iter().filter(|function| function.is_public).collect();
    if public.is_empty() {
        return "\nThe file has no public function. An experiment is in another crate and can only call `pub` functions. Find out which \
                function is the agent and make it public, or pass the file that exports it.\n"
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
    format!("\n## Public functions\n\n{}{more}", fenced_data(signatures.trim_end(), LONGEST_SIGNATURES))
}

/// The existing experiments that call it.
fn existing_experiments(tools: &ToolCallWriter, experiments: &[FunctionLocation]) -> String {
    if experiments.is_empty() {
        return "\nNo experiment in its package calls any of them yet.\n".to_owned();
    }
    let mut text = "\n## Existing experiments for it\n\n".to_owned();
    for place in experiments.iter().take(MOST_EXPERIMENTS) {
        let _ = writeln!(
            text,
            "- {}: {}",
            inline_name(&place.function),
            inline_name(&format!("{}:{}", place.file, place.line))
        );
    }
    let run = experiments.first().map(|place| tools.call("cobalt_run", json!({ "file": place.file })));
    let _ = writeln!(
        text,
        "\nRead them first, and call {} to see what they measure. Write a new experiment only for what they do not cover, and do not \
         replace them.",
        run.unwrap_or_default()
    );
    text
}

/// The experiments in the tests of the file's package that call one of its functions, directly or through others.
fn experiments(project: &Project, path: &Path, functions: &[Function]) -> Vec<FunctionLocation> {
    let Some(package) = package_of(path) else { return Vec::new() };
    let mut places = Vec::new();
    for file in rust_files(&package.join("tests")).filter(|file| file != path) {
        let Some(text) = source::read(&file).filter(|text| text.contains("experiment")) else { continue };
        let of_file = source::functions(&text).unwrap_or_default();
        let calls = |function: &&Function| {
            let within = reachable(function, &of_file);
            let calls = within.into_iter().chain([*function]).flat_map(|function| &function.calls);
            calls
                .into_iter()
                .any(|call| functions.iter().any(|agent| agent.is_public && call.may_refer_to(agent)))
        };
        let experiments = of_file.iter().filter(|function| function.is_experiment).filter(calls);
        places.extend(experiments.map(|function| locate(&project.root, &file, function)));
    }
    places
}

fn steps(tools: &ToolCallWriter, file: &str, context: Option<&str>) -> String {
    let generate = match context {
        Some(_) => format!(
            "Call {}, and pass the user's `context` from above",
            tools.call("cobalt_generate", json!({ "agentFile": file }))
        ),
        None => format!(
            "Call {}. Add a `context` once you know what the agent is for and what it must not do",
            tools.call("cobalt_generate", json!({ "agentFile": file }))
        ),
    };
    format!(
        "\n## What to do\n\n\
         1. Read {} and what it calls: its input and output, its model and prompt, and what can go wrong.\n\
         2. {generate}. The configured judge model writes a dataset of normal, edge and adversarial cases and the evaluators; the tool \
         saves a data file and a test target that compiles. It overwrites nothing.\n\
         3. Review the result. Fix wrong expected answers, duplicate items, and evaluators that would pass any output or fail a correct \
         one. The fields of an item that the agent reads must not contain the expected answer.\n\
         4. Call `cobalt_run` with the new test file as `file`{}. If it does not build or run, fix the test target: the errors name file \
         and line.\n\
         5. Read the failed items. If the expected answer is wrong, fix the item; if the agent is wrong, leave the item failing and \
         report it.\n\
         6. Report the covered cases, the scores, and what the agent gets wrong.\n",
        inline_name(file),
        tools.project_note(),
    )
}
