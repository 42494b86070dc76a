//! Tells the events of a session to the command, and remembers what the exit code depends on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::exit_code::{FAILED, INTERRUPTED, UNFIT};
use super::shown::Shown;
use crate::report::ItemResult;
use crate::reporters::{Event, ExperimentFinished, ItemFinished, RunFinished, Stream};
use crate::session::{Ending, Interrupter, Listener};

/// The most items of an experiment of which it is told at length why they did not pass.
const MOST_EXPLAINED: usize = 20;

/// What has been told, as far as the exit code depends on it.
#[derive(Default)]
pub(super) struct Told {
    /// An item or a threshold failed.
    failed: AtomicBool,
    /// An experiment could not be run, or its results not be kept.
    pub(super) unfit: AtomicBool,
    /// An experiment was stopped before its end.
    cut_off: AtomicBool,
    /// The process was asked to end.
    pub(super) interrupted: AtomicBool,
    /// What stops the session after the first failure.
    stops: OnceLock<Interrupter>,
}

impl Told {
    fn failed(&self) {
        self.failed.store(true, Ordering::SeqCst);
        if let Some(session) = self.stops.get() {
            session.interrupt();
        }
    }

    pub(super) fn stop_after_failure(&self, session: Interrupter) {
        let session = self.stops.get_or_init(|| session);
        // It may have come already.
        if self.failed.load(Ordering::SeqCst) {
            session.interrupt();
        }
    }

    pub(super) fn exit_code(&self) -> i32 {
        let is = |flag: &AtomicBool| flag.load(Ordering::SeqCst);
        if is(&self.interrupted) {
            INTERRUPTED
        } else if is(&self.unfit) {
            UNFIT
        } else if is(&self.failed) {
            FAILED
        } else if is(&self.cut_off) {
            UNFIT
        } else {
            0
        }
    }
}

/// Tells the events of a session.
pub(super) struct Narrator {
    stream: Stream,
    experiments: Vec<Shown>,
    /// How many items of each were told at length.
    explained: Vec<usize>,
    told: Arc<Told>,
}

impl Narrator {
    pub(super) fn new(stream: Stream, experiments: Vec<Shown>, told: Arc<Told>) -> Self {
        Self { stream, explained: vec![0; experiments.len()], experiments, told }
    }

    /// Why an item did not pass, for the first such items of an experiment.
    fn why(&mut self, experiment: usize, item: &ItemResult) -> Option<String> {
        let explained = &mut self.explained[experiment];
        if item.passed || *explained == MOST_EXPLAINED {
            return None;
        }
        *explained += 1;
        Some(self.experiments[experiment].explain(item))
    }

    fn item_finished(&self, experiment: usize, item: &ItemResult) -> ItemFinished {
        let Shown { config, names, .. } = &self.experiments[experiment];
        ItemFinished::of(experiment, item, &names[item.index], config)
    }
}

impl Listener for Narrator {
    fn run(&mut self, experiment: usize, index: usize, run: usize) {
        // Of a single run the item tells.
        if self.experiments[experiment].config.runs > 1 {
            self.stream.send(&Event::RunFinished(RunFinished { experiment, index, run }));
        }
    }

    fn item(&mut self, experiment: usize, item: &ItemResult) {
        if !item.passed {
            self.told.failed();
        }
        let why = self.why(experiment, item);
        let event = ItemFinished { why, ..self.item_finished(experiment, item) };
        self.stream.send(&Event::ItemFinished(event));
    }

    fn item_done_before(&mut self, experiment: usize, item: &ItemResult) {
        let event = ItemFinished { done_before: true, ..self.item_finished(experiment, item) };
        self.stream.send(&Event::ItemFinished(event));
    }

    fn flush(&mut self) {
        self.stream.flush();
    }

    fn ended(&mut self, experiment: usize, ending: Ending) {
        let event = match ending {
            Ending::Finished(outcome) => {
                if !outcome.report.passed {
                    self.told.failed();
                }
                if outcome.unsaved.is_some() {
                    self.told.unfit.store(true, Ordering::SeqCst);
                }
                let names = &self.experiments[experiment].names;
                let finished = ExperimentFinished::of_outcome(experiment, &outcome, names);
                Event::ExperimentFinished(Box::new(finished))
            }
            Ending::Interrupted { experiment: name, id } => {
                self.told.cut_off.store(true, Ordering::SeqCst);
                Event::ExperimentInterrupted { name, id }
            }
        };
        self.stream.send(&event);
        self.stream.flush();
    }
}
