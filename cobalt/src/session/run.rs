//! A run of a plan: all items or some, new or resumed from an earlier process.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cobalt_core::back_off::BackOff;
use cobalt_core::report::{ItemResult, RunConfig, Shard, ShardPlan};
use cobalt_core::reporters::format_cost_precise;
use cobalt_core::store::{
    InterruptedRun, JOURNAL_VERSION, JournalHeader, JournalWriter, Layout, LineUse, LockedJournal,
    ReportFile, ResumedRun, StoreError, new_run_id,
};
use cobalt_core::timestamp::Timestamp;
use tokio::sync::Semaphore;

use super::finished_items::FinishedItems;
use super::plan::Plan;
use super::recorder::{EarlierResults, Recorder};
use crate::config::RESUME;
use crate::engine::Work;
use crate::error::Error;
use crate::experiment::ResolvedVariant;
use crate::log;

/// The runs named by `COBALT_RESUME`. An unknown ID is an error.
///
/// Finished runs are included: another process with the same list may have resumed them.
pub fn require_runs_to_resume(layout: &Layout) -> Result<Vec<InterruptedRun>, Error> {
    let (known, unknown) = find_runs_to_resume(layout);
    unknown.into_iter().next().map_or(Ok(known), |(_, error)| Err(error))
}

/// The same, and the unknown IDs, each with the reason.
pub fn find_runs_to_resume(layout: &Layout) -> (Vec<InterruptedRun>, Vec<(String, Error)>) {
    let ids = std::env::var(RESUME).unwrap_or_default();
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for id in ids.split(',').map(str::trim).filter(|id| !id.is_empty()) {
        match InterruptedRun::find(layout, id) {
            Ok(run) => known.push(run),
            Err(error) => unknown.push((id.to_owned(), error.into())),
        }
    }
    (known, unknown)
}

/// The items of a run.
#[derive(Clone, Debug, Default)]
pub struct ItemSelection {
    /// The indexes of the items, if not all.
    pub items: Option<Vec<usize>>,
    /// The order in which they are started, if not that of the dataset.
    pub start_order: Option<Vec<usize>>,
    /// The shard that they belong to.
    pub shard: Option<Shard>,
    /// The hash of the plan that balanced the shards.
    pub shard_plan: Option<String>,
    /// The name of the shards that belong together.
    pub shard_group: Option<String>,
}

impl ItemSelection {
    /// These items, or all; not of a shard.
    pub fn of(items: Option<Vec<usize>>) -> Self {
        Self { items, ..Self::default() }
    }
}

/// The part of a run that earlier processes have done.
struct FinishedPart {
    /// When the first one started it.
    timestamp: Timestamp,
    /// Its duration so far.
    elapsed: Duration,
    /// A hash of the sources that produced the items, if known.
    sources: Option<String>,
    /// The result file with its items, of which those in error are run again.
    file: Option<ReportFile>,
}

impl Default for FinishedPart {
    fn default() -> Self {
        Self { timestamp: Timestamp::now(), elapsed: Duration::ZERO, sources: None, file: None }
    }
}

/// The note for a resumed run with damaged lines, with payments for unfinished items, in USD, or without a lock.
fn resume_note(damaged: usize, unfinished: f64, path: &Path, is_locked: bool) -> Option<String> {
    let path = path.display();
    let mut notes = Vec::new();
    if damaged > 0 {
        let (lines, their) = if damaged == 1 { ("line", "its item") } else { ("lines", "their items") };
        notes.push(format!("skipping {damaged} damaged {lines} in `{path}` and running {their} again"));
    }
    if unfinished > 0.0 {
        let paid = format_cost_precise(unfinished);
        notes.push(format!("{paid} was paid before for items that did not finish"));
    }
    if !is_locked {
        notes.push(format!(
            "`{path}` cannot be locked on this file system; make sure that no other process resumes the same run, and set \
             COBALT_DIR to a directory on a local disk for future runs"
        ));
    }
    (!notes.is_empty()).then(|| format!("remaining items; {}", notes.join("; ")))
}

