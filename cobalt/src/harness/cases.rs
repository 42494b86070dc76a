//! The test cases of a binary: its experiments as Cargo, nextest and editors see them.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

use cobalt_core::error_chain::{BoxError, format_with_causes};
use cobalt_core::item::{CaseNames, Item};
use cobalt_core::report::{SourceLocation, Threshold};
use cobalt_core::store::{InterruptedRun, find_name_conflict, new_run_id};
use cobalt_core::{experiment_name, paths};

use super::args::{Args, ExperimentFilter};
use super::planned_run::NextestProcess;
use crate::config::Config;
use crate::dataset::Dataset;
use crate::error::Error;
use crate::experiment::{Declaration, Experiment, Prepared, ResolvedVariant};
use crate::log;
use crate::private::ExperimentDefinition;
use crate::rescore::ScoredRun;
use crate::session::{Plan, divide_into_variants, find_runs_to_resume, resolve_thresholds};
use crate::thread_pool;

/// A loaded experiment, or the case that reports why loading failed.
pub struct Suite {
    /// The experiment's name in test cases.
    pub name: String,
    pub plan: Result<Plan, LoadFailure>,
}

impl Suite {
    /// The names of the selected cases of an experiment that is not ignored.
    pub fn selected_cases(&self, args: &Args) -> Vec<String> {
        match &self.plan {
            Ok(plan) => {
                let names = Cases::of_experiment(&self.name, plan).into_iter().map(|(name, _)| name);
                names.filter(|name| args.selects(name, false)).collect()
            }
            Err(broken) if args.could_select(&self.name, broken.is_defined(), false) => {
                vec![failure_case_name(&self.name, broken)]
            }
            Err(_) => Vec::new(),
        }
    }
}

/// Why an experiment cannot be run, and the case that reports it.
pub struct LoadFailure {
    pub case: &'static str,
    pub error: Error,
}

impl LoadFailure {
    /// Whether only the dataset cannot be read.
    pub fn is_defined(&self) -> bool {
        self.case == "dataset"
    }
}

/// The part of an experiment that a case represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseTarget {
    /// An item, by its index in the dataset.
    Item(usize),
    /// A threshold, by its index in the experiment.
    Threshold(usize),
    /// A summary function, by its index in the experiment.
    Summary(usize),
    /// The whole experiment.
    Experiment,
}

impl CaseTarget {
    /// Whether it is part of a run of the items with these indexes, or of all items.
    pub fn is_part_of(self, items: Option<&[usize]>) -> bool {
        match (items, self) {
            // Partial runs do not evaluate thresholds, and their summaries may lack items that they need.
            (Some(_), Self::Threshold(_) | Self::Summary(_)) => false,
            (Some(items), Self::Item(index)) => items.binary_search(&index).is_ok(),
            (None, _) | (_, Self::Experiment) => true,
        }
    }
}

/// The registered experiments, in the order of their files and lines.
pub fn definitions() -> Result<Vec<&'static ExperimentDefinition>, String> {
    let mut definitions: Vec<_> = inventory::iter::<ExperimentDefinition>.into_iter().collect();
    definitions.sort_by_key(|definition| (definition.file, definition.line));
    if definitions.is_empty() {
        return Err("no experiment is declared in this test target; mark a function with `#[cobalt::experiment(..)]`, \
                    or remove the target"
            .to_owned());
    }
    let mut named = HashMap::new();
    for definition in &definitions {
        let this = ((definition.name)(), source_place(definition));
        if let Some(earlier) = named.insert(case_name(definition), this.clone()) {
            return Err(experiment_name::conflict_message(&earlier, &this));
        }
    }
    Ok(definitions)
}

/// An experiment's name in test cases.
pub fn case_name(definition: &ExperimentDefinition) -> String {
    experiment_name::case_name(&(definition.name)())
}

/// Where an experiment is declared.
fn source_place(definition: &ExperimentDefinition) -> SourceLocation {
    SourceLocation::new(definition.file, definition.line)
}

/// An experiment whose declaration was read, but not its data; of an experiment with variants, one of them.
pub struct DeclaredExperiment {
    definition: &'static ExperimentDefinition,
    prepared: Result<Prepared, LoadFailure>,
    /// The data, which the variants share.
    dataset: SharedDataset,
}

/// The dataset of an experiment, which is read at most once. An error is kept as text.
type SharedDataset = Rc<OnceCell<Result<Dataset, String>>>;

