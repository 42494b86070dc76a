//! An experiment that is ready to run: its data is read, and its settings are resolved.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cobalt_core::error_chain::BoxError;
use cobalt_core::item::{CaseNames, FieldPath, ItemKeys};
use cobalt_core::nesting::MAX_DEPTH;
use cobalt_core::prices::PriceTable;
use cobalt_core::report::{DatasetSummary, ItemResult, Report, Rescored, RunConfig, Threshold};
use cobalt_core::reporters::{ExperimentFinished, NotableItems, Warning};
use cobalt_core::store::read_report;
use cobalt_core::trace::ContentLimits;

use super::evaluate_thresholds::Baseline;
use super::traffic;
use crate::budget;
use crate::config::Config;
use crate::dataset::{Dataset, DatasetError};
use crate::engine::Workspaces;
use crate::error::Error;
use crate::experiment::{
    AgentFn, Declaration, Experiment, Prepared, ProgressCallback, ResolvedDefinition, ResolvedVariant,
};
use crate::llm::Models;
use crate::recording::RunTraffic;
use crate::rescore::{Rescoring, ScoredRun};

/// The default time limit of a whole conversation.
const CONVERSATION_TIMEOUT: Duration = Duration::from_secs(300);

/// A validated experiment with its items and their keys.
pub struct Plan {
    pub definition: Arc<ResolvedDefinition>,
    pub agent: AgentFn,
    pub dataset: Dataset,
    pub models: Arc<Models>,
    pub keys: Arc<ItemKeys>,
    /// The items' names in test cases.
    pub names: Arc<CaseNames>,
    pub progress: Option<ProgressCallback>,
    pub save: bool,
    /// From how many items on a result is kept in parts.
    pub parts_from: usize,
    /// A hash of the package's sources, if known.
    pub sources: Option<String>,
    /// The baseline of the run.
    pub baseline: Baseline,
    pub prices: PriceTable,
    pub trace_limits: ContentLimits,
    /// The model traffic, if it passes through the gateway.
    pub traffic: Option<Arc<RunTraffic>>,
    /// The stored outputs that are scored instead of calling the agent.
    pub rescoring: Option<Arc<Rescoring>>,
    /// The files that the agent works on, if it is called.
    pub workspaces: Option<Workspaces>,
}

impl Plan {
    /// Resolves the settings, and checks them and the data. If there is a stored run, its outputs are scored instead of calling the
    /// agent.
    pub fn new(prepared: Prepared, scored: Option<ScoredRun>, config: &Config) -> Result<Self, Error> {
        let Prepared { experiment: Experiment { declaration, dataset, progress, save }, agent } = prepared;
        let mut definition = resolve_definition(declaration, config)?;
        let unfit = |source| Error::ExperimentDataset { experiment: definition.name.clone(), source };
        let mut dataset = dataset.and_then(check_dataset).map_err(unfit)?;
        let (keys, rescoring) = match scored {
            Some(run) => {
                let name = definition.name.clone();
                let (rescoring, items, keys) = Rescoring::new(run, &mut definition, &dataset)
                    .map_err(|problem| Error::Definition { experiment: name, problem })?;
                dataset = items;
                (keys.into_iter().collect(), Some(Arc::new(rescoring)))
            }
            None => (dataset.item_keys(), None),
        };
        let definition = Arc::new(definition);
        let (keys, names) = (Arc::new(keys), Arc::new(dataset.case_names()));
        let traffic = traffic::start(&definition.name, &definition.recording, &keys, definition.runs, config)
            .map_err(|problem| Error::Definition { experiment: definition.name.clone(), problem })?;
        let workspace = definition.workspace.as_ref().filter(|_| rescoring.is_none());
        let workspaces = workspace.map(|workspace| Workspaces::new(workspace, &dataset, config)).transpose();
        let workspaces = workspaces
            .map_err(|problem| Error::Definition { experiment: definition.name.clone(), problem })?;
        Ok(Self {
            definition,
            agent,
            dataset,
            models: config.shared_models(),
            keys,
            names,
            progress,
            save,
            parts_from: config.parts_from(),
            sources: match &rescoring {
                Some(rescoring) => rescoring.sources.clone(),
                None => config.sources().map(str::to_owned),
            },
            baseline: Baseline::for_partial_run(),
            prices: config.prices().clone(),
            trace_limits: config.trace_limits(),
            traffic,
            workspaces,
            rescoring,
        })
    }

