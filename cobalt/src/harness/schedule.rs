//! The test cases of this process, and the runs that they wait for.

use std::collections::BTreeSet;
use std::sync::Arc;

use cobalt_core::redact::redacted;
use cobalt_core::report::SourceLocation;
use cobalt_core::reporters::{MissingKey, Warning};
use cobalt_core::store::InterruptedRun;

use super::args::{Args, ExperimentFilter};
use super::cases::{
    self, CaseTarget, Cases, DeclaredExperiment, EarlierRuns, LoadFailure, SelectedExperiments, Selection,
};
use super::planned_run::{NextestProcess, PlannedRun, StartMode, results_error};
use super::warnings;
use crate::config::Config;
use crate::error::Error;
use crate::log;
use crate::private::ExperimentDefinition;
use crate::rescore::ScoredRun;
use crate::session::{MissingKeys, Run, require_runs_to_resume};

/// The cases of this process, and the runs that they wait for.
#[derive(Default)]
pub struct Schedule {
    pub(super) cases: Vec<ScheduledCases>,
    pub runs: Vec<Run>,
    /// Selected experiments of which nothing is run, with the reasons.
    pub skipped: Vec<(String, String)>,
    /// Experiments failed by earlier results that this process does not replace, with the reasons.
    pub still_failed: Vec<(String, String)>,
    /// Runs to resume that this process does not resume, with the reasons.
    pub not_resumed: Vec<(String, String)>,
    /// IDs of runs to resume that are unknown here.
    pub unknown: Vec<(String, Error)>,
    /// Warnings about probable mistakes.
    pub warnings: Vec<Warning>,
}

/// Test cases of this process.
pub enum ScheduledCases {
    One(Case),
    /// Those of an experiment, which wait for the run with this number.
    OfExperiment {
        cases: Cases,
        run: Option<usize>,
        /// The indexes of the run's items, if not all.
        selection: Option<Vec<usize>>,
        is_ignored: bool,
    },
}

impl ScheduledCases {
    /// The cases, in order.
    pub fn into_cases(self) -> Box<dyn Iterator<Item = Case>> {
        match self {
            Self::One(case) => Box::new(std::iter::once(case)),
            Self::OfExperiment { cases, run, selection, is_ignored } => {
                let case = move |(name, target): (String, CaseTarget)| {
                    let run = run.filter(|_| target.is_part_of(selection.as_deref()));
                    let source = run.map_or(CaseSource::Unselected, |run| CaseSource::Target(run, target));
                    Case { name, source, is_ignored }
                };
                Box::new(cases.into_iter().map(case))
            }
        }
    }
}

/// A test case, and what it waits for.
pub struct Case {
    pub name: String,
    pub source: CaseSource,
    /// Whether it is only run if ignored cases are requested.
    pub is_ignored: bool,
}

impl Case {
    /// Whether it is selected.
    pub fn is_selected(&self, args: &Args) -> bool {
        match &self.source {
            CaseSource::Unselected => false,
            CaseSource::Failure { stands_for_selected: true, .. } => true,
            CaseSource::Failure { suite, is_defined, .. } => {
                args.could_select(suite, *is_defined, self.is_ignored)
            }
            CaseSource::Ignored { .. } => args.selects_ignored(&self.name),
            CaseSource::Target(..) | CaseSource::All(_) => args.selects(&self.name, self.is_ignored),
        }
    }
}

/// What determines a case's verdict.
#[derive(Clone)]
pub enum CaseSource {
    /// A part of the experiment with this number.
    Target(usize, CaseTarget),
    /// All of the experiments with these numbers: the variants of one.
    All(Vec<usize>),
    /// Nothing: it fails, because the experiment of this name cannot be run. If the data was read, it is known that some of its cases
    /// were selected, and it represents those.
    Failure {
        experiment: String,
        /// The experiment's name in test cases.
        suite: String,
        /// Whether only its dataset cannot be read.
        is_defined: bool,
        declared_at: SourceLocation,
        why: Arc<str>,
        stands_for_selected: bool,
    },
    /// Nothing: the experiment of this name is not run, because this variable is not set.
    Ignored { experiment: String, variable: String },
    /// Nothing: the case is not selected, only counted.
    Unselected,
}

/// The result of reading a declaration, in declaration order.
pub enum ScheduleEntry {
    Case(Case),
    Run {
        ready: Box<PlannedRun>,
        is_ignored: bool,
    },
    /// Runs that are one case of this name.
    Together {
        name: String,
        ready: Vec<PlannedRun>,
        is_ignored: bool,
    },
}

