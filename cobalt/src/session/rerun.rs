//! Which items are run where only those are wanted that failed last time, or that are not as they were then.
//!
//! What an item came to last time is taken from the result files: of the newest whole run of the experiment, and of the
//! partial ones since.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use super::Plan;
use crate::config::{Config, Only};
use crate::dataset::content_hash;
use crate::error::Error;
use crate::evaluators::Evaluator;
use crate::report::{EvaluatorSettings, MeasuredItem, Measurements, Report};
use crate::store::latest_reports;

/// The items that are left of those that were selected, and why it is these.
pub(crate) struct Rerun {
    /// Their indexes; `None` where all items are run.
    pub(crate) items: Option<Vec<usize>>,
    /// Why, for people.
    pub(crate) why: String,
}

/// Why an item is run. Of several reasons, the first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    Failed,
    NoResult,
    SourcesNotTold,
    SourcesNotKept,
    SourcesChanged,
    RunsChanged,
    EvaluatorsChanged,
    ContentChanged,
}

/// Read after a number of items.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Failed => "failed last time",
            Self::NoResult => "without a result yet",
            Self::SourcesNotTold => "that may have other sources now, which only `cargo cobalt run` can tell",
            Self::SourcesNotKept => "last run with sources that are not known",
            Self::SourcesChanged => "last run before the sources changed",
            Self::RunsChanged => "run another number of times",
            Self::EvaluatorsChanged => "scored before an evaluator changed",
            Self::ContentChanged => "changed since",
        })
    }
}

/// What an item came to last time.
struct Latest {
    /// What has changed since that all items of that run have in common.
    change: Option<Reason>,
    /// A hash of the item as it was.
    content: String,
    failed: bool,
}

impl Plan {
    /// Which of the selected items are run, where `None` means all items.
    pub(crate) fn rerun(
        &self,
        only: Only,
        selected: Option<Vec<usize>>,
        config: &Config,
    ) -> Result<Rerun, Error> {
        let reports = latest_reports(config.layout(), self.name())?;
        let Some(newest) = reports.first().map(|report| report.id.clone()) else {
            return Ok(Rerun { items: selected, why: "all, as there is no earlier run".to_owned() });
        };
        let latest = self.latest(&reports, config);
        let mut items = Vec::new();
        let mut reasons = BTreeMap::<_, usize>::new();
        let some_are_selected = selected.is_some();
        for index in selected.unwrap_or_else(|| (0..self.dataset.len()).collect()) {
            if let Some(reason) = self.reason(only, index, latest.get(&*self.keys[index])) {
                items.push(index);
                *reasons.entry(reason).or_default() += 1;
            }
        }
        let reasons: Vec<_> = reasons.iter().map(|(reason, items)| format!("{items} {reason}")).collect();
        let none = || match (only, some_are_selected) {
            (Only::Failed, true) => format!("none of the selected items failed last time, in run `{newest}`"),
            (Only::Failed, false) => format!("no item failed last time, in run `{newest}`"),
            (Only::Changed, _) => format!("nothing has changed since run `{newest}`"),
        };
        let why = if items.is_empty() { none() } else { reasons.join(", ") };
        let items = (items.len() < self.dataset.len()).then_some(items);
        Ok(Rerun { items, why })
    }

    /// What each item came to in the newest of the runs that have it, by its key.
    fn latest(&self, reports: &[Report], config: &Config) -> HashMap<String, Latest> {
        let mut latest = HashMap::new();
        for report in reports {
            let Measurements { runs, evaluators, items, .. } = Measurements::of(report, config.prices());
            let change = self.change_since(report.sources.as_deref(), runs, &evaluators);
            for item in items {
                let failed = !item.failed.is_empty() || self.has_low_score(&item, &evaluators);
                latest.entry(item.key).or_insert(Latest { change, content: item.content, failed });
            }
        }
        latest
    }

    /// What has changed since a run that all of its items have in common.
    fn change_since(
        &self,
        sources: Option<&str>,
        runs: usize,
        evaluators: &[EvaluatorSettings],
    ) -> Option<Reason> {
        let is_known = |(evaluator, hash): (&Arc<dyn Evaluator>, String)| {
            evaluators.iter().any(|then| then.name == evaluator.name() && then.hash.as_ref() == Some(&hash))
        };
        let hashes = self.definition.evaluator_hashes();
        match (self.sources.as_deref(), sources) {
            (None, _) => Some(Reason::SourcesNotTold),
            (_, None) => Some(Reason::SourcesNotKept),
            (Some(now), Some(then)) if now != then => Some(Reason::SourcesChanged),
            _ if runs != self.definition.runs => Some(Reason::RunsChanged),
            _ if !self.definition.evaluators.iter().zip(hashes).all(is_known) => {
                Some(Reason::EvaluatorsChanged)
            }
            _ => None,
        }
    }

    /// Whether an evaluator scored the item below the pass mark of then or, where that is not known, of now.
    fn has_low_score(&self, item: &MeasuredItem, evaluators: &[EvaluatorSettings]) -> bool {
        let of_now = |name: &str| {
            let mut evaluators = self.definition.evaluators.iter();
            evaluators.find(|evaluator| evaluator.name() == name).map(|evaluator| evaluator.pass_mark())
        };
        evaluators.iter().any(|EvaluatorSettings { name, pass_mark, .. }| {
            let mark = pass_mark.or_else(|| of_now(name));
            let mut scores = item.scores.get(name).into_iter().flatten();
            mark.is_some_and(|mark| scores.any(|score| *score < mark))
        })
    }

    fn reason(&self, only: Only, index: usize, latest: Option<&Latest>) -> Option<Reason> {
        match (only, latest) {
            (Only::Failed, latest) => latest.filter(|latest| latest.failed).map(|_| Reason::Failed),
            (Only::Changed, None) => Some(Reason::NoResult),
            (Only::Changed, Some(Latest { change, content, .. })) => change.or_else(|| {
                let is_same = content_hash(self.dataset.shared(index)) == *content;
                (!is_same).then_some(Reason::ContentChanged)
            }),
        }
    }
}
