//! The list of past runs, page by page.

mod row;
mod wanted;

use std::fmt::Write as _;

use cobalt::name::is_name_of;
use cobalt::wording::count;
use schemars::JsonSchema;
use serde::Serialize;

use self::row::RunRow;
pub(super) use self::wanted::WantedRuns;
use super::past::{Past, State, UnfinishedRun};
use super::plain::plain;
use super::shown::{self, BUDGET, ROOM, cut, size};
use crate::error::Error;
use crate::markdown::code;

/// How many runs are listed where nothing is said, and how many at most.
const USUAL: usize = 10;
const MOST: usize = 50;
/// The longest name, in bytes.
const NAME: usize = 300;
/// How many runs that have not ended are named, and how many files that are no results.
const BESIDE: usize = 10;

/// Runs, the newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunList {
    /// The runs that have ended, the newest first.
    runs: Vec<RunRow>,
    /// How many there are of those that were asked for.
    runs_matching: usize,
    /// What to give as `cursor` for the next ones; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// The newest runs that go on or were cut off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unfinished: Vec<UnfinishedRun>,
    /// Files among the results that cannot be read, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped_files: Vec<String>,
}

impl RunList {
    /// The runs that are wanted, from a cursor on.
    pub(super) fn of(
        past: &Past,
        wanted: &WantedRuns,
        limit: Option<usize>,
        cursor: Option<&str>,
    ) -> Result<Self, Error> {
        let matching: Vec<_> = past.runs().into_iter().filter(|run| wanted.has(run)).collect();
        wanted.check(past)?;
        let start = cursor.map_or(Ok(0), |cursor| wanted.place_after(&matching, cursor))?;
        let mut list = Self {
            runs: Vec::new(),
            runs_matching: matching.len(),
            next_cursor: None,
            unfinished: Vec::new(),
            skipped_files: past
                .skipped
                .iter()
                .take(BESIDE)
                .map(|it| format!("{}: {}", it.file, plain(&it.reason)))
                .collect(),
        };
        list.skipped_files.iter_mut().for_each(|it| *it = cut::text(it, NAME));
        if cursor.is_none() && wanted.status.is_none() {
            let is_wanted = |run: &UnfinishedRun| {
                wanted.experiment.as_ref().is_none_or(|typed| is_name_of(typed, &run.experiment))
            };
            list.unfinished = past.unfinished().into_iter().filter(is_wanted).take(BESIDE).collect();
            list.unfinished.iter_mut().for_each(|run| run.experiment = cut::text(&run.experiment, NAME));
        }
        let mut left = BUDGET.saturating_sub(size(&list));
        for run in matching[start..].iter().take(limit.unwrap_or(USUAL).min(MOST)) {
            let row = RunRow::of(run);
            let Some(rest) = left.checked_sub(size(&row) + 1) else { break };
            left = rest;
            list.runs.push(row);
        }
        let last = list.runs.len().checked_sub(1).map(|last| matching[start + last]);
        let has_more = start + list.runs.len() < matching.len();
        list.next_cursor = last.filter(|_| has_more).map(|run| wanted.cursor(run));
        Ok(list)
    }

    /// The list in Markdown.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if self.runs.is_empty() {
            text += "No run has ended yet, or none that was asked for; `cobalt_run` makes one.\n";
        } else {
            text += "| run | experiment | started (UTC) | verdict | scores | commit |\n|---|---|---|---|---|---|\n";
            let rows: Vec<_> = self.runs.iter().map(RunRow::line).collect();
            text += &shown::list(rows.into_iter(), ROOM - 2_000, "run");
        }
        for run in &self.unfinished {
            let _ = writeln!(text, "- {}", unfinished(run));
        }
        if !self.skipped_files.is_empty() {
            let _ = writeln!(
                text,
                "\n{} left out, as `skippedFiles` tells.",
                count(self.skipped_files.len(), "file")
            );
        }
        if let Some(cursor) = &self.next_cursor {
            let shown = count(self.runs_matching, "run");
            let _ = writeln!(
                text,
                "\n{} of {shown}; for older ones give `cursor` {}.",
                self.runs.len(),
                code(cursor)
            );
        }
        text
    }
}

fn unfinished(run: &UnfinishedRun) -> String {
    let state = match run.state {
        State::CutOff => "was cut off",
        _ => "goes on",
    };
    let (id, experiment) = (code(&cut::text(&run.id, NAME / 6)), code(&cut::text(&run.experiment, NAME / 6)));
    format!(
        "{id} of {experiment} {state}: {} of {} finished",
        run.finished_items,
        count(run.total_items, "item")
    )
}