impl ScheduleEntry {
    fn of(
        ready: Result<PlannedRun, LoadFailure>,
        experiment: String,
        suite: String,
        declared_at: SourceLocation,
        case: impl FnOnce(&LoadFailure) -> String,
        is_ignored: bool,
        stands_for_selected: bool,
    ) -> Self {
        match ready {
            Ok(ready) => Self::Run { ready: Box::new(ready), is_ignored },
            Err(broken) => {
                // Errors of user code may contain keys, for example in a URL that could not be read.
                let why = redacted(&broken.error.to_string()).into();
                let is_defined = broken.is_defined();
                let waits_for = CaseSource::Failure {
                    experiment,
                    suite,
                    is_defined,
                    declared_at,
                    why,
                    stands_for_selected,
                };
                Self::Case(Case { name: case(&broken), source: waits_for, is_ignored })
            }
        }
    }

    /// The case of an experiment that is not run because a variable is missing.
    fn ignored(name: String, experiment: String, variable: String) -> Self {
        Self::Case(Case { name, source: CaseSource::Ignored { experiment, variable }, is_ignored: true })
    }
}

impl Schedule {
    /// The cases that wait for no run.
    pub fn cases_without_run(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter_map(|cases| match cases {
            ScheduledCases::One(case) => Some(case),
            ScheduledCases::OfExperiment { .. } => None,
        })
    }

    /// A schedule with only these warnings.
    pub fn with_warnings(warnings: Vec<Warning>) -> Self {
        Self { warnings, ..Self::default() }
    }