    /// Looks for the baseline of a full run.
    pub fn find_baseline(&mut self, config: &Config) -> Result<(), Error> {
        self.baseline = Baseline::resolve(self.name(), config)?;
        Ok(())
    }

    /// Warnings to print before the run.
    pub fn warnings(&self) -> impl Iterator<Item = Warning> {
        let is_needed = self.definition.thresholds.iter().any(Threshold::is_against_baseline);
        let warning = |message| Warning {
            experiment: Some(self.name().to_owned()),
            message,
            declared_at: self.definition.declared_at.clone(),
        };
        let notes = self.rescoring.iter().flat_map(|rescoring| rescoring.origin.notes.clone());
        let duplicates = self.dataset.duplicate_id_warning();
        let fields = self.unknown_fields();
        self.baseline.warning(is_needed).into_iter().chain(duplicates).chain(notes).chain(fields).map(warning)
    }

    /// A warning for each field of groups that no item has.
    fn unknown_fields(&self) -> impl Iterator<Item = String> {
        let is_unknown =
            |field: &&String| self.dataset.iter().all(|item| FieldPath::new(field).resolve(&item).is_none());
        let fields = self.definition.group_by.iter().filter(is_unknown);
        fields.map(|field| format!("no item has the field `{field}`, by which the statistics are grouped"))
    }

    pub fn name(&self) -> &str {
        &self.definition.name
    }

    pub fn definition(&self) -> &Arc<ResolvedDefinition> {
        &self.definition
    }

    /// Whether a result has the key of its item.
    pub fn has_key_of(&self, item: &ItemResult) -> bool {
        self.keys.get(item.index).is_some_and(|key| key == item.key)
    }

    /// Whether a result is one of its item, with all trials.
    pub fn is_result_of(&self, item: &ItemResult) -> bool {
        self.has_key_of(item) && item.runs.len() == self.definition.runs
    }

    /// The key of the item with this index.
    pub fn key(&self, index: usize) -> &str {
        &self.keys[index]
    }

    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    pub fn config(&self) -> RunConfig {
        let ResolvedDefinition {
            runs,
            retries,
            concurrency,
            timeout,
            evaluators,
            thresholds,
            summaries,
            group_by,
            ..
        } = &*self.definition;
        let mut config = RunConfig {
            runs: *runs,
            retries: *retries,
            concurrency: *concurrency,
            timeout: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
            evaluators: evaluators.iter().map(|evaluator| evaluator.name().to_owned()).collect(),
            pass_marks: evaluators.iter().map(|evaluator| evaluator.pass_mark()).collect(),
            evaluator_hashes: self.evaluator_hashes(),
            summaries: summaries.iter().map(|summary| summary.name().to_owned()).collect(),
            group_by: group_by.clone(),
            strict: self.definition.strict,
            ..RunConfig::default()
        };
        config.set_thresholds(thresholds);
        config
    }

    /// A hash of each evaluator's settings; of copied scores, that of the evaluator that gave them.
    fn evaluator_hashes(&self) -> Vec<String> {
        let mut hashes = self.definition.evaluator_hashes();
        if let Some(rescoring) = &self.rescoring {
            for (place, (evaluator, hash)) in self.definition.evaluators.iter().zip(&mut hashes).enumerate() {
                if let Some(stored) = rescoring.copied_hash(place, evaluator.name()) {
                    *hash = stored;
                }
            }
        }
        hashes
    }

    pub fn dataset_summary(&self) -> DatasetSummary {
        self.rescoring.as_ref().map_or_else(|| self.dataset.summary(), |rescoring| rescoring.dataset.clone())
    }

