//! Selects items for `--rerun-failed` and `--changed`: those that failed last time, or whose result is missing or out of date.
//!
//! An item's latest result comes from the files: the newest full run of the experiment, and the partial and interrupted runs since.
//! Earlier failures that this run does not replace are reported with it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use cobalt_core::item::{content_hash, content_number};
use cobalt_core::redact::redacted_item;
use cobalt_core::report::{EvaluatorSettings, ItemResult, Measurements, Report, SourceState};
use cobalt_core::store::{EarlierRun, StoreError, latest_runs};
use cobalt_core::wording::{count, group_thousands};

use super::Plan;
use crate::config::{Config, RerunMode};
use crate::error::Error;
use crate::evaluators::Evaluator;
use crate::log;

/// The items to run, and why.
pub struct Rerun {
    /// Their indexes; `None` if all items are run.
    pub(crate) items: Option<Vec<usize>>,
    /// The reason, for display.
    pub(crate) reason: String,
    /// Earlier results that fail the experiment regardless of these items.
    pub(crate) still_failed: Option<String>,
}

/// Why an item is run. If several reasons apply, the first one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    Failed,
    NoResult,
    CurrentSourcesUnknown,
    EarlierSourcesUnknown,
    SourcesChanged,
    EarlierInputsUnknown,
    FilesChanged,
    VariablesChanged,
    RunsChanged,
    SettingsChanged,
    EvaluatorsChanged,
    ContentChanged,
    InError,
}

/// Reads after a number of items.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Failed => "failed last time",
            Self::NoResult => "without a result",
            Self::CurrentSourcesUnknown => "with unknown sources, which only `cargo cobalt run` tracks",
            Self::EarlierSourcesUnknown => "last run with unknown sources",
            Self::SourcesChanged => "last run before the sources changed",
            Self::EarlierInputsUnknown => "last run with unknown files and variables",
            Self::FilesChanged => "last run before files of the package changed",
            Self::VariablesChanged => "last run before environment variables changed",
            Self::SettingsChanged => "last run with other settings of the variant",
            Self::RunsChanged => "last run with a different number of trials",
            Self::EvaluatorsChanged => "scored before an evaluator changed",
            Self::ContentChanged => "changed",
            Self::InError => "in error last time",
        })
    }
}

/// An item's latest result.
struct LatestResult {
    /// A change since that affects all items of that run.
    change: Option<Reason>,
    /// A hash of the item at that time.
    content: u64,
    /// A hash of the files of its workspace at that time.
    workspace: Option<String>,
    /// Whether it was in error.
    in_error: bool,
    /// Whether it was below a pass mark.
    below_pass_mark: bool,
    /// The run ID.
    run: Arc<str>,
}

/// The maximum number of failed items to name.
const MAX_NAMED: usize = 5;

impl Plan {
    /// Which of the selected items to run; `None` means all items.
    pub fn rerun(
        &self,
        only: RerunMode,
        selected: Option<Vec<usize>>,
        config: &Config,
    ) -> Result<Rerun, Error> {
        let runs = latest_runs(config.layout(), self.name())?;
        let Some(newest) = runs.first().map(|run| run.head.id.clone()) else {
            let why = "all, because there is no earlier run".to_owned();
            log::debug!(experiment = self.name(), "runs all items; there is no earlier run");
            return Ok(Rerun { items: selected, reason: why, still_failed: None });
        };
        let latest = self.latest_results(&runs, config)?;
        let mut items = Vec::new();
        let mut reasons = BTreeMap::<_, usize>::new();
        let some_are_selected = selected.is_some();
        let selected = selected.unwrap_or_else(|| (0..self.dataset.len()).collect());
        for &index in &selected {
            if let Some(reason) = self.reason(only, index, latest.get(&self.keys[index])) {
                log::debug!(
                    experiment = self.name(),
                    item = self.keys[index],
                    reason = reason,
                    "runs the item again"
                );
                items.push(index);
                *reasons.entry(reason).or_default() += 1;
            } else {
                log::debug!(
                    experiment = self.name(),
                    item = self.keys[index],
                    run = newest,
                    "skips the item; its result is up to date"
                );
            }
        }
        let reasons: Vec<_> = reasons
            .iter()
            .map(|(reason, items)| format!("{} {reason}", group_thousands(*items as u64)))
            .collect();
        let none = || match (only, some_are_selected) {
            (RerunMode::Failed, true) => {
                format!("none of the selected items failed last time (run `{newest}`)")
            }
            (RerunMode::Failed, false) => format!("no item failed last time (run `{newest}`)"),
            (RerunMode::Changed, _) => format!("nothing has changed since run `{newest}`"),
        };
        let why = if items.is_empty() { none() } else { reasons.join(", ") };
        let items = (items.len() < self.dataset.len()).then_some(items);
        // If items are selected, thresholds are not requested: they are about all items.
        let thresholds = match items {
            Some(_) if !some_are_selected => self.failed_thresholds(&runs)?,
            _ => None,
        };
        let still_failed =
            items.as_ref().and_then(|items| self.other_failures(items, selected, &latest, thresholds));
        Ok(Rerun { items, reason: why, still_failed })
    }