/// When the current data was fetched.
fn fetch_note(plan: &Plan) -> String {
    plan.dataset.fetch().map(|fetch| format!(", fetched at {}", fetch.at)).unwrap_or_default()
}

/// The sources of a resumed run, if it was started with the current ones.
fn common_sources(then: Option<String>, plan: &Plan) -> Option<String> {
    then.filter(|then| plan.sources.as_ref() == Some(then))
}

/// Why the results of a plan would not be comparable with those of a run, if they would not.
fn resume_problem(plan: &Plan, header: &JournalHeader) -> Option<String> {
    if header.name != plan.name() {
        return Some(format!("it belongs to experiment `{}`, not `{}`", header.name, plan.name()));
    }
    let dataset = plan.dataset_summary();
    if header.dataset.hash != dataset.hash {
        return Some(format!(
            "the dataset `{}` has changed since (then {} items, now {}{}); start a new run",
            header.dataset.source,
            header.dataset.items,
            plan.dataset.len(),
            fetch_note(plan)
        ));
    }
    if header.dataset.items != dataset.items {
        return Some("the first line of its journal is damaged; start a new run".to_owned());
    }
    let has_changed = header.definition != plan.fingerprint();
    has_changed
        .then(|| "the experiment or one of its evaluators has changed since; start a new run".to_owned())
}

/// A plan with the items to run, the finished items, and the journal.
pub struct Run {
    plan: Plan,
    header: JournalHeader,
    journal: Option<JournalWriter>,
    done: FinishedItems,
    elapsed: Duration,
    /// What earlier processes paid, in USD.
    paid: f64,
    /// The order in which its items are started, if not that of the dataset.
    start_order: Option<Vec<usize>>,
    /// Why it runs these items, if not just because they were selected.
    why: Option<String>,
}

impl Run {
    /// A new run of the selected items.
    pub fn new(plan: Plan, selected: ItemSelection, layout: &Layout) -> Result<Self, Error> {
        let id = plan.definition.variant.as_ref().map_or_else(new_run_id, ResolvedVariant::run_id);
        Self::with_id(plan, selected, layout, id)
    }

    /// The same with a given ID.
    pub fn with_id(plan: Plan, selected: ItemSelection, layout: &Layout, id: String) -> Result<Self, Error> {
        let sources = plan.sources.clone();
        Self::create(plan, selected, layout, id, FinishedPart { sources, ..FinishedPart::default() })
    }

    /// Sets the reason why it runs these items.
    pub fn with_reason(self, why: Option<String>) -> Self {
        Self { why, ..self }
    }