    /// The origin of the outputs, if they are only scored.
    pub fn rescored(&self) -> Option<&Rescored> {
        self.rescoring.as_ref().map(|rescoring| &rescoring.origin)
    }

    /// The indexes of the items of a partial run whose outputs are scored.
    pub fn stored_selection(&self) -> Option<&[usize]> {
        self.rescoring.as_ref()?.selection.as_deref()
    }

    /// A hash over everything that makes results incomparable, except the data. Stored outputs are scored with the data that evaluators
    /// see, which may differ from those of their run.
    pub fn fingerprint(&self) -> String {
        let definition = self.definition.fingerprint();
        match self.rescored() {
            Some(Rescored { run, evaluators, .. }) => {
                let scored = [definition, run.clone(), self.dataset.hash(), evaluators.join("\n")];
                cobalt_core::hash::sha256_hex(&scored)
            }
            None => definition,
        }
    }
}

/// Checks that a dataset can be run.
fn check_dataset(dataset: Dataset) -> Result<Dataset, BoxError> {
    if dataset.is_empty() {
        return Err("the dataset is empty; add items, or fix the filter that removed them".into());
    }
    match dataset.first_too_deep() {
        Some(index) => Err(DatasetError::TooDeep { index, deepest: MAX_DEPTH }.into()),
        None => Ok(dataset),
    }
}

/// Resolves a declaration. Declared values override those of the file; see [`crate::configuration`] for the full precedence.
pub fn resolve_definition(declaration: Declaration, config: &Config) -> Result<ResolvedDefinition, Error> {
    let Declaration {
        name,
        runs,
        retries,
        concurrency,
        timeout,
        tags,
        mut evaluators,
        thresholds,
        summaries,
        variants: _,
        default_variant: _,
        variant_check: _,
        variant,
        mut group_by,
        strict,
        recordings,
        conversation,
        takes_turns,
        ignore_without: _,
        source_hash,
        declared_at,
        workspace,
        faults,
    } = declaration;
    let refused = |problem| Error::Definition { experiment: name.clone(), problem };
    if evaluators.is_empty() {
        evaluators = config.evaluators().map_err(|error| refused(error.to_string()))?;
    }
    if group_by.is_empty() {
        group_by = config.group_by().to_vec();
    }
    if conversation.is_some() && !takes_turns {
        let problem = "it has a `conversation`, but its agent does not take turns; make the agent a function of `(&mut Chat<S>, &str)`";
        return Err(refused(problem.to_owned()));
    }
    let conversation = takes_turns.then(|| Arc::new(conversation.unwrap_or_default()));
    let mut thresholds = declared_or_configured(thresholds, variant.as_ref(), config);
    // Before adding those for CI, which must not make an experiment less strict.
    let strict = strict.unwrap_or(thresholds.is_empty());
    add_missing_thresholds(&mut thresholds, &of_variant(config.additional_thresholds(), variant.as_ref()));
    let group_by = with_threshold_fields(group_by, &thresholds);
    let definition = ResolvedDefinition {
        name: name.clone(),
        runs: config.runs(runs),
        retries,
        concurrency: config.concurrency(concurrency),
        timeout: match takes_turns && timeout.is_none() && config.has_default_timeout() {
            // All turns together take longer than one output.
            true => CONVERSATION_TIMEOUT,
            false => config.timeout(timeout),
        },
        evaluator_timeout: config.timeout(timeout),
        tags,
        evaluators,
        thresholds,
        summaries,
        variant,
        group_by,
        strict,
        models: config.models().fingerprint(),
        recording: config.recordings().resolve(&name, recordings.as_ref()),
        conversation,
        source_hash,
        declared_at,
        workspace,
        faults: Arc::new(config.faults().cloned().unwrap_or(faults)),
    };
    definition.validate().map_err(refused)?;
    Ok(definition)
}

/// The thresholds of an experiment, or of a variant, with those of the configuration.
pub fn resolve_thresholds(declaration: &Declaration, config: &Config) -> Vec<Threshold> {
    let variant = declaration.variant.as_ref();
    let mut thresholds = declared_or_configured(declaration.thresholds.clone(), variant, config);
    add_missing_thresholds(&mut thresholds, &of_variant(config.additional_thresholds(), variant));
    thresholds
}

