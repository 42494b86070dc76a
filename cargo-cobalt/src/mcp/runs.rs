//! The list of past runs, page by page: which runs are wanted, a run as the list has it, and where the next page begins.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cobalt_core::hash::sha256_hex;
use cobalt_core::names::{self, is_name_of};
use cobalt_core::reporters::rounded;
use cobalt_core::wording::{self, count};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::past::{Past, State};
use super::plain::plain;
use super::shown::{self, BUDGET, ROOM, cut, keep, malformed_cursor, size};
use crate::error::Error;
use crate::markdown::{cell, code};
use crate::runs::{RunOutcome, RunView, minute, short};

/// How many runs are listed where nothing is said, and how many at most.
const USUAL: usize = 10;
const MOST: usize = 50;
/// The longest name, in bytes.
const NAME: usize = 300;
/// How many runs that have not ended are named, and how many files that are no results.
const BESIDE: usize = 10;

/// The most bytes of a run's scores and of its tags.
const SCORES: usize = 2_000;
const TAGS: usize = 500;
/// How many scores are told of.
const MOST_TOLD: usize = 5;
/// How many digits of a hash a cursor has.
const DIGITS: usize = 16;

/// Runs, the newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunList {
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
    pub fn of(
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
            let is_wanted = |run: &RunView| {
                wanted.experiment.as_ref().is_none_or(|typed| is_name_of(typed, &run.experiment))
            };
            let unfinished = past.unfinished().into_iter().filter(is_wanted).take(BESIDE);
            list.unfinished = unfinished.map(UnfinishedRun::from).collect();
        }
        let mut left = BUDGET.saturating_sub(size(&list));
        for run in matching[start..].iter().take(limit.unwrap_or(USUAL).min(MOST)) {
            let row = RunRow::of(run);
            let Some(rest) = left.checked_sub(size(&row) + 1) else { break };
            left = rest;
            list.runs.push(row);
        }
        let last = list.runs.len().checked_sub(1).map(|last| &matching[start + last]);
        let has_more = start + list.runs.len() < matching.len();
        list.next_cursor = last.filter(|_| has_more).map(|run| wanted.cursor(run));
        Ok(list)
    }

    /// The list in Markdown.
    pub fn text(&self) -> String {
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

/// A run that has not ended, as lists name it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UnfinishedRun {
    id: String,
    /// The experiment's name.
    experiment: String,
    /// The start, ISO 8601 in UTC.
    timestamp: String,
    state: State,
    /// How many items are finished.
    finished_items: usize,
    /// How many there are to run.
    total_items: usize,
}

impl From<RunView> for UnfinishedRun {
    fn from(run: RunView) -> Self {
        Self {
            id: run.id,
            experiment: cut::text(&run.experiment, NAME),
            timestamp: run.timestamp,
            state: run.state,
            finished_items: run.items.finished,
            total_items: run.items.total,
        }
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

/// A run as the list has it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RunRow {
    id: String,
    experiment: String,
    /// The start, ISO 8601 in UTC.
    timestamp: String,
    /// Runs of some of the items are `partial`, whatever came of them.
    verdict: Status,
    /// Each evaluator's mean.
    scores: BTreeMap<String, f64>,
    /// How many evaluators had no room, those of the highest means.
    #[serde(skip_serializing_if = "Option::is_none")]
    scores_left_out: Option<usize>,
    total_items: i64,
    /// Items at or above every pass mark in every trial, without an error.
    passed_items: i64,
    /// All others: those below a pass mark, and those in error.
    failed_items: i64,
    /// Items below a pass mark in some trial, without an error.
    items_below_pass_mark: i64,
    /// Items whose agent failed or took too long, or of which an evaluator gave no score.
    items_in_error: i64,
    /// Evaluations without a score.
    eval_errors: i64,
    /// The mean time that the agent took, in milliseconds.
    avg_latency_ms: f64,
    /// The agent's, in USD; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    /// The judges', in USD.
    #[serde(skip_serializing_if = "Option::is_none")]
    judge_cost: Option<f64>,
    /// The commit that was checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    git_commit: Option<String>,
    /// Whether tracked files differed from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    git_dirty: Option<bool>,
    tags: Vec<String>,
}

impl RunRow {
    fn of(run: &RunView) -> Self {
        let integer = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let mut scores: Vec<_> =
            run.scores.iter().map(|(name, score)| (cut::text(name, NAME), *score)).collect();
        scores.sort_by(|(_, one), (_, two)| one.total_cmp(two));
        keep(&mut scores, SCORES, "scores", &mut Vec::new());
        let missing = run.scores.len() - scores.len();
        let mut tags: Vec<_> = run.tags.iter().map(|tag| cut::text(tag, NAME)).collect();
        keep(&mut tags, TAGS, "tags", &mut Vec::new());
        Self {
            id: run.id.clone(),
            experiment: cut::text(&run.experiment, NAME),
            timestamp: run.timestamp.clone(),
            verdict: run.verdict().into(),
            scores: scores.into_iter().collect(),
            scores_left_out: (missing > 0).then_some(missing),
            total_items: integer(run.items.total),
            passed_items: integer(run.items.passed),
            failed_items: integer(run.items.total.saturating_sub(run.items.passed)),
            items_below_pass_mark: integer(run.items.below_pass_mark),
            items_in_error: integer(run.items.in_error),
            eval_errors: run.figures.eval_errors,
            avg_latency_ms: run.figures.avg_latency_ms,
            cost: run.figures.cost,
            judge_cost: run.figures.judge_cost,
            git_commit: run.figures.git_commit.as_ref().map(|commit| cut::text(commit, NAME)),
            git_dirty: run.figures.git_dirty,
            tags,
        }
    }