    /// Earlier results that fail the experiment regardless of a run of these items.
    pub fn other_earlier_failures(&self, items: &[usize], config: &Config) -> Result<Option<String>, Error> {
        let runs = latest_runs(config.layout(), self.name())?;
        let (latest, all) = (self.latest_results(&runs, config)?, 0..self.dataset.len());
        Ok(self.other_failures(items, all, &latest, self.failed_thresholds(&runs)?))
    }

    /// The selected items that fail the experiment and are not among these, and the failed thresholds.
    fn other_failures(
        &self,
        items: &[usize],
        selected: impl IntoIterator<Item = usize>,
        latest: &HashMap<String, LatestResult>,
        thresholds: Option<String>,
    ) -> Option<String> {
        let run: HashSet<_> = items.iter().collect();
        let others = selected.into_iter().filter(|index| !run.contains(index));
        let mut reasons = self.failed_items(others, latest);
        reasons.extend(thresholds);
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    /// The items that are not run and whose latest results fail the experiment.
    fn failed_items(
        &self,
        items: impl Iterator<Item = usize>,
        latest: &HashMap<String, LatestResult>,
    ) -> Vec<String> {
        let names = self.dataset.case_names();
        let mut failed = BTreeMap::<_, Vec<usize>>::new();
        for index in items {
            let Some(latest) = latest.get(&self.keys[index]) else { continue };
            if latest.in_error || self.definition.strict && latest.below_pass_mark {
                let what = if latest.in_error { "in error" } else { "below a pass mark" };
                failed.entry((what, &*latest.run)).or_default().push(index);
            }
        }
        let reason = |((what, run), items): ((&str, &str), Vec<usize>)| {
            let more = items.len().saturating_sub(MAX_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let named =
                items.iter().take(MAX_NAMED).map(|index| names.get(*index)).collect::<Vec<_>>().join(", ");
            format!("{} {what} in run `{run}` ({named}{more})", count(items.len(), "item"))
        };
        failed.into_iter().map(reason).collect()
    }

    /// The thresholds that fail the experiment: those that did not pass in the last full run, with its bounds. If a later full run was
    /// interrupted with items in error or below a pass mark, it is unknown whether they still pass.
    fn failed_thresholds(&self, runs: &[EarlierRun]) -> Result<Option<String>, StoreError> {
        if self.definition.thresholds.is_empty() {
            return Ok(None);
        }
        let whole = runs.iter().find(|run| run.is_whole()).map(|run| &run.head);
        let outcomes = whole.map_or(&[][..], Report::thresholds).iter();
        let missed = outcomes.filter(|outcome| !outcome.passed);
        let missed: Vec<_> = missed.map(|outcome| format!("`{}`", outcome.name)).collect();
        if let Some(whole) = whole.filter(|_| !missed.is_empty()) {
            let (id, missed) = (&whole.id, missed.join(", "));
            return Ok(Some(format!(
                "{missed} did not pass in run `{id}`, the last full run; thresholds are evaluated again by the next full run"
            )));
        }
        for run in runs.iter().filter(|run| run.is_interrupted && !run.head.partial) {
            let mut failed = 0;
            run.for_each_item(|_, item| failed += usize::from(!item.passed))?;
            if failed > 0 {
                let (id, items) = (&run.head.id, count(failed, "item"));
                return Ok(Some(format!(
                    "full run `{id}` was interrupted with {items} in error or below a pass mark, before its thresholds were \
                     evaluated; evaluate them with `cargo cobalt run --resume {id}` or another full run"
                )));
            }
        }
        Ok(None)
    }

    /// The latest result of each item, by its key.
    fn latest_results(
        &self,
        runs: &[EarlierRun],
        config: &Config,
    ) -> Result<HashMap<String, LatestResult>, StoreError> {
        let mut latest = HashMap::new();
        for run in runs {
            let head = &run.head;
            let Measurements { runs: trials, evaluators, .. } =
                Measurements::from_report(head, config.prices());
            let change = self.change_since(head.sources.as_deref(), trials, &evaluators);
            let change = change.or_else(|| self.has_other_settings(head).then_some(Reason::SettingsChanged));
            let id: Arc<str> = head.id.as_str().into();
            run.for_each_item(|key, item| {
                // The runs are in order from the newest.
                if latest.contains_key(key) {
                    return;
                }
                let workspace = item.first_trial().workspace.as_ref();
                let result = LatestResult {
                    change,
                    content: content_number(&content_hash(&item.input)),
                    workspace: workspace.and_then(|changes| changes.source.clone()),
                    in_error: item.is_in_error(),
                    below_pass_mark: self.is_below_pass_mark(item, &evaluators),
                    run: Arc::clone(&id),
                };
                latest.insert(key.to_owned(), result);
            })?;
        }
        Ok(latest)
    }

    /// Whether the settings of the variant were others: they may be computed, for example from a file.
    fn has_other_settings(&self, report: &Report) -> bool {
        let then = report.variant.as_ref().map(|variant| &variant.settings);
        self.stored_variant().map(|variant| variant.settings).as_ref() != then
    }

    /// A change since a run that affects all of its items.
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
            (None, _) => Some(Reason::CurrentSourcesUnknown),
            (_, None) => Some(Reason::EarlierSourcesUnknown),
            (Some(now), Some(then)) if now != then => {
                let (now, then) = (SourceState::parse(now), SourceState::parse(then));
                Some(match (now.files, then.files) {
                    _ if now.code != then.code => Reason::SourcesChanged,
                    (Some(_), None) => Reason::EarlierInputsUnknown,
                    (now, then) if now != then => Reason::FilesChanged,
                    _ => Reason::VariablesChanged,
                })
            }
            _ if runs != self.definition.runs => Some(Reason::RunsChanged),
            _ if !self.definition.evaluators.iter().zip(hashes).all(is_known) => {
                Some(Reason::EvaluatorsChanged)
            }
            _ => None,
        }
    }

