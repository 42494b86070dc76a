//! The model traffic of a run: the recordings of its experiment, and the gateway that knows its trials.

use std::sync::Arc;

use cobalt_core::item::Item;
use cobalt_core::report::{Execution, Traffic, TrafficSummary};

use super::attribution::{AdmissionChange, Wait};
use super::execution::ExecutionTraffic;
use super::experiment::ExperimentTraffic;
use super::failure::RecordingFailure;
use super::gateway::{Admission, Gateway};
use super::lock::lock;
use crate::budget::Account;

/// The model traffic of a run.
#[derive(Debug)]
pub struct RunTraffic {
    gateway: Arc<Gateway>,
    experiment: Arc<ExperimentTraffic>,
}

/// A trial that the gateway knows. When this is dropped, requests no longer belong to the trial, even if it was cancelled.
#[derive(Debug)]
pub struct Registration {
    gateway: Arc<Gateway>,
    execution: Arc<ExecutionTraffic>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.gateway.remove(&self.execution);
    }
}

impl RunTraffic {
    /// Registers the experiment with the gateway.
    pub fn new(gateway: Arc<Gateway>, experiment: Arc<ExperimentTraffic>) -> Self {
        gateway.add_experiment(&experiment);
        Self { gateway, experiment }
    }

    /// Lets an item run beside those in progress, until the admission is dropped; or why it must
    /// wait.
    pub fn admit(&self, item: &Item) -> Result<Admission, Wait> {
        self.gateway.admit(&self.experiment, item)
    }

    /// The next change after which an item may be admitted that was not. To miss nothing, call it before [`admit`](Self::admit).
    pub fn admission_change(&self) -> AdmissionChange<'_> {
        self.gateway.executions().changed()
    }

    /// Says once that items wait for others.
    pub fn say_that_items_wait(&self) {
        self.gateway.say_that_items_wait(self.experiment.name());
    }

    /// Notes that the agent of a trial has ended; `is_ok`: with an output.
    pub fn note_end(&self, trial: &ExecutionTraffic, is_ok: bool) {
        self.gateway.executions().note_end(&self.experiment, is_ok || trial.has_sent());
    }

    /// Starts a trial, whose payments are noted in an account.
    ///
    /// # Errors
    ///
    /// The item's recording cannot be read.
    pub fn begin(
        &self,
        item: &Item,
        (index, run): (usize, usize),
        account: Account,
    ) -> Result<Arc<ExecutionTraffic>, String> {
        let (mode, open) = self.experiment.recording_of(index, run).map_err(|error| error.to_string())?;
        let cassette = lock(&open);
        let (experiment, token) = (Arc::clone(&self.experiment), self.gateway.new_token());
        let recording = (mode, cassette.as_ref());
        let execution = Arc::new(ExecutionTraffic::new(experiment, token, (index, run), recording, account));
        self.gateway.add(&execution, item);
        Ok(execution)
    }

    /// Keeps a trial registered until the result is dropped.
    pub fn registration(&self, execution: &Arc<ExecutionTraffic>) -> Registration {
        Registration { gateway: Arc::clone(&self.gateway), execution: Arc::clone(execution) }
    }

    /// Ends a trial: writes what is new, and returns what to report. `outcome` is the result of the trial.
    ///
    /// # Errors
    ///
    /// The recording cannot be written.
    pub fn end(&self, execution: &ExecutionTraffic, outcome: &Execution) -> Result<Option<Traffic>, String> {
        self.gateway.remove(execution);
        execution.end(outcome)
    }

    /// What an agent reports of a cost in USD beyond that of requests without a known trial, which is then reported.
    pub fn take_unattributed_cost(&self, reported: f64) -> f64 {
        self.gateway.take_unattributed_cost(reported)
    }

    /// Whether all trials of an item are answered from their recordings.
    pub fn replays(&self, index: usize) -> bool {
        self.experiment.replays(index)
    }

    /// Ends the work on an item.
    pub fn close(&self, index: usize) {
        self.experiment.close(index);
    }

    /// Why nothing more of the experiment is run.
    pub fn failure(&self) -> Option<&RecordingFailure> {
        self.experiment.failure()
    }

    /// Writes what could not be attributed, adds its counts to a summary, and says which trials could not be recorded. Returns why
    /// something could not be written.
    pub fn finish(&self, summary: &mut Option<TrafficSummary>) -> Option<RecordingFailure> {
        for text in self.experiment.take_note().into_iter().chain(self.experiment.take_warning()) {
            eprintln!("{text}");
        }
        self.experiment.add_counts(summary);
        let saved = self.gateway.save_unattributed(&self.experiment);
        if let Err(error) = saved {
            self.experiment.fail_to_write(&error);
        }
        self.failure().cloned()
    }
}