    /// A row of a table in Markdown.
    fn line(&self) -> String {
        let short_code = |text: &str| cell(&code(&cut::text(text, NAME / 5)));
        let verdict = match self.verdict {
            Status::Passed => "passed",
            Status::Failed => "failed",
            Status::Error | Status::Low => "in error",
            Status::Partial => "partial",
        };
        let scores = self
            .scores
            .iter()
            .take(MOST_TOLD)
            .map(|(name, score)| format!("{} {}", short_code(name), rounded(*score, 1.0)));
        let commit = self.git_commit.as_deref().map_or(String::new(), |commit| short_code(short(commit)));
        format!(
            "| {} | {} | {} | {verdict} | {} | {commit} |",
            short_code(&self.id),
            short_code(&self.experiment),
            minute(&self.timestamp),
            scores.collect::<Vec<_>>().join(", "),
        )
    }
}

/// Which runs are wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WantedRuns {
    pub experiment: Option<String>,
    pub status: Option<Status>,
}

impl WantedRuns {
    /// Checks that there are runs of the experiment, be they partial or unfinished.
    fn check(&self, past: &Past) -> Result<(), Error> {
        let Some(experiment) = &self.experiment else { return Ok(()) };
        let (runs, unfinished) = (past.runs(), past.unfinished());
        let mut names: Vec<_> = runs.iter().map(|run| &*run.experiment).collect();
        names.extend(unfinished.iter().map(|run| &*run.experiment));
        names.sort_unstable();
        names.dedup();
        if names.is_empty() || names::find(experiment, names.iter().copied()).is_some() {
            return Ok(());
        }
        let instead = wording::instead(experiment, names);
        Err(Error::Arguments(format!(
            "no experiment named `{experiment}` has a run; {}",
            cut::text(&instead, NAME)
        )))
    }

    fn has(&self, run: &RunView) -> bool {
        self.experiment.as_ref().is_none_or(|typed| is_name_of(typed, &run.experiment))
            && self.status.is_none_or(|status| status == run.verdict().into())
    }

    /// The cursor of the page after a run.
    fn cursor(&self, run: &RunView) -> String {
        format!("{}-{}", self.choice(), run.id)
    }

    /// The place after the run of a cursor: newer runs that were made meanwhile shift nothing.
    fn place_after(&self, matching: &[RunView], cursor: &str) -> Result<usize, Error> {
        let (choice, id) = cursor
            .split_once('-')
            .filter(|(choice, _)| choice.len() == DIGITS)
            .ok_or_else(malformed_cursor)?;
        if choice != self.choice() {
            return Err(Error::Arguments(
                "`cursor` is one of other `experiment` or `status`: give those of the answer that it came with, or leave \
                 `cursor` out to begin with the newest run"
                    .to_owned(),
            ));
        }
        let place = matching.iter().position(|run| run.id == id).map(|place| place + 1);
        place.ok_or_else(|| {
            Error::Arguments(format!(
                "the run `{id}` is gone, at which the page before ended: leave `cursor` out to begin with the newest run"
            ))
        })
    }

    /// A hash of what a cursor is good for.
    fn choice(&self) -> String {
        // Writing plain texts cannot fail.
        let wanted = serde_json::to_string(self).unwrap_or_default();
        sha256_hex(&[wanted])[..DIGITS].to_owned()
    }
}

/// What became of a run or an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// A run: nothing failed, and its thresholds were evaluated. An item: it is at or above every pass mark, without an error.
    Passed,
    /// A run: a threshold or, in a strict experiment, an item missed. An item: it is below a pass mark, or in error.
    Failed,
    /// The agent failed or took too long, or an evaluator gave no score.
    Error,
    /// An item with a score below its evaluator's pass mark, whether or not that fails it.
    Low,
    /// A run of some of the items, of which thresholds are not evaluated.
    Partial,
}

impl From<RunOutcome> for Status {
    fn from(verdict: RunOutcome) -> Self {
        match verdict {
            RunOutcome::Passed => Self::Passed,
            RunOutcome::Partial => Self::Partial,
            RunOutcome::Failed => Self::Failed,
            RunOutcome::Error => Self::Error,
        }
    }
}
