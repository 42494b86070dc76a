//! `cobalt_generate`: an experiment for an agent, written by the configured judge model out of the agent's source.
//!
//! The [`agent`] is read, with what of it a test can [`reach`], and the [`Place`] of the new files is found before anything is
//! spent. Then the model is asked in a few [`attempts`]: of what it answers, the [`items`] and the [`source`] are looked at, and
//! cargo [`check`]s them where they lie. Names of experiments that are [`Taken`] are not used a second time. What does not come to
//! a good end is undone by the [`transaction`].

mod agent;
mod attempts;
mod check;
mod items;
mod reach;
mod source;
mod transaction;

use std::fs;
use std::path::Path;

use cobalt::command::config::Flags;
use cobalt::llm::Judge;
use cobalt_core::prices::JudgeUsage;
use cobalt_core::wording::cut;
use rmcp::model::{Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::run::Progress;
use super::{Answer, Call, tool};
use crate::config::settings_of;
use crate::environment::Environment;
use crate::error::Error;
use crate::init::{InitError, with_target};
use crate::markdown::{code, fenced};
use crate::mcp::projects::Project;
use agent::Agent;
use attempts::{Attempt, Attempts, Outcome};
use check::{Place, Taken, Wanted};
use items::Kinds;

pub const NAME: &str = "cobalt_generate";

/// The most items that are written.
const MOST_ITEMS: usize = 100;
/// The most that the text tells of the last errors, in characters.
const LONGEST_TEXT: usize = 4_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arguments {
    /// The project, by its name or folder; may be left out where only one is served.
    project: Option<String>,
    /// The Rust source of the agent, a file of a library: relative to the project's root, or absolute.
    agent_file: String,
    /// Where the test target is written, a `.rs` file in the agent's package; `tests/<agent>_evals.rs` unless it is given.
    output_file: Option<String>,
    /// How many items the data set has; 10 unless it is given.
    #[serde(default = "usual_size")]
    #[schemars(range(min = 1, max = MOST_ITEMS))]
    dataset_size: usize,
    /// What the source does not tell: what the agent is for, what a good answer is, what is known to go wrong.
    context: Option<String>,
    /// Whether files that are there may be replaced.
    #[serde(default)]
    overwrite: bool,
}

fn usual_size() -> usize {
    10
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Generated {
    project: Project,
    /// The data set, as seen from the project's root; absent where nothing was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    data_file: Option<String>,
    /// The source of the test target, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    test_file: Option<String>,
    /// The name of the test target.
    target: String,
    /// The package that has it.
    package: String,
    /// The names of the experiments.
    experiments: Vec<String>,
    /// How many items there are of each kind.
    items: Kinds,
    /// How often the model wrote, and what was wrong each time.
    attempts: Vec<Attempt>,
    /// What the model was asked, and what that cost.
    usage: JudgeUsage,
    /// What else should be known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// What to do now.
    next: String,
}

pub fn description() -> Tool {
    tool::<Arguments, Generated>(
        NAME,
        "Write an experiment for an agent",
        "Has the project's judge model (`[judge]` in cobalt.toml) read an agent's Rust source and write an experiment for it: a \
         data set of normal, edge and adversarial cases, and a test target with fitting evaluators. It asks the model, which costs \
         money. The target is compiled with `cargo check`, and errors are handed back to the model up to three times; it is never \
         run by this tool. On failure nothing is left behind. Read the source before you run it with `cobalt_run`.",
        ToolAnnotations::new().read_only(false).destructive(true).idempotent(false).open_world(true),
    )
}

pub async fn call(call: Call<'_>, arguments: Arguments) -> Result<Answer<Generated>, Error> {
    let project = (*call.projects.choose(arguments.project.as_deref())?).clone();
    let prepared = tokio::task::spawn_blocking(move || prepare(project, arguments));
    let (mut wanted, judge, mut notes) =
        prepared.await.unwrap_or_else(|error| Err(Error::Server(error.into())))?;
    let (commands, mut progress) = (call.commands.clone(), Progress::of(call.context));
    progress.step("listing the experiments").await;
    let (taken, note) = Taken::list(call, &wanted, &mut progress).await?;
    wanted.taken = taken;
    notes.extend(note);
    let made = call.commands.see_to(&call.context.ct, |cancelled| async move {
        let (wanted, judge, cancelled, commands) = (&wanted, &judge, &cancelled, &commands);
        let mut attempts = Attempts { wanted, judge, commands, cancelled, progress };
        // A run would find what does not compile yet.
        let has_to = attempts.progress.step("waiting for what runs in this project");
        let _turn = commands.turn(&wanted.project, cancelled, has_to).await?;
        // Another call for this agent may have come first.
        wanted.place.is_free(&wanted.project, wanted.overwrite)?;
        let outcome = attempts.make().await?;
        Ok(answer(wanted, judge.usage(), outcome, notes))
    });
    made.await.unwrap_or_else(|error| Err(Error::Server(error.into())))
}

/// Reads and works out all that may be refused before a model is asked.
fn prepare(project: Project, arguments: Arguments) -> Result<(Wanted, Judge, Vec<String>), Error> {
    let Arguments { agent_file, output_file, dataset_size: size, context, overwrite, .. } = arguments;
    let agent = Agent::read(&project, &agent_file)?;
    let place = Place::of(&project, &agent, output_file.as_deref(), overwrite)?;
    let manifest = agent.folder.join(crate::project::MANIFEST);
    let text = fs::read_to_string(&manifest).map_err(InitError::file("read", &manifest))?;
    let path = place.test_in_manifest.as_deref();
    let notes = with_target(&agent.folder, &agent.metadata, &text, &place.target, path)?.notes;
    let judge = judge(&agent)?;
    let taken = Taken::default();
    Ok((Wanted { project, agent, place, taken, size, context, overwrite }, judge, notes))
}

/// The judge that the package's settings lead to, with the key as its experiments would have it.
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
            "no judge model can be asked: {error}, in the environment of `cargo cobalt mcp` or in a file `.env` of the project; \
             `[judge]` in cobalt.toml says which model is asked"
        ))
    })
}

