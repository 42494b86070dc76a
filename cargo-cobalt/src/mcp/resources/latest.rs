//! `cobalt://latest-results`: the newest run of each experiment, what did not pass first: as many with their worst items as have
//! room, and the others in a row each.

use std::sync::Arc;

use serde::Serialize;

use super::{Place, ROOM};
use crate::error::Error;
use crate::index::{Run, RunStatus};
use crate::mcp::past::{Past, PastRun};
use crate::mcp::projects::Project;
use crate::mcp::refusal;
use crate::mcp::shown::{self, ShownRun, Wanted, keep, size};

/// How many runs are shown with items: each has room for some.
const MOST_WITH_ITEMS: usize = 4;
/// The room of the other runs, of which there may be hundreds.
const ROOM_OF_OTHERS: usize = ROOM / 5;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Latest {
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

pub(super) fn read(project: &Project, served: &[Arc<Project>]) -> Result<Latest, Error> {
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
    let (whole, partial): (Vec<_>, Vec<_>) = past.runs().into_iter().partition(|run| !run.is_partial);
    let mut newest: Vec<&Run> = Vec::new();
    for PastRun { run, .. } in whole.into_iter().chain(partial) {
        if newest.iter().all(|known| known.name != run.name) {
            newest.push(run);
        }
    }
    newest
}
