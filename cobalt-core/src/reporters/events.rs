//! The events of a run, also as JSON lines. An error that many items share is sent in full once.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::missing_key::MissingKey;
use super::notable_items::NotableItems;
use super::workspaces::KeptWorkspaces;
use crate::report::ranking::Ranking;
use crate::report::{
    Category, DatasetSummary, Fetch, ItemResult, Report, RunConfig, SourceLocation, Status, Threshold,
};
use crate::serde_skip::is_zero;
use crate::trace::Trace;
use crate::wording::{self, count};

/// The version of the protocol, sent first. `cargo cobalt` also looks for this text in a binary to find out whether it calls
/// `cobalt::main`, without starting it.
pub const PROTOCOL: &str = "cobalt experiments, protocol 2";

/// The maximum length of an error in the summary, and of a difference from a recording, in characters.
pub const MAX_ERROR_LENGTH: usize = 400;

/// An event. In JSON, an object whose `event` is the variant's name in kebab-case.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Event {
    /// The first event of a process.
    Hello {
        /// [`PROTOCOL`].
        protocol: String,
        /// The library's version.
        version: String,
    },
    /// A declared experiment, when experiments are listed.
    Listed(Box<Listed>),
    /// An experiment is about to run.
    ExperimentStarted(ExperimentStarted),
    /// One of several trials of an item has finished.
    RunFinished(RunFinished),
    /// All trials of an item have finished, and the item is on disk.
    ItemFinished(ItemFinished),
    /// All items of an experiment have finished, and its thresholds are evaluated.
    ExperimentFinished(Box<ExperimentFinished>),
    /// All variants of an experiment have finished: how they compare.
    VariantsCompared(Box<Ranking>),
    /// An experiment was interrupted; finished items are saved.
    ExperimentInterrupted {
        /// The experiment's name.
        name: String,
        /// The run's ID, for resuming it.
        id: String,
        /// The number of saved items; with neither these nor payments, there is nothing to resume. Absent in events of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<usize>,
        /// What was paid, also for items that did not finish, in USD. Such a run can be resumed, too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        paid: Option<f64>,
        /// Why it was stopped, if not on request: its items can no longer be saved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// An experiment cannot run because of its data or its declaration.
    ExperimentBroken {
        /// The experiment's name.
        name: String,
        /// What is wrong, and what to do.
        error: String,
        /// Where the experiment is declared.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        declared_at: Option<SourceLocation>,
    },
    /// An experiment is ignored because a required environment variable is unset or empty.
    ExperimentIgnored {
        /// The experiment's name.
        name: String,
        /// The variable.
        variable: String,
    },
    /// An experiment is skipped because no item is left: only failed or changed items, or those of a shard, were requested.
    ExperimentSkipped {
        /// The experiment's name.
        name: String,
        /// Why no item is left.
        why: String,
    },
    /// An experiment that still fails because of earlier results, when only failed or changed items are run: this run does not
    /// replace those results.
    ExperimentStillFailed {
        /// The experiment's name.
        name: String,
        /// Which items and thresholds failed, and in which run.
        why: String,
    },
    /// The arguments request libtest output, so test cases are printed and no other events follow.
    TestOutput {
        /// How many experiments are selected.
        experiments: usize,
    },
    /// This process does not resume a requested run; another one may.
    NotResumed {
        /// The run's id.
        id: String,
        /// The reason.
        error: String,
    },
    /// Nothing can run, for a reason that does not concern a single experiment.
    Failed {
        /// What is wrong, and what to do.
        error: String,
    },
    /// The last event of a process that sent `Hello`, unless it could not run anything. Its exit code takes precedence over that of
    /// the process, which a library may change.
    Ended {
        /// The exit code that the process is about to return.
        exit_code: i32,
    },
    /// A required API key is missing. Sent before anything runs.
    KeyMissing(MissingKey),
    /// A probable mistake that fails nothing. Several binaries may send the same.
    Warning(Warning),
    /// An event of a later version.
    #[serde(other)]
    Unknown,
}