fn answer(wanted: &Wanted, usage: JudgeUsage, outcome: Outcome, mut notes: Vec<String>) -> Answer<Generated> {
    let Wanted { project, agent, place, .. } = wanted;
    let shown = |path: &Path| path.strip_prefix(&project.root).unwrap_or(path).display().to_string();
    let (test, data) = (shown(&place.test), shown(&place.data));
    let is_error = outcome.written.is_none();
    let next = match is_error {
        true if !outcome.left.is_empty() => {
            "Not all is as it was before: see to what the notes say, then call again.".to_owned()
        }
        false => format!(
            "Read {} and {}, and mend what does not fit the agent. Then run them: `cobalt_run` with `file` {}.",
            code(&test),
            code(&data),
            code(&test)
        ),
        true => "Nothing was left in the project. Tell the model more in `context`, mend what is said above, or write the \
                 experiment yourself."
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
            "What looks like a key stands as `[redacted]` in these files, so that no secret gets into them. Where a case is \
             about keys, put in one that nobody uses."
                .to_owned(),
        );
    }
    let structured = Generated {
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
    Answer { text: text(&structured), structured, is_error }
}

/// The same in short.
fn text(generated: &Generated) -> String {
    let Generated { data_file, test_file, target, experiments, items, attempts, usage, notes, next, .. } =
        generated;
    let mut text = match (test_file, data_file) {
        (Some(test), Some(data)) => {
            let names: Vec<_> = experiments.iter().map(|name| code(name)).collect();
            format!("Wrote {} with {items}, and {} with {}.", code(data), code(test), names.join(", "))
        }
        _ => format!(
            "No experiment was written for the target {}: it was tried {}.",
            code(target),
            times(attempts.len())
        ),
    };
    text += &format!(" {}\n\n", spent(usage));
    if test_file.is_none()
        && let Some(Attempt { errors }) = attempts.last()
    {
        text += &format!("The last errors:\n\n{}\n", fenced(&cut(&errors.join("\n"), LONGEST_TEXT)));
    }
    for note in notes {
        text += &match note.split_once('\n') {
            Some((note, said)) => format!("Note: {note}\n\n{}\n", fenced(said)),
            None => format!("Note: {note}\n\n"),
        };
    }
    text + next
}

fn times(number: usize) -> String {
    if number == 1 { "once".to_owned() } else { format!("{number} times") }
}

/// What it cost, in a sentence.
fn spent(usage: &JudgeUsage) -> String {
    let JudgeUsage { models, calls, tokens, cost, unpriced, .. } = usage;
    let requests = if *calls == 1 { "1 request".to_owned() } else { format!("{calls} requests") };
    let cost =
        if unpriced.is_empty() { format!("${cost:.4}") } else { "a price that is not known".to_owned() };
    let models: Vec<_> = models.iter().map(|model| code(model)).collect();
    format!(
        "That took {requests} to {} with {} tokens, for {cost}.",
        if models.is_empty() { "the model".to_owned() } else { models.join(", ") },
        tokens.input + tokens.output
    )
}
