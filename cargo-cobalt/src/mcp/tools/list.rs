//! `cobalt_list`: the project's experiments, and where they are declared.

use std::path::PathBuf;

use cobalt_core::paths::workspace_root;
use cobalt_core::serde_skip::is_zero;
use cobalt_core::wording::{count, truncate};
use rmcp::model::{Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::run::Progress;
use super::{ToolContext, ToolResult, define_tool, fetch_flags};
use crate::error::Error;
use crate::list::Row;
use crate::markdown::{code, escape_cell};
use crate::mcp::past_runs::PastRuns;
use crate::mcp::plain_errors::{CompileErrors, Diagnostic};
use crate::mcp::projects::Project;
use crate::mcp::stderr;
use crate::mcp::view::{MAX_STRUCTURED, keep_fitting, size};
use crate::runs::RunView;

pub const NAME: &str = "cobalt_list";

/// The maximum number of experiments; `filter` finds the others.
const MOST: usize = 200;
/// The room for compiler errors, and for other errors.
const ROOM_OF_COMPILER: usize = 24_000;
const ROOM_OF_ERRORS: usize = 12_000;
/// The room for the text, and for the errors in it.
const ROOM_OF_TEXT: usize = 7_500;
const ROOM_OF_FAILURES: usize = 4_000;
/// The maximum number of tags, fields, evaluators and thresholds of an experiment.
const MOST_OF_A_KIND: usize = 20;
/// The longest text of an experiment, in characters.
const LONGEST: usize = 300;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arguments {
    /// Project name or folder. Optional if only one project is served.
    project: Option<String>,
    /// Only experiments whose name or tag contains this text, or matches it as a pattern with `*`, `?` or `[…]`.
    filter: Option<String>,
    /// Re-fetch remote datasets instead of using cached copies.
    #[serde(default)]
    refresh: bool,
    /// Use cached copies of datasets, however old, and no network for the build.
    #[serde(default)]
    offline: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListResult {
    project: Project,
    experiments: Vec<ListedExperiment>,
    /// Number of further experiments; `filter` finds them.
    #[serde(skip_serializing_if = "is_zero")]
    more_experiments: usize,
    /// Why the project does not build.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    compile_errors: Vec<Diagnostic>,
    /// Number of further compiler errors.
    #[serde(skip_serializing_if = "is_zero")]
    more_compile_errors: usize,
    /// Other errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<String>,
}

/// An experiment, its location, and its last run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListedExperiment {
    #[serde(flatten)]
    row: Row,
    /// Absolute path of the file that declares it.
    path: PathBuf,
    /// Its newest complete run.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_run: Option<LastRun>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LastRun {
    /// Run ID, for `cobalt_results` and `cobalt_compare`.
    id: String,
    /// Start time, in UTC.
    timestamp: String,
    /// Status as in the history: `passed`, `failed` or another.
    status: String,
}

pub fn description() -> Tool {
    define_tool::<Arguments, ListResult>(
        NAME,
        "List experiments",
        "Build the project and list its experiments: tags, datasets, evaluators, thresholds, location (file and line) and last \
         run. Runs no agent. Fetches remote datasets that are not cached. If the build fails, returns the compiler errors.",
        // Building and fetching change neither sources nor results.
        ToolAnnotations::new().read_only(true).open_world(true),
    )
}

/// The output of `cargo cobalt list`.
#[derive(Debug, Default)]
pub struct Listing {
    pub rows: Vec<Row>,
    pub compile_errors: CompileErrors,
    errors: Vec<String>,
    is_whole: bool,
}

/// Builds the project, and lists its experiments.
pub async fn list_experiments(
    call: ToolContext<'_>,
    project: &Project,
    arguments: &[String],
    progress: &mut Progress,
) -> Result<Listing, Error> {
    let mut command = ["list", "--json", "--keep-going", "--message-format=json"].map(str::to_owned).to_vec();
    command.extend_from_slice(arguments);
    let (mut listing, mut listed) = (Listing::default(), String::new());
    let mut running = call.commands.start(project, &command, &call.context.ct)?;
    loop {
        tokio::select! {
            line = running.next_line() => {
                let Some(line) = line else { break };
                // Other compiler messages start with `{`.
                if !listing.compile_errors.parse_line(&line) && !line.starts_with('{') {
                    listed += &line;
                }
            }
            () = progress.wait_for_silence() => {
                progress.report_partial(None, &format!("building {} for {}", project.name, running.build_progress())).await;
            }
        }
    }
    let ended = running.wait().await?;
    listing.is_whole = ended.status.success();
    match serde_json::from_str(&listed) {
        Ok(rows) => listing.rows = rows,
        Err(error) if listing.is_whole => {
            listing.is_whole = false;
            listing.errors = vec![format!("failed to parse the output of `cargo cobalt list`: {error}")];
        }
        // The reason is on stderr.
        Err(_) => {}
    }
    if !listing.is_whole && listing.compile_errors.is_empty() && listing.errors.is_empty() {
        listing.errors = stderr::errors(&ended.stderr);
    }
    Ok(listing)
}

pub async fn call(call: ToolContext<'_>, arguments: Arguments) -> Result<ToolResult<ListResult>, Error> {
    let project = call.projects.select(arguments.project.as_deref())?;
    let Arguments { filter, refresh, offline, .. } = arguments;
    let filter = filter.map(|filter| format!("--filter={filter}"));
    let flags: Vec<_> = filter.into_iter().chain(fetch_flags(refresh, offline)?).collect();
    let Listing { rows, mut compile_errors, mut errors, is_whole } =
        list_experiments(call, &project, &flags, &mut Progress::of(call.context)).await?;
    compile_errors.cut(ROOM_OF_COMPILER);
    keep_fitting(&mut errors, ROOM_OF_ERRORS, "errors", &mut Vec::new());
    let past = PastRuns::open(&project);
    let runs = past.as_ref().map(PastRuns::runs).unwrap_or_default();
    let all = rows.len();
    let declared = rows.into_iter().map(|row| listed_experiment(row, &project, &runs));
    let mut listed = ListResult {
        project: (*project).clone(),
        more_experiments: all,
        experiments: Vec::new(),
        more_compile_errors: compile_errors.more,
        compile_errors: compile_errors.first,
        errors,
    };
    let room = MAX_STRUCTURED.saturating_sub(size(&listed));
    listed.experiments = declared.take(MOST).collect();
    keep_fitting(&mut listed.experiments, room, "experiments", &mut Vec::new());
    listed.more_experiments -= listed.experiments.len();
    Ok(ToolResult { text: text(&listed), structured: listed, is_error: !is_whole })
}

fn listed_experiment(mut row: Row, project: &Project, runs: &[RunView]) -> ListedExperiment {
    // The compiler's paths are relative to the workspace root.
    let path = workspace_root(&project.root).join(&row.experiment.file);
    let last = runs.iter().find(|run| !run.is_partial && run.experiment == row.experiment.name);
    let last_run = last.map(|run| LastRun {
        id: run.id.clone(),
        timestamp: run.timestamp.clone(),
        status: run.status.as_str().to_owned(),
    });
    let experiment = &mut row.experiment;
    let lists = [&mut experiment.tags, &mut experiment.fields, &mut experiment.evaluators];
    lists.into_iter().chain([&mut experiment.thresholds]).for_each(cut_list);
    if let Some(error) = &mut experiment.error {
        *error = stderr::excerpt(error);
    }
    ListedExperiment { row, path, last_run }
}

/// Truncates a list and its texts.
fn cut_list(texts: &mut Vec<String>) {
    let more = texts.len().saturating_sub(MOST_OF_A_KIND);
    texts.truncate(MOST_OF_A_KIND);
    for text in &mut *texts {
        *text = truncate(text, LONGEST).into_owned();
    }
    if more > 0 {
        texts.push(format!("… and {more} more"));
    }
}

fn text(listed: &ListResult) -> String {
    let all = listed.experiments.len() + listed.more_experiments;
    let mut text = format!("{} in {}", count(all, "experiment"), code(&listed.project.name));
    if listed.experiments.is_empty() {
        text += "\n";
    } else {
        text += ":\n\n| experiment | items | evaluators | thresholds | last run | declared at |\n|---|---|---|---|---|---|\n";
    }
    let more = listed.more_compile_errors;
    let failures = super::render_errors(&listed.compile_errors, more, &listed.errors, ROOM_OF_FAILURES);
    let mut shown = 0;
    for row in listed.experiments.iter().map(table_row) {
        if text.len() + row.len() + failures.len() > ROOM_OF_TEXT {
            break;
        }
        text += &row;
        shown += 1;
    }
    if shown < all {
        text += &format!("\n{} more; use `filter` to find them.\n", all - shown);
    }
    text + &failures
}

fn table_row(declared: &ListedExperiment) -> String {
    let ListedExperiment { row, last_run, .. } = declared;
    let experiment = &row.experiment;
    let spans = |texts: &[String]| texts.iter().map(|text| code(text)).collect::<Vec<_>>().join(", ");
    let state = match (&experiment.error, &experiment.ignored_without) {
        (Some(_), _) => " (broken)".to_owned(),
        (_, Some(variable)) => format!(" (ignored: {} is not set)", code(variable)),
        _ => String::new(),
    };
    let last = last_run.as_ref().map(|run| format!("{} {}", run.status, code(&run.id)));
    let cells = [
        format!("{}{state}", code(&experiment.name)),
        experiment.items.map_or_else(|| "?".to_owned(), |items| items.to_string()),
        spans(&experiment.evaluators),
        spans(&experiment.thresholds),
        last.unwrap_or_else(|| "none".to_owned()),
        code(&format!("{}:{}", experiment.file, experiment.line)),
    ];
    format!("| {} |\n", cells.map(|text| escape_cell(&text)).join(" | "))
}
