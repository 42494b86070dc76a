//! Runs the experiments of one process: the engine runs items, the recorder saves results, a listener receives events.
//!
//! Data flows in one direction: a [`Plan`] (what can be run) becomes a [`Run`] (what is run, with its journal), the engine turns its
//! items into events, and the recorder turns the events into the journal, the report and the result file.

mod check;
mod evaluate_thresholds;
mod finished_items;
#[cfg(test)]
mod large_run_tests;
mod notes;
mod parts;
mod plan;
mod pooling;
mod recorder;
mod rerun;
mod run;
mod run_experiment;
mod summaries;
mod traffic;
mod variants;

use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use crate::config::Config;
use crate::engine::{self, Event};
pub(crate) use check::MissingKeys;
pub use evaluate_thresholds::OtherVariants;
pub(crate) use evaluate_thresholds::{Baseline, References, evaluate_run};
pub(crate) use plan::{InterruptedRun, Plan, RunEnd, add_missing_thresholds, resolve_thresholds};
pub(crate) use recorder::Listener;
pub(crate) use rerun::Rerun;
pub(crate) use run::{ItemSelection, Run, find_runs_to_resume, require_runs_to_resume};
pub use run_experiment::VariantReports;
#[cfg(feature = "record")]
pub(crate) use traffic::gateway;
pub(crate) use variants::divide_into_variants;

/// Running experiments.
#[derive(Debug)]
pub struct Session {
    interrupter: Interrupter,
    recorder: JoinHandle<()>,
}

impl Session {
    /// Starts all runs at once on `runtime`. Experiments are numbered by their index in `runs`.
    pub fn start(
        runs: Vec<Run>,
        config: Config,
        listener: impl Listener + 'static,
        runtime: &Handle,
    ) -> Self {
        let (events, received) = mpsc::channel();
        let mut tasks = Vec::with_capacity(runs.len());
        let mut records = Vec::with_capacity(runs.len());
        for (experiment, run) in runs.into_iter().enumerate() {
            let (work, mut record) = run.split(experiment);
            let task = runtime.spawn(engine::run(work, events.clone())).abort_handle();
            record.set_engine(task.clone());
            records.push(record);
            tasks.push(task);
        }
        let interrupter = Interrupter { tasks: tasks.into(), events: events.clone() };
        let recorder =
            std::thread::spawn(move || recorder::record_events(records, config, listener, events, &received));
        Self { interrupter, recorder }
    }

    /// A handle for stopping the session.
    pub fn interrupter(&self) -> Interrupter {
        self.interrupter.clone()
    }

    /// Waits until everything is written and the listener has received all events.
    pub fn wait(self) {
        if let Err(panic) = self.recorder.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

/// Stops a session before its end.
#[derive(Clone, Debug)]
pub struct Interrupter {
    tasks: Arc<[AbortHandle]>,
    events: mpsc::Sender<Event>,
}

impl Interrupter {
    /// Cancels running items; finished ones stay in the journals.
    pub fn interrupt(&self) {
        for task in &*self.tasks {
            task.abort();
        }
        // If the recorder has ended, there is nothing left to interrupt.
        let _ = self.events.send(Event::Interrupted);
    }
}
