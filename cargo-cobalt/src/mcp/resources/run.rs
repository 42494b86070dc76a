//! `cobalt://runs/{runId}` and `cobalt://runs/{runId}/items/{key}`: a run with its worst items, and an item of it.

use std::sync::Arc;

use serde::Serialize;

use super::ROOM;
use crate::error::Error;
use crate::mcp::past::{FoundReport, Past, State, project_of};
use crate::mcp::projects::{Project, Projects};
use crate::mcp::shown::{self, ShownItem, ShownRun, Wanted};

/// A run with the worst of its items.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OneRun {
    project: Project,
    state: State,
    /// What is worth knowing of which run it is, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    run: ShownRun,
}

/// An item of a run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OneItem {
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

pub(super) fn read(projects: &Projects, project: Option<&str>, name: &str) -> Result<OneRun, Error> {
    let Found { project, found } = find(projects, project, name)?;
    let run = shown::run(&found.report, &Wanted::default(), None, ROOM)?;
    Ok(OneRun { project: (*project).clone(), state: found.state, note: found.note, run })
}

pub(super) fn read_item(
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
