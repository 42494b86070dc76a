//! `cobalt_list`: which experiments there are, and where.

use std::path::PathBuf;

use cobalt_core::paths::workspace_root;
use cobalt_core::wording::{count, cut};
use rmcp::model::{Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::run::Progress;
use super::{Answer, Call, fetching, tool};
use crate::error::Error;
use crate::list::Row;
use crate::markdown::{cell, code};
use crate::mcp::past::Past;
use crate::mcp::plain::{CompileErrors, Diagnostic};
use crate::mcp::projects::Project;
use crate::mcp::shown::{BUDGET, keep, size};
use crate::mcp::stderr;
use crate::runs::RunView;

pub const NAME: &str = "cobalt_list";

/// The most experiments that are listed: `filter` finds the others.
const MOST: usize = 200;
/// The room for what the compiler says, and that for other errors.
const ROOM_OF_COMPILER: usize = 24_000;
const ROOM_OF_ERRORS: usize = 12_000;
/// The room of the text, and how much of it errors take at the most.
const ROOM_OF_TEXT: usize = 7_500;
const ROOM_OF_FAILURES: usize = 4_000;
/// The most texts of a kind that are told of an experiment.
const MOST_OF_A_KIND: usize = 20;
/// The longest text of an experiment, in characters.
const LONGEST: usize = 300;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arguments {
    /// The project, by its name or folder; may be left out where only one is served.
    project: Option<String>,
    /// Only experiments whose name or tag contains this or, with `*`, `?` or `[…]`, matches it.
    filter: Option<String>,
    /// Fetches the data sets anew that come from elsewhere, in place of using the copies that are kept.
    #[serde(default)]
    refresh: bool,
    /// Uses the copies of data sets that were fetched before, however old they are, and no network for the build.
    #[serde(default)]
    offline: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    project: Project,
    experiments: Vec<Declared>,
    /// How many experiments there are beside these; `filter` finds them.
    #[serde(skip_serializing_if = "is_none")]
    more_experiments: usize,
    /// What keeps the project from being built.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    compile_errors: Vec<Diagnostic>,
    /// How many errors of the compiler there are beside these.
    #[serde(skip_serializing_if = "is_none")]
    more_compile_errors: usize,
    /// What else went wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_none(number: &usize) -> bool {
    *number == 0
}

/// An experiment, where it is declared, and what it came to last.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Declared {
    #[serde(flatten)]
    row: Row,
    /// The file that it is declared in, to be opened.
    path: PathBuf,
    /// Its newest run of all items.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_run: Option<LastRun>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LastRun {
    /// Its id, by which `cobalt_results` and `cobalt_compare` know it.
    id: String,
    /// When it began, in UTC.
    timestamp: String,
    /// What it came to: `passed`, `failed` or what else the history says.
    status: String,
}

pub fn description() -> Tool {
    tool::<Arguments, Listed>(
        NAME,
        "List experiments",
        "Builds the project and names its experiments: tags, data sets, evaluators, thresholds, where each is declared (file and \
         line), and what its last run came to. Runs no agent, and fetches data sets from elsewhere that there is no copy of. Where \
         the build fails, answers with the compiler's errors.",
        // It builds and fetches, which leaves no trace in the sources nor in the results.
        ToolAnnotations::new().read_only(true).open_world(true),
    )
}

/// What `cargo cobalt list` says.
#[derive(Debug, Default)]
pub struct Listing {
    pub rows: Vec<Row>,
    pub compile_errors: CompileErrors,
    errors: Vec<String>,
    is_whole: bool,
}

/// Builds the project, and names its experiments.
pub async fn rows(
    call: Call<'_>,
    project: &Project,
    arguments: &[String],
    progress: &mut Progress,
) -> Result<Listing, Error> {
    let mut command = ["list", "--json", "--message-format=json"].map(str::to_owned).to_vec();
    command.extend_from_slice(arguments);
    let (mut listing, mut listed) = (Listing::default(), String::new());
    let mut running = call.commands.start(project, &command, &call.context.ct)?;
    loop {
        tokio::select! {
            line = running.line() => {
                let Some(line) = line else { break };
                // What begins so is another message of the compiler.
                if !listing.compile_errors.hear(&line) && !line.starts_with('{') {
                    listed += &line;
                }
            }
            () = progress.is_silent() => {
                progress.tell_part(None, &format!("building {} for {}", project.name, running.build())).await;
            }
        }
    }
    let ended = running.end().await?;
    listing.is_whole = ended.status.success();
    match serde_json::from_str(&listed) {
        Ok(rows) => listing.rows = rows,
        Err(error) if listing.is_whole => {
            listing.is_whole = false;
            listing.errors = vec![format!("what `cargo cobalt list` says cannot be read: {error}")];
        }
        // It says why on stderr.
        Err(_) => {}
    }
    if !listing.is_whole && listing.compile_errors.is_empty() && listing.errors.is_empty() {
        listing.errors = stderr::errors(&ended.stderr);
    }
    Ok(listing)
}