    /// Whether an evaluator scored the item below its pass mark at that time or, if unknown, its current one.
    fn is_below_pass_mark(&self, item: &ItemResult, evaluators: &[EvaluatorSettings]) -> bool {
        let of_now = |name: &str| {
            let mut evaluators = self.definition.evaluators.iter();
            evaluators.find(|evaluator| evaluator.name() == name).map(|evaluator| evaluator.pass_mark())
        };
        evaluators.iter().any(|EvaluatorSettings { name, pass_mark, .. }| {
            let mark = pass_mark.or_else(|| of_now(name));
            mark.is_some_and(|mark| item.scores(name).any(|score| score < mark))
        })
    }

    fn reason(&self, only: RerunMode, index: usize, latest: Option<&LatestResult>) -> Option<Reason> {
        match (only, latest) {
            (RerunMode::Failed, latest) => {
                latest.filter(|latest| latest.in_error || latest.below_pass_mark).map(|_| Reason::Failed)
            }
            (RerunMode::Changed, None) => Some(Reason::NoResult),
            (RerunMode::Changed, Some(LatestResult { change, content, workspace, in_error, .. })) => {
                let item = self.dataset.shared(index);
                let has_same_files = || match (&self.workspaces, workspace) {
                    (Some(workspaces), Some(then)) => !workspaces.have_changed(&item, then),
                    _ => true,
                };
                let is_same =
                    || content_number(&content_hash(&redacted_item(&item))) == *content && has_same_files();
                // An error may be that of a request that was not recorded, and is recorded now.
                let records = self.definition.recording.mode.records();
                let changed = change.or_else(|| (!is_same()).then_some(Reason::ContentChanged));
                changed.or_else(|| (*in_error && records).then_some(Reason::InError))
            }
        }
    }
}
