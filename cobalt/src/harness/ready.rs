//! An experiment that is about to run: its evaluators were asked, and no journal is opened yet.

use super::cases::{Broken, View};
use crate::config::Config;
use crate::error::Error;
use crate::session::{MissingKeys, Plan, Run};
use crate::store::CutOff;

/// Cases by their names.
type Cases = Vec<(String, View)>;

/// An experiment that is about to run.
pub(super) struct Ready {
    pub(super) plan: Plan,
    /// The cases that show it.
    pub(super) cases: Cases,
    pub(super) way: Way,
}

/// How much of an experiment is run, and from where.
pub(super) enum Way {
    /// The items with these indexes, or all, from the start.
    Begin(Option<Vec<usize>>),
    /// All items, under an id that is given.
    BeginAs(String),
    /// What is left of a run.
    Resume(CutOff),
    /// What ended in an error in the run of this id, or all where there is none.
    Retry(String),
    /// Nothing: none of its cases is selected.
    Leave,
}

impl Way {
    /// The items that are scored, where these are not all.
    fn items(&self) -> Option<&[usize]> {
        match self {
            Self::Begin(items) | Self::Resume(CutOff { selection: items, .. }) => items.as_deref(),
            _ => None,
        }
    }
}

impl Ready {
    /// Asks the evaluators of what is to be run, and looks for what it is held against.
    pub(super) fn check(mut self, config: &Config, missing: &mut MissingKeys) -> Result<Self, Broken> {
        if matches!(self.way, Way::Leave) {
            return Ok(self);
        }
        let items = self.way.items();
        self.plan.check(items, missing).map_err(|error| Broken { case: "definition", error })?;
        // Some of the items are held against nothing.
        if items.is_none() {
            self.plan.find_baseline(config).map_err(|error| Broken { case: "baseline", error })?;
        }
        Ok(self)
    }

    /// Opens the journal. The run is absent where nothing is run.
    pub(super) fn begin(self, config: &Config) -> Result<(Cases, Option<Run>), Error> {
        let Self { plan, mut cases, way } = self;
        let layout = config.layout();
        let run = match way {
            Way::Begin(items) => Run::new(plan, items, layout)?,
            Way::BeginAs(id) => Run::with_id(plan, layout, id)?,
            Way::Retry(id) => Run::retry(plan, layout, id)?,
            Way::Resume(CutOff { id, .. }) => {
                let run = Run::resume(plan, layout, &id)?;
                // A partial run that was cut off has the cases of its own items only.
                if let Some(items) = run.selection() {
                    cases.retain(|(_, view)| match view {
                        View::Item(index) => items.contains(index),
                        View::Threshold(_) => false,
                        View::Whole => true,
                    });
                }
                run
            }
            Way::Leave => return Ok((cases, None)),
        };
        Ok((cases, Some(run)))
    }
}
