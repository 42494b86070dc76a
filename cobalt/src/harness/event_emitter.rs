//! Sends the events of a session to the command, and tracks what determines the exit code.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

use cobalt_core::report::ranking::Ranking;
use cobalt_core::report::{ItemResult, RunVerdict};
use cobalt_core::reporters::{
    Event, EventWriter, ItemFinished, RunFinished, TrialTrace, Warning, escape_control, format_cost_precise,
    render_ranking, unpriced_note,
};
use cobalt_core::wording::count;

use super::args::{Args, print_text};
use super::case_results::{CaseResults, FinalSummary};
use super::exit_code::{BUDGET_SPENT, FAILED, INTERRUPTED, SETUP_ERROR};
use super::exit_guard::{self, EndAllOnDrop, SharedRuntime, exit};
use super::warnings::{Explanation, ItemExplainer};
use crate::budget;
use crate::config::RECORD;
use crate::session::{InterruptedRun, Interrupter, Listener, RunEnd};
use crate::thread_pool;

/// The maximum number of failed items per experiment that are explained in full.
const MAX_EXPLAINED: usize = 20;

/// What determines the exit code.
#[derive(Default)]
pub struct ExitState {
    /// An item or a threshold failed.
    failed: AtomicBool,
    /// Earlier results fail an experiment, and this process does not replace them.
    pub(super) still_failed: AtomicBool,
    /// An experiment could not be run, or its results could not be saved.
    pub(super) setup_error: AtomicBool,
    /// An experiment was interrupted.
    incomplete: AtomicBool,
    /// The process was asked to stop.
    pub(super) interrupted: AtomicBool,
    /// Interrupts the session after the first failure.
    interrupter: OnceLock<Interrupter>,
}

impl ExitState {
    fn mark_failed(&self) {
        self.failed.store(true, Ordering::SeqCst);
        if let Some(session) = self.interrupter.get() {
            session.interrupt();
        }
    }

    pub fn stop_after_failure(&self, session: Interrupter) {
        let session = self.interrupter.get_or_init(|| session);
        // A failure may have occurred already.
        if self.failed.load(Ordering::SeqCst) {
            session.interrupt();
        }
    }

    pub fn exit_code(&self) -> i32 {
        let is = |flag: &AtomicBool| flag.load(Ordering::SeqCst);
        if is(&self.interrupted) {
            INTERRUPTED
        } else if is(&self.setup_error) {
            SETUP_ERROR
        } else if is(&self.incomplete) && budget::refusal().is_some() {
            BUDGET_SPENT
        } else if is(&self.failed) || is(&self.still_failed) {
            FAILED
        } else if is(&self.incomplete) {
            SETUP_ERROR
        } else {
            0
        }
    }
}

/// Sends the events of a session.
pub struct EventEmitter {
    stream: EventWriter,
    experiments: Vec<ItemExplainer>,
    /// How many items of each experiment were explained in full.
    explained: Vec<usize>,
    /// Whether the events of items have their traces.
    traces: bool,
    /// The number of experiments that have ended.
    ended: usize,
    told: Arc<ExitState>,
}

impl EventEmitter {
    pub fn new(
        stream: EventWriter,
        experiments: Vec<ItemExplainer>,
        traces: bool,
        told: Arc<ExitState>,
    ) -> Self {
        Self { stream, explained: vec![0; experiments.len()], experiments, traces, ended: 0, told }
    }

    /// Why an item did not pass, for the first such items of an experiment.
    fn explain(&mut self, experiment: usize, item: &ItemResult) -> Option<String> {
        if !self.experiments[experiment].config.fails(item) {
            return None;
        }
        let explained = &mut self.explained[experiment];
        match self.experiments[experiment].explain(item) {
            Explanation::Repeated(why) => Some(why),
            Explanation::Full(_) if *explained == MAX_EXPLAINED => None,
            Explanation::Full(why) => {
                *explained += 1;
                Some(why)
            }
        }
    }

    fn item_finished(&self, experiment: usize, item: &ItemResult) -> ItemFinished {
        let ItemExplainer { config, names, .. } = &self.experiments[experiment];
        ItemFinished::of(experiment, item, &names.get(item.index), config)
    }
}

impl Listener for EventEmitter {
    fn run(&mut self, experiment: usize, index: usize, run: usize) {
        // For a single trial, the item's event is enough.
        if self.experiments[experiment].config.runs > 1 {
            self.stream.send(&Event::RunFinished(RunFinished { experiment, index, run }));
        }
    }

    fn item(&mut self, experiment: usize, item: &ItemResult) {
        if self.experiments[experiment].config.fails(item) {
            self.told.mark_failed();
        }
        let why = self.explain(experiment, item);
        let traces = if self.traces { TrialTrace::of(item) } else { Vec::new() };
        let event = ItemFinished { why, traces, ..self.item_finished(experiment, item) };
        self.stream.send(&Event::ItemFinished(event));
    }

    fn on_earlier_item(&mut self, experiment: usize, item: &ItemResult) {
        let event = ItemFinished { done_before: true, ..self.item_finished(experiment, item) };
        self.stream.send(&Event::ItemFinished(event));
    }

    fn on_batch_end(&mut self) {
        self.stream.flush();
    }

