//! `cobalt_run`: builds the project as it is now, and runs its experiments.

use std::path::Path;
use std::sync::Arc;

use cobalt::command::exit_code::UNFIT;
use cobalt_core::names::is_name_of;
use cobalt_core::paths::workspace_root;
use rmcp::model::{Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::{self, Ran};
use super::child::{Outcome, Progress, run};
use crate::error::Error;
use crate::mcp::past::{Past, State};
use crate::mcp::paths;
use crate::mcp::projects::Project;
use crate::mcp::tools::{Answer, Call, fetching, tool};

pub const NAME: &str = "cobalt_run";
/// The exit code where nothing matched.
const NOTHING_MATCHED: i32 = 4;
/// The most that a number may ask for: more is a slip, and costs money.
const MOST: u32 = 1000;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arguments {
    /// The project, by its name or folder; may be left out where only one is served.
    project: Option<String>,
    /// Only the experiments of this Rust file: a test target, or any file in which experiments are declared. Relative to the
    /// project's root.
    file: Option<String>,
    /// Only experiments whose name or tag contains this or, with `*`, `?` or `[…]`, matches it.
    filter: Option<String>,
    /// Only these experiments, by their whole names, as `cobalt_list` tells them or as in test cases; all where the list is empty.
    experiments: Option<Vec<String>>,
    /// How many items of an experiment are worked on at a time, in place of what the project says.
    #[schemars(range(min = 1, max = MOST))]
    concurrency: Option<u32>,
    /// How often each item is run, in place of what the experiment says: several runs tell a change from noise, and cost as much
    /// more.
    #[schemars(range(min = 1, max = MOST))]
    runs: Option<u32>,
    /// Goes on with a run that was cut off: its id, or `latest` for the newest such run. Items that are finished are not run
    /// again.
    resume: Option<String>,
    /// Fetches the data sets anew that come from elsewhere, in place of using the copies that are kept.
    #[serde(default)]
    refresh: bool,
    /// Uses the copies of data sets that were fetched before, however old they are, and no network for the build.
    #[serde(default)]
    offline: bool,
}

impl Arguments {
    /// Says what cannot be meant.
    fn check(&self) -> Result<(), Error> {
        fetching(self.refresh, self.offline)?;
        if self.refresh && self.resume.is_some() {
            return Err(Error::Arguments(
                "`refresh` cannot stand beside `resume`: a run goes on with the data that it began with; leave one of them out"
                    .to_owned(),
            ));
        }
        if self.runs.is_some() && self.resume.is_some() {
            return Err(Error::Arguments(
                "`runs` cannot stand beside `resume`: a run that is resumed runs each item as often as it began with; leave \
                 one of them out"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// The arguments of `cargo cobalt` for it. Values stand behind `=`, whatever they begin with.
    fn command(&self, project: &Project) -> Result<Vec<String>, Error> {
        let mut command = ["run", "--reporter=json", "--message-format=json"].map(str::to_owned).to_vec();
        if let Some(file) = &self.file {
            let file = paths::inside(project, "file", file)?;
            command.push(format!("--file={}", file.display()));
        }
        command.extend(self.filter.iter().map(|filter| format!("--filter={filter}")));
        command.extend(self.experiments.iter().flatten().map(|name| format!("--experiment={name}")));
        command.extend(self.concurrency.map(|items| format!("--concurrency={items}")));
        command.extend(self.runs.map(|runs| format!("--runs={runs}")));
        command.extend(fetching(self.refresh, self.offline)?);
        command.extend(self.resume.iter().map(|id| format!("--resume={id}")));
        Ok(command)
    }
}

pub fn description() -> Tool {
    tool::<Arguments, Ran>(
        NAME,
        "Run experiments",
        "Builds the project as its sources are now and runs its experiments: all of them, or those that the arguments select. \
         Answers with the scores, how the thresholds were met, and the items, worst first; where the build fails, with the \
         compiler's errors by file and line. Agents and judges are really called, which may take minutes and cost money. A call \
         that is cancelled keeps the items that are finished: `resume` goes on with them.",
        // It writes results, and nothing else; what agents do is not known.
        ToolAnnotations::new().read_only(false).destructive(false).idempotent(false).open_world(true),
    )
}

pub async fn call(call: Call<'_>, arguments: Arguments) -> Result<Answer<Ran>, Error> {
    let project = call.projects.choose(arguments.project.as_deref())?;
    arguments.check()?;
    let mut progress = Progress::of(call.context);
    let waits = format!("waiting for another run of {}, then building it", project.name);
    let _turn = call.commands.turn(&project, &call.context.ct, progress.tell(0, None, &waits)).await?;
    let arguments = resolved(&project, arguments)?;
    progress.tell(0, None, &format!("building {}", project.name)).await;
    let outcome = run(call, &project, &arguments.command(&project)?, &mut progress).await?;
    let outcome = match &arguments.file {
        Some(file) if outcome.code == Some(NOTHING_MATCHED) => {
            let file = paths::inside(&project, "file", file)?;
            by_place(call, &project, &file, &arguments, outcome, &mut progress).await?
        }
        _ => outcome,
    };
    answer::of(&project, outcome)
}

/// Puts ids for the names of the runs that are to be resumed.
fn resolved(project: &Project, mut arguments: Arguments) -> Result<Arguments, Error> {
    if let Some(resume) = &mut arguments.resume {
        let past = Past::of(project)?;
        let ids: Result<Vec<_>, _> = resume.split(',').map(|name| cut_off(&past, name.trim())).collect();
        *resume = ids?.join(",");
    }
    Ok(arguments)
}

/// The id of a run that was cut off.
fn cut_off(past: &Past, name: &str) -> Result<String, Error> {
    if name == "latest" {
        let newest = past.unfinished().into_iter().find(|run| run.state == State::CutOff);
        return newest.map(|run| run.id).ok_or_else(|| {
            Error::Arguments("`resume`: no run was cut off; leave it out to run anew".to_owned())
        });
    }
    let found = past.find(name)?;
    let id = found.report.id.clone();
    match found.state {
        State::CutOff => Ok(id),
        State::GoingOn => {
            Err(Error::Arguments(format!("`resume`: run `{id}` is going on; wait for its end, or cancel it")))
        }
        State::Ended => Err(Error::Arguments(format!(
            "`resume`: run `{id}` has come to its end, and nothing of it is left to run; leave `resume` out to run anew"
        ))),
    }
}

/// Runs the experiments that are declared in a file which is no test target; where there are none, what was answered stands,
/// unless they cannot be known because the build fails.
async fn by_place(
    call: Call<'_>,
    project: &Arc<Project>,
    file: &Path,
    arguments: &Arguments,
    answered: Outcome,
    progress: &mut Progress,
) -> Result<Outcome, Error> {
    let declared = super::super::list::rows(call, project, &[], progress).await?;
    if !declared.compile_errors.is_empty() {
        let compile_errors = declared.compile_errors;
        return Ok(Outcome { code: Some(UNFIT), compile_errors, ..Outcome::default() });
    }
    let folder = workspace_root(&project.root);
    let is_there = |row: &&crate::list::Row| {
        folder.join(&row.experiment.file).canonicalize().is_ok_and(|declared| declared == file)
    };
    let there: Vec<_> = declared.rows.iter().filter(is_there).collect();
    let wanted = arguments.experiments.as_deref().unwrap_or_default();
    let is_wanted = |name: &String| wanted.is_empty() || wanted.iter().any(|typed| is_name_of(typed, name));
    let mut names: Vec<_> = there.iter().map(|row| row.experiment.name.clone()).filter(is_wanted).collect();
    if names.is_empty() {
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
