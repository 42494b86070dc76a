//! `cobalt_generate`: the configured judge model writes an experiment for an agent, from the agent's source.
//!
//! Before any cost is incurred, the [`agent`] is read, with the items that a test can [`public_paths`], and the [`OutputFiles`] of the new
//! files is determined. Then the model has a few [`attempts`]: the [`items`] and the [`source`] it writes are reviewed, and
//! `cargo check` ([`check`]) compiles them in place. Names of experiments that are [`TakenNames`] are not reused. On failure, the
//! [`transaction`] undoes all changes.

mod agent;
mod attempts;
mod check;
mod items;
mod public_paths;
mod source;
mod transaction;

use std::fs;
use std::path::Path;

use cobalt::command::config::Flags;
use cobalt::llm::Judge;
use cobalt_core::prices::{JudgeUsage, format_cost_precise};
use cobalt_core::wording::{count, group_thousands, truncate};
use rmcp::model::{Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::run::Progress;
use super::{ToolContext, ToolResult, define_tool};
use crate::config::settings_of;
use crate::environment::Environment;
use crate::error::Error;
use crate::init::{InitError, add_target};
use crate::markdown::{code, fenced};
use crate::mcp::projects::Project;
use agent::Agent;
use attempts::{Attempt, Attempts, Outcome};
use check::{GenerateRequest, OutputFiles, TakenNames};
use items::ItemKindCounts;

pub const NAME: &str = "cobalt_generate";

/// The maximum number of items.
const MOST_ITEMS: usize = 100;
/// The maximum length of the last errors in the text, in characters.
const LONGEST_TEXT: usize = 4_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arguments {
    /// Project name or folder. Optional if only one project is served.
    project: Option<String>,
    /// The agent's Rust source, in a library: relative to the project root, or absolute.
    agent_file: String,
    /// The test target to write, a `.rs` file in the agent's package. Default: `tests/<agent>_evals.rs`.
    output_file: Option<String>,
    /// Number of items in the dataset. Default: 10.
    #[serde(default = "default_dataset_size")]
    #[schemars(range(min = 1, max = MOST_ITEMS))]
    dataset_size: usize,
    /// What the source does not say: what the agent is for, what a good answer is, known problems.
    context: Option<String>,
    /// Replace existing files.
    #[serde(default)]
    overwrite: bool,
}

fn default_dataset_size() -> usize {
    10
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GenerateResult {
    project: Project,
    /// The dataset file, relative to the project root; absent if nothing was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    data_file: Option<String>,
    /// The source of the test target, relative to the project root; absent if nothing was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    test_file: Option<String>,
    /// The name of the test target.
    target: String,
    /// Its package.
    package: String,
    /// The names of the experiments.
    experiments: Vec<String>,
    /// Number of items of each kind.
    items: ItemKindCounts,
    /// The model's attempts, with the errors of each.
    attempts: Vec<Attempt>,
    /// Requests to the model, tokens and cost.
    usage: JudgeUsage,
    /// Further notes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The next step.
    next: String,
}

pub fn description() -> Tool {
    define_tool::<Arguments, GenerateResult>(
        NAME,
        "Write an experiment for an agent",
        "Write an experiment for an agent: the project's judge model (`[judge]` in cobalt.toml) reads the agent's Rust source and \
         writes a dataset of normal, edge and adversarial cases, and a test target with matching evaluators. The model requests cost money. \
         Compiles the target with `cargo check` and returns errors to the model up to three times; never runs it. On failure, \
         leaves nothing behind. Review the generated source before you run it with `cobalt_run`.",
        ToolAnnotations::new().read_only(false).destructive(true).idempotent(false).open_world(true),
    )
}

pub async fn call(call: ToolContext<'_>, arguments: Arguments) -> Result<ToolResult<GenerateResult>, Error> {
    let project = (*call.projects.select(arguments.project.as_deref())?).clone();
    let prepared = tokio::task::spawn_blocking(move || prepare(project, arguments));
    let (mut wanted, judge, mut notes) =
        prepared.await.unwrap_or_else(|error| Err(Error::Server(error.into())))?;
    let (commands, mut progress) = (call.commands.clone(), Progress::of(call.context));
    progress.step("listing the experiments").await;
    let (taken, note) = TakenNames::list(call, &wanted, &mut progress).await?;
    wanted.taken = taken;
    notes.extend(note);
    let made = call.commands.spawn_to_completion(&call.context.ct, |cancelled| async move {
        let (wanted, judge, cancelled, commands) = (&wanted, &judge, &cancelled, &commands);
        let mut attempts = Attempts { wanted, judge, commands, cancelled, progress };
        // A run at the same time would build an unfinished target.
        let has_to = attempts.progress.step("waiting for another run of this project");
        let _turn = commands.lock_project(&wanted.project, cancelled, has_to).await?;
        // Another call may have written these files meanwhile.
        wanted.place.check_free(&wanted.project, wanted.overwrite)?;
        let outcome = attempts.run().await?;
        Ok(build_result(wanted, judge.usage(), outcome, notes))
    });
    made.await.unwrap_or_else(|error| Err(Error::Server(error.into())))
}

/// Does all checks that are possible before the model is called.
fn prepare(project: Project, arguments: Arguments) -> Result<(GenerateRequest, Judge, Vec<String>), Error> {
    let Arguments { agent_file, output_file, dataset_size: size, context, overwrite, .. } = arguments;
    let agent = Agent::read(&project, &agent_file)?;
    let place = OutputFiles::resolve(&project, &agent, output_file.as_deref(), overwrite)?;
    let manifest = agent.folder.join(crate::project::MANIFEST);
    let text = fs::read_to_string(&manifest).map_err(InitError::file("read", &manifest))?;
    let path = place.test_in_manifest.as_deref();
    let notes = add_target(&agent.folder, &agent.metadata, &text, &place.target, path)?.notes;
    let judge = judge(&agent)?;
    let taken = TakenNames::default();
    Ok((GenerateRequest { project, agent, place, taken, size, context, overwrite }, judge, notes))
}

/// The judge of the package's settings, with the same key as its experiments.
fn judge(agent: &Agent) -> Result<Judge, Error> {
    let root = agent.metadata.workspace_root.as_std_path();
    let environment = Environment::read(&[&agent.folder, root])?;
    let settings = settings_of(&agent.folder, &Flags::default())?;
    let variable = |name: &str| {
        let set = environment.get(name).map(|value| value.to_string_lossy().into_owned());
        set.or_else(|| settings.env().get(name).cloned())
    };
    Judge::of(&settings, &variable).map_err(|error| {
        Error::Arguments(format!(
            "no judge model is available: {error} (keys are read from the environment of `cargo cobalt mcp` and from the \
             project's `.env` files; `[judge]` in cobalt.toml selects the model)"
        ))
    })
}

fn build_result(
    wanted: &GenerateRequest,
    usage: JudgeUsage,
    outcome: Outcome,
    mut notes: Vec<String>,
) -> ToolResult<GenerateResult> {
    let GenerateRequest { project, agent, place, .. } = wanted;
    let shown = |path: &Path| path.strip_prefix(&project.root).unwrap_or(path).display().to_string();
    let (test, data) = (shown(&place.test), shown(&place.data));
    let is_error = outcome.written.is_none();
    let next = match is_error {
        true if !outcome.left.is_empty() => {
            "Not everything could be restored: follow the notes, then call again.".to_owned()
        }
        false => format!(
            "Read {} and {}, and fix what does not fit the agent. Then call `cobalt_run` with `file` {}.",
            code(&test),
            code(&data),
            code(&test)
        ),
        true => "Nothing was left in the project. Give the model more `context`, fix the problems above, or write the experiment \
                 yourself."
            .to_owned(),
    };
    if is_error {
        notes = Vec::new();
    }
    notes.extend(outcome.notes);
    notes.extend(outcome.left);
    let written = outcome.written;
    if written.as_ref().is_some_and(|written| written.is_redacted) {
        notes.push(
            "Texts that look like keys were replaced with `[redacted]` in these files. If a case is about keys, insert a key \
             that is not in use."
                .to_owned(),
        );
    }
    let structured = GenerateResult {
        project: project.clone(),
        data_file: written.as_ref().map(|_| data),
        test_file: written.as_ref().map(|_| test),
        target: place.target.clone(),
        package: agent.package.name.to_string(),
        items: written.as_ref().map(|written| written.kinds).unwrap_or_default(),
        experiments: written.map(|written| written.experiments).unwrap_or_default(),
        attempts: outcome.attempts,
        usage,
        notes,
        next,
    };
    ToolResult { text: text(&structured), structured, is_error }
}

/// The summary.
fn text(generated: &GenerateResult) -> String {
    let GenerateResult {
        data_file, test_file, target, experiments, items, attempts, usage, notes, next, ..
    } = generated;
    let mut text = match (test_file, data_file) {
        (Some(test), Some(data)) => {
            let names: Vec<_> = experiments.iter().map(|name| code(name)).collect();
            format!("Wrote {} with {items}, and {} with {}.", code(data), code(test), names.join(", "))
        }
        _ => format!(
            "No experiment was written for the target {} after {}.",
            code(target),
            count(attempts.len(), "attempt")
        ),
    };
    text += &format!(" {}\n\n", cost_summary(usage));
    if test_file.is_none()
        && let Some(Attempt { errors }) = attempts.last()
    {
        text += &format!("The last errors:\n\n{}\n", fenced(&truncate(&errors.join("\n"), LONGEST_TEXT)));
    }
    for note in notes {
        text += &match note.split_once('\n') {
            Some((note, said)) => format!("Note: {note}\n\n{}\n", fenced(said)),
            None => format!("Note: {note}\n\n"),
        };
    }
    text + next
}

/// The requests, tokens and cost, in a sentence.
fn cost_summary(usage: &JudgeUsage) -> String {
    let JudgeUsage { models, calls, tokens, cost, unpriced, .. } = usage;
    let requests =
        if *calls == 1 { "1 request".to_owned() } else { format!("{} requests", group_thousands(*calls)) };
    let cost = if unpriced.is_empty() { format_cost_precise(*cost) } else { "unknown".to_owned() };
    let models: Vec<_> = models.iter().map(|model| code(model)).collect();
    format!(
        "{requests} to {}, {} tokens, judge cost {cost}.",
        if models.is_empty() { "the model".to_owned() } else { models.join(", ") },
        group_thousands(tokens.total())
    )
}