    /// Why it runs these items, if not just because they were selected.
    pub fn reason(&self) -> Option<&str> {
        self.why.as_deref()
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn id(&self) -> &str {
        &self.header.id
    }

    pub fn config(&self) -> &RunConfig {
        &self.header.config
    }

    /// How many items earlier processes finished.
    pub fn finished_items(&self) -> usize {
        match &self.done {
            FinishedItems::InMemory(items) => {
                items.iter().map(|item| item.index).collect::<HashSet<_>>().len()
            }
            FinishedItems::InJournal => self.done.count(self.journal.as_ref()),
        }
    }

    /// The indexes of the run's items, if not all.
    pub fn selection(&self) -> Option<&[usize]> {
        self.header.selection.as_deref()
    }

    fn create(
        plan: Plan,
        selected: ItemSelection,
        layout: &Layout,
        id: String,
        done: FinishedPart,
    ) -> Result<Self, Error> {
        let items = plan.dataset.len();
        if let Some(index) = selected.items.iter().flatten().find(|index| **index >= items) {
            let reason =
                format!("it contains item {index}, but the dataset now has {items} items; start a new run");
            return Err(StoreError::Resume { id, reason }.into());
        }
        let FinishedPart { timestamp, sources, file, elapsed } = done;
        let header = JournalHeader {
            journal: JOURNAL_VERSION,
            id,
            name: plan.name().to_owned(),
            timestamp,
            tags: plan.definition.tags.clone(),
            declared_at: plan.definition.declared_at.clone(),
            variant: plan.stored_variant().map(Box::new),
            rescored: plan.rescored().cloned().map(Box::new),
            config: plan.config(),
            dataset: plan.dataset_summary(),
            definition: plan.fingerprint(),
            sources: common_sources(sources, &plan),
            selection: selected.items,
            shard: selected.shard,
            shard_plan: selected.shard_plan,
            shard_group: selected.shard_group,
            checksums: true,
        };
        let mut journal = if plan.save { Some(JournalWriter::create(layout, &header)?) } else { None };
        let is_large = journal.is_some() && header.planned_items() >= plan.parts_from;
        let mut done = Vec::new();
        for item in file.iter().flat_map(ReportFile::items) {
            let item = item?;
            if item.is_in_error() || is_large && !plan.is_result_of(&item) {
                continue;
            }
            if let Some(journal) = &mut journal {
                journal.push(elapsed, &item)?;
                journal.flush()?;
            }
            if !is_large {
                done.push(item.into_owned());
            }
        }
        log::debug!(
            experiment = header.name,
            run = header.id,
            items = header.planned_items(),
            of = items,
            saved = journal.is_some(),
            large = is_large,
            "opens the run"
        );
        let done = if is_large { FinishedItems::InJournal } else { FinishedItems::InMemory(done) };
        let start_order = selected.start_order;
        Ok(Self { plan, header, journal, done, elapsed, paid: 0.0, start_order, why: None })
    }

    /// Resumes an interrupted run. Refused if the new results would not be comparable with the existing ones.
    pub fn resume(plan: Plan, layout: &Layout, id: &str) -> Result<Self, Error> {
        Self::resume_where(plan, layout, id, |_| true)
    }

    /// The same, with those of its finished items for which a function returns true; the others are run again.
    fn resume_where(
        mut plan: Plan,
        layout: &Layout,
        id: &str,
        keep: impl Fn(&ItemResult) -> bool,
    ) -> Result<Self, Error> {
        let journal = LockedJournal::open(layout, id)?;
        let header = journal.header();
        // The number may come from a flag; a resumed run keeps its own.
        Arc::make_mut(&mut plan.definition).runs = header.config.runs;
        if let Some(reason) = resume_problem(&plan, header) {
            return Err(StoreError::Resume { id: id.to_owned(), reason }.into());
        }
        let line_use = |item: &ItemResult| match plan.is_result_of(item) {
            true if keep(item) => LineUse::Keep,
            // Lines of earlier versions have no checksums: a damaged one may be valid JSON for another item.
            false if !plan.has_key_of(item) => LineUse::Damaged,
            _ => LineUse::RunAgain,
        };
        let ResumedRun { mut header, elapsed, damaged, payments, journal, path, is_locked } =
            journal.read(line_use)?;
        header.sources = common_sources(header.sources, &plan);
        let done = if header.planned_items() >= plan.parts_from {
            FinishedItems::InJournal
        } else {
            let mut items = Vec::with_capacity(journal.saved_items());
            journal.items(&header.config)?.for_each(|item| {
                items.push(item);
                Ok::<_, StoreError>(())
            })?;
            FinishedItems::InMemory(items)
        };
        log::debug!(
            experiment = header.name,
            run = id,
            finished_items = journal.saved_items(),
            damaged = damaged,
            same_sources = header.sources.is_some(),
            "resumes the run"
        );
        let unfinished = payments.unfinished(|index| journal.index().contains(index));
        let why = resume_note(damaged, unfinished, &path, is_locked);
        let paid = payments.total();
        Ok(Self { plan, header, journal: Some(journal), done, elapsed, paid, start_order: None, why })
    }

    /// Starts the items of a balanced shard with the slowest, as when it was new, if the latencies that balanced it are still known.
    pub fn with_order_of(mut self, balance: Option<&ShardPlan>) -> Self {
        let balance = balance.filter(|balance| Some(balance.hash()) == self.header.shard_plan);
        if let (Some(balance), Some(items)) = (balance, &self.header.selection) {
            let keys: Vec<_> = (0..self.plan.dataset.len()).map(|index| self.plan.key(index)).collect();
            self.start_order = Some(balance.slowest_first(items, &keys));
        }
        self
    }

    /// Retries a run: only items that ended in an error are run again. Starts a new run if there is none yet.
    ///
    /// For test runners that retry a failed case in a new process; `id` is the same in both.
    pub fn retry(plan: Plan, layout: &Layout, id: String) -> Result<Self, Error> {
        if layout.journal(&id).exists() {
            log::debug!(
                experiment = plan.name(),
                run = id,
                "retries the items in error of an interrupted run"
            );
            return Self::resume_where(plan, layout, &id, |item| !item.is_in_error());
        }
        let Some(path) = layout.result_of(&id) else {
            return Self::with_id(plan, ItemSelection::default(), layout, id);
        };
        let file = ReportFile::open(&path)?;
        let report = file.report();
        let selected = ItemSelection {
            items: file.selected_indexes()?,
            start_order: None,
            shard: report.shard,
            shard_plan: report.shard_plan.clone(),
            shard_group: report.shard_group.clone(),
        };
        let done = FinishedPart {
            timestamp: report.timestamp,
            elapsed: Duration::from_millis(report.summary.total_duration_ms),
            sources: report.sources.clone(),
            file: Some(file),
        };
        Self::create(plan, selected, layout, id, done)
    }

    /// Splits the run into the parts for the engine and for the recorder.
    pub fn split(self, experiment: usize) -> (Work, Recorder) {
        let Self { plan, header, journal, mut done, elapsed, paid, start_order, why: _ } = self;
        let is_ordered = start_order.is_some();
        let expected = start_order.or_else(|| header.selection.clone());
        let expected = expected.unwrap_or_else(|| (0..plan.dataset.len()).collect());
        // An item that was retried after an error is in the journal twice; the later one counts.
        let mut seen = HashSet::new();
        if let FinishedItems::InMemory(done) = &mut done {
            done.reverse();
            // Results of an earlier attempt may belong to another item.
            done.retain(|item| plan.is_result_of(item) && seen.insert(item.index));
        }
        let in_journal = match done {
            FinishedItems::InMemory(_) => None,
            FinishedItems::InJournal => journal.as_ref().map(JournalWriter::index),
        };
        let is_done =
            |index: usize| seen.contains(&index) || in_journal.is_some_and(|journal| journal.contains(index));
        let items: Vec<_> = expected.into_iter().filter(|index| !is_done(*index)).collect();
        log::debug!(
            experiment = header.name,
            run = header.id,
            items = items.len(),
            finished_before = seen.len(),
            slowest_first = is_ordered,
            "selected the items to run"
        );
        let work = Work {
            experiment,
            names: plan.definition.evaluators.iter().map(|evaluator| evaluator.name().into()).collect(),
            // Semaphores have a limit; more slots than items are useless anyway.
            slots: Arc::new(Semaphore::new(plan.definition.concurrency.min(plan.dataset.len()))),
            definition: plan.definition,
            agent: plan.agent,
            dataset: plan.dataset,
            models: plan.models,
            prices: plan.prices,
            traffic: plan.traffic,
            trace_limits: plan.trace_limits,
            rescoring: plan.rescoring,
            back_off: BackOff::default(),
            keys: plan.keys,
            workspaces: plan.workspaces.map(|workspaces| workspaces.for_run(&header.id)),
            items,
        };
        let earlier = EarlierResults { journal, items: done, duration: elapsed, paid };
        let record = Recorder::new(&work, header, plan.names, plan.progress, plan.baseline, earlier);
        (work, record)
    }
}