pub async fn call(call: Call<'_>, arguments: Arguments) -> Result<Answer<Listed>, Error> {
    let project = call.projects.choose(arguments.project.as_deref())?;
    let Arguments { filter, refresh, offline, .. } = arguments;
    let filter = filter.map(|filter| format!("--filter={filter}"));
    let flags: Vec<_> = filter.into_iter().chain(fetching(refresh, offline)?).collect();
    let Listing { rows, mut compile_errors, mut errors, is_whole } =
        rows(call, &project, &flags, &mut Progress::of(call.context)).await?;
    compile_errors.cut(ROOM_OF_COMPILER);
    keep(&mut errors, ROOM_OF_ERRORS, "errors", &mut Vec::new());
    let past = Past::of(&project);
    let runs = past.as_ref().map(Past::runs).unwrap_or_default();
    let all = rows.len();
    let declared = rows.into_iter().map(|row| declared(row, &project, &runs));
    let mut listed = Listed {
        project: (*project).clone(),
        more_experiments: all,
        experiments: Vec::new(),
        more_compile_errors: compile_errors.more,
        compile_errors: compile_errors.first,
        errors,
    };
    let room = BUDGET.saturating_sub(size(&listed));
    listed.experiments = declared.take(MOST).collect();
    keep(&mut listed.experiments, room, "experiments", &mut Vec::new());
    listed.more_experiments -= listed.experiments.len();
    Ok(Answer { text: text(&listed), structured: listed, is_error: !is_whole })
}

fn declared(mut row: Row, project: &Project, runs: &[RunView]) -> Declared {
    // The compiler names files as seen from there.
    let path = workspace_root(&project.root).join(&row.experiment.file);
    let last = runs.iter().find(|run| !run.is_partial && run.experiment == row.experiment.name);
    let last_run = last.map(|run| LastRun {
        id: run.id.clone(),
        timestamp: run.timestamp.clone(),
        status: run.status.as_str().to_owned(),
    });
    let experiment = &mut row.experiment;
    let lists = [&mut experiment.tags, &mut experiment.fields, &mut experiment.evaluators];
    lists.into_iter().chain([&mut experiment.thresholds]).for_each(shorten);
    if let Some(error) = &mut experiment.error {
        *error = stderr::told(error);
    }
    Declared { row, path, last_run }
}

/// Cuts a list, and what is in it.
fn shorten(texts: &mut Vec<String>) {
    let more = texts.len().saturating_sub(MOST_OF_A_KIND);
    texts.truncate(MOST_OF_A_KIND);
    for text in &mut *texts {
        *text = cut(text, LONGEST).into_owned();
    }
    if more > 0 {
        texts.push(format!("… and {more} more"));
    }
}

fn text(listed: &Listed) -> String {
    let all = listed.experiments.len() + listed.more_experiments;
    let mut text = format!("{} in {}", count(all, "experiment"), code(&listed.project.name));
    if listed.experiments.is_empty() {
        text += "\n";
    } else {
        text += ":\n\n| experiment | items | evaluators | thresholds | last run | declared at |\n|---|---|---|---|---|---|\n";
    }
    let more = listed.more_compile_errors;
    let failures = super::failures(&listed.compile_errors, more, &listed.errors, ROOM_OF_FAILURES);
    let mut shown = 0;
    for row in listed.experiments.iter().map(table_row) {
        if text.len() + row.len() + failures.len() > ROOM_OF_TEXT {
            break;
        }
        text += &row;
        shown += 1;
    }
    if shown < all {
        text += &format!("\n{} more: `filter` finds them.\n", all - shown);
    }
    text + &failures
}

fn table_row(declared: &Declared) -> String {
    let Declared { row, last_run, .. } = declared;
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
    format!("| {} |\n", cells.map(|text| cell(&text)).join(" | "))
}