/// A probable mistake that fails nothing: for example, a variable that nothing reads, or a run whose scores no threshold checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// The experiment's name; absent if the warning concerns the whole invocation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// What is probably wrong, and what to do.
    pub message: String,
    /// Where the experiment is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_at: Option<SourceLocation>,
}

impl Warning {
    /// A warning about the whole invocation.
    #[must_use]
    pub fn global(message: String) -> Self {
        Self { experiment: None, message, declared_at: None }
    }

    /// The warnings for a finished run.
    #[must_use]
    pub fn all_for_report(report: &Report, notable: &NotableItems) -> Vec<Self> {
        let unchecked = Self::for_unchecked_scores(report, notable);
        unchecked.into_iter().chain(Self::for_unapplied_evaluators(report, notable)).collect()
    }

    /// The warning for a finished run if some evaluators applied to no item: they check nothing.
    fn for_unapplied_evaluators(report: &Report, notable: &NotableItems) -> Option<Self> {
        let Report { name, config, summary, partial, .. } = report;
        if *partial {
            // The items to which it applies may just not be selected.
            return None;
        }
        let is_unapplied = |evaluator: &&String| {
            let (scores, not_applicable) = (&summary.scores, &summary.not_applicable);
            not_applicable.contains_key(*evaluator)
                && !scores.contains_key(*evaluator)
                && !notable.has_failed(evaluator)
        };
        let unapplied: Vec<_> = config.evaluators.iter().filter(is_unapplied).collect();
        if unapplied.is_empty() {
            return None;
        }
        let message = format!(
            "{} applied to none of the {}; check the condition under which {}, or remove {}",
            wording::join_quoted(unapplied.iter().map(|name| name.as_str())),
            count(notable.items, "item"),
            if unapplied.len() == 1 { "it applies" } else { "they apply" },
            if unapplied.len() == 1 { "it" } else { "them" },
        );
        Some(Self { experiment: Some(name.clone()), message, declared_at: report.declared_at.clone() })
    }

    /// The warning for a finished run if no threshold checks a score although every item is below its pass mark. `None` otherwise,
    /// and for runs without thresholds.
    fn for_unchecked_scores(report: &Report, notable: &NotableItems) -> Option<Self> {
        let Report { name, config, .. } = report;
        let thresholds = config.parse_thresholds().ok()?;
        let bounds_score =
            |threshold: &Threshold| matches!(threshold.category(), Category::Score | Category::Evaluator(_));
        let items = notable.items;
        // Partial runs have no outcomes: their thresholds are not evaluated.
        let is_gated = !config.strict && !report.thresholds().is_empty();
        if !is_gated || thresholds.iter().any(bounds_score) || items == 0 || notable.low_items < items {
            return None;
        }
        let message = format!(
            "no threshold checks a score, and all items are below their pass mark ({}); add a threshold such as \
             `score.avg >= 0.8`, or set `strict = true`",
            count(items, "item")
        );
        Some(Self { experiment: Some(name.clone()), message, declared_at: report.declared_at.clone() })
    }
}