fn declared_or_configured(
    declared: Vec<Threshold>,
    variant: Option<&ResolvedVariant>,
    config: &Config,
) -> Vec<Threshold> {
    if declared.is_empty() { of_variant(config.thresholds(), variant) } else { declared }
}

/// The thresholds for all experiments that are for this one: those for a variant are for the experiments that have it.
fn of_variant(thresholds: &[Threshold], variant: Option<&ResolvedVariant>) -> Vec<Threshold> {
    let is_for_all = |threshold: &&Threshold| threshold.variant().is_none() && threshold.against().is_none();
    match variant {
        Some(variant) => thresholds.iter().filter_map(|it| it.for_variant(&variant.declared_name)).collect(),
        None => thresholds.iter().filter(is_for_all).cloned().collect(),
    }
}

/// The fields to group by, with those that thresholds measure.
fn with_threshold_fields(mut fields: Vec<String>, thresholds: &[Threshold]) -> Vec<String> {
    for field in thresholds.iter().filter_map(Threshold::by) {
        if !fields.iter().any(|known| known == field) {
            fields.push(field.to_owned());
        }
    }
    fields
}

/// Adds the thresholds whose names are not present yet.
pub fn add_missing_thresholds(thresholds: &mut Vec<Threshold>, more: &[Threshold]) {
    let declared: HashSet<_> = thresholds.iter().map(Threshold::case_name).collect();
    thresholds.extend(more.iter().filter(|threshold| !declared.contains(&threshold.case_name())).cloned());
}

/// How an experiment ended.
#[derive(Debug)]
pub enum RunEnd {
    /// All items are done.
    Finished(Box<RunOutcome>),
    /// It was interrupted.
    Interrupted(InterruptedRun),
}

/// An interrupted run.
#[derive(Debug)]
pub struct InterruptedRun {
    pub experiment: String,
    pub id: String,
    /// How many items are in its journal, which is kept unless it has neither items nor payments.
    pub kept: usize,
    /// What was paid, also for items that did not finish, in USD.
    pub paid: f64,
    /// Why it was stopped, if neither on request nor by its budget: its journal, a recording or its result could not be written, or its
    /// data could not be read.
    pub error: Option<Error>,
}

impl From<InterruptedRun> for Error {
    fn from(InterruptedRun { experiment, id, kept, paid, error }: InterruptedRun) -> Self {
        error.unwrap_or_else(|| Self::Interrupted { experiment, id, kept, paid, budget: budget::refusal() })
    }
}

/// The results of a finished experiment.
#[derive(Debug)]
pub struct RunOutcome {
    pub report: Report,
    /// The items that its end names.
    pub notable: NotableItems,
    /// The result file, if one was written.
    pub path: Option<PathBuf>,
    /// Why it could not be written.
    pub unsaved: Option<Error>,
}

impl RunOutcome {
    /// The event for the end of a run, with saved results or not.
    pub fn finished_event(&self, experiment: usize) -> ExperimentFinished {
        let unsaved = self.unsaved.as_ref().map(ToString::to_string);
        let finished = ExperimentFinished::of(experiment, &self.report, &self.notable, self.path.as_deref());
        ExperimentFinished { unsaved, ..finished }
    }

    /// Warnings to print after the run.
    pub fn warnings(&self) -> Vec<Warning> {
        Warning::all_for_report(&self.report, &self.notable)
    }

    pub fn into_report(self) -> Result<Report, Error> {
        match self.unsaved {
            // The items of a large run are only in its file.
            None if self.report.items.is_empty() && self.report.summary.total_items > 0 => match &self.path {
                Some(path) => Ok(read_report(path)?),
                None => Ok(self.report),
            },
            None => Ok(self.report),
            Some(source) => Err(Error::Unsaved { report: Box::new(self.report), source: Box::new(source) }),
        }
    }
}
