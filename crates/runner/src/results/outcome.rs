//! The results of an invocation: reports, experiments without a report and why, and the reporter interface.

use std::path::{Path, PathBuf};

use cobalt_core::report::ranking::Ranking;
use cobalt_core::report::{Report, RunVerdict, SourceLocation};
use cobalt_core::reporters::{Event, ExperimentFinished, Warning};
use cobalt_core::store::{ReportFile, StoreError};

use super::{Excerpt, RunState};
use crate::error::Error;

/// The results of an invocation.
#[derive(Debug, Default)]
pub struct Results {
    /// The finished experiments, in source order.
    pub experiments: Vec<FinishedExperiment>,
    /// How the variants of experiments compare.
    pub rankings: Vec<Ranking>,
    /// Experiments that could not be run.
    pub broken: Vec<BrokenExperiment>,
    /// Interrupted runs.
    pub interrupted: Vec<InterruptedRun>,
    /// Ignored experiments, each with the variable that is not set.
    pub ignored: Vec<(String, String)>,
    /// Experiments without items to run, each with the reason.
    pub skipped: Vec<(String, String)>,
    /// Experiments that earlier results still fail, each with the reason.
    pub still_failed: Vec<(String, String)>,
    /// Other errors: a binary that could not be run, a run that could not be resumed.
    pub errors: Vec<String>,
    /// Warnings, without duplicates.
    pub warnings: Vec<Warning>,
}

/// A finished experiment.
#[derive(Debug)]
pub struct FinishedExperiment {
    /// The report, without its items.
    pub report: Report,
    /// The items; of a large run, some of them.
    pub items: Excerpt,
    /// The result file.
    pub path: Option<PathBuf>,
    /// Why the items are missing: the results could not be saved or read.
    pub without_items: Option<String>,
}

/// The number of items of a run in parts that reports show.
const REPORTED_ITEMS: usize = 1000;

/// An experiment that could not be run.
#[derive(Debug)]
pub struct BrokenExperiment {
    /// The experiment's name.
    pub name: String,
    /// The error, and what to do.
    pub error: String,
    /// Where the experiment is declared.
    pub declared_at: Option<SourceLocation>,
}

/// An interrupted run.
#[derive(Debug)]
pub struct InterruptedRun {
    /// The experiment's name.
    pub name: String,
    /// The run ID, for resuming.
    pub id: String,
    /// Whether any item or payment is saved; otherwise there is nothing to resume.
    pub has_saved_items: bool,
    /// Where the experiment is declared, if known.
    pub declared_at: Option<SourceLocation>,
}

impl InterruptedRun {
    /// How to continue; `code` formats the command.
    pub fn resume_advice(&self, code: impl Fn(&str) -> String) -> String {
        match self.has_saved_items {
            true => format!("finished items are saved; resume with {}", code(&self.resume_command())),
            false => "no item was finished; run it again".to_owned(),
        }
    }

    /// The command that resumes the run.
    pub fn resume_command(&self) -> String {
        format!("cargo cobalt run --resume {}", self.id)
    }
}

impl Results {
    /// Results with only finished experiments.
    pub fn of(experiments: Vec<FinishedExperiment>) -> Self {
        Self { experiments, ..Self::default() }
    }

    /// Whether there is nothing to report: test cases were listed, or help was shown.
    pub fn is_empty(&self) -> bool {
        let Self {
            experiments,
            rankings: _,
            broken,
            interrupted: cut_off,
            ignored,
            skipped,
            still_failed,
            errors,
            warnings: _,
        } = self;
        let not_run = ignored.is_empty() && skipped.is_empty() && still_failed.is_empty();
        experiments.is_empty() && broken.is_empty() && cut_off.is_empty() && not_run && errors.is_empty()
    }

    /// Whether every selected experiment was run to its end, if it has items to run.
    pub fn are_complete(&self) -> bool {
        self.broken.is_empty() && self.interrupted.is_empty() && self.errors.is_empty()
    }