impl DeclaredExperiment {
    /// Reads the declaration, and divides the experiment into its selected variants. Empty if none is selected.
    pub fn all(definition: &'static ExperimentDefinition, config: &Config) -> Vec<Self> {
        let declared = Self::read(definition);
        let Self { definition, prepared, dataset } = declared;
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(broken) => return vec![Self { definition, prepared: Err(broken), dataset }],
        };
        let name = prepared.experiment.declaration.name.clone();
        let group =
            NextestProcess::from_environment().map_or_else(new_run_id, |nextest| nextest.run_id(&name));
        match divide_into_variants(prepared, config.variants(), &group) {
            Ok(variants) => variants
                .into_iter()
                .map(|prepared| Self { definition, prepared: Ok(prepared), dataset: Rc::clone(&dataset) })
                .collect(),
            Err(problem) => {
                let error = Error::Definition { experiment: name, problem };
                vec![Self { definition, prepared: Err(LoadFailure { case: "definition", error }), dataset }]
            }
        }
    }

    /// Reads the declaration, with all variants.
    pub fn read(definition: &'static ExperimentDefinition) -> Self {
        let name = (definition.name)();
        let mut experiment = Experiment::new(name.clone(), Dataset::from_items([] as [Item; 0]));
        experiment.declaration.source_hash = Some(definition.source_hash);
        experiment.declaration.declared_at = Some(source_place(definition));
        let prepared = catch_user_panic(|| (definition.define)(experiment)).map_err(|problem| LoadFailure {
            case: "definition",
            error: Error::Definition { experiment: name, problem: format_with_causes(&*problem) },
        });
        Self { definition, prepared, dataset: SharedDataset::default() }
    }

    /// The declaration, unless reading it failed.
    pub fn declaration(&self) -> Option<&Declaration> {
        self.prepared.as_ref().ok().map(|prepared| &prepared.experiment.declaration)
    }

    /// The experiment's tags; none if reading the declaration failed.
    pub fn tags(&self) -> &[String] {
        self.declaration().map_or(&[], |declaration| &declaration.tags)
    }

    /// Where it is declared.
    pub fn place(&self) -> SourceLocation {
        source_place(self.definition)
    }

    /// The name of its runs: that of the experiment, or of the variant.
    pub fn name(&self) -> String {
        self.declaration().map_or_else(|| (self.definition.name)(), |declaration| declaration.name.clone())
    }

    /// The name of the experiment, without the variant.
    pub fn experiment_name(&self) -> String {
        (self.definition.name)()
    }

    /// Whether a threshold compares it with another variant, so that both must run in one process.
    fn is_compared_with_variant(&self, config: &Config) -> bool {
        self.thresholds(config).iter().any(|threshold| threshold.against().is_some())
    }

    fn thresholds(&self, config: &Config) -> Vec<Threshold> {
        self.declaration().map(|declaration| resolve_thresholds(declaration, config)).unwrap_or_default()
    }

    /// The variants that its selected thresholds compare it with, by their names in test cases.
    pub fn variants_to_compare(&self, args: &Args, config: &Config) -> Vec<String> {
        let (thresholds, name) = (self.thresholds(config), self.case_name());
        let is_selected = |threshold: &&Threshold| {
            args.selects(&format!("{name}::thresholds::{}", threshold.case_name()), false)
        };
        let compared = thresholds.iter().filter(is_selected).filter_map(Threshold::against);
        let experiment = case_name(self.definition);
        compared.map(|variant| format!("{experiment}::{}", experiment_name::case_name(variant))).collect()
    }

    /// The experiments of a definition that are a single case each, for test runners with a process per case: the variants, or all of them
    /// together if thresholds compare them.
    pub fn single_cases(
        definition: &'static ExperimentDefinition,
        config: &Config,
    ) -> Vec<(String, Vec<Self>)> {
        let all = Self::all(definition, config);
        if all.len() > 1 && all.iter().any(|declared| declared.is_compared_with_variant(config)) {
            return vec![(case_name(definition), all)];
        }
        all.into_iter().map(|declared| (declared.case_name(), vec![declared])).collect()
    }

    /// The ID of the variant's run.
    pub fn variant_run_id(&self) -> Option<String> {
        self.variant().map(ResolvedVariant::run_id)
    }

    pub fn variant(&self) -> Option<&ResolvedVariant> {
        self.declaration()?.variant.as_ref()
    }

    /// Its name in test cases: `<experiment>`, or `<experiment>::<variant>`.
    pub fn case_name(&self) -> String {
        let experiment = case_name(self.definition);
        match self.variant() {
            Some(variant) => format!("{experiment}::{}", experiment_name::case_name(&variant.name)),
            None => experiment,
        }
    }

    /// The missing variable because of which the experiment is a single ignored case.
    pub fn ignored_without(&self) -> Option<String> {
        self.declaration()?.missing_variable().map(str::to_owned)
    }

    pub fn is_selected_by(&self, filter: &ExperimentFilter<'_>) -> bool {
        let names = [self.experiment_name(), self.name(), self.case_name()];
        match self.declaration() {
            Some(_) => names.iter().any(|name| filter.selects(name, self.tags().iter().map(String::as_str))),
            // Any pattern could match one of its tags or variants.
            None => names.iter().any(|name| filter.selects_name(name)),
        }
    }

    /// Reads the data, and resolves the settings.
    pub fn load(self, config: &Config) -> Suite {
        self.load_to_score(None, config)
    }

    /// The same, to score the outputs of a stored run instead of calling the agent, if there is one.
    pub fn load_to_score(self, scored: Option<ScoredRun>, config: &Config) -> Suite {
        Suite { name: self.case_name(), plan: self.plan(scored, config) }
    }

    /// Refuses an experiment whose name another test target declares too: both would share a baseline and a history.
    fn refuse_namesake(&self, config: &Config) -> Result<(), LoadFailure> {
        let this = (self.experiment_name(), self.place());
        let Some(other) =
            find_name_conflict(config.layout(), &paths::workspace_root(&paths::package_root()), &this)
        else {
            return Ok(());
        };
        if !other.is_certain {
            eprintln!("warning: {other}");
            return Ok(());
        }
        let problem = other.to_string();
        Err(LoadFailure { case: "definition", error: Error::Definition { experiment: this.0, problem } })
    }

    fn plan(self, scored: Option<ScoredRun>, config: &Config) -> Result<Plan, LoadFailure> {
        self.refuse_namesake(config)?;
        let read = || catch_user_panic(self.definition.dataset).map_err(|error| format_with_causes(&*error));
        let dataset = self.dataset.get_or_init(read).clone().map_err(|source| LoadFailure {
            case: "dataset",
            error: Error::ExperimentDataset { experiment: self.experiment_name(), source: source.into() },
        })?;
        let mut prepared = self.prepared?;
        prepared.experiment.dataset = Ok(dataset);
        Plan::new(prepared, scored, config).map_err(|error| LoadFailure {
            case: if matches!(error, Error::Definition { .. }) { "definition" } else { "dataset" },
            error,
        })
    }
}

