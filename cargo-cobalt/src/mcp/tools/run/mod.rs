//! `cobalt_run`: builds the project as it is now, and runs its experiments.

mod answer;
mod arguments;
mod asked;
mod heard;
mod progress;

use std::path::Path;
use std::sync::Arc;

use cobalt::exit_code::UNFIT;
use cobalt::name::is_name_of;
use cobalt::paths::workspace_root;
use rmcp::model::{Tool, ToolAnnotations};

pub(super) use self::answer::Ran;
pub(super) use self::arguments::Arguments;
use self::asked::{Outcome, run};
pub(super) use self::progress::Progress;
use super::{Answer, Call, tool};
use crate::error::Error;
use crate::mcp::past::{Past, State};
use crate::mcp::paths;
use crate::mcp::projects::Project;

pub(super) const NAME: &str = "cobalt_run";

/// The exit code where nothing matched.
const NOTHING_MATCHED: i32 = 4;

pub(super) fn description() -> Tool {
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

pub(super) async fn call(call: Call<'_>, arguments: Arguments) -> Result<Answer<Ran>, Error> {
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
    let declared = super::list::rows(call, project, &[], progress).await?;
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
