//! Which cases there are in this process, and which runs they wait for.

use std::sync::Arc;

use super::args::Args;
use super::cases::{self, Broken, Declared, Selection, Suite, View};
use super::filter::Filter;
use super::nextest::Nextest;
use crate::config::Config;
use crate::error::Error;
use crate::private::ExperimentDefinition;
use crate::session::{Plan, Run, named_to_resume, to_resume};

/// The cases of this process, and the runs that they wait for.
#[derive(Default)]
pub(super) struct Schedule {
    pub(super) cases: Vec<Case>,
    pub(super) runs: Vec<Run>,
    /// Runs that were to be resumed and are not by this process, with the reasons.
    pub(super) not_resumed: Vec<(String, String)>,
    /// Ids of runs that were to be resumed and of which nothing is known here.
    pub(super) unknown: Vec<(String, Error)>,
}

/// A test case, and what it waits for.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) waits_for: WaitsFor,
}

/// What tells a case's verdict.
#[derive(Clone)]
pub(super) enum WaitsFor {
    /// A view of the experiment that runs under this number.
    View(usize, View),
    /// Nothing: it is known to fail, as the experiment of this name cannot be run.
    Failure { experiment: String, why: Arc<str> },
    /// Nothing: the case is not selected, and only counted.
    Unselected,
}

impl Schedule {
    /// Where each experiment is one case: the one that this process was started for.
    pub(super) fn add_wholes(
        &mut self,
        definitions: &[&'static ExperimentDefinition],
        args: &Args,
        nextest: &Nextest,
        config: &Config,
    ) -> Result<(), Error> {
        let resume = to_resume(config.layout())?;
        for definition in definitions {
            let name = cases::case_name(definition);
            if !args.selects(&name) {
                self.cases.push(Case { name, waits_for: WaitsFor::Unselected });
                continue;
            }
            match Declared::new(definition).load(config).plan {
                Ok(plan) => {
                    let resumed = resume.iter().find(|run| run.experiment == plan.name());
                    let id = resumed.map_or_else(|| nextest.run_id(plan.name()), |run| run.id.clone());
                    self.cases.push(Case { name, waits_for: WaitsFor::View(self.runs.len(), View::Whole) });
                    self.runs.push(match (nextest.is_retry(), resumed) {
                        (true, _) => Run::retry(plan, config.layout(), id)?,
                        (false, Some(_)) => Run::resume(plan, config.layout(), &id)?,
                        (false, None) => Run::with_id(plan, config.layout(), id)?,
                    });
                }
                Err(broken) => self.add_broken(name, (definition.name)(), &broken),
            }
        }
        Ok(())
    }

    /// Where all cases share this process: those of the experiments to resume, or of all that the filter selects.
    pub(super) fn add_all(
        &mut self,
        definitions: &[&'static ExperimentDefinition],
        filter: &Filter<'_>,
        args: &Args,
        config: &Config,
    ) -> Result<(), Error> {
        let (mut resume, unknown) = named_to_resume(config.layout());
        let resumes = !(resume.is_empty() && unknown.is_empty());
        self.unknown = unknown;
        for definition in definitions {
            let resumed = resume.iter().position(|run| run.experiment == (definition.name)());
            let resumed = resumed.map(|index| resume.remove(index));
            if resumes && resumed.is_none() {
                continue;
            }
            let declared = Declared::new(definition);
            if !declared.is_selected_by(filter) {
                continue;
            }
            let Suite { name, plan } = declared.load(config);
            match plan {
                Ok(plan) => self.add(&name, plan, resumed.map(|run| run.id), args, config)?,
                Err(broken) => {
                    self.add_broken(cases::broken_case(&name, &broken), (definition.name)(), &broken);
                }
            }
        }
        for run in resume {
            let is_here = definitions.iter().any(|definition| (definition.name)() == run.experiment);
            let why =
                if is_here { "of which another run is resumed" } else { "which is not in this test target" };
            let note = format!("run `{}` is one of experiment `{}`, {why}", run.id, run.experiment);
            self.not_resumed.push((run.id, note));
        }
        Ok(())
    }

    fn add_broken(&mut self, name: String, experiment: String, broken: &Broken) {
        let why = broken.error.to_string().into();
        self.cases.push(Case { name, waits_for: WaitsFor::Failure { experiment, why } });
    }

    /// An experiment's items and thresholds, and as much of a run as they need.
    fn add(
        &mut self,
        name: &str,
        plan: Plan,
        resumed: Option<String>,
        args: &Args,
        config: &Config,
    ) -> Result<(), Error> {
        let mut cases = cases::cases_of(name, &plan);
        let is_resumed = resumed.is_some();
        let run = match (resumed, cases::selection(&cases, args)) {
            (Some(id), _) => Some(Run::resume(plan, config.layout(), &id)?),
            (None, Selection::Nothing) => None,
            (None, Selection::Some(items)) => Some(Run::new(plan, Some(items), config.layout())?),
            (None, Selection::All) => Some(Run::new(plan, None, config.layout())?),
        };
        if let Some(run) = &run {
            // A partial run that was cut off has the cases of its own items only.
            if let (true, Some(items)) = (is_resumed, run.selection()) {
                cases.retain(|(_, view)| matches!(view, View::Item(index) if items.contains(index)));
            }
        }
        let number = self.runs.len();
        self.cases.extend(cases.into_iter().map(|(name, view)| {
            let waits_for = if run.is_some() { WaitsFor::View(number, view) } else { WaitsFor::Unselected };
            Case { name, waits_for }
        }));
        self.runs.extend(run);
        Ok(())
    }
}
