//! `cobalt_run`: builds the current sources, and runs experiments.

use std::path::Path;
use std::sync::Arc;

use cobalt::command::exit_code::SETUP_ERROR;
use cobalt_core::experiment_name::matches_name;
use cobalt_core::paths::workspace_root;
use rmcp::model::{Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Deserialize;

use super::execution::{Outcome, Progress, run};
use super::result::{self, RunResult};
use crate::error::Error;
use crate::mcp::past_runs::{LoadedRun, PastRuns, State};
use crate::mcp::paths;
use crate::mcp::projects::Project;
use crate::mcp::tools::{ToolContext, ToolResult, define_tool, fetch_flags};

pub const NAME: &str = "cobalt_run";
/// The exit code if nothing matched.
const NOTHING_MATCHED: i32 = 4;
/// The maximum of numeric arguments: a higher value is a mistake, and costs money.
const MAX_NUMBER: u32 = 1000;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arguments {
    /// Project name or folder. Optional if only one project is served.
    project: Option<String>,
    /// Only experiments in this Rust file: a test target, or any file that declares experiments. Relative to the project root.
    file: Option<String>,
    /// Only experiments whose name or tag contains this text, or matches it as a pattern with `*`, `?` or `[…]`.
    filter: Option<String>,
    /// Only these experiments, by full name as in `cobalt_list` or as in test cases. Empty means all.
    experiments: Option<Vec<String>>,
    /// Maximum items of an experiment in parallel. Overrides the project's setting.
    #[schemars(range(min = 1, max = MAX_NUMBER))]
    concurrency: Option<u32>,
    /// Trials per item. Overrides the experiment's setting. More trials separate changes from noise, and multiply the cost.
    #[schemars(range(min = 1, max = MAX_NUMBER))]
    runs: Option<u32>,
    /// Resume an interrupted run: its ID, or `latest` for the newest one. Finished items are not run again.
    resume: Option<String>,
    /// Score the stored outputs of a finished run with the current evaluators, without calling the agent: its ID, or `latest`. Only
    /// judges cost money. Use it after changing an evaluator.
    score: Option<String>,
    /// With `score`: the evaluators to run; the other scores are copied. Empty means all.
    evaluators: Option<Vec<String>>,
    /// Re-fetch remote datasets instead of using cached copies.
    #[serde(default)]
    refresh: bool,
    /// Use cached copies of datasets, however old, and no network for the build.
    #[serde(default)]
    offline: bool,
}

impl Arguments {
    /// Rejects contradictory arguments.
    fn check(&self) -> Result<(), Error> {
        fetch_flags(self.refresh, self.offline)?;
        if self.score.is_none() && self.evaluators.is_some() {
            return Err(Error::Arguments("`evaluators` needs `score`, the run to score".to_owned()));
        }
        let others = [
            ("file", self.file.is_some()),
            ("filter", self.filter.is_some()),
            ("experiments", self.experiments.is_some()),
            ("runs", self.runs.is_some()),
            ("resume", self.resume.is_some()),
        ];
        if self.score.is_some()
            && let Some((other, _)) = others.into_iter().find(|(_, is_set)| *is_set)
        {
            return Err(Error::Arguments(format!(
                "`score` cannot be combined with `{other}`: all stored outputs of a run are scored; omit one of them"
            )));
        }
        if self.refresh && self.resume.is_some() {
            return Err(Error::Arguments(
                "`refresh` cannot be combined with `resume`: a resumed run uses its original data; omit one of them"
                    .to_owned(),
            ));
        }
        if self.runs.is_some() && self.resume.is_some() {
            return Err(Error::Arguments(
                "`runs` cannot be combined with `resume`: a resumed run keeps its number of trials per item; omit one of them"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// The arguments for `cargo cobalt`. Values follow `=`, as they may start with a dash.
    fn command(&self, project: &Project) -> Result<Vec<String>, Error> {
        let name = if self.score.is_some() { "score" } else { "run" };
        let mut command =
            [name, "--reporter=json", "--keep-going", "--message-format=json"].map(str::to_owned).to_vec();
        command.extend(self.evaluators.iter().flatten().map(|name| format!("--evaluator={name}")));
        if let Some(file) = &self.file {
            let file = paths::resolve_existing(project, "file", file)?;
            command.push(format!("--file={}", file.display()));
        }
        command.extend(self.filter.iter().map(|filter| format!("--filter={filter}")));
        command.extend(self.experiments.iter().flatten().map(|name| format!("--experiment={name}")));
        command.extend(self.concurrency.map(|items| format!("--concurrency={items}")));
        command.extend(self.runs.map(|runs| format!("--runs={runs}")));
        command.extend(fetch_flags(self.refresh, self.offline)?);
        command.extend(self.resume.iter().map(|id| format!("--resume={id}")));
        command.extend(self.score.iter().flat_map(|run| ["--".to_owned(), run.clone()]));
        Ok(command)
    }
}

pub fn description() -> Tool {
    define_tool::<Arguments, RunResult>(
        NAME,
        "Run experiments",
        "Build the current sources and run experiments: all, or those that the arguments select. Returns scores, threshold \
         results and items, worst first; if the build fails, the compiler errors with file and line. Calls real agents and \
         judges, which may take minutes and cost money. A cancelled call keeps finished items; continue it with `resume`.",
        // It only writes results, but agents may do anything.
        ToolAnnotations::new().read_only(false).destructive(false).idempotent(false).open_world(true),
    )
}

pub async fn call(call: ToolContext<'_>, arguments: Arguments) -> Result<ToolResult<RunResult>, Error> {
    let project = call.projects.select(arguments.project.as_deref())?;
    arguments.check()?;
    let mut progress = Progress::of(call.context);
    let waits = format!("waiting for another run of {}, then building it", project.name);
    let _turn =
        call.commands.lock_project(&project, &call.context.ct, progress.report(0, None, &waits)).await?;
    if let Some(finished) = finished_runs(&project, &arguments)? {
        return result::build(&project, Outcome::of_finished(&finished));
    }
    let arguments = resolve_score(&project, resolve_resume(&project, arguments)?)?;
    progress.report(0, None, &format!("building {}", project.name)).await;
    let outcome = run(call, &project, &arguments.command(&project)?, &mut progress).await?;
    let outcome = match &arguments.file {
        Some(file) if outcome.code == Some(NOTHING_MATCHED) => {
            let file = paths::resolve_existing(&project, "file", file)?;
            run_declared_in(call, &project, &file, &arguments, outcome, &mut progress).await?
        }
        _ => outcome,
    };
    result::build(&project, outcome)
}

/// The runs to resume, if all of them have finished, for example because an earlier call did so: nothing is left to run.
fn finished_runs(project: &Project, arguments: &Arguments) -> Result<Option<Vec<LoadedRun>>, Error> {
    let Some(resume) = arguments.resume.as_deref().filter(|resume| *resume != "latest") else {
        return Ok(None);
    };
    let past = PastRuns::open(project)?;
    let runs = resume.split(',').map(|name| past.find(name.trim())).collect::<Result<Vec<_>, _>>()?;
    Ok(Some(runs).filter(|runs| runs.iter().all(|run| run.state == State::Finished)))
}

/// Replaces the names of runs to resume with their IDs.
fn resolve_resume(project: &Project, mut arguments: Arguments) -> Result<Arguments, Error> {
    if let Some(resume) = &mut arguments.resume {
        let past = PastRuns::open(project)?;
        let ids: Result<Vec<_>, _> =
            resume.split(',').map(|name| resolve_interrupted(&past, name.trim())).collect();
        *resume = ids?.join(",");
    }
    Ok(arguments)
}

/// Replaces the name of the run to score with its ID. Only a finished run has all outputs.
fn resolve_score(project: &Project, mut arguments: Arguments) -> Result<Arguments, Error> {
    if let Some(score) = &mut arguments.score {
        let found = PastRuns::open(project)?.find(score)?;
        let id = found.report().id.clone();
        if found.state != State::Finished {
            return Err(Error::Arguments(format!("`score`: run `{id}` has not finished; `resume` it first")));
        }
        *score = id;
    }
    Ok(arguments)
}

/// The ID of an interrupted run.
fn resolve_interrupted(past: &PastRuns, name: &str) -> Result<String, Error> {
    if name == "latest" {
        let newest = past.unfinished().into_iter().find(|run| run.state == State::Interrupted);
        return newest.map(|run| run.id).ok_or_else(|| {
            Error::Arguments("`resume`: there is no interrupted run; omit it to start a new one".to_owned())
        });
    }
    let found = past.find(name)?;
    let id = found.report().id.clone();
    match found.state {
        State::Interrupted => Ok(id),
        State::Running => {
            Err(Error::Arguments(format!("`resume`: run `{id}` is in progress; wait for it, or cancel it")))
        }
        State::Finished => Err(Error::Arguments(format!(
            "`resume`: run `{id}` has finished, so nothing is left to run; omit `resume` to start a new one"
        ))),
    }
}

/// Runs the experiments that are declared in a file other than a test target. If there are none, returns the earlier outcome; if
/// the build fails, its errors.
async fn run_declared_in(
    call: ToolContext<'_>,
    project: &Arc<Project>,
    file: &Path,
    arguments: &Arguments,
    answered: Outcome,
    progress: &mut Progress,
) -> Result<Outcome, Error> {
    let declared = super::super::list::list_experiments(call, project, &[], progress).await?;
    let folder = workspace_root(&project.root);
    let is_there = |row: &&crate::list::Row| {
        folder.join(&row.experiment.file).canonicalize().is_ok_and(|declared| declared == file)
    };
    let there: Vec<_> = declared.rows.iter().filter(is_there).collect();
    let wanted = arguments.experiments.as_deref().unwrap_or_default();
    let is_wanted = |name: &String| wanted.is_empty() || wanted.iter().any(|typed| matches_name(typed, name));
    let mut names: Vec<_> = there.iter().map(|row| row.experiment.name.clone()).filter(is_wanted).collect();
    if names.is_empty() {
        if !declared.compile_errors.is_empty() {
            let compile_errors = declared.compile_errors;
            return Ok(Outcome { code: Some(SETUP_ERROR), compile_errors, ..Outcome::default() });
        }
        return Ok(answered);
    }
    names.dedup();
    let arguments = Arguments { file: None, experiments: Some(names), ..arguments.clone() };
    let mut command = arguments.command(project)?;
    for row in there {
        for argument in [format!("--package={}", row.package), format!("--test={}", row.target)] {
            if !command.contains(&argument) {
                command.push(argument);
            }
        }
    }
    run(call, project, &command, progress).await
}
