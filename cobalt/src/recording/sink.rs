//! Where a new response is recorded: in a trial, in the file of unattributed requests, or nowhere.

use std::sync::Arc;

use cobalt_core::recordings::{Interaction, RecordingFolder};
use cobalt_core::store::Payer;
use cobalt_core::timestamp::Timestamp;

use super::execution::ExecutionTraffic;
use super::experiment::ExperimentTraffic;
use super::shared_request::SharedRequest;
use super::status::{could_not_answer, is_answer, refuses_key};
use super::unattributed::Unattributed;
use crate::budget::Charge;

/// What a new response is recorded in.
#[derive(Clone, Debug)]
pub enum Sink {
    Execution {
        execution: Arc<ExecutionTraffic>,
        entry: usize,
    },
    /// `candidates`: those that may have sent the request.
    Unattributed {
        experiment: Arc<ExperimentTraffic>,
        is_only: bool,
        request: Arc<SharedRequest>,
        candidates: Vec<Arc<ExecutionTraffic>>,
    },
    Nothing {
        request: Arc<SharedRequest>,
        candidates: Vec<Arc<ExecutionTraffic>>,
    },
}

impl Sink {
    /// Where long texts are stored; `None` if nothing is recorded.
    pub fn folder(&self) -> Option<RecordingFolder> {
        match self {
            Self::Execution { execution, .. } => {
                execution.records().then(|| execution.experiment().folder().clone())
            }
            Self::Unattributed { experiment, .. } => Some(RecordingFolder::new(experiment.root())),
            Self::Nothing { .. } => None,
        }
    }

    /// The trials that may have sent the request; none if that is unknown.
    pub fn candidates(&self) -> &[Arc<ExecutionTraffic>] {
        match self {
            Self::Execution { execution, .. } => std::slice::from_ref(execution),
            Self::Unattributed { candidates, .. } | Self::Nothing { candidates, .. } => candidates,
        }
    }

    /// The experiments that may have sent the request; one may be there more than once.
    pub fn experiments(&self) -> impl Iterator<Item = &ExperimentTraffic> {
        let first = match self {
            Self::Unattributed { experiment, .. } => Some(&**experiment),
            Self::Execution { .. } | Self::Nothing { .. } => None,
        };
        first.into_iter().chain(self.candidates().iter().map(|execution| &**execution.experiment()))
    }

    pub fn execution(&self) -> Option<&Arc<ExecutionTraffic>> {
        match self {
            Self::Execution { execution, .. } => Some(execution),
            _ => None,
        }
    }

    /// Expects an answer to a request without an item.
    pub fn expect_answer(&self) {
        self.experiments().for_each(ExperimentTraffic::expect_unattributed);
    }

    /// Notes what was paid for a new response.
    pub fn pay(&self, charge: Charge) {
        // If it may be of several trials, it is unknown whose it is, but it is of their run.
        if let Some(execution) = self.candidates().first() {
            execution.account().pay(Payer::Agent, charge);
        }
    }

    /// The request, if it may be one of several trials.
    fn shared(&self) -> Option<&SharedRequest> {
        match self {
            Self::Execution { .. } => None,
            Self::Unattributed { request, .. } | Self::Nothing { request, .. } => Some(request),
        }
    }

    /// Records a new interaction, whose cost is in USD.
    pub fn keep(&self, interaction: Interaction, cost: f64, unattributed: &Unattributed) {
        if let Some(shared) = self.shared() {
            shared.end(interaction.response.status);
            if is_answer(interaction.response.status) {
                self.candidates().iter().for_each(|execution| execution.note_answer(&shared.request));
            }
        }
        match self {
            Self::Execution { execution, entry } => execution.complete(*entry, interaction, cost),
            Self::Unattributed { experiment, is_only, .. } => {
                let status = interaction.response.status;
                if refuses_key(status) {
                    return;
                }
                if !could_not_answer(status) {
                    self.experiments().for_each(ExperimentTraffic::receive_unattributed);
                }
                let experiment_name = is_only.then(|| experiment.name().to_owned());
                let recorded_at = Some(Timestamp::now());
                let interaction = Interaction { experiment: experiment_name, recorded_at, ..interaction };
                unattributed.add(experiment.root(), interaction);
            }
            Self::Nothing { .. } => {}
        }
    }

    /// Notes that a request was not sent.
    pub fn withdraw(&self) {
        if let Self::Execution { execution, entry } = self {
            execution.withdraw(*entry);
        }
    }

    /// Notes that a request got no response.
    pub fn give_up(&self) {
        match self {
            Self::Execution { execution, entry } => execution.give_up(*entry),
            Self::Unattributed { request, .. } | Self::Nothing { request, .. } => request.fail(None),
        }
    }

    /// Notes that the provider could not be reached, which is an error of each item that may have sent the request and
    /// is recorded, unless the same request is answered later.
    pub fn fail_to_send(&self, problem: &str) {
        match self {
            Self::Execution { execution, entry } => execution.fail_to_send(*entry, problem),
            Self::Unattributed { request, .. } | Self::Nothing { request, .. } => request.fail(Some(problem)),
        }
    }

    /// Stops what is recorded here, as a response cannot be written.
    pub fn fail_to_write(&self, error: &std::io::Error) {
        let problem = format!("cannot write a recording: {error}");
        self.give_up();
        self.experiments().for_each(|experiment| experiment.fail_to_write(&problem));
        self.candidates().iter().for_each(|execution| execution.refuse(&problem));
    }
}
