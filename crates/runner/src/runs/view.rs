//! The view of a run that all lists, pages and responses share, built from an index row, a report, or the journal of an unfinished run.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use cobalt_core::experiment_name::matches_name;
use cobalt_core::report::{RunVariant, Summary};
use cobalt_core::store::{JournalHeader, is_in_progress, read_journal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::index::{IndexedRun, RunStatus};

/// How much of a journal is read at once, in bytes.
const BUFFER: usize = 1 << 18;

/// A run, finished or not.
#[derive(Clone, Debug, PartialEq)]
pub struct RunView {
    pub id: String,
    /// The run's name: the experiment's, or `<experiment>::<variant>`.
    pub experiment: String,
    /// The name that a user gave to this run.
    pub run_name: Option<String>,
    /// The variant, if the experiment has variants.
    pub variant: Option<VariantView>,
    /// The ID of the run whose stored outputs were scored again.
    pub rescored_from: Option<String>,
    /// The start, ISO 8601 in UTC with milliseconds; sorts chronologically.
    pub timestamp: String,
    pub tags: Vec<String>,
    pub state: RunPhase,
    /// Whether only some of the items were run.
    pub is_partial: bool,
    /// Whether inputs, outputs and everything else that quotes them were removed.
    pub is_redacted: bool,
    /// The status; not evaluated until the run is finished.
    pub status: RunStatus,
    pub items: ItemCounts,
    /// Each evaluator's mean; evaluators without a score are absent.
    pub scores: BTreeMap<String, f64>,
    /// In milliseconds, so far.
    pub duration_ms: i64,
    /// Metrics of finished runs.
    pub metrics: RunMetrics,
    /// The name of its result file, if indexed.
    pub file: String,
}

/// The variant that a run belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Variant")]
pub struct VariantView {
    /// The experiment's name.
    pub experiment: String,
    /// The variant's name.
    pub name: String,
    /// The ID that the runs of the variants share.
    pub group: String,
}

/// Whether a run is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "State")]
pub enum RunPhase {
    /// Finished: its file contains all results.
    #[serde(rename = "ended")]
    Finished,
    /// In progress: more items will be finished.
    #[serde(rename = "goingOn")]
    Running,
    /// Interrupted; can be resumed.
    #[serde(rename = "cutOff")]
    Interrupted,
}

/// The outcome of a run, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "RunVerdict")]
pub enum RunOutcome {
    Passed,
    /// Only some of the items were run.
    Partial,
    /// A threshold or, in a strict experiment, an item was missed.
    Failed,
    /// An item or an evaluator failed with an error.
    Error,
}

/// Item counts of a run by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItemCounts {
    /// Number of items to run.
    pub total: usize,
    pub finished: usize,
    /// At or above every pass mark, without an error.
    pub passed: usize,
    /// Below a pass mark in at least one trial, without an error.
    pub below_pass_mark: usize,
    /// The agent failed or timed out, or an evaluator returned no score.
    pub in_error: usize,
}

/// The metrics of a finished run. Counts have the index's types.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunMetrics {
    /// In milliseconds.
    pub avg_latency_ms: f64,
    /// The agent's; absent if not reported.
    pub total_tokens: Option<i64>,
    /// The agent cost in USD; absent if unknown.
    pub cost: Option<f64>,
    /// The judge cost in USD.
    pub judge_cost: Option<f64>,
    /// The cost of simulated users in USD; absent without them, or if unknown.
    pub user_cost: Option<f64>,
    /// The mean of each metric that the agent recorded, and the value of each metric of the whole run.
    pub custom: BTreeMap<String, f64>,
    /// Items whose agent failed or timed out in at least one trial.
    pub failed_items: i64,
    /// Evaluations without a score.
    pub eval_errors: i64,
    pub git_commit: Option<String>,
    /// Whether tracked files differed from the commit.
    pub git_dirty: Option<bool>,
    /// The branch, as the CI system or git named it.
    pub git_branch: Option<String>,
    pub dataset_hash: Option<String>,
    /// Items whose latency and agent cost are those of a recording.
    pub replayed_items: i64,
}

impl RunView {
    /// A finished run from the index.
    pub fn finished(run: IndexedRun, is_partial: bool) -> Self {
        let number = |integer| usize::try_from(integer).unwrap_or_default();
        Self {
            items: ItemCounts::from(&Summary {
                total_items: number(run.total_items),
                passed_items: number(run.passed_items),
                low_items: number(run.low_items),
                ..Summary::default()
            }),
            metrics: RunMetrics {
                avg_latency_ms: run.avg_latency_ms,
                total_tokens: run.total_tokens,
                cost: run.cost,
                judge_cost: run.judge_cost,
                user_cost: run.user_cost,
                custom: run.metrics,
                failed_items: run.failed_items,
                eval_errors: run.eval_errors,
                git_commit: run.git_commit,
                git_dirty: run.git_dirty,
                git_branch: run.git_branch,
                dataset_hash: run.dataset_hash,
                replayed_items: run.replayed_items,
            },
            variant: run.variant.zip(run.variant_group).map(|(name, group)| VariantView {
                experiment: run.experiment,
                name,
                group,
            }),
            run_name: run.run_name,
            rescored_from: run.rescored_from,
            id: run.id,
            experiment: run.name,
            timestamp: run.timestamp,
            tags: run.tags,
            state: RunPhase::Finished,
            is_partial,
            is_redacted: run.redacted,
            status: run.status,
            scores: run.scores,
            duration_ms: run.duration_ms,
            file: run.file,
        }
    }

