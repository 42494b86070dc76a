//! `cobalt_results`: lists past runs, or reads one.

use cobalt_core::report::Report;
use rmcp::model::{Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::task::block_in_place;

use super::{ToolContext, ToolResult, define_tool};
use crate::error::Error;
use crate::index::IndexedRun;
use crate::mcp::past_runs::{LoadedRun, PastRuns, State, find_project};
use crate::mcp::projects::Project;
use crate::mcp::run_list::{RunList, RunQuery, Status};
use crate::mcp::view::{
    self, ItemQuery, ItemStatus, MAX_STRUCTURED, OtherVariant, RunPage, keep_fitting, truncate,
};

pub const NAME: &str = "cobalt_results";

/// The longest name of a variant, and the maximum size of the list of other variants, in bytes.
const LONGEST_NAME: usize = 300;
const OTHER_VARIANTS: usize = 3_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arguments {
    /// Project name or folder. Optional if only one project is served, or only one has a run with this ID.
    project: Option<String>,
    /// Run to read: `latest`, `latest~1` for the one before it, `EXPERIMENT@latest`, run ID or ID prefix, or git revision. Omit it
    /// to list the newest runs.
    run_id: Option<String>,
    /// Maximum number of runs (default 10, at most 50) or, with `runId`, of items (default: as many as fit).
    #[schemars(range(min = 1))]
    limit: Option<usize>,
    /// Only runs of the experiment with this name. Not with `runId`.
    experiment: Option<String>,
    /// Only runs with this status (`passed`, `failed`, `error`, `partial`) or, with `runId`, only items with this status (`passed`,
    /// `failed`, `error`, `low`: a score below its pass mark).
    status: Option<Status>,
    /// With `runId`: only items scored by this evaluator, lowest scores first.
    evaluator: Option<String>,
    /// With `runId`: only items with a score of at most this (0 to 1), by `evaluator` or, without it, by any evaluator.
    #[schemars(range(min = 0, max = 1))]
    max_score: Option<f64>,
    /// `nextCursor` of the previous result, to get the next page. Keep all other arguments.
    cursor: Option<String>,
}

/// A list of runs, or one run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Results {
    project: Project,
    /// The newest runs; absent with `runId`.
    #[serde(flatten)]
    list: Option<RunList>,
    /// The run with its items, worst first; only with `runId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunPage>,
    /// Whether the run has finished; only with `runId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<State>,
    /// A note on how the run name was resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

pub fn description() -> Tool {
    define_tool::<Arguments, Results>(
        NAME,
        "Read past runs",
        "List past runs, newest first; with `runId`, read one run and its items, worst first: inputs, outputs, scores and \
         evaluators' reasons. Long texts are truncated; long lists are paginated; traces are outlined.",
        ToolAnnotations::new().read_only(true).open_world(false),
    )
}

pub async fn call(call: ToolContext<'_>, arguments: Arguments) -> Result<ToolResult<Results>, Error> {
    // This reads files, and some are large.
    block_in_place(|| match arguments.run_id.as_deref() {
        Some(name) => run(call, name, &arguments),
        None => list(call, &arguments),
    })
}

fn run(call: ToolContext<'_>, name: &str, arguments: &Arguments) -> Result<ToolResult<Results>, Error> {
    let wanted = item_query(name, arguments)?;
    let (project, past) = find_project(call.projects, arguments.project.as_deref(), name)?;
    let LoadedRun { file, state, note } = past.find(name)?;
    let other_variants = other_variants(&past, file.report());
    let room = MAX_STRUCTURED - view::size(&other_variants);
    let mut run = view::run(&file, &wanted, arguments.cursor.as_deref(), room)?;
    run.other_variants = other_variants;
    let about = match state {
        State::Finished => "",
        State::Running => "The run is in progress: more items will finish, and pages may shift.\n\n",
        State::Interrupted => "The run was interrupted; `cobalt_run` with `resume` finishes it.\n\n",
    };
    let text = format!("{about}{}", view::text(&run, view::MAX_TEXT));
    let project = (*project).clone();
    let structured = Results { project, list: None, run: Some(run), state: Some(state), note };
    Ok(ToolResult { structured, text, is_error: false })
}

/// The other runs of a run's group, as many as fit.
fn other_variants(past: &PastRuns, report: &Report) -> Vec<OtherVariant> {
    let Some(variant) = &report.variant else { return Vec::new() };
    let of_group =
        |run: &&IndexedRun| run.variant_group.as_ref() == Some(&variant.group) && run.id != report.id;
    let runs = past.index_rows().filter(of_group);
    let other = |run: &IndexedRun| {
        let name = run.variant.as_ref()?;
        Some(OtherVariant {
            variant: truncate::text(name, LONGEST_NAME),
            run_id: truncate::text(&run.id, LONGEST_NAME),
        })
    };
    let mut others: Vec<_> = runs.filter_map(other).collect();
    keep_fitting(&mut others, OTHER_VARIANTS, "otherVariants", &mut Vec::new());
    others
}

/// The query for items in the arguments.
fn item_query(name: &str, arguments: &Arguments) -> Result<ItemQuery, Error> {
    if let Some(experiment) = &arguments.experiment {
        return Err(Error::Arguments(format!(
            "`experiment` filters runs, but `runId` selects one: omit one of them, or pass `{experiment}@latest` as `runId` for \
             the newest run of the experiment"
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
                "`status` `partial` is for runs, not for items of `{name}`: with `runId`, expected `passed`, `failed`, `error` or \
                 `low`"
            )));
        }
    };
    Ok(ItemQuery {
        status,
        evaluator: arguments.evaluator.clone(),
        max_score: arguments.max_score,
        limit: arguments.limit,
    })
}

fn list(call: ToolContext<'_>, arguments: &Arguments) -> Result<ToolResult<Results>, Error> {
    let of_items =
        [("evaluator", arguments.evaluator.is_some()), ("maxScore", arguments.max_score.is_some())];
    if let Some((name, _)) = of_items.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Error::Arguments(format!(
            "`{name}` filters the items of a run: pass a run as `runId`, such as `latest`, or omit `{name}`"
        )));
    }
    if arguments.status == Some(Status::Low) {
        return Err(Error::Arguments(
            "`status` `low` is for items of a run: pass a run as `runId`, such as `latest`; without `runId`, expected `passed`, \
             `failed`, `error` or `partial`"
                .to_owned(),
        ));
    }
    let project = call.projects.select(arguments.project.as_deref())?;
    let past = PastRuns::open(&project)?;
    let wanted = RunQuery { experiment: arguments.experiment.clone(), status: arguments.status };
    let list = RunList::query(&past, &wanted, arguments.limit, arguments.cursor.as_deref())?;
    let text = list.text();
    let project = (*project).clone();
    let structured = Results { project, list: Some(list), run: None, state: None, note: None };
    Ok(ToolResult { structured, text, is_error: false })
}
