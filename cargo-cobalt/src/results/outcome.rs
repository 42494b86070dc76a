//! The results of a call: the reports of its experiments, why others have none, and the reporters that show them.

use std::path::{Path, PathBuf};

use cobalt_core::report::{Report, RunVerdict, SourcePlace};
use cobalt_core::reporters::{Event, ExperimentFinished, Warning};
use cobalt_core::store::read_report;

use super::RunState;
use crate::error::Error;

/// What a whole call came to.
#[derive(Debug, Default)]
pub struct Results {
    /// The experiments that came to their end, in the order in which they stand in the source.
    pub experiments: Vec<Finished>,
    /// Experiments that could not be run.
    pub broken: Vec<Broken>,
    /// Runs that were stopped before their end.
    pub cut_off: Vec<CutOff>,
    /// Experiments that were not run for want of a variable, each with the variable.
    pub ignored: Vec<(String, String)>,
    /// Experiments of which no item was to be run, each with the reason.
    pub skipped: Vec<(String, String)>,
    /// Experiments that earlier results fail, which nothing of this call replaces, each with the reason.
    pub still_failed: Vec<(String, String)>,
    /// What went wrong beside: a binary that could not be run, a run that could not be resumed.
    pub errors: Vec<String>,
    /// What is probably not as it was meant, each once.
    pub warnings: Vec<Warning>,
}

/// An experiment that came to its end.
#[derive(Debug)]
pub struct Finished {
    /// The report with its items; without them where it is not kept.
    pub report: Report,
    /// The result file.
    pub path: Option<PathBuf>,
    /// Why the items are not known: the results could not be kept, or not be read again.
    pub without_items: Option<String>,
}

/// An experiment that could not be run.
#[derive(Debug)]
pub struct Broken {
    /// The experiment's name.
    pub name: String,
    /// What is wrong, and what to do.
    pub error: String,
    /// Where the experiment is declared.
    pub declared_at: Option<SourcePlace>,
}

/// A run that was stopped before its end.
#[derive(Debug)]
pub struct CutOff {
    /// The experiment's name.
    pub name: String,
    /// The run's id, under which it can be resumed.
    pub id: String,
    /// Whether any item is kept: else there is nothing to resume.
    pub kept: bool,
    /// Where the experiment is declared, where that is known.
    pub declared_at: Option<SourcePlace>,
}

impl CutOff {
    /// How to run what is missing, as a sentence about the command; `code` sets the command off.
    pub fn advice(&self, code: impl Fn(&str) -> String) -> String {
        match self.kept {
            true => format!("finished items are saved; {} runs the rest", code(&self.resume())),
            false => "no item was finished; run it again".to_owned(),
        }
    }

    /// The command that runs the rest.
    pub fn resume(&self) -> String {
        format!("cargo cobalt run --resume {}", self.id)
    }
}

impl Results {
    /// Reports of runs that came to their end.
    pub fn of(experiments: Vec<Finished>) -> Self {
        Self { experiments, ..Self::default() }
    }

    /// Whether there is nothing to tell: cases were listed, or help was asked for.
    pub fn is_empty(&self) -> bool {
        let Self { experiments, broken, cut_off, ignored, skipped, still_failed, errors, warnings: _ } = self;
        let not_run = ignored.is_empty() && skipped.is_empty() && still_failed.is_empty();
        experiments.is_empty() && broken.is_empty() && cut_off.is_empty() && not_run && errors.is_empty()
    }

    /// The experiments that came to their end, those that failed before the others.
    pub fn failed_first(&self) -> impl Iterator<Item = &Finished> {
        let those = |failed| self.with_verdict(move |verdict| (verdict == RunVerdict::Failed) == failed);
        those(true).chain(those(false))
    }

    /// The finished experiments with such a verdict. One that earlier results still fail has failed, whatever ran of it.
    pub fn with_verdict(&self, is: impl Fn(RunVerdict) -> bool) -> impl Iterator<Item = &Finished> {
        self.experiments.iter().filter(move |finished| {
            let still_failed = self.still_failed.iter().any(|(name, _)| *name == finished.report.name);
            is(if still_failed { RunVerdict::Failed } else { finished.report.verdict })
        })
    }

    /// The names of the experiments that earlier results fail, and that this call has nothing else to say of.
    pub fn only_still_failed(&self) -> impl Iterator<Item = &str> {
        let finished = self.experiments.iter().map(|finished| &*finished.report.name);
        let broken = self.broken.iter().map(|broken| &*broken.name);
        let known: Vec<_> = finished.chain(broken).chain(self.cut_off.iter().map(|run| &*run.name)).collect();
        self.still_failed.iter().map(|(name, _)| &**name).filter(move |name| !known.contains(name))
    }

    /// The verdict on the whole: failed where an experiment failed, or could not be run to its end; else not evaluated where
    /// one was not.
    pub fn verdict(&self) -> RunVerdict {
        let Self { broken, cut_off, still_failed, errors, .. } = self;
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

impl Finished {
    /// What was told of an experiment's end, with the items out of its result file.
    pub fn read(finished: &ExperimentFinished) -> Self {
        let path = finished.path.as_ref().map(PathBuf::from);
        let read = path.as_deref().map(read_report);
        let (report, without_items) = match read {
            Some(Ok(report)) => (report, None),
            Some(Err(error)) => (finished.report.clone(), Some(error.to_string())),
            None => (finished.report.clone(), finished.unsaved.clone()),
        };
        Self { report, path, without_items }
    }
}

/// Something that shows a call.
pub trait Reporter {
    /// Shows something as it happens. The state includes it already.
    fn on_event(&mut self, _event: &Event, _state: &RunState, _output: &dyn Output) {}

    /// Shows the results.
    fn finish(&mut self, results: &Results, output: &dyn Output) -> Result<(), Error>;
}

/// Where a reporter speaks to people, and to GitHub Actions.
pub trait Output {
    /// Prints a line on stderr.
    fn eprintln(&self, line: &str);

    /// Prints on stderr what went wrong and fails nothing.
    fn warn(&self, warning: &str);

    /// Gives a command to GitHub Actions; does nothing where that does not read along.
    fn command(&self, command: &str);

    /// Says on stderr where a reporter has written its file.
    fn wrote(&self, path: &Path);
}
