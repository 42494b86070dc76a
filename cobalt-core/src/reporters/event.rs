//! The events of a run as data, also as JSON, one a line; an error that many items share is sent in full once.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::explain::explain;
use super::missing_key::MissingKey;
use crate::report::{
    Category, DatasetSummary, Execution, Fetch, ItemResult, Report, RunConfig, SourcePlace, Status, Threshold,
};
use crate::wording::{count, cut};

/// The version of the events and of what is asked for; told first. The text is also how `cargo cobalt` finds out whether a
/// binary calls `cobalt::main` without starting it.
pub const PROTOCOL: &str = "cobalt experiments, protocol 2";

/// The most items named of those with low scores, and of those in error.
const MOST_NAMED: usize = 8;
/// The most items with low scores that are told at length where a threshold is missed.
const MOST_LOW_EXPLAINED: usize = 3;
/// The longest text told of an error in the summary, in characters.
const LONGEST_ERROR: usize = 400;

/// Something that happened. Its JSON is an object whose `event` is the variant's name in kebab-case.
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
    /// An experiment that is declared, where these are listed.
    Listed(Box<Listed>),
    /// An experiment is about to run.
    ExperimentStarted(ExperimentStarted),
    /// One of several runs of an item is done.
    RunFinished(RunFinished),
    /// All runs of an item are done, and the item is on disk.
    ItemFinished(ItemFinished),
    /// All items of an experiment are done, and it is judged.
    ExperimentFinished(Box<ExperimentFinished>),
    /// An experiment was stopped before its end; what is finished is kept.
    ExperimentInterrupted {
        /// The experiment's name.
        name: String,
        /// The run's id, under which it can be resumed.
        id: String,
        /// How many items are kept. With none, there is nothing to resume. Absent in the events of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<usize>,
        /// Why it was stopped, where nobody asked for it: its items can no longer be kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// An experiment cannot be run: its data or its declaration is at fault.
    ExperimentBroken {
        /// The experiment's name.
        name: String,
        /// What is wrong, and what to do.
        error: String,
        /// Where the experiment is declared.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        declared_at: Option<SourcePlace>,
    },
    /// An experiment is not run, as a variable that it asks for is not set, or empty.
    ExperimentIgnored {
        /// The experiment's name.
        name: String,
        /// The variable.
        variable: String,
    },
    /// An experiment is not run, as no item is left where only those are wanted that failed or have changed, or those of a shard.
    ExperimentSkipped {
        /// The experiment's name.
        name: String,
        /// Why no item is left.
        why: String,
    },
    /// An experiment that earlier results fail, where only items that failed or have changed are run: nothing that this run
    /// does replaces these results.
    ExperimentStillFailed {
        /// The experiment's name.
        name: String,
        /// Which items and thresholds failed, and in which run.
        why: String,
    },
    /// Test cases are printed as libtest does, as the arguments ask for, and no other events come.
    TestOutput {
        /// How many experiments are selected.
        experiments: usize,
    },
    /// A run that was to be resumed is not resumed by this process; another may do so.
    NotResumed {
        /// The run's id.
        id: String,
        /// Why.
        error: String,
    },
    /// Nothing can be run, for a reason that is not one experiment's.
    Failed {
        /// What is wrong, and what to do.
        error: String,
    },
    /// The last event of a process that said hello, unless that could not run anything. What it tells counts, whatever exit code
    /// the process ends with: a library in it may end it with another.
    Ended {
        /// The exit code that the process is about to end with.
        exit_code: i32,
    },
    /// A key is missing, where these are asked for before anything is run.
    KeyMissing(MissingKey),
    /// Something is probably not as it was meant. It fails nothing by itself; several binaries may say the same.
    Warning(Warning),
    /// An event of a later version.
    #[serde(other)]
    Unknown,
}

/// What is probably not as it was meant, and fails nothing by itself: a variable that nothing reads, a run whose scores nothing
/// bounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// The experiment's name; absent where it concerns the whole call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// What is probably wrong, and what to do.
    pub message: String,
    /// Where the experiment is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_at: Option<SourcePlace>,
}

