//! What is read at the addresses of resources: the settings, the newest runs, a run and an item.

use std::sync::Arc;

use cobalt::config::Setting;
use serde::Serialize;

use super::address::Place;
use crate::error::Error;
use crate::index::{Run, RunStatus};
use crate::mcp::past::{FoundReport, Past, State, project_of};
use crate::mcp::projects::{Project, Projects};
use crate::mcp::refusal;
use crate::mcp::shown::{self, ShownItem, ShownRun, Wanted, keep, size};

/// How many bytes a content takes at the most, as [`size`](crate::mcp::shown::size) counts them: beside it there is only its URI.
const ROOM: usize = 55_000;
/// The type of all of them.
pub(crate) const JSON: &str = "application/json";

/// How many runs are shown with items: each has room for some.
const MOST_WITH_ITEMS: usize = 4;
/// The room of the other runs, of which there may be hundreds.
const ROOM_OF_OTHERS: usize = ROOM / 5;

/// `cobalt://config`: the settings in force, and where each comes from. Keys and passwords in the values are redacted.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shown {
    project: Project,
    settings: Vec<Setting>,
    /// Why they cannot be read: with this in them, nothing runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// What had no room.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
}

pub(crate) fn config(project: &Project) -> Shown {
    let (mut settings, error) = match project.settings() {
        Ok(config) => (config.settings().to_vec(), None),
        Err(error) => (Vec::new(), Some(refusal::text(&error))),
    };
    let mut left_out = Vec::new();
    keep(&mut settings, ROOM, "settings", &mut left_out);
    Shown { project: project.clone(), settings, error, left_out }
}

/// `cobalt://latest-results`: the newest run of each experiment, what did not pass first: as many with their worst items as have
/// room, and the others in a row each.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Latest {
    project: Project,
    /// Those that did not pass come first.
    runs: Vec<ShownRun>,
    /// The further ones without their items.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<Row>,
    /// What had no room, and how much of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
}

/// A run without its items.
#[derive(Debug, Serialize)]
struct Row {
    /// Where all of it is.
    uri: String,
    #[serde(flatten)]
    run: Run,
}

pub(crate) fn latest(project: &Project, served: &[Arc<Project>]) -> Result<Latest, Error> {
    let past = Past::of(project)?;
    let mut newest = newest(&past);
    newest.sort_by_key(|run| run.status == RunStatus::Passed);
    let others = newest.split_off(newest.len().min(MOST_WITH_ITEMS));
    let row = |run: &Run| Row { uri: Place::Run(run.id.clone()).uri(project, served), run: run.clone() };
    let (mut others, mut left_out): (Vec<_>, _) = (others.into_iter().map(row).collect(), Vec::new());
    keep(&mut others, ROOM_OF_OTHERS, "others", &mut left_out);
    let room = ROOM.saturating_sub(size(&others) + size(&left_out) + size(project)) / newest.len().max(1);
    let show = |run: &Run| shown::run(&past.find(&run.id)?.report, &Wanted::default(), None, room);
    let mut runs = Vec::new();
    for run in newest {
        match show(run) {
            Ok(shown) => runs.push(shown),
            // It may have been removed since it was listed.
            Err(error) => left_out.push(format!("runs: {}, as {}", run.id, refusal::text(&error))),
        }
    }
    Ok(Latest { project: project.clone(), runs, others, left_out })
}

/// The newest run of each experiment, the newest first. One of some of the items is that of an experiment without another.
fn newest(past: &Past) -> Vec<&Run> {
    let mut newest: Vec<&Run> = Vec::new();
    for run in past.rows() {
        if newest.iter().all(|known| known.name != run.name) {
            newest.push(run);
        }
    }
    newest
}

/// `cobalt://runs/{runId}`: a run with the worst of its items.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OneRun {
    project: Project,
    state: State,
    /// What is worth knowing of which run it is, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    run: ShownRun,
}

/// `cobalt://runs/{runId}/items/{key}`: an item of a run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OneItem {
    project: Project,
    state: State,
    #[serde(flatten)]
    item: ShownItem,
}

/// The run of a name, and the project that it is of.
struct Found {
    project: Arc<Project>,
    found: FoundReport,
}

fn find(projects: &Projects, project: Option<&str>, name: &str) -> Result<Found, Error> {
    let (project, past): (_, Past) = project_of(projects, project, name)?;
    Ok(Found { found: past.find(name)?, project })
}

pub(crate) fn run(projects: &Projects, project: Option<&str>, name: &str) -> Result<OneRun, Error> {
    let Found { project, found } = find(projects, project, name)?;
    let run = shown::run(&found.report, &Wanted::default(), None, ROOM)?;
    Ok(OneRun { project: (*project).clone(), state: found.state, note: found.note, run })
}

pub(crate) fn item(
    projects: &Projects,
    project: Option<&str>,
    name: &str,
    key: &str,
) -> Result<OneItem, Error> {
    let Found { project, found } = find(projects, project, name)?;
    // Nothing is at this address.
    let item = shown::item(&found.report, key, ROOM);
    let item = item.map_err(|error| Error::NothingMatched(error.to_string()))?;
    Ok(OneItem { project: (*project).clone(), state: found.state, item })
}

/// A content as it is sent.
pub(crate) fn json_text(content: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(content).map_err(|error| Error::Print(error.into()))
}