/// `<experiment>: <message>`
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.experiment {
            Some(experiment) => write!(f, "{experiment}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// A variant of a declared experiment.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ListedVariant {
    /// The experiment's name.
    pub experiment: String,
    /// The variant's name.
    pub name: String,
}

/// A declared experiment.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    /// The name of its runs: that of the experiment, or of a variant.
    pub name: String,
    /// The variant, and the experiment that it belongs to; absent if the experiment has no variants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<ListedVariant>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The source of its items: the path as given, or `inline`; absent if the data was not or cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// The number of items; absent if the data was not or cannot be read.
    pub items: Option<usize>,
    /// When its items were fetched, and their version; absent for items from a file or from code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetched: Option<Fetch>,
    /// SHA-256 over all items, if they were fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The fields of its first item, at most 50.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// The number of trials per item.
    pub runs: usize,
    /// The evaluators' names, in order.
    pub evaluators: Vec<String>,
    /// The thresholds, as named in test cases.
    pub thresholds: Vec<String>,
    /// The file of the declaration: the compiler's path without `x/..`.
    pub file: String,
    /// The line in that file, from 1.
    pub line: u32,
    /// Its recordings of model traffic, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recordings: Option<ListedRecordings>,
    /// How a run would use recordings: `replay`, `record` or `auto`; absent if it would not, or if the experiment is ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record_mode: Option<String>,
    /// Whether a run would record although its mode is `replay`: items without a recording, or what was recorded too long ago.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub renews_recordings: bool,
    /// The missing variable because of which it is ignored; its settings are not evaluated then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignored_without: Option<String>,
    /// Why it cannot run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The recordings of model traffic of a declared experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ListedRecordings {
    /// The folder of all experiments' recordings, absolute.
    pub root: PathBuf,
    /// The folder of its recordings.
    pub folder: PathBuf,
    /// The names of the files in it, without extension, that none of its items uses; absent if its data was not or cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unused: Option<Vec<String>>,
}

/// An experiment that is about to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExperimentStarted {
    /// The experiment's number in later events; unique within a process.
    pub experiment: usize,
    /// The run's id.
    pub id: String,
    /// The id of the run whose stored outputs are scored, if the agent is not called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<String>,
    /// The experiment's name.
    pub name: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// Where it is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_at: Option<SourceLocation>,
    /// The dataset, with all of its items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<DatasetSummary>,
    /// The number of items to run, including those of an earlier process.
    pub items: usize,
    /// How many of them an earlier process has finished.
    pub done: usize,
    /// The number of trials per item.
    pub runs: usize,
    /// The evaluators' names, in order.
    pub evaluators: Vec<String>,
    /// The maximum number of items in parallel.
    pub concurrency: usize,
    /// The agent's timeout per trial, in milliseconds.
    pub timeout_ms: u64,
    /// Whether only some of the items are run.
    pub partial: bool,
    /// Why these items are run, if only failed or changed items, or those of a shard, were requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// One of several trials of an item has finished. Not sent for a single trial per item.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RunFinished {
    /// The experiment's number.
    pub experiment: usize,
    /// The item's index in the dataset, from 0.
    pub index: usize,
    /// The trial's number, from 0.
    pub run: usize,
}

/// All trials of an item have finished.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemFinished {
    /// The experiment's number.
    pub experiment: usize,
    /// The item's index in the dataset, from 0.
    pub index: usize,
    /// The item's name in test cases: its ID, or else its index as four digits.
    pub item: String,
    /// The worst status of its trials.
    pub status: Status,
    /// Whether it is at or above every pass mark in every trial, without an error.
    pub passed: bool,
    /// Whether its test case fails: in error or, in a strict experiment, below a pass mark. Absent in events of older versions,
    /// where `passed` means that it does not fail: see [`fails`](Self::fails).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<bool>,
    /// The agent's latency in milliseconds; the mean of several trials.
    pub latency_ms: f64,
    /// Whether all of its model requests were answered from the recording, so that the latency is that of the recording.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// The scores from 0 to 1, means of several trials; absent for an evaluator without a score.
    pub scores: BTreeMap<String, f64>,
    /// Evaluators that scored it below their pass mark in some trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub low: Vec<String>,
    /// Why the agent or an evaluator failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why it did not pass, in detail; only for the first such items of an experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Whether an earlier process has finished it, and this one resumes the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub done_before: bool,
    /// The traces of its trials, if they are requested and there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<TrialTrace>,
}

/// The trace of one trial of an item.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialTrace {
    /// The trial's number, from 0.
    pub run: usize,
    /// The spans.
    pub spans: Trace,
    /// How many further spans were dropped, as there were too many.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped_spans: usize,
}

