//! The paginated list of past runs: the query, the rows, and the cursor of the next page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cobalt_core::experiment_name;
use cobalt_core::hash::sha256_hex;
use cobalt_core::reporters::format_score_at;
use cobalt_core::wording::{self, count};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::past_runs::{PastRuns, State};
use super::plain_errors::simplify;
use super::view::{self, MAX_STRUCTURED, MAX_TEXT, keep_fitting, malformed_cursor, size, truncate};
use crate::error::Error;
use crate::markdown::{code, escape_cell};
use crate::runs::{RunOutcome, RunView, VariantView, format_minute, short_hash};

/// The default and the maximum number of runs in a list.
const DEFAULT_LIMIT: usize = 10;
const MAX_LIMIT: usize = 50;
/// The longest name, in bytes.
const NAME: usize = 300;
/// The maximum number of unfinished runs, and of unreadable files.
const MAX_EXTRAS: usize = 10;

/// The most bytes of a run's scores and of its tags.
const SCORES: usize = 2_000;
const TAGS: usize = 500;
/// The maximum number of scores in a row of text.
const MAX_SCORES: usize = 5;
/// How many hash digits a cursor has.
const HASH_DIGITS: usize = 16;

/// Past runs, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunList {
    /// Finished runs, newest first.
    runs: Vec<RunRow>,
    /// Total number of matching runs.
    runs_matching: usize,
    /// The `cursor` of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// The newest runs that are in progress or interrupted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unfinished: Vec<UnfinishedRun>,
    /// Result files that cannot be read, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped_files: Vec<String>,
}

impl RunList {
    /// The matching runs from a cursor on.
    pub fn query(
        past: &PastRuns,
        wanted: &RunQuery,
        limit: Option<usize>,
        cursor: Option<&str>,
    ) -> Result<Self, Error> {
        let matching: Vec<_> = past.runs().into_iter().filter(|run| wanted.matches(run)).collect();
        wanted.validate(past)?;
        let start = cursor.map_or(Ok(0), |cursor| wanted.position_after(&matching, cursor))?;
        let mut list = Self {
            runs: Vec::new(),
            runs_matching: matching.len(),
            next_cursor: None,
            unfinished: Vec::new(),
            skipped_files: past
                .skipped
                .iter()
                .take(MAX_EXTRAS)
                .map(|it| format!("{}: {}", it.file, simplify(&it.reason)))
                .collect(),
        };
        list.skipped_files.iter_mut().for_each(|it| *it = truncate::text(it, NAME));
        if cursor.is_none() && wanted.status.is_none() {
            let is_wanted = |run: &RunView| wanted.experiment.as_ref().is_none_or(|typed| run.is_of(typed));
            let unfinished = past.unfinished().into_iter().filter(is_wanted).take(MAX_EXTRAS);
            list.unfinished = unfinished.map(UnfinishedRun::from).collect();
        }
        let mut left = MAX_STRUCTURED.saturating_sub(size(&list));
        for run in matching[start..].iter().take(limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT)) {
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
            text += "No matching run has finished yet. To run experiments, call `cobalt_run`.\n";
        } else {
            text += "| run | experiment | started (UTC) | verdict | scores | commit |\n|---|---|---|---|---|---|\n";
            let rows: Vec<_> = self.runs.iter().map(RunRow::line).collect();
            text += &view::fit_lines(rows.into_iter(), MAX_TEXT - 2_000, "run");
        }
        for run in &self.unfinished {
            let _ = writeln!(text, "- {}", unfinished(run));
        }
        if !self.skipped_files.is_empty() {
            let _ =
                writeln!(text, "\nSkipped {}; see `skippedFiles`.", count(self.skipped_files.len(), "file"));
        }
        if let Some(cursor) = &self.next_cursor {
            let shown = count(self.runs_matching, "run");
            let _ = writeln!(
                text,
                "\n{} of {shown}; for older runs pass `cursor` {}.",
                self.runs.len(),
                code(cursor)
            );
        }
        text
    }
}

/// An unfinished run in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UnfinishedRun {
    id: String,
    /// The experiment's name.
    experiment: String,
    /// The start, ISO 8601 in UTC.
    timestamp: String,
    state: State,
    /// Number of finished items.
    finished_items: usize,
    /// Number of items to run.
    total_items: usize,
}

