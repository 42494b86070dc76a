//! An experiment whose data has been read: everything that could be run.

use std::sync::Arc;

use super::baseline::Baseline;
use super::resolve::resolve;
use crate::causes::BoxError;
use crate::config::Config;
use crate::dataset::{Dataset, DatasetError};
use crate::error::Error;
use crate::experiment::{AgentFn, Definition, Experiment, Prepared, Progress};
use crate::llm::Models;
use crate::nesting::{DEEPEST, is_too_deep};
use crate::report::{DatasetSummary, RunConfig, Threshold};
use crate::reporters::Warning;

/// An experiment fit to run, with its items and their identities.
pub(crate) struct Plan {
    pub(super) definition: Arc<Definition>,
    pub(super) agent: AgentFn,
    pub(super) dataset: Dataset,
    pub(super) models: Arc<Models>,
    pub(super) keys: Arc<[Arc<str>]>,
    pub(super) progress: Option<Progress>,
    pub(super) save: bool,
    /// A hash of the package's sources, where it is known.
    pub(super) sources: Option<String>,
    /// What the run is held against.
    pub(super) baseline: Baseline,
}

impl Plan {
    /// Completes the settings, and checks them and the data.
    pub(crate) fn new(prepared: Prepared, config: &Config) -> Result<Self, Error> {
        let Prepared { experiment: Experiment { declaration, dataset, progress, save }, agent } = prepared;
        let definition = Arc::new(resolve(declaration, config)?);
        let unfit = |source| Error::DatasetOf { experiment: definition.name.clone(), source };
        let dataset = dataset.and_then(fit).map_err(unfit)?;
        let keys = dataset.keys().into_iter().map(Arc::from).collect();
        Ok(Self {
            definition,
            agent,
            dataset,
            models: config.shared_models(),
            keys,
            progress,
            save,
            sources: config.sources().map(str::to_owned),
            baseline: Baseline::of_some_items(),
        })
    }

    /// Looks for what a run of all items is held against.
    pub(crate) fn find_baseline(&mut self, config: &Config) -> Result<(), Error> {
        self.baseline = Baseline::find(self.name(), config)?;
        Ok(())
    }

    /// What is to be said before it is run.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = Warning> {
        let is_needed = self.definition.thresholds.iter().any(Threshold::is_against_baseline);
        let warning = |message| Warning {
            experiment: Some(self.name().to_owned()),
            message,
            declared_at: self.definition.declared_at.clone(),
        };
        self.baseline.warning(is_needed).into_iter().chain(self.dataset.repeated_ids()).map(warning)
    }

    pub(crate) fn name(&self) -> &str {
        &self.definition.name
    }

    pub(crate) fn definition(&self) -> &Arc<Definition> {
        &self.definition
    }

    /// The identity of the item with this index.
    pub(crate) fn key(&self, index: usize) -> &str {
        &self.keys[index]
    }

    pub(crate) fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    pub(super) fn config(&self) -> RunConfig {
        let Definition { runs, concurrency, timeout, evaluators, thresholds, .. } = &*self.definition;
        let mut config = RunConfig {
            runs: *runs,
            concurrency: *concurrency,
            timeout: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
            evaluators: evaluators.iter().map(|evaluator| evaluator.name().to_owned()).collect(),
            pass_marks: evaluators.iter().map(|evaluator| evaluator.pass_mark()).collect(),
            evaluator_hashes: self.definition.evaluator_hashes(),
            strict: self.definition.strict,
            ..RunConfig::default()
        };
        config.set_thresholds(thresholds);
        config
    }

    pub(crate) fn dataset_summary(&self) -> DatasetSummary {
        DatasetSummary {
            source: self.dataset.source().to_owned(),
            items: self.dataset.len(),
            hash: self.dataset.hash(),
            fetched: self.dataset.fetch().cloned(),
        }
    }
}

/// A data set that can be run.
fn fit(dataset: Dataset) -> Result<Dataset, BoxError> {
    if dataset.is_empty() {
        return Err("the data set is empty; add items, or fix the filter that left none".into());
    }
    match dataset.iter().position(|item| item.values().any(is_too_deep)) {
        Some(index) => Err(DatasetError::TooDeep { index, deepest: DEEPEST }.into()),
        None => Ok(dataset),
    }
}