impl TrialTrace {
    /// The traces of an item's trials that have one.
    #[must_use]
    pub fn of(item: &ItemResult) -> Vec<Self> {
        let traced = item.runs.iter().enumerate().filter(|(_, run)| !run.trace.is_empty());
        traced
            .map(|(number, run)| Self {
                run: number,
                spans: run.trace.clone(),
                dropped_spans: run.dropped_spans,
            })
            .collect()
    }
}

/// The result of an experiment.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExperimentFinished {
    /// The experiment's number.
    pub experiment: usize,
    /// The report, without its items.
    pub report: Report,
    /// The first items below their pass mark, without an error.
    pub low: Vec<ItemBelowPassMark>,
    /// The number of items below their pass mark, without an error.
    pub low_items: usize,
    /// The first items in error; items with the same error are merged.
    pub failed: Vec<FailedItem>,
    /// The number of items in error.
    pub items_in_error: usize,
    /// The first items whose conversation diverged from the recording; the summary of the report has their number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diverged: Vec<DivergedItem>,
    /// The result file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Why the results are not saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsaved: Option<String>,
    /// The workspaces that were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_workspaces: Option<KeptWorkspaces>,
}

/// An item that some evaluator scored below its pass mark.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ItemBelowPassMark {
    /// The item's name in test cases.
    pub item: String,
    /// The scores below their pass mark; with several trials the lowest.
    pub scores: BTreeMap<String, f64>,
    /// Input, expected answer and output in detail; for the first such items if a threshold was missed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What the agent changed in its workspace in the first trial, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}

/// An item whose conversation diverged from the recording.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DivergedItem {
    /// The item's name in test cases.
    pub item: String,
    /// Where it diverged: how the first request that is not recorded differs from the recorded ones.
    pub difference: String,
}

/// An item whose agent or evaluator failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FailedItem {
    /// The item's name in test cases.
    pub item: String,
    /// The error.
    pub error: String,
    /// The number of further items with the same error.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: usize,
    /// The names of the first of these items.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

impl ItemFinished {
    /// Whether its test case fails: in error or, in a strict experiment, below a pass mark.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.failed.unwrap_or(!self.passed)
    }

    /// `name` is the item's name in test cases.
    #[doc(hidden)]
    pub fn of(experiment: usize, item: &ItemResult, name: &str, config: &RunConfig) -> Self {
        let mean = |evaluator: &String| {
            let given: Vec<_> = item.scores(evaluator).collect();
            let mean = given.iter().sum::<f64>() / given.len() as f64;
            (!given.is_empty()).then(|| (evaluator.clone(), mean))
        };
        Self {
            experiment,
            index: item.index,
            item: name.to_owned(),
            status: item.status(),
            passed: item.passed,
            failed: Some(config.fails(item)),
            latency_ms: item.latency_ms(),
            replayed: item.is_replayed(),
            scores: config.evaluators.iter().filter_map(mean).collect(),
            low: config.scores_below_pass_mark(item).map(|(name, _)| name.to_owned()).collect(),
            error: item.first_error(),
            why: None,
            done_before: false,
            traces: Vec::new(),
        }
    }
}

impl ExperimentFinished {
    /// The event for a finished run; `path` is the result file.
    #[must_use]
    pub fn of(experiment: usize, report: &Report, notable: &NotableItems, path: Option<&Path>) -> Self {
        // In a strict experiment, the items' own events explain it.
        let explains = report.thresholds().iter().any(|threshold| !threshold.passed) && !report.config.strict;
        Self {
            experiment,
            report: report.without_items(),
            low_items: notable.low_items,
            low: notable.low(explains),
            items_in_error: notable.items_in_error,
            diverged: notable.diverged(),
            failed: notable.failed(),
            path: path.map(|path| path.display().to_string()),
            unsaved: None,
            // A run that scored stored outputs again names the folders of the original run.
            kept_workspaces: notable.kept_workspaces().filter(|_| report.rescored.is_none()),
        }
    }
}