impl From<RunView> for UnfinishedRun {
    fn from(run: RunView) -> Self {
        Self {
            id: run.id,
            experiment: truncate::text(&run.experiment, NAME),
            timestamp: run.timestamp,
            state: run.state,
            finished_items: run.items.finished,
            total_items: run.items.total,
        }
    }
}

fn unfinished(run: &UnfinishedRun) -> String {
    let state = match run.state {
        State::Interrupted => "interrupted",
        _ => "in progress",
    };
    let (id, experiment) =
        (code(&truncate::text(&run.id, NAME / 6)), code(&truncate::text(&run.experiment, NAME / 6)));
    format!(
        "{id} of {experiment}, {state}: {} of {} finished",
        run.finished_items,
        count(run.total_items, "item")
    )
}

/// A run in the list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RunRow {
    id: String,
    experiment: String,
    /// The name that a user gave to this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_name: Option<String>,
    /// The variant, if the experiment has variants; runs of the same group were run together.
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<VariantView>,
    /// The run whose stored outputs were scored again, if it did not call the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    rescored_from: Option<String>,
    /// The start, ISO 8601 in UTC.
    timestamp: String,
    /// Runs of only some items are `partial`, whatever their result.
    verdict: Status,
    /// Each evaluator's mean.
    scores: BTreeMap<String, f64>,
    /// Number of evaluators omitted for lack of room, those with the highest means.
    #[serde(skip_serializing_if = "Option::is_none")]
    scores_left_out: Option<usize>,
    total_items: i64,
    /// Items at or above every pass mark in every trial, without an error.
    passed_items: i64,
    /// All others: those below a pass mark, and those in error.
    failed_items: i64,
    /// Items below a pass mark in some trial, without an error.
    items_below_pass_mark: i64,
    /// Items whose agent failed or timed out, or for which an evaluator returned no score.
    items_in_error: i64,
    /// Evaluations without a score.
    eval_errors: i64,
    /// Mean latency of the agent, in milliseconds.
    avg_latency_ms: f64,
    /// Items whose model requests were all replayed: their latency and agent cost are those of the recording. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    replayed_items: Option<i64>,
    /// Agent cost in USD; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    /// Judge cost in USD.
    #[serde(skip_serializing_if = "Option::is_none")]
    judge_cost: Option<f64>,
    /// Cost of simulated users in USD.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_cost: Option<f64>,
    /// The checked-out commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    git_commit: Option<String>,
    /// Whether tracked files had uncommitted changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    git_dirty: Option<bool>,
    tags: Vec<String>,
}

impl RunRow {
    fn of(run: &RunView) -> Self {
        let integer = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let mut scores: Vec<_> =
            run.scores.iter().map(|(name, score)| (truncate::text(name, NAME), *score)).collect();
        scores.sort_by(|(_, one), (_, two)| one.total_cmp(two));
        keep_fitting(&mut scores, SCORES, "scores", &mut Vec::new());
        let missing = run.scores.len() - scores.len();
        let mut tags: Vec<_> = run.tags.iter().map(|tag| truncate::text(tag, NAME)).collect();
        keep_fitting(&mut tags, TAGS, "tags", &mut Vec::new());
        Self {
            id: run.id.clone(),
            experiment: truncate::text(&run.experiment, NAME),
            variant: run.variant.as_ref().map(|variant| VariantView {
                experiment: truncate::text(&variant.experiment, NAME),
                name: truncate::text(&variant.name, NAME),
                group: truncate::text(&variant.group, NAME),
            }),
            run_name: run.run_name.as_ref().map(|name| truncate::text(name, NAME)),
            rescored_from: run.rescored_from.as_ref().map(|id| truncate::text(id, NAME)),
            timestamp: run.timestamp.clone(),
            verdict: run.verdict().into(),
            scores: scores.into_iter().collect(),
            scores_left_out: (missing > 0).then_some(missing),
            total_items: integer(run.items.total),
            passed_items: integer(run.items.passed),
            failed_items: integer(run.items.total.saturating_sub(run.items.passed)),
            items_below_pass_mark: integer(run.items.below_pass_mark),
            items_in_error: integer(run.items.in_error),
            eval_errors: run.metrics.eval_errors,
            avg_latency_ms: run.metrics.avg_latency_ms,
            replayed_items: Some(run.metrics.replayed_items).filter(|items| *items > 0),
            cost: run.metrics.cost,
            judge_cost: run.metrics.judge_cost,
            user_cost: run.metrics.user_cost,
            git_commit: run.metrics.git_commit.as_ref().map(|commit| truncate::text(commit, NAME)),
            git_dirty: run.metrics.git_dirty,
            tags,
        }
    }