/// The cases of an experiment, in order. The names of items are made when they are needed.
#[derive(Default)]
pub struct Cases {
    /// The experiment's name in test cases.
    experiment: String,
    items: Arc<CaseNames>,
    /// Those that are no items.
    others: Vec<(String, CaseTarget)>,
}

impl Cases {
    /// The only case of an experiment.
    pub fn single(name: String) -> Self {
        Self { others: vec![(name, CaseTarget::Experiment)], ..Self::default() }
    }

    /// The cases for an experiment's items, summary functions and thresholds.
    pub fn of_experiment(name: &str, plan: &Plan) -> Self {
        let thresholds = plan.definition().thresholds.iter().enumerate().map(|(index, threshold)| {
            (format!("{name}::thresholds::{}", threshold.case_name()), CaseTarget::Threshold(index))
        });
        let summaries = plan.definition().summaries.iter().enumerate().map(|(index, summary)| {
            let summary = summary.name().replace(char::is_whitespace, "-");
            (format!("{name}::summaries::{summary}"), CaseTarget::Summary(index))
        });
        let others = summaries.chain(thresholds).collect();
        Self { experiment: name.to_owned(), items: Arc::clone(&plan.names), others }
    }

    pub fn iter(&self) -> impl Iterator<Item = (String, CaseTarget)> {
        (0..self.items.len()).map(|index| self.item(index)).chain(self.others.iter().cloned())
    }

    fn item(&self, index: usize) -> (String, CaseTarget) {
        (format!("{}::{}", self.experiment, self.items.get(index)), CaseTarget::Item(index))
    }
}

impl IntoIterator for Cases {
    type Item = (String, CaseTarget);
    type IntoIter = Box<dyn Iterator<Item = Self::Item>>;

    fn into_iter(mut self) -> Self::IntoIter {
        let others = std::mem::take(&mut self.others);
        Box::new((0..self.items.len()).map(move |index| self.item(index)).chain(others))
    }
}

/// Calls user code; a panic becomes an error of that experiment.
fn catch_user_panic<T>(declared: impl FnOnce() -> Result<T, BoxError>) -> Result<T, BoxError> {
    catch_unwind(AssertUnwindSafe(declared))
        .unwrap_or_else(|panic| Err(thread_pool::describe_panic(&*panic).into()))
}