    /// An unfinished run with a number of finished items; their results are not known.
    pub fn unfinished(header: &JournalHeader, state: RunPhase, finished: usize) -> Self {
        Self {
            id: header.id.clone(),
            experiment: header.name.clone(),
            variant: header.variant.as_deref().map(VariantView::from),
            run_name: None,
            rescored_from: header.rescored.as_ref().map(|rescored| rescored.run.clone()),
            timestamp: header.timestamp.to_string(),
            tags: header.tags.clone(),
            state,
            is_partial: header.selection.is_some(),
            is_redacted: false,
            status: RunStatus::NotEvaluated,
            items: ItemCounts { total: header.planned_items(), finished, ..ItemCounts::default() },
            scores: BTreeMap::new(),
            duration_ms: 0,
            metrics: RunMetrics::default(),
            file: String::new(),
        }
    }

    /// The same from a journal, of which only the header is parsed; `None` if it no longer exists or is empty.
    pub fn of_journal(path: &Path) -> Option<Self> {
        let mut file = BufReader::with_capacity(BUFFER, File::open(path).ok()?);
        let mut line = Vec::new();
        file.read_until(b'\n', &mut line).ok()?;
        let header = read_journal(&line).ok()?.header;
        let finished = count_lines(file).ok()?.min(header.planned_items());
        Some(Self::unfinished(&header, RunPhase::of_journal(path).ok()?, finished))
    }

    /// Sorts runs, latest first.
    pub fn newest_first(runs: impl Iterator<Item = Self>) -> Vec<Self> {
        let mut runs: Vec<_> = runs.collect();
        runs.sort_by(|one, two| two.timestamp.cmp(&one.timestamp));
        runs
    }

    /// Whether `typed` is the name of its experiment, or its own.
    pub fn is_of(&self, typed: &str) -> bool {
        self.names().any(|name| matches_name(typed, name))
    }

    /// The name of its experiment, if it differs, and its own.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let experiment = self.variant.iter().map(|variant| &variant.experiment);
        experiment.chain([&self.experiment]).map(String::as_str)
    }

    /// The outcome. Only partial runs are not evaluated.
    pub fn verdict(&self) -> RunOutcome {
        match self.status {
            _ if self.is_partial => RunOutcome::Partial,
            RunStatus::NotEvaluated => RunOutcome::Partial,
            RunStatus::Passed => RunOutcome::Passed,
            RunStatus::Failed => RunOutcome::Failed,
            RunStatus::Error => RunOutcome::Error,
        }
    }

    /// Number of items and evaluations in error.
    pub fn errors(&self) -> i64 {
        self.metrics.failed_items.saturating_add(self.metrics.eval_errors)
    }

    /// The mean over the evaluators.
    pub fn mean_score(&self) -> Option<f64> {
        let total = self.scores.values().sum::<f64>();
        (!self.scores.is_empty()).then(|| total / self.scores.len() as f64)
    }

    /// The cost of agent, judges and simulated users, in USD, as far as it is known.
    pub fn total_cost(&self) -> Option<f64> {
        let RunMetrics { cost, judge_cost, user_cost, .. } = &self.metrics;
        [cost, judge_cost, user_cost].into_iter().flatten().copied().reduce(|sum, cost| sum + cost)
    }
}

impl From<&RunVariant> for VariantView {
    fn from(variant: &RunVariant) -> Self {
        let RunVariant { experiment, name, group, .. } = variant;
        Self { experiment: experiment.clone(), name: name.clone(), group: group.clone() }
    }
}

impl From<&Summary> for ItemCounts {
    fn from(summary: &Summary) -> Self {
        Self {
            total: summary.total_items,
            finished: summary.total_items,
            passed: summary.passed_items,
            below_pass_mark: summary.low_items,
            in_error: summary.items_in_error(),
        }
    }
}

impl RunPhase {
    pub fn of_journal(path: &Path) -> io::Result<Self> {
        Ok(if is_in_progress(path)? { Self::Running } else { Self::Interrupted })
    }
}

/// A start time in UTC, to the minute.
pub fn format_minute(timestamp: &str) -> String {
    timestamp.get(..16).unwrap_or(timestamp).replace('T', " ")
}

/// The number of complete lines.
fn count_lines(mut file: impl BufRead) -> io::Result<usize> {
    let mut lines = 0;
    loop {
        let read = file.fill_buf()?;
        if read.is_empty() {
            return Ok(lines);
        }
        lines += memchr::memchr_iter(b'\n', read).count();
        let length = read.len();
        file.consume(length);
    }
}

/// The journals in a folder, by run ID.
pub fn journals(folder: &Path) -> BTreeMap<String, PathBuf> {
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let journals = paths.filter(|path| path.extension() == Some(OsStr::new("jsonl")));
    journals.filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), path))).collect()
}