    fn on_end(&mut self, experiment: usize, ending: RunEnd) {
        let event = match ending {
            RunEnd::Finished(outcome) => {
                if outcome.report.verdict == RunVerdict::Failed {
                    self.told.mark_failed();
                }
                for warning in outcome.warnings() {
                    self.stream.send(&Event::Warning(warning));
                }
                if outcome.unsaved.is_some() {
                    self.told.setup_error.store(true, Ordering::SeqCst);
                }
                let finished = outcome.finished_event(experiment);
                Event::ExperimentFinished(Box::new(finished))
            }
            RunEnd::Interrupted(InterruptedRun { experiment: name, id, kept, paid, error }) => {
                self.told.incomplete.store(true, Ordering::SeqCst);
                if error.is_some() {
                    self.told.setup_error.store(true, Ordering::SeqCst);
                }
                let error = error.map(|error| error.to_string());
                let paid = (paid > 0.0).then_some(paid);
                Event::ExperimentInterrupted { name, id, kept: Some(kept), paid, error }
            }
        };
        self.ended += 1;
        // Once, with all that was spent: requests in flight are still charged while the first experiments end.
        if self.ended == self.experiments.len()
            && self.told.incomplete.load(Ordering::SeqCst)
            && let Some(message) = budget::refusal()
        {
            let warning = Warning { experiment: None, message, declared_at: None };
            self.stream.send(&Event::Warning(warning));
        }
        self.stream.send(&event);
        self.stream.flush();
        exit_guard::mark_run_ended(experiment);
    }

    fn on_variants_compared(&mut self, ranking: Ranking) {
        self.stream.send(&Event::VariantsCompared(Box::new(ranking)));
    }
}

/// How long cancelled agents may take to drop what they hold.
const CLEANUP_TIMEOUT: Duration = Duration::from_millis(200);

/// What to do when the process is asked to stop.
pub struct StopHandler {
    pub(super) session: Interrupter,
    pub(super) board: Arc<CaseResults>,
    pub(super) runtime: SharedRuntime,
    pub(super) args: Args,
}

impl StopHandler {
    /// Saves finished items, prints how to resume, and exits.
    pub fn run(self) -> ! {
        self.board.close();
        self.session.interrupt();
        self.board.wait_for_all();
        println!();
        print_results(&self.args, &self.board);
        shut_down(&self.runtime);
        exit(INTERRUPTED)
    }
}

/// Lets cancelled agents drop what they hold, and abandons those that block.
pub fn shut_down(runtime: &SharedRuntime) {
    let runtime = runtime.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(runtime) = runtime {
        runtime.shutdown_timeout(CLEANUP_TIMEOUT);
    }
    drop(EndAllOnDrop);
    let left = thread_pool::abandoned_threads();
    if left > 0 {
        let calls = count(left, "call");
        eprintln!("note: abandoned {calls} of plain functions that timed out; they end with this process");
    }
}

/// Whether everything was run and saved.
pub enum RunCompleteness {
    Complete,
    /// Something was interrupted.
    Interrupted,
    /// Some results could not be written.
    Unsaved,
}

/// Prints the results of the experiments.
pub fn print_results(args: &Args, board: &CaseResults) -> RunCompleteness {
    let mut whole = RunCompleteness::Complete;
    let (mut cut_off, mut is_cut_off, mut all_kept, mut all_paid) = (Vec::new(), false, 0, 0.0);
    let mut without_price = Vec::new();
    for summary in board.take_summaries() {
        match summary {
            Ok(FinalSummary { text, unpriced_models, warnings, unsaved }) => {
                print_text(args, &text);
                warnings.iter().for_each(print_warning);
                without_price.extend(unpriced_models);
                if let Some(error) = unsaved {
                    whole = RunCompleteness::Unsaved;
                    eprintln!("error: failed to save the results: {error}");
                }
            }
            Err(InterruptedRun { error: Some(error), .. }) => {
                whole = RunCompleteness::Unsaved;
                eprintln!("error: {error}");
            }
            Err(InterruptedRun { id, kept, paid, .. }) => {
                is_cut_off = true;
                all_kept += kept;
                all_paid += paid;
                // Without saved items or payments, there is nothing to resume.
                cut_off.extend((kept > 0 || paid > 0.0).then_some(id));
            }
        }
    }
    for ranking in board.take_rankings() {
        print_text(args, &render_ranking(&ranking, args.paint()));
    }
    if let Some(note) = unpriced_note(&without_price) {
        print_text(args, &note);
    }
    if !is_cut_off {
        return whole;
    }
    if let Some(why) = budget::refusal() {
        eprintln!("error: {why}");
    }
    match cut_off.join(",") {
        ids if ids.is_empty() => eprintln!("interrupted before any item was finished"),
        ids => {
            // Without it, a resumed run may replay what this one would have recorded.
            let mode = std::env::var(RECORD).ok().filter(|mode| !mode.is_empty());
            let mode = mode.map_or_else(String::new, |mode| format!(" {RECORD}={mode}"));
            let paid = (all_paid > 0.0).then(|| format!("; {} paid so far", format_cost_precise(all_paid)));
            let paid = paid.unwrap_or_default();
            let saved = if all_kept > 0 { "finished items are saved" } else { "no item was finished" };
            eprintln!("interrupted; {saved}{paid}. Resume with COBALT_RESUME={ids}{mode}");
        }
    }
    if matches!(whole, RunCompleteness::Complete) { RunCompleteness::Interrupted } else { whole }
}

/// Prints a warning.
pub fn print_warning(warning: &Warning) {
    eprintln!("warning: {}", escape_control(&warning.to_string()));
}