/// The items to run for the selected cases of an experiment: none, some, or all.
pub fn select_items(
    cases: impl Iterator<Item = (String, CaseTarget)>,
    selects: impl Fn(&str) -> bool,
) -> Selection {
    let mut items = Vec::new();
    let mut all = true;
    for (name, view) in cases {
        match (view, selects(&name)) {
            (CaseTarget::Item(index), true) => items.push(index),
            (CaseTarget::Item(_), false) => all = false,
            // All others need all items.
            (_, true) => return Selection::All,
            (_, false) => {}
        }
    }
    match items.is_empty() {
        _ if all => Selection::All,
        true => Selection::Nothing,
        false => Selection::Some(items),
    }
}

/// The name of the case that reports why an experiment cannot be run.
pub fn failure_case_name(suite: &str, broken: &LoadFailure) -> String {
    format!("{suite}::{}", broken.case)
}

/// Which items of an experiment to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    Nothing,
    /// The items with these indexes.
    Some(Vec<usize>),
    All,
}

/// The stored runs from which an experiment starts.
#[derive(Debug, Default)]
pub struct EarlierRuns {
    /// The run to resume.
    pub resumed: Option<InterruptedRun>,
    /// The run whose outputs are scored, also by the run to resume.
    pub scored: Option<ScoredRun>,
}

impl EarlierRuns {
    /// Those of an experiment, removed from the lists of all.
    pub fn take(
        experiment: &str,
        resume: &mut Vec<InterruptedRun>,
        score: &mut Vec<ScoredRun>,
        config: &Config,
    ) -> Result<Self, Error> {
        let resumed = resume.iter().position(|run| run.experiment == experiment);
        let resumed = resumed.map(|index| resume.remove(index));
        let scored = score.iter().position(|run| run.experiment() == experiment);
        let scored = match (scored, &resumed) {
            (Some(index), _) => Some(score.remove(index)),
            (None, Some(resumed)) => ScoredRun::of_resumed(resumed, config.layout())?,
            (None, None) => None,
        };
        Ok(Self { resumed, scored })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.resumed.is_none() && self.scored.is_none()
    }
}

/// The experiments of a process, and the runs that it should resume.
pub struct SelectedExperiments {
    /// The experiments in order, each with its stored runs.
    pub experiments: Vec<(DeclaredExperiment, EarlierRuns)>,
    /// Runs to resume that belong to none of them.
    pub unmatched: Vec<InterruptedRun>,
    /// IDs of runs to resume that are unknown here.
    pub unknown: Vec<(String, Error)>,
    /// Runs to score that belong to no experiment of this process.
    pub not_scored: Vec<ScoredRun>,
}

impl SelectedExperiments {
    /// Reads the declarations, without data.
    pub fn select(
        definitions: &[&'static ExperimentDefinition],
        filter: &ExperimentFilter<'_>,
        config: &Config,
    ) -> Result<Self, Error> {
        let (mut resume, unknown) = find_runs_to_resume(config.layout());
        let mut score = ScoredRun::find_all(config)?;
        let is_limited = !(resume.is_empty() && unknown.is_empty() && score.is_empty());
        let mut experiments = Vec::with_capacity(definitions.len());
        for definition in definitions {
            for declared in DeclaredExperiment::all(definition, config) {
                let earlier = EarlierRuns::take(&declared.name(), &mut resume, &mut score, config)?;
                let is_left_out = is_limited && earlier.is_empty();
                if !is_left_out && declared.is_selected_by(filter) {
                    log::debug!(
                        experiment = declared.name(),
                        resumes = earlier.resumed.is_some(),
                        scores_again = earlier.scored.is_some(),
                        "selected the experiment"
                    );
                    experiments.push((declared, earlier));
                } else {
                    let reason = if is_left_out { "no run to resume or score" } else { "the filter" };
                    log::debug!(experiment = declared.name(), reason = reason, "left out the experiment");
                }
            }
        }
        Ok(Self { experiments, unmatched: resume, unknown, not_scored: score })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(filter: &str) -> Selection {
        let cases = [
            ("e::a", CaseTarget::Item(0)),
            ("e::b", CaseTarget::Item(1)),
            ("e::thresholds::x>=1", CaseTarget::Threshold(0)),
        ];
        let cases = cases.map(|(name, view)| (name.to_owned(), view));
        select_items(cases.into_iter(), |name| name.contains(filter))
    }

    #[test]
    fn a_filter_that_picks_some_items_runs_those_only() {
        assert_eq!(select("e::b"), Selection::Some(vec![1]));
        assert_eq!(select("other"), Selection::Nothing);
        assert_eq!(select("e::"), Selection::All);
    }

    #[test]
    fn a_picked_threshold_brings_in_all_items() {
        assert_eq!(select("thresholds"), Selection::All);
    }
}
