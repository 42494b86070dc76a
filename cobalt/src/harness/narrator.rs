//! Sends the events of a session to the command, and tracks what determines the exit code.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

use cobalt_core::report::{ItemResult, RunVerdict};
use cobalt_core::reporters::{Event, ItemFinished, RunFinished, Stream, Warning, printable, unpriced};
use cobalt_core::wording::count;

use super::args::{Args, print};
use super::board::{Board, Summary};
use super::exit_code::{FAILED, INTERRUPTED, UNFIT};
use super::exit_guard::{self, SharedRuntime, leave};
use super::warnings::{Shown, Why};
use crate::evaluators::EndsAll;
use crate::session::{Ending, Interrupted, Interrupter, Listener};
use crate::threads;

/// The maximum number of failed items per experiment that are explained in full.
const MOST_EXPLAINED: usize = 20;

/// What determines the exit code.
#[derive(Default)]
pub struct Told {
    /// An item or a threshold failed.
    failed: AtomicBool,
    /// Earlier results fail an experiment, and this process does not replace them.
    pub(super) still_failed: AtomicBool,
    /// An experiment could not be run, or its results could not be saved.
    pub(super) unfit: AtomicBool,
    /// An experiment was interrupted.
    cut_off: AtomicBool,
    /// The process was asked to stop.
    pub(super) interrupted: AtomicBool,
    /// Interrupts the session after the first failure.
    stops: OnceLock<Interrupter>,
}

impl Told {
    fn failed(&self) {
        self.failed.store(true, Ordering::SeqCst);
        if let Some(session) = self.stops.get() {
            session.interrupt();
        }
    }

    pub fn stop_after_failure(&self, session: Interrupter) {
        let session = self.stops.get_or_init(|| session);
        // A failure may have occurred already.
        if self.failed.load(Ordering::SeqCst) {
            session.interrupt();
        }
    }

    pub fn exit_code(&self) -> i32 {
        let is = |flag: &AtomicBool| flag.load(Ordering::SeqCst);
        if is(&self.interrupted) {
            INTERRUPTED
        } else if is(&self.unfit) {
            UNFIT
        } else if is(&self.failed) || is(&self.still_failed) {
            FAILED
        } else if is(&self.cut_off) {
            UNFIT
        } else {
            0
        }
    }
}

/// Sends the events of a session.
pub struct Narrator {
    stream: Stream,
    experiments: Vec<Shown>,
    /// How many items of each experiment were explained in full.
    explained: Vec<usize>,
    told: Arc<Told>,
}

impl Narrator {
    pub fn new(stream: Stream, experiments: Vec<Shown>, told: Arc<Told>) -> Self {
        Self { stream, explained: vec![0; experiments.len()], experiments, told }
    }

    /// Why an item did not pass, for the first such items of an experiment.
    fn why(&mut self, experiment: usize, item: &ItemResult) -> Option<String> {
        if !self.experiments[experiment].config.fails(item) {
            return None;
        }
        let explained = &mut self.explained[experiment];
        match self.experiments[experiment].explain(item) {
            Why::Repeated(why) => Some(why),
            Why::Explained(_) if *explained == MOST_EXPLAINED => None,
            Why::Explained(why) => {
                *explained += 1;
                Some(why)
            }
        }
    }

    fn item_finished(&self, experiment: usize, item: &ItemResult) -> ItemFinished {
        let Shown { config, names, .. } = &self.experiments[experiment];
        ItemFinished::of(experiment, item, &names[item.index], config)
    }
}

impl Listener for Narrator {
    fn run(&mut self, experiment: usize, index: usize, run: usize) {
        // For a single trial, the item's event is enough.
        if self.experiments[experiment].config.runs > 1 {
            self.stream.send(&Event::RunFinished(RunFinished { experiment, index, run }));
        }
    }