    /// Adds experiments as one case each, of which this process runs the one that it was started for.
    pub fn add_single_cases(
        &mut self,
        definitions: &[&'static ExperimentDefinition],
        args: &Args,
        nextest: &NextestProcess,
        config: &Config,
    ) -> Result<(), Error> {
        let mut resume = require_runs_to_resume(config.layout())?;
        let mut score = ScoredRun::find_all(config)?;
        let scores = !score.is_empty();
        let mut missing = MissingKeys::default();
        let mut parts = Vec::with_capacity(definitions.len());
        let single =
            definitions.iter().flat_map(|definition| DeclaredExperiment::single_cases(definition, config));
        for (name, declared) in single {
            let first = &declared[0];
            let (experiment, declared_at) = (first.name(), first.place());
            let variable = first.ignored_without();
            let is_ignored = variable.is_some();
            parts.push(match variable {
                _ if !args.selects(&name, is_ignored) => {
                    ScheduleEntry::Case(Case { name, source: CaseSource::Unselected, is_ignored })
                }
                Some(variable) if !args.runs_ignored() => {
                    self.warnings.extend(warnings::misspelt_requirement(first, &variable));
                    ScheduleEntry::ignored(name, experiment, variable)
                }
                _ => {
                    let mut plan = |declared: DeclaredExperiment| {
                        let earlier = EarlierRuns::take(&declared.name(), &mut resume, &mut score, config);
                        let earlier = earlier.map_err(results_error)?;
                        // The agent must not be called.
                        let is_not_scored = scores && earlier.scored.is_none();
                        let ready = plan_single_case(declared, earlier, is_not_scored, nextest, config)?;
                        PlannedRun { cases: Cases::single(name.clone()), ..ready }.check(config, &mut missing)
                    };
                    let ready: Result<Vec<_>, _> = declared.into_iter().map(&mut plan).collect();
                    match ready {
                        Ok(ready) if ready.len() > 1 => ScheduleEntry::Together { name, ready, is_ignored },
                        ready => {
                            let ready = ready.map(|mut ready| ready.remove(0));
                            ScheduleEntry::of(
                                ready,
                                experiment,
                                name.clone(),
                                declared_at,
                                |_| name,
                                is_ignored,
                                true,
                            )
                        }
                    }
                }
            });
        }
        missing.into_result()?;
        self.open_journals(parts, config)
    }

    /// Adds all cases, for a process that runs them all: those of the experiments to resume, or of all that the filter selects.
    pub fn add_all_cases(
        &mut self,
        definitions: &[&'static ExperimentDefinition],
        filter: &ExperimentFilter<'_>,
        args: &Args,
        config: &Config,
    ) -> Result<(), Error> {
        let SelectedExperiments { experiments, unmatched: left, unknown, not_scored } =
            SelectedExperiments::select(definitions, filter, config)?;
        self.unknown = unknown;
        let mut missing = MissingKeys::default();
        let mut parts = Vec::with_capacity(experiments.len());
        let compared: BTreeSet<_> =
            experiments.iter().flat_map(|(declared, _)| declared.variants_to_compare(args, config)).collect();
        for (declared, earlier) in experiments {
            parts.push(match declared.ignored_without() {
                Some(variable) if !args.runs_ignored() => self.ignored(&declared, variable, earlier.resumed),
                variable => {
                    let is_compared = compared.contains(&declared.case_name());
                    let wanted = Wanted { is_ignored: variable.is_some(), is_compared, earlier };
                    prepare_entry(declared, wanted, args, config, &mut missing)
                }
            });
        }
        missing.into_result()?;
        for run in left {
            let mut declared =
                definitions.iter().flat_map(|definition| DeclaredExperiment::all(definition, config));
            let is_here = declared.any(|declared| declared.name() == run.experiment);
            let why =
                if is_here { "for which another run is resumed" } else { "which is not in this test target" };
            let note = format!("run `{}` belongs to experiment `{}`, {why}", run.id, run.experiment);
            self.not_resumed.push((run.id, note));
        }
        for run in not_scored {
            let (id, experiment) = (run.id(), run.experiment());
            let note =
                format!("run `{id}` belongs to experiment `{experiment}`, which is not in this test target");
            self.not_resumed.push((id.to_owned(), note));
        }
        self.open_journals(parts, config)
    }

    /// An experiment that is not run, nor its run resumed, because a variable is missing.
    fn ignored(
        &mut self,
        declared: &DeclaredExperiment,
        variable: String,
        resumed: Option<InterruptedRun>,
    ) -> ScheduleEntry {
        let experiment = declared.name();
        log::debug!(
            experiment = experiment,
            variable = variable,
            "ignores the experiment; the variable is not set"
        );
        self.warnings.extend(warnings::misspelt_requirement(declared, &variable));
        if let Some(InterruptedRun { id, .. }) = resumed {
            let note = format!(
                "run `{id}` belongs to experiment `{experiment}`, which is ignored because {variable} is not set"
            );
            self.not_resumed.push((id, note));
        }
        ScheduleEntry::ignored(declared.case_name(), experiment, variable)
    }

    /// Opens the journal of a run, if any of its items is run, and gives the run a number.
    fn start(&mut self, ready: PlannedRun, config: &Config) -> Result<(Cases, Option<usize>), Error> {
        let why_nothing = ready.skip_reason();
        self.skipped.extend(why_nothing.map(|why| (ready.plan.name().to_owned(), why)));
        self.warnings.extend(ready.plan.warnings());
        let still_failed = ready.still_failed();
        self.still_failed.extend(still_failed.map(|why| (ready.plan.name().to_owned(), why)));
        let (cases, run) = ready.start(config)?;
        let number = run.is_some().then_some(self.runs.len());
        self.runs.extend(run);
        Ok((cases, number))
    }

    /// Opens the journals.
    fn open_journals(&mut self, parts: Vec<ScheduleEntry>, config: &Config) -> Result<(), Error> {
        for part in parts {
            match part {
                ScheduleEntry::Case(case) => self.cases.push(ScheduledCases::One(case)),
                ScheduleEntry::Run { ready, is_ignored } => {
                    let (cases, run) = self.start(*ready, config)?;
                    let selection = run.and_then(|run| self.runs[run].selection().map(<[usize]>::to_vec));
                    self.cases.push(ScheduledCases::OfExperiment { cases, run, selection, is_ignored });
                }
                ScheduleEntry::Together { name, ready, is_ignored } => {
                    let mut numbers = Vec::with_capacity(ready.len());
                    for ready in ready {
                        numbers.extend(self.start(ready, config)?.1);
                    }
                    let source =
                        if numbers.is_empty() { CaseSource::Unselected } else { CaseSource::All(numbers) };
                    self.cases.push(ScheduledCases::One(Case { name, source, is_ignored }));
                }
            }
        }
        Ok(())
    }
}

/// Plans the run of an experiment that is a single case.
fn plan_single_case(
    declared: DeclaredExperiment,
    EarlierRuns { resumed, scored }: EarlierRuns,
    is_not_scored: bool,
    nextest: &NextestProcess,
    config: &Config,
) -> Result<PlannedRun, LoadFailure> {
    let id = declared.variant_run_id().unwrap_or_else(|| nextest.run_id(&declared.name()));
    let plan = declared.load_to_score(scored, config).plan?;
    let start = match (nextest.is_retry(), resumed) {
        (_, None) if is_not_scored => StartMode::Skip { why: None, still_failed: None },
        (true, Some(run)) => StartMode::retry_run(&plan, run, config)?,
        (true, None) if config.layout().has_run(&id) => StartMode::retry(&plan, &id, config)?,
        (false, Some(run)) => StartMode::Resume(run),
        (_, None) => StartMode::new_run(&plan, None, Some(id), config)?,
    };
    Ok(PlannedRun { plan, cases: Cases::default(), start })
}

/// What is wanted of an experiment, apart from its test cases.
#[derive(Default)]
pub struct Wanted {
    /// Whether it is a single case, because it is normally ignored.
    is_ignored: bool,
    /// Whether a selected threshold compares another variant with it, so that all of its items are run.
    is_compared: bool,
    /// The run to resume, or whose outputs are scored.
    earlier: EarlierRuns,
}

/// Prepares an experiment's cases, or its single case if it is normally ignored, and the run that they need.
pub fn prepare_entry(
    declared: DeclaredExperiment,
    wanted: Wanted,
    args: &Args,
    config: &Config,
    missing: &mut MissingKeys,
) -> ScheduleEntry {
    let Wanted { is_ignored, is_compared, earlier: EarlierRuns { resumed, scored } } = wanted;
    let (name, experiment, declared_at) = (declared.case_name(), declared.name(), declared.place());
    let plan = declared.load_to_score(scored, config).plan;
    let is_read = plan.is_ok();
    let ready = plan.and_then(|plan| {
        let cases = if is_ignored { Cases::single(name.clone()) } else { Cases::of_experiment(&name, &plan) };
        let way = match (resumed, cases::select_items(cases.iter(), |case| args.selects(case, is_ignored))) {
            (Some(run), _) => StartMode::Resume(run),
            (None, _) if is_compared => StartMode::new_run(&plan, None, None, config)?,
            (None, Selection::Nothing) => StartMode::Skip { why: None, still_failed: None },
            (None, Selection::Some(items)) => StartMode::new_run(&plan, Some(items), None, config)?,
            (None, Selection::All) => StartMode::new_run(&plan, None, None, config)?,
        };
        PlannedRun { plan, cases, start: way }.check(config, missing)
    });
    let case = |broken: &LoadFailure| {
        if is_ignored { name.clone() } else { cases::failure_case_name(&name, broken) }
    };
    ScheduleEntry::of(ready, experiment, name.clone(), declared_at, case, is_ignored, is_read)
}

/// The missing keys, each once. Other problems are reported when the experiments are run.
pub fn missing(
    definitions: &[&'static ExperimentDefinition],
    filter: &ExperimentFilter<'_>,
    args: &Args,
    config: &Config,
) -> Vec<MissingKey> {
    let mut missing = MissingKeys::default();
    if args.mimic.list {
        return missing.into();
    }
    // What is wrong with a stored run is reported when the experiments are run.
    let Ok(selected) = SelectedExperiments::select(definitions, filter, config) else { return Vec::new() };
    for (declared, earlier) in selected.experiments {
        let is_ignored = declared.ignored_without().is_some();
        if is_ignored && !args.runs_ignored() {
            continue;
        }
        let lacking =
            declared.declaration().map(|declaration| MissingKeys::of_declaration(declaration, config));
        let lacking = lacking.unwrap_or_default();
        let runs_all = earlier.resumed.is_some() || args.selects_all(is_ignored) && config.runs_all_items();
        if runs_all && earlier.scored.is_none() {
            missing.extend(lacking);
        } else if !lacking.is_empty() {
            // Whether it runs at all depends on its items.
            let wanted = Wanted { is_ignored, earlier, ..Wanted::default() };
            drop(prepare_entry(declared, wanted, args, config, &mut missing));
        }
    }
    missing.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_of_an_error_is_in_the_reason_of_a_failure() {
        let problem = "error sending request for url (https://h/x?api_key=q7Wz3mKx9PbV2nR8tY5c)".to_owned();
        let error = Error::Definition { experiment: "leaky".to_owned(), problem };
        let broken = LoadFailure { case: "dataset", error };
        let place = SourceLocation { file: "tests/leaky.rs".to_owned(), line: 1 };
        let part = ScheduleEntry::of(
            Err(broken),
            "leaky".into(),
            "leaky".into(),
            place,
            |_| "leaky".into(),
            false,
            true,
        );
        let ScheduleEntry::Case(Case { source: CaseSource::Failure { why, .. }, .. }) = part else {
            panic!()
        };
        assert!(why.contains("https://h/x?api_key=[redacted:api-key])"), "{why}");
    }
}