/// Writes events to a file or a pipe.
#[derive(Debug)]
pub struct EventWriter(Option<BufWriter<File>>);

impl EventWriter {
    /// Opens an existing file or pipe; a pipe blocks until it has a reader.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).open(path)?;
        Ok(Self(Some(BufWriter::with_capacity(1 << 15, file))))
    }

    /// Another stream to the same target. Buffered events of the first arrive later than flushed events of this one.
    pub fn try_clone(&self) -> io::Result<Self> {
        let file = self.0.as_ref().map(|file| file.get_ref().try_clone()).transpose()?;
        Ok(Self(file.map(BufWriter::new)))
    }

    /// Adds an event, which is written by the next flush at the latest.
    pub fn send(&mut self, event: &Event) {
        self.write(|to| {
            serde_json::to_writer(&mut *to, event)?;
            to.write_all(b"\n")
        });
    }

    /// Writes all pending events.
    pub fn flush(&mut self) {
        self.write(Write::flush);
    }

    /// If the reader is gone, the run continues without events.
    fn write(&mut self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) {
        if let Some(file) = &mut self.0
            && write(file).is_err()
            && let Some(file) = self.0.take()
        {
            // The buffered events have no reader either.
            drop(file.into_parts());
        }
    }
}

/// The maximum number of further items named with a shared error.
pub const MAX_REPEATED_ITEMS: usize = 3;

/// Normalizes an error: removes list indexes, such as the `3` of `messages[3]`.
pub fn normalize_error(error: &str) -> String {
    let mut pattern = String::with_capacity(error.len());
    let mut rest = error;
    while let Some(start) = rest.find('[') {
        let (before, list) = rest.split_at(start + 1);
        let digits = list.len() - list.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
        pattern.push_str(before);
        rest = if list[digits..].starts_with(']') { &list[digits..] } else { list };
    }
    pattern + rest
}

/// The maximum number of scoring errors that are remembered.
const MAX_SEEN_ERRORS: usize = 10_000;

/// The scoring errors shown so far, each with its first item.
#[derive(Debug, Default)]
pub struct SeenErrors(HashMap<String, String>);

impl SeenErrors {
    /// The earlier item with the same scoring errors, if an item has no other problem. `name` is the item's name in test cases.
    pub fn earlier(&mut self, item: &ItemResult, name: &str, config: &RunConfig) -> Option<&str> {
        let error = evaluation_errors(item);
        if error.is_empty() || item.error().is_some() || config.scores_below_pass_mark(item).next().is_some()
        {
            return None;
        }
        let error = normalize_error(&error);
        if self.0.len() == MAX_SEEN_ERRORS && !self.0.contains_key(&error) {
            return None;
        }
        let first = self.0.entry(error).or_insert_with(|| name.to_owned());
        (first != name).then_some(first)
    }
}

fn evaluation_errors(item: &ItemResult) -> String {
    let evaluations = item.runs.iter().flat_map(|run| run.evaluations.iter());
    let errors = evaluations.filter(|(_, evaluation)| evaluation.is_error());
    errors.map(|(name, it)| format!("{name}: {}\n", it.error.as_deref().unwrap_or_default())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_are_those_of_the_trials_that_have_one() {
        let trial = |trace: serde_json::Value| serde_json::json!({ "output": { "output": "a" }, "status": "ok", "trace": trace, "droppedSpans": 1 });
        let item: ItemResult = serde_json::from_value(serde_json::json!({ "index": 0, "input": {},
            "runs": [trial(serde_json::json!([])), trial(serde_json::json!([{ "id": "a", "name": "plan" }]))] }))
        .unwrap();
        let traces = TrialTrace::of(&item);
        assert_eq!(traces.len(), 1);
        assert_eq!(
            (traces[0].run, &*traces[0].spans.spans()[0].name, traces[0].dropped_spans),
            (1, "plan", 1)
        );
    }
}
