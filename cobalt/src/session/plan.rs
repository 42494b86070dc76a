//! An experiment whose data has been read, completed by the configuration, and how it ends.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use cobalt_core::causes::BoxError;
use cobalt_core::nesting::{DEEPEST, is_too_deep};
use cobalt_core::report::{DatasetSummary, Report, RunConfig, Threshold};
use cobalt_core::reporters::{ExperimentFinished, Warning};

use super::judging::Baseline;
use crate::config::Config;
use crate::dataset::{Dataset, DatasetError};
use crate::error::Error;
use crate::experiment::{AgentFn, Declaration, Definition, Experiment, Prepared, Progress};
use crate::llm::Models;

/// An experiment fit to run, with its items and their identities.
pub struct Plan {
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
    pub fn new(prepared: Prepared, config: &Config) -> Result<Self, Error> {
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
    pub fn find_baseline(&mut self, config: &Config) -> Result<(), Error> {
        self.baseline = Baseline::find(self.name(), config)?;
        Ok(())
    }

    /// What is to be said before it is run.
    pub fn warnings(&self) -> impl Iterator<Item = Warning> {
        let is_needed = self.definition.thresholds.iter().any(Threshold::is_against_baseline);
        let warning = |message| Warning {
            experiment: Some(self.name().to_owned()),
            message,
            declared_at: self.definition.declared_at.clone(),
        };
        self.baseline.warning(is_needed).into_iter().chain(self.dataset.repeated_ids()).map(warning)
    }

    pub fn name(&self) -> &str {
        &self.definition.name
    }

    pub fn definition(&self) -> &Arc<Definition> {
        &self.definition
    }

    /// The identity of the item with this index.
    pub fn key(&self, index: usize) -> &str {
        &self.keys[index]
    }

    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    pub fn config(&self) -> RunConfig {
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

    pub fn dataset_summary(&self) -> DatasetSummary {
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

/// The definition that is run. A declared value comes before one of the file, see [`crate::configuration`] for all of the order.
pub fn resolve(declaration: Declaration, config: &Config) -> Result<Definition, Error> {
    let Declaration {
        name,
        runs,
        concurrency,
        timeout,
        tags,
        mut evaluators,
        thresholds,
        strict,
        ignore_without: _,
        source_hash,
        declared_at,
    } = declaration;
    let refused = |problem| Error::Definition { experiment: name.clone(), problem };
    if evaluators.is_empty() {
        evaluators = config.evaluators().map_err(|error| refused(error.to_string()))?;
    }
    let mut thresholds = if thresholds.is_empty() { config.thresholds().to_vec() } else { thresholds };
    // Before those are added that are for CI: they ask for more, never for less.
    let strict = strict.unwrap_or(thresholds.is_empty());
    add_missing(&mut thresholds, config.additional_thresholds());
    let definition = Definition {
        name: name.clone(),
        runs: config.runs(runs),
        concurrency: config.concurrency(concurrency),
        timeout: config.timeout(timeout),
        tags,
        evaluators,
        thresholds,
        strict,
        models: config.models().fingerprint(),
        source_hash,
        declared_at,
    };
    definition.check().map_err(refused)?;
    Ok(definition)
}

/// Adds the thresholds that are not there yet under the same name.
pub fn add_missing(thresholds: &mut Vec<Threshold>, more: &[Threshold]) {
    let declared: HashSet<_> = thresholds.iter().map(Threshold::case_name).collect();
    thresholds.extend(more.iter().filter(|threshold| !declared.contains(&threshold.case_name())).cloned());
}

/// How an experiment ended.
#[derive(Debug)]
pub enum Ending {
    /// All items are done.
    Finished(Box<Outcome>),
    /// It was stopped before.
    Interrupted(Interrupted),
}

/// A run that was stopped before its end.
#[derive(Debug)]
pub(crate) struct Interrupted {
    pub(crate) experiment: String,
    pub(crate) id: String,
    /// How many items are in its journal, which stays unless there is none.
    pub(crate) kept: usize,
    /// Why it was stopped, where nobody asked for it: its journal could not be written.
    pub(crate) error: Option<Error>,
}

impl From<Interrupted> for Error {
    fn from(Interrupted { experiment, id, kept, error }: Interrupted) -> Self {
        error.unwrap_or(Self::Interrupted { experiment, id, kept })
    }
}

/// What a finished experiment came to.
#[derive(Debug)]
pub struct Outcome {
    pub(crate) report: Report,
    /// The result file, where one is written.
    pub(crate) path: Option<PathBuf>,
    /// Why none could be written.
    pub(crate) unsaved: Option<Error>,
}

impl Outcome {
    /// The event of the end of a run, its results kept or not. `names` are those of its items in test cases.
    pub fn finished(&self, experiment: usize, names: &[String]) -> ExperimentFinished {
        let unsaved = self.unsaved.as_ref().map(ToString::to_string);
        let finished = ExperimentFinished::of(experiment, &self.report, names, self.path.as_deref());
        ExperimentFinished { unsaved, ..finished }
    }

    pub fn into_report(self) -> Result<Report, Error> {
        match self.unsaved {
            None => Ok(self.report),
            Some(source) => Err(Error::Unsaved { report: Box::new(self.report), source: Box::new(source) }),
        }
    }
}
