//! An experiment whose data has been read: everything that could be run.

use std::sync::Arc;

use crate::dataset::Dataset;
use crate::error::Error;
use crate::experiment::{AgentFn, Definition, Prepared, Progress};
use crate::report::{DatasetSummary, RunConfig};

/// An experiment fit to run, with its items and their identities.
pub(crate) struct Plan {
    pub(super) definition: Arc<Definition>,
    pub(super) agent: AgentFn,
    pub(super) dataset: Dataset,
    pub(super) keys: Arc<[Arc<str>]>,
    pub(super) progress: Option<Progress>,
    pub(super) save: bool,
}

impl Plan {
    /// Checks the settings and takes the data.
    pub(crate) fn new(prepared: Prepared) -> Result<Self, Error> {
        let (Prepared { experiment, agent }, dataset) = prepared.checked()?;
        let keys = dataset.keys().into_iter().map(Arc::from).collect();
        let (progress, save) = (experiment.progress, experiment.save);
        Ok(Self { definition: Arc::new(experiment.definition), agent, dataset, keys, progress, save })
    }

    pub(crate) fn name(&self) -> &str {
        &self.definition.name
    }

    pub(crate) fn definition(&self) -> &Arc<Definition> {
        &self.definition
    }

    pub(crate) fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    pub(super) fn config(&self) -> RunConfig {
        let Definition { runs, concurrency, timeout, evaluators, thresholds, .. } = &*self.definition;
        RunConfig {
            runs: *runs,
            concurrency: *concurrency,
            timeout: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
            evaluators: evaluators.iter().map(|evaluator| evaluator.name().to_owned()).collect(),
            pass_marks: evaluators.iter().map(|evaluator| evaluator.pass_mark()).collect(),
            strict: self.definition.is_strict(),
            thresholds: thresholds.iter().map(crate::report::Threshold::case_name).collect(),
        }
    }

    pub(super) fn dataset_summary(&self) -> DatasetSummary {
        DatasetSummary {
            source: self.dataset.source().to_owned(),
            items: self.dataset.len(),
            hash: self.dataset.hash(),
        }
    }
}
