//! `cobalt_results`: which runs there are, and what one of them found.

use rmcp::model::{Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::task::block_in_place;

use super::{Answer, Call, tool};
use crate::error::Error;
use crate::mcp::past::{FoundReport, Past, State, project_of};
use crate::mcp::projects::Project;
use crate::mcp::runs::{RunList, Status, WantedRuns};
use crate::mcp::shown::{self, BUDGET, ItemStatus, ShownRun, Wanted};

pub const NAME: &str = "cobalt_results";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arguments {
    /// The project, by its name or folder; may be left out where only one is served, or where only one has the run of this id.
    project: Option<String>,
    /// A run, to read its items: `latest`, `latest~1` for the one before it, `EXPERIMENT@latest`, an id or its beginning, or a git
    /// revision. Without it, the newest runs are listed.
    run_id: Option<String>,
    /// The most runs to list, 10 where it is not given and 50 at most; or the most items of a run, as many as have room where
    /// it is not given.
    #[schemars(range(min = 1))]
    limit: Option<usize>,
    /// Only runs of the experiment of this name; not with `runId`.
    experiment: Option<String>,
    /// Which runs are listed (`passed`, `failed`, `error`, `partial`) or, with `runId`, which of its items (`passed`, `failed`,
    /// `error`, `low`).
    status: Option<Status>,
    /// With `runId`: only items that this evaluator was asked about, those of its lowest scores first.
    evaluator: Option<String>,
    /// With `runId`: only items whose score is at most this, by `evaluator` or, where none is named, by any; from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    max_score: Option<f64>,
    /// Where to go on: `nextCursor` of the answer before, with the same other arguments.
    cursor: Option<String>,
}

/// Either a list of runs, or a run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Results {
    project: Project,
    /// The newest runs; absent with `runId`.
    #[serde(flatten)]
    list: Option<RunList>,
    /// The run with its items, the worst first; there with `runId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<ShownRun>,
    /// Whether the run has ended; there with `runId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<State>,
    /// What is worth knowing of the choice of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

pub fn description() -> Tool {
    tool::<Arguments, Results>(
        NAME,
        "Read past runs",
        "Lists past runs, the newest first or, with `runId`, reads one with its items, the worst first: inputs, outputs, scores \
         and the evaluators' reasons. Long texts are cut, and long lists come in pages.",
        ToolAnnotations::new().read_only(true).open_world(false),
    )
}

pub async fn call(call: Call<'_>, arguments: Arguments) -> Result<Answer<Results>, Error> {
    // Files are read, of which some are large.
    block_in_place(|| match arguments.run_id.as_deref() {
        Some(name) => run(call, name, &arguments),
        None => list(call, &arguments),
    })
}

fn run(call: Call<'_>, name: &str, arguments: &Arguments) -> Result<Answer<Results>, Error> {
    let wanted = wanted_items(name, arguments)?;
    let (project, past) = project_of(call.projects, arguments.project.as_deref(), name)?;
    let FoundReport { report, state, note, .. } = past.find(name)?;
    let run = shown::run(&report, &wanted, arguments.cursor.as_deref(), BUDGET)?;
    let about = match state {
        State::Ended => "",
        State::GoingOn => "The run goes on: further items will be finished, and pages may shift.\n\n",
        State::CutOff => "The run was cut off before its end; `cobalt_run` with `resume` finishes it.\n\n",
    };
    let text = format!("{about}{}", shown::text(&run, shown::ROOM));
    let project = (*project).clone();
    let structured = Results { project, list: None, run: Some(run), state: Some(state), note };
    Ok(Answer { structured, text, is_error: false })
}

/// Which items of a run the arguments ask for.
fn wanted_items(name: &str, arguments: &Arguments) -> Result<Wanted, Error> {
    if let Some(experiment) = &arguments.experiment {
        return Err(Error::Arguments(format!(
            "`experiment` chooses among runs, and `runId` names one: leave one of them out, or name the newest run of the \
             experiment as `{experiment}@latest` in `runId`"
        )));
    }
    let status = match arguments.status {
        None => None,
        Some(Status::Passed) => Some(ItemStatus::Passed),
        Some(Status::Failed) => Some(ItemStatus::Failed),
        Some(Status::Error) => Some(ItemStatus::Error),
        Some(Status::Low) => Some(ItemStatus::Low),
        Some(Status::Partial) => {
            return Err(Error::Arguments(format!(
                "a run is `partial`, but no item of `{name}` is: for items, `status` is `passed`, `failed`, `error` or `low`"
            )));
        }
    };
    Ok(Wanted {
        status,
        evaluator: arguments.evaluator.clone(),
        max_score: arguments.max_score,
        limit: arguments.limit,
    })
}

fn list(call: Call<'_>, arguments: &Arguments) -> Result<Answer<Results>, Error> {
    let of_items =
        [("evaluator", arguments.evaluator.is_some()), ("maxScore", arguments.max_score.is_some())];
    if let Some((name, _)) = of_items.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Error::Arguments(format!(
            "`{name}` chooses among the items of a run: name the run in `runId`, such as `latest`, or leave `{name}` out"
        )));
    }
    if arguments.status == Some(Status::Low) {
        return Err(Error::Arguments(
            "`low` chooses among the items of a run: name the run in `runId`, such as `latest`; for runs, `status` is `passed`, \
             `failed`, `error` or `partial`"
                .to_owned(),
        ));
    }
    let project = call.projects.choose(arguments.project.as_deref())?;
    let past = Past::of(&project)?;
    let wanted = WantedRuns { experiment: arguments.experiment.clone(), status: arguments.status };
    let list = RunList::of(&past, &wanted, arguments.limit, arguments.cursor.as_deref())?;
    let text = list.text();
    let project = (*project).clone();
    let structured = Results { project, list: Some(list), run: None, state: None, note: None };
    Ok(Answer { structured, text, is_error: false })
}