    /// A row of a table in Markdown.
    fn line(&self) -> String {
        let short_code = |text: &str| escape_cell(&code(&truncate::text(text, NAME / 5)));
        let verdict = match self.verdict {
            Status::Passed => "passed",
            Status::Failed => "failed",
            Status::Error | Status::Low => "in error",
            Status::Partial => "partial",
        };
        let replayed = if self.replayed_items.is_some() { ", replayed" } else { "" };
        let rescored = if self.rescored_from.is_some() { ", re-scored" } else { "" };
        let scores = self
            .scores
            .iter()
            .take(MAX_SCORES)
            .map(|(name, score)| format!("{} {}", short_code(name), format_score_at(*score, 1.0)));
        let commit =
            self.git_commit.as_deref().map_or(String::new(), |commit| short_code(short_hash(commit)));
        let run_name =
            self.run_name.as_deref().map_or(String::new(), |name| format!(" {}", short_code(name)));
        format!(
            "| {} | {}{run_name} | {} | {verdict}{replayed}{rescored} | {} | {commit} |",
            short_code(&self.id),
            short_code(&self.experiment),
            format_minute(&self.timestamp),
            scores.collect::<Vec<_>>().join(", "),
        )
    }
}

/// A query for runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunQuery {
    pub experiment: Option<String>,
    pub status: Option<Status>,
}

impl RunQuery {
    /// Checks that the experiment has a run, even if partial or unfinished.
    fn validate(&self, past: &PastRuns) -> Result<(), Error> {
        let Some(experiment) = &self.experiment else { return Ok(()) };
        let (runs, unfinished) = (past.runs(), past.unfinished());
        let mut names: Vec<_> = runs.iter().chain(&unfinished).flat_map(RunView::names).collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() || experiment_name::find_declared(experiment, names.iter().copied()).is_some() {
            return Ok(());
        }
        let instead = wording::suggest_or_list(experiment, names);
        Err(Error::Arguments(format!(
            "no experiment named `{experiment}` has a run; {}",
            truncate::text(&instead, NAME)
        )))
    }

    fn matches(&self, run: &RunView) -> bool {
        self.experiment.as_ref().is_none_or(|typed| run.is_of(typed))
            && self.status.is_none_or(|status| status == run.verdict().into())
    }

    /// The cursor of the page after a run.
    fn cursor(&self, run: &RunView) -> String {
        format!("{}-{}", self.query_hash(), run.id)
    }

    /// The position after the cursor's run, which newer runs do not shift.
    fn position_after(&self, matching: &[RunView], cursor: &str) -> Result<usize, Error> {
        let (choice, id) = cursor
            .split_once('-')
            .filter(|(choice, _)| choice.len() == HASH_DIGITS)
            .ok_or_else(malformed_cursor)?;
        if choice != self.query_hash() {
            return Err(Error::Arguments(
                "`cursor` belongs to another `experiment` or `status`: pass the arguments of the call that returned it, or omit \
                 `cursor` to start from the newest run"
                    .to_owned(),
            ));
        }
        let place = matching.iter().position(|run| run.id == id).map(|place| place + 1);
        place.ok_or_else(|| {
            Error::Arguments(format!(
                "run `{id}`, the last of the previous page, no longer exists: omit `cursor` to start from the newest run"
            ))
        })
    }

    /// A hash of the query that a cursor belongs to.
    fn query_hash(&self) -> String {
        // Writing plain texts cannot fail.
        let wanted = serde_json::to_string(self).unwrap_or_default();
        sha256_hex(&[wanted])[..HASH_DIGITS].to_owned()
    }
}

/// The outcome of a run or an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Run: nothing failed, and its thresholds were evaluated. Item: at or above every pass mark, without an error.
    Passed,
    /// Run: a threshold or, in a strict experiment, an item failed. Item: below a pass mark, or in error.
    Failed,
    /// The agent failed or timed out, or an evaluator returned no score.
    Error,
    /// Item with a score below its evaluator's pass mark, whether or not that fails the item.
    Low,
    /// Run of only some items; thresholds are not evaluated.
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
