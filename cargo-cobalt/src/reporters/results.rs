//! What a whole call came to: the reports of its experiments, and whatever kept others from having one.

use std::path::PathBuf;

use cobalt::Report;
use cobalt::report::SourcePlace;
use cobalt::reporters::{Event, ExperimentFinished};
use cobalt::store::read_report;

/// What a whole call came to.
#[derive(Debug, Default)]
pub(crate) struct Results {
    /// The experiments that came to their end, in the order in which they stand in the source.
    pub(crate) experiments: Vec<Finished>,
    /// Experiments that could not be run.
    pub(crate) broken: Vec<Broken>,
    /// Runs that were stopped before their end.
    pub(crate) cut_off: Vec<CutOff>,
    /// Experiments that were not run for want of a variable, each with the variable.
    pub(crate) ignored: Vec<(String, String)>,
    /// Experiments of which no item was to be run, each with the reason.
    pub(crate) skipped: Vec<(String, String)>,
    /// What went wrong beside: a binary that could not be run, a run that could not be resumed.
    pub(crate) errors: Vec<String>,
}

/// An experiment that came to its end.
#[derive(Debug)]
pub(crate) struct Finished {
    /// The report with its items; without them where it is not kept.
    pub(crate) report: Report,
    /// The result file.
    pub(crate) path: Option<PathBuf>,
    /// Why the items are not known: the results could not be kept, or not be read again.
    pub(crate) without_items: Option<String>,
}

/// An experiment that could not be run.
#[derive(Debug)]
pub(crate) struct Broken {
    /// The experiment's name.
    pub(crate) name: String,
    /// What is wrong, and what to do.
    pub(crate) error: String,
    /// Where the experiment is declared.
    pub(crate) declared_at: Option<SourcePlace>,
}

/// A run that was stopped before its end.
#[derive(Debug)]
pub(crate) struct CutOff {
    /// The experiment's name.
    pub(crate) name: String,
    /// The run's id, under which it can be resumed.
    pub(crate) id: String,
    /// Where the experiment is declared, where that is known.
    pub(crate) declared_at: Option<SourcePlace>,
}

impl Results {
    /// Reports of runs that came to their end.
    pub(crate) fn of(experiments: Vec<Finished>) -> Self {
        Self { experiments, ..Self::default() }
    }

    /// Takes in what an event tells of the end of an experiment.
    pub(crate) fn hear(&mut self, event: &Event) {
        match event {
            Event::ExperimentBroken { name, error, declared_at } => self.broken.push(Broken {
                name: name.clone(),
                error: error.clone(),
                declared_at: declared_at.clone(),
            }),
            Event::ExperimentIgnored { name, variable } => {
                self.ignored.push((name.clone(), variable.clone()))
            }
            Event::ExperimentSkipped { name, why } => self.skipped.push((name.clone(), why.clone())),
            Event::ExperimentInterrupted { name, id } => {
                self.cut_off.push(CutOff { name: name.clone(), id: id.clone(), declared_at: None });
            }
            _ => {}
        }
    }

    /// Whether there is nothing to tell: cases were listed, or help was asked for.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { experiments, broken, cut_off, ignored, skipped, errors } = self;
        let not_run = ignored.is_empty() && skipped.is_empty();
        experiments.is_empty() && broken.is_empty() && cut_off.is_empty() && not_run && errors.is_empty()
    }

    /// The experiments that came to their end, those that failed before the others.
    pub(crate) fn failed_first(&self) -> impl Iterator<Item = &Finished> {
        let those = |passed| self.experiments.iter().filter(move |finished| finished.report.passed == passed);
        those(false).chain(those(true))
    }

    /// Whether nothing failed: every experiment passed, and each was run to its end.
    pub(crate) fn passed(&self) -> bool {
        let nothing_beside = self.broken.is_empty() && self.cut_off.is_empty() && self.errors.is_empty();
        nothing_beside && self.experiments.iter().all(|finished| finished.report.passed)
    }
}

impl Finished {
    /// What was told of an experiment's end, with the items out of its result file.
    pub(crate) fn read(finished: &ExperimentFinished) -> Self {
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