impl Warning {
    /// One that concerns no experiment by itself.
    #[must_use]
    pub fn of_call(message: String) -> Self {
        Self { experiment: None, message, declared_at: None }
    }

    /// What is to be said of a run that has come to its end, with all of its items: that no threshold bounds a score, where
    /// that hides that every item is below its pass mark. `None` where there is nothing to say, and of runs without thresholds.
    #[must_use]
    pub fn of_report(report: &Report) -> Option<Self> {
        let Report { name, items, config, .. } = report;
        let thresholds = config.read_thresholds().ok()?;
        let bounds_score =
            |threshold: &Threshold| matches!(threshold.category(), Category::Score | Category::Evaluator(_));
        let is_low = |item: &ItemResult| config.low_scores(item).next().is_some();
        // Partial runs have no outcomes: their thresholds are not evaluated.
        let is_gated = !config.strict && !report.thresholds().is_empty();
        if !is_gated || thresholds.iter().any(bounds_score) || items.is_empty() || !items.iter().all(is_low) {
            return None;
        }
        let message = format!(
            "no threshold bounds a score, and all items are below their pass mark ({}); add a threshold such as \
             `score.avg >= 0.8`, or `strict = true`",
            count(items.len(), "item")
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

/// An experiment that is declared.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    /// The experiment's name.
    pub name: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// Where its items come from: the path as it was given, or `inline`; absent where its data cannot be read, or is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// How many items it has; absent where its data cannot be read, or is not.
    pub items: Option<usize>,
    /// When its items were fetched, and which version of them; absent where they are from a file or from code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetched: Option<Fetch>,
    /// SHA-256 over all items, where they were fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The fields of its first item, at most 50 of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// How often each item is run.
    pub runs: usize,
    /// The evaluators' names, in their order.
    pub evaluators: Vec<String>,
    /// The thresholds as they are named in test cases.
    pub thresholds: Vec<String>,
    /// The file it is declared in, as the compiler names it but without `x/..`.
    pub file: String,
    /// The line in that file, from 1.
    pub line: u32,
    /// The variable for want of which it is ignored; its settings are not worked out then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignored_without: Option<String>,
    /// Why it cannot be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// An experiment that is about to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExperimentStarted {
    /// The number under which later events speak of it; unique within a process.
    pub experiment: usize,
    /// The run's id.
    pub id: String,
    /// The experiment's name.
    pub name: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// Where it is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_at: Option<SourcePlace>,
    /// The data that it runs over, all of its items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<DatasetSummary>,
    /// How many items are run, those of an earlier process included.
    pub items: usize,
    /// How many of them an earlier process has done.
    pub done: usize,
    /// How often each item is run.
    pub runs: usize,
    /// The evaluators' names, in their order.
    pub evaluators: Vec<String>,
    /// How many items are worked on at a time.
    pub concurrency: usize,
    /// The longest that the agent is given for one run of an item, in milliseconds.
    pub timeout_ms: u64,
    /// Whether some of the items are run, and not all.
    pub partial: bool,
    /// Why these items are run, where only those are wanted that failed or have changed, or those of a shard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// One of several runs of an item is done. Not told where each item is run once.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RunFinished {
    /// The experiment's number.
    pub experiment: usize,
    /// The item's index in the data set, from 0.
    pub index: usize,
    /// The run's number, from 0.
    pub run: usize,
}

/// All runs of an item are done.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemFinished {
    /// The experiment's number.
    pub experiment: usize,
    /// The item's index in the data set, from 0.
    pub index: usize,
    /// The item's name in test cases: its id, or else its index as four digits.
    pub item: String,
    /// The worst of its runs.
    pub status: Status,
    /// Whether it is at or above every pass mark in every trial, without an error.
    pub passed: bool,
    /// Whether it fails by itself: in error or, in a strict experiment, below a pass mark. Absent in events of older versions,
    /// which call an item passed that does not fail: see [`fails`](Self::fails).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<bool>,
    /// How long the agent took, in milliseconds; the mean of several runs.
    pub latency_ms: f64,
    /// The scores from 0 to 1, means of several runs; absent for an evaluator that gave none.
    pub scores: BTreeMap<String, f64>,
    /// Evaluators that scored it below their pass mark in some run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub low: Vec<String>,
    /// Why the agent, or an evaluator, failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why it did not pass, at length; for the first such items of an experiment only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Whether an earlier process has done it, and this one only resumes the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub done_before: bool,
}

/// What an experiment came to.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExperimentFinished {
    /// The experiment's number.
    pub experiment: usize,
    /// The report, without its items.
    pub report: Report,
    /// Items with low scores, the first of them.
    pub low: Vec<LowItem>,
    /// How many items have low scores.
    pub low_items: usize,
    /// Items in error, the first of them; those with the same error are one.
    pub failed: Vec<FailedItem>,
    /// How many items are in error.
    pub items_in_error: usize,
    /// The result file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Why the results are not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsaved: Option<String>,
}

