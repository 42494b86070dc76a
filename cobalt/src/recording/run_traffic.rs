//! The model traffic of a run: the recordings of its experiment, and the gateway that knows its trials.

use std::sync::Arc;

use cobalt_core::item::Item;
use cobalt_core::report::{Execution, Traffic, TrafficSummary};

use super::execution::ExecutionTraffic;
use super::experiment::ExperimentTraffic;
use super::gateway::Gateway;
use super::lock::lock;

/// The model traffic of a run.
#[derive(Debug)]
pub struct RunTraffic {
    gateway: Arc<Gateway>,
    experiment: Arc<ExperimentTraffic>,
}

impl RunTraffic {
    /// Registers the experiment with the gateway.
    pub fn new(gateway: Arc<Gateway>, experiment: Arc<ExperimentTraffic>) -> Self {
        gateway.add_experiment(&experiment);
        Self { gateway, experiment }
    }

    /// Starts a trial.
    ///
    /// # Errors
    ///
    /// The item's recording cannot be read.
    pub fn begin(&self, item: &Item, index: usize, run: usize) -> Result<Arc<ExecutionTraffic>, String> {
        let (mode, open) = self.experiment.recording_of(index, run).map_err(|error| error.to_string())?;
        let cassette = lock(&open);
        let (experiment, token) = (Arc::clone(&self.experiment), self.gateway.new_token());
        let recording = (mode, cassette.as_ref());
        let execution = Arc::new(ExecutionTraffic::new(experiment, token, (index, run), recording));
        self.gateway.add(&execution, item);
        Ok(execution)
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

    /// Ends the work on an item.
    pub fn close(&self, index: usize) {
        self.experiment.close(index);
    }

    /// Writes what could not be attributed, adds its counts to a summary, and says which trials could not be recorded.
    pub fn finish(&self, summary: &mut Option<TrafficSummary>) {
        if let Some(note) = self.experiment.take_note() {
            eprintln!("{note}");
        }
        self.gateway.save_unattributed(&self.experiment);
        self.experiment.add_counts(summary);
    }
}