    fn item(&mut self, experiment: usize, item: &ItemResult) {
        if self.experiments[experiment].config.fails(item) {
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
                if outcome.report.verdict == RunVerdict::Failed {
                    self.told.failed();
                }
                if let Some(warning) = Warning::of_report(&outcome.report) {
                    self.stream.send(&Event::Warning(warning));
                }
                if outcome.unsaved.is_some() {
                    self.told.unfit.store(true, Ordering::SeqCst);
                }
                let names = &self.experiments[experiment].names;
                let finished = outcome.finished(experiment, names);
                Event::ExperimentFinished(Box::new(finished))
            }
            Ending::Interrupted(Interrupted { experiment: name, id, kept, error }) => {
                self.told.cut_off.store(true, Ordering::SeqCst);
                if error.is_some() {
                    self.told.unfit.store(true, Ordering::SeqCst);
                }
                let error = error.map(|error| error.to_string());
                Event::ExperimentInterrupted { name, id, kept: Some(kept), error }
            }
        };
        self.stream.send(&event);
        self.stream.flush();
        exit_guard::run_ended(experiment);
    }
}

/// How long cancelled agents may take to drop what they hold.
const CLEANING_UP: Duration = Duration::from_millis(200);

/// What to do when the process is asked to stop.
pub struct Stop {
    pub(super) session: Interrupter,
    pub(super) board: Arc<Board>,
    pub(super) runtime: SharedRuntime,
    pub(super) args: Args,
}

impl Stop {
    /// Saves finished items, prints how to resume, and exits.
    pub fn now(self) -> ! {
        self.board.close();
        self.session.interrupt();
        self.board.wait_for_all();
        println!();
        tell(&self.args, &self.board);
        shut_down(&self.runtime);
        leave(INTERRUPTED)
    }
}

/// Lets cancelled agents drop what they hold, and abandons those that block.
pub fn shut_down(runtime: &SharedRuntime) {
    let runtime = runtime.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(runtime) = runtime {
        runtime.shutdown_timeout(CLEANING_UP);
    }
    drop(EndsAll);
    let left = threads::abandoned();
    if left > 0 {
        let calls = count(left, "call");
        eprintln!("note: abandoned {calls} of plain functions that timed out; they end with this process");
    }
}

/// Whether everything was run and saved.
pub enum Whole {
    Yes,
    /// Something was interrupted.
    CutOff,
    /// Some results could not be written.
    Unsaved,
}

/// Prints the results of the experiments.
pub fn tell(args: &Args, board: &Board) -> Whole {
    let mut whole = Whole::Yes;
    let (mut cut_off, mut is_cut_off) = (Vec::new(), false);
    let mut without_price = Vec::new();
    for summary in board.take_summaries() {
        match summary {
            Ok(Summary { text, unpriced_models, warning, unsaved }) => {
                print(args, &text);
                warning.iter().for_each(warn);
                without_price.extend(unpriced_models);
                if let Some(error) = unsaved {
                    whole = Whole::Unsaved;
                    eprintln!("error: failed to save the results: {error}");
                }
            }
            Err(Interrupted { error: Some(error), .. }) => {
                whole = Whole::Unsaved;
                eprintln!("error: {error}");
            }
            Err(Interrupted { id, kept, .. }) => {
                is_cut_off = true;
                // Without saved items, there is nothing to resume.
                cut_off.extend((kept > 0).then_some(id));
            }
        }
    }
    if let Some(note) = unpriced(&without_price) {
        print(args, &note);
    }
    if !is_cut_off {
        return whole;
    }
    match cut_off.join(",") {
        ids if ids.is_empty() => eprintln!("interrupted before any item was finished"),
        ids => eprintln!("interrupted; finished items are saved. Resume with COBALT_RESUME={ids}"),
    }
    if matches!(whole, Whole::Yes) { Whole::CutOff } else { whole }
}

/// Prints a warning.
pub fn warn(warning: &Warning) {
    eprintln!("warning: {}", printable(&warning.to_string()));
}