    /// The finished experiments, failed ones first.
    pub fn failed_first(&self) -> impl Iterator<Item = &FinishedExperiment> {
        let those = |failed| self.with_verdict(move |verdict| (verdict == RunVerdict::Failed) == failed);
        those(true).chain(those(false))
    }

    /// The finished experiments with a matching verdict. An experiment that earlier results still fail counts as failed.
    pub fn with_verdict(&self, is: impl Fn(RunVerdict) -> bool) -> impl Iterator<Item = &FinishedExperiment> {
        self.experiments.iter().filter(move |finished| {
            let still_failed = self.still_failed.iter().any(|(name, _)| *name == finished.report.name);
            is(if still_failed { RunVerdict::Failed } else { finished.report.verdict })
        })
    }

    /// The experiments that earlier results still fail and that have no other result in this invocation.
    pub fn only_still_failed(&self) -> impl Iterator<Item = &str> {
        let finished = self.experiments.iter().map(|finished| &*finished.report.name);
        let broken = self.broken.iter().map(|broken| &*broken.name);
        let known: Vec<_> =
            finished.chain(broken).chain(self.interrupted.iter().map(|run| &*run.name)).collect();
        self.still_failed.iter().map(|(name, _)| &**name).filter(move |name| !known.contains(name))
    }

    /// The overall verdict: failed if an experiment failed or did not finish; otherwise not evaluated if one was not.
    pub fn verdict(&self) -> RunVerdict {
        let Self { broken, interrupted: cut_off, still_failed, errors, .. } = self;
        if !(broken.is_empty() && cut_off.is_empty() && still_failed.is_empty() && errors.is_empty()) {
            return RunVerdict::Failed;
        }
        let verdicts = self.experiments.iter().map(|finished| finished.report.verdict);
        verdicts.max().unwrap_or(RunVerdict::Passed)
    }

    /// Whether anything failed.
    pub fn failed(&self) -> bool {
        self.verdict() == RunVerdict::Failed
    }
}

impl FinishedExperiment {
    /// The result of an event, with the items from the result file.
    pub fn read(finished: &ExperimentFinished) -> Self {
        let path = finished.path.as_ref().map(PathBuf::from);
        let read = path.as_deref().map(|path| ReportFile::open(path).and_then(Self::of));
        let why = match read {
            Some(Ok(read)) => return read,
            Some(Err(error)) => Some(error.to_string()),
            None => finished.unsaved.clone(),
        };
        Self { without_items: why, ..Self::of_report(finished.report.clone(), path) }
    }

    /// The result in a file; of a run in parts, with a limited number of items.
    ///
    /// # Errors
    ///
    /// The items file is damaged.
    pub fn of(file: ReportFile) -> Result<Self, StoreError> {
        let path = file.path().to_owned();
        let (report, items) = Excerpt::of(file, REPORTED_ITEMS)?;
        Ok(Self { report, items, path: Some(path), without_items: None })
    }

    /// The result in a report with all its items, and its file.
    pub fn of_report(report: Report, path: Option<PathBuf>) -> Self {
        let (report, items) = Excerpt::of_report(report);
        Self { report, items, path, without_items: None }
    }

    /// What a report says of the items that it leaves out.
    pub fn left_out_note(&self) -> Option<String> {
        self.items.left_out_note(&self.report.id)
    }
}

/// A reporter of an invocation.
pub trait Reporter {
    /// Handles an event, which the state already includes.
    fn on_event(&mut self, _event: &Event, _state: &RunState, _output: &dyn Output) {}

    /// Reports the results.
    fn finish(&mut self, results: &Results, output: &dyn Output) -> Result<(), Error>;
}

/// Output of reporters for people and for GitHub Actions.
pub trait Output {
    /// Prints a line on stderr.
    fn eprintln(&self, line: &str);

    /// Prints a warning on stderr.
    fn warn(&self, warning: &str);

    /// Prints a workflow command; only on GitHub Actions.
    fn command(&self, command: &str);

    /// Prints the path of a written file on stderr.
    fn wrote(&self, path: &Path);
}