/// An item that some evaluator scored below its pass mark.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LowItem {
    /// The item's name in test cases.
    pub item: String,
    /// The low scores; with several runs the lowest.
    pub scores: BTreeMap<String, f64>,
    /// What was asked, hoped for and given, at length; for the first such items where a threshold was missed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// An item whose agent or evaluator failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FailedItem {
    /// The item's name in test cases.
    pub item: String,
    /// Why.
    pub error: String,
    /// How many further items have the same error.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: usize,
    /// The names of the first of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl ItemFinished {
    /// Whether it fails by itself: in error or, in a strict experiment, below a pass mark.
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
            scores: config.evaluators.iter().filter_map(mean).collect(),
            low: config.low_scores(item).map(|(name, _)| name.to_owned()).collect(),
            error: item.why_in_error(),
            why: None,
            done_before: false,
        }
    }
}

impl ExperimentFinished {
    /// What is told of a report with all of its items. `names` are the items' names in test cases, by index; `path` is the
    /// result file.
    #[must_use]
    pub fn of(experiment: usize, report: &Report, names: &[String], path: Option<&Path>) -> Self {
        let Report { items, config, .. } = report;
        let is_low = |item: &&ItemResult| config.low_scores(item).next().is_some();
        let low: Vec<_> = items.iter().filter(is_low).collect();
        let failed: Vec<_> = items.iter().filter_map(|item| failed_item(item, names)).collect();
        // A strict experiment's items have told it themselves.
        let explains = report.thresholds().iter().any(|threshold| !threshold.passed) && !config.strict;
        let explained = if explains { MOST_LOW_EXPLAINED } else { 0 };
        let low_item = |(place, item): (usize, &&ItemResult)| LowItem {
            item: names[item.index].clone(),
            scores: config.low_scores(item).map(|(name, score)| (name.to_owned(), score)).collect(),
            why: (place < explained).then(|| explain_low(item, report)),
        };
        Self {
            experiment,
            report: report.without_items(),
            low_items: low.len(),
            low: low.iter().take(MOST_NAMED).enumerate().map(low_item).collect(),
            items_in_error: failed.len(),
            failed: fold(failed).into_iter().take(MOST_NAMED).collect(),
            path: path.map(|path| path.display().to_string()),
            unsaved: None,
        }
    }
}

/// Explains an item by the first run in which it has a low score: the others often are the same.
fn explain_low(item: &ItemResult, report: &Report) -> String {
    let Report { name, config, .. } = report;
    let run = |run: &Execution| ItemResult { runs: vec![run.clone()], ..item.clone() };
    let mut runs = item.runs.iter().map(run);
    let low = runs.find(|item| config.low_scores(item).next().is_some());
    low.map_or_else(String::new, |item| explain(&item, name, config))
}

fn failed_item(item: &ItemResult, names: &[String]) -> Option<FailedItem> {
    let error = item.why_in_error()?;
    let error = cut(&error, LONGEST_ERROR).into_owned();
    Some(FailedItem { item: names[item.index].clone(), error, more: 0, also: Vec::new() })
}

/// Where events are written: a file or a pipe.
#[derive(Debug)]
pub struct Stream(Option<BufWriter<File>>);

impl Stream {
    /// Opens what is there; a pipe waits for its reader.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).open(path)?;
        Ok(Self(Some(BufWriter::with_capacity(1 << 15, file))))
    }

    /// Another stream to the same place. What the first has buffered comes later than what this one has flushed.
    pub fn try_clone(&self) -> io::Result<Self> {
        let file = self.0.as_ref().map(|file| file.get_ref().try_clone()).transpose()?;
        Ok(Self(file.map(BufWriter::new)))
    }

    /// Adds an event, which is told at the latest when the stream is flushed.
    pub fn send(&mut self, event: &Event) {
        self.write(|to| {
            serde_json::to_writer(&mut *to, event)?;
            to.write_all(b"\n")
        });
    }

    /// Tells all events that were sent.
    pub fn flush(&mut self) {
        self.write(Write::flush);
    }

    /// Where nobody reads any more, the run goes on untold.
    fn write(&mut self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) {
        if let Some(file) = &mut self.0
            && write(file).is_err()
            && let Some(file) = self.0.take()
        {
            // What is buffered has no reader either.
            drop(file.into_parts());
        }
    }
}

/// The most items named beside the one whose error is shown.
const MOST_REPEATED: usize = 3;

/// What equal errors have in common: the text without places in lists, such as the `3` of `messages[3]`.
fn pattern(error: &str) -> String {
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

/// Puts items with equal errors together, in the order of the first of each.
pub fn fold(items: impl IntoIterator<Item = FailedItem>) -> Vec<FailedItem> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut folded: Vec<FailedItem> = Vec::new();
    for item in items {
        match places.get(&pattern(&item.error)) {
            Some(place) => {
                let first = &mut folded[*place];
                first.more += 1;
                if first.also.len() < MOST_REPEATED {
                    first.also.push(item.item);
                }
            }
            None => {
                places.insert(pattern(&item.error), folded.len());
                folded.push(item);
            }
        }
    }
    folded
}

/// The evaluators' errors that were shown so far, each with the first item that had it.
#[derive(Debug, Default)]
pub struct Repeated(HashMap<String, String>);

impl Repeated {
    /// The earlier item with the same evaluators' errors, where these are all that is wrong with an item. `name` is the item's
    /// name in test cases.
    pub fn earlier(&mut self, item: &ItemResult, name: &str, config: &RunConfig) -> Option<&str> {
        let error = evaluation_errors(item);
        if error.is_empty() || item.error().is_some() || config.low_scores(item).next().is_some() {
            return None;
        }
        let first = self.0.entry(pattern(&error)).or_insert_with(|| name.to_owned());
        (first != name).then_some(first)
    }
}

fn evaluation_errors(item: &ItemResult) -> String {
    let evaluations = item.runs.iter().flat_map(|run| run.evaluations.iter());
    let errors = evaluations.filter(|(_, evaluation)| evaluation.score.is_none());
    errors.map(|(name, it)| format!("{name}: {}\n", it.error.as_deref().unwrap_or_default())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(item: &str, error: &str) -> FailedItem {
        FailedItem { item: item.to_owned(), error: error.to_owned(), more: 0, also: Vec::new() }
    }

    #[test]
    fn equal_errors_are_one_with_a_count_whatever_place_they_name() {
        let items = (0..60).map(|index| failed(&format!("e{index}"), &format!("`messages[{index}]` is odd")));
        let folded = fold(items.chain([failed("other", "`messages[a]` is odd"), failed("last", "odd [")]));
        assert_eq!(folded.len(), 3);
        assert_eq!((&*folded[0].item, folded[0].more, folded[0].also.len()), ("e0", 59, MOST_REPEATED));
        assert_eq!(folded[0].error, "`messages[0]` is odd");
        assert_eq!((&*folded[1].item, &*folded[2].item), ("other", "last"));
    }

    #[test]
    fn errors_that_differ_in_more_than_a_place_stay_apart() {
        assert_eq!(fold([failed("a", "waited 2 s"), failed("b", "waited 3 s")]).len(), 2);
    }
}
