//! What is run of a plan: all items or some, from the start or from where an earlier process was cut off.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cobalt_core::report::{ItemResult, RunConfig, Shard};
use cobalt_core::store::{
    CutOff, JOURNAL_VERSION, JournalHeader, JournalWriter, Layout, Resumed, StoreError, new_run_id,
    read_report,
};
use cobalt_core::timestamp::Timestamp;
use tokio::sync::Semaphore;

use super::plan::Plan;
use super::record::Record;
use crate::config::RESUME;
use crate::engine::Work;
use crate::error::Error;

/// The runs that `COBALT_RESUME` names. An id that is not known is an error.
///
/// A run that is finished is among them: another process may have resumed it that was started with the same list.
pub fn to_resume(layout: &Layout) -> Result<Vec<CutOff>, Error> {
    let (known, unknown) = named_to_resume(layout);
    unknown.into_iter().next().map_or(Ok(known), |(_, error)| Err(error))
}

/// The same, and beside them the ids that are not known here, each with the reason.
pub fn named_to_resume(layout: &Layout) -> (Vec<CutOff>, Vec<(String, Error)>) {
    let ids = std::env::var(RESUME).unwrap_or_default();
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for id in ids.split(',').map(str::trim).filter(|id| !id.is_empty()) {
        match CutOff::find(layout, id) {
            Ok(run) => known.push(run),
            Err(error) => unknown.push((id.to_owned(), error.into())),
        }
    }
    (known, unknown)
}

/// What a run is about.
#[derive(Clone, Debug, Default)]
pub struct Selected {
    /// The indexes of the items, where these are not all.
    pub(crate) items: Option<Vec<usize>>,
    /// The shard that they are of.
    pub(crate) shard: Option<Shard>,
}

/// What earlier processes have done of a run.
struct Done {
    /// When the first of them started it.
    timestamp: Timestamp,
    /// How long it has gone on.
    elapsed: Duration,
    /// A hash of the sources that the items were made with, where it is known.
    sources: Option<String>,
    items: Vec<ItemResult>,
}

impl Default for Done {
    fn default() -> Self {
        Self { timestamp: Timestamp::now(), elapsed: Duration::ZERO, sources: None, items: Vec::new() }
    }
}

/// What is to be said of a run that is resumed, beside that.
fn resuming(damaged: usize, path: &Path, is_locked: bool) -> Option<String> {
    let path = path.display();
    let mut notes = Vec::new();
    if damaged > 0 {
        let (lines, are, their) = match damaged {
            1 => ("line", "is", "its item is"),
            _ => ("lines", "are", "their items are"),
        };
        notes.push(format!("{damaged} {lines} of `{path}` {are} damaged and left out; {their} run again"));
    }
    if !is_locked {
        notes.push(format!(
            "`{path}` cannot be locked on this file system; make sure that no other process runs the same run, or set \
             COBALT_DIR to a folder on a local disk for further runs"
        ));
    }
    (!notes.is_empty()).then(|| format!("those left of the run; {}", notes.join("; ")))
}

/// When the data was fetched that there is now.
fn fetched(plan: &Plan) -> String {
    plan.dataset.fetch().map(|fetch| format!(", fetched at {}", fetch.at)).unwrap_or_default()
}

/// The sources of a run that is gone on with, where it was begun with those of now.
fn common(then: Option<String>, plan: &Plan) -> Option<String> {
    then.filter(|then| plan.sources.as_ref() == Some(then))
}

/// A plan with the items to run, what is done of them, and the journal.
pub struct Run {
    plan: Plan,
    header: JournalHeader,
    journal: Option<JournalWriter>,
    done: Vec<ItemResult>,
    elapsed: Duration,
    /// Why it is of these items, where that is not what was selected alone.
    why: Option<String>,
}

impl Run {
    /// A new run of what is selected.
    pub fn new(plan: Plan, selected: Selected, layout: &Layout) -> Result<Self, Error> {
        Self::with_id(plan, selected, layout, new_run_id())
    }

    /// The same under an id that is given.
    pub fn with_id(plan: Plan, selected: Selected, layout: &Layout, id: String) -> Result<Self, Error> {
        let sources = plan.sources.clone();
        Self::begin(plan, selected, layout, id, Done { sources, ..Done::default() })
    }

    /// The same run, with the reason why it is of these items.
    pub fn because(self, why: Option<String>) -> Self {
        Self { why, ..self }
    }

    /// Why it is of these items, where that is not what was selected alone.
    pub fn why(&self) -> Option<&str> {
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

    /// How many items earlier processes have finished.
    pub fn done(&self) -> usize {
        self.done.iter().map(|item| item.index).collect::<HashSet<_>>().len()
    }

    /// The indexes of the items that the run is about, where these are not all.
    pub fn selection(&self) -> Option<&[usize]> {
        self.header.selection.as_deref()
    }

    fn begin(plan: Plan, selected: Selected, layout: &Layout, id: String, done: Done) -> Result<Self, Error> {
        let items = plan.dataset.len();
        if let Some(index) = selected.items.iter().flatten().find(|index| **index >= items) {
            let reason =
                format!("it has item {index}, and the data set now has {items} items; start a new run");
            return Err(StoreError::Resume { id, reason }.into());
        }
        let Done { timestamp, sources, items: done, elapsed } = done;
        let header = JournalHeader {
            journal: JOURNAL_VERSION,
            id,
            name: plan.name().to_owned(),
            timestamp,
            tags: plan.definition.tags.clone(),
            declared_at: plan.definition.declared_at.clone(),
            config: plan.config(),
            dataset: plan.dataset_summary(),
            definition: plan.definition.fingerprint(),
            sources: common(sources, &plan),
            selection: selected.items,
            shard: selected.shard,
            checksums: true,
        };
        let mut journal = if plan.save { Some(JournalWriter::create(layout, &header)?) } else { None };
        if let Some(journal) = &mut journal {
            for item in &done {
                journal.push(elapsed, item)?;
            }
            journal.flush()?;
        }
        Ok(Self { plan, header, journal, done, elapsed, why: None })
    }

    /// The rest of a run that was cut off. Refused where its results would not fit to those of the rest.
    pub fn resume(mut plan: Plan, layout: &Layout, id: &str) -> Result<Self, Error> {
        let Resumed { mut contents, journal, path, is_locked } = Resumed::open(layout, id)?;
        let refuse = |reason: String| Err(StoreError::Resume { id: id.to_owned(), reason }.into());
        let mut header = contents.header;
        if header.name != plan.name() {
            return refuse(format!("it is one of experiment `{}`, not of `{}`", header.name, plan.name()));
        }
        if header.dataset.hash != plan.dataset.hash() {
            return refuse(format!(
                "the data set `{}` has changed since (then {} items, now {}{}); start a new run",
                header.dataset.source,
                header.dataset.items,
                plan.dataset.len(),
                fetched(&plan)
            ));
        }
        if header.dataset.items != plan.dataset.len() {
            return refuse("the first line of its journal is damaged; start a new run".to_owned());
        }
        // It may have been asked for by a flag, and goes on as it began.
        Arc::make_mut(&mut plan.definition).runs = header.config.runs;
        if header.definition != plan.definition.fingerprint() {
            return refuse(
                "the experiment or one of its evaluators has changed since; start a new run".to_owned(),
            );
        }
        header.sources = common(header.sources, &plan);
        // Lines of earlier versions have no checksums: a damaged one may be JSON, and name another item.
        let lines = contents.items.len();
        contents.items.retain(|item| plan.keys.get(item.index).is_some_and(|key| **key == *item.key));
        let damaged = contents.damaged + lines - contents.items.len();
        let why = resuming(damaged, &path, is_locked);
        let (journal, done, elapsed) = (Some(journal), contents.items, contents.elapsed);
        Ok(Self { plan, header, journal, done, elapsed, why })
    }

    /// The same run once more, of which only what ended in an error is run again; a new one where there is none yet.
    ///
    /// For a test runner that retries a failed case in a new process: `id` is the same in both.
    pub fn retry(plan: Plan, layout: &Layout, id: String) -> Result<Self, Error> {
        if layout.journal(&id).exists() {
            let mut run = Self::resume(plan, layout, &id)?;
            run.done.retain(|item| !item.is_in_error());
            return Ok(run);
        }
        let Some(path) = layout.result_of(&id) else {
            return Self::with_id(plan, Selected::default(), layout, id);
        };
        let report = read_report(&path)?;
        let selected = Selected { items: report.selection(), shard: report.shard };
        let done = Done {
            timestamp: report.timestamp,
            elapsed: Duration::from_millis(report.summary.total_duration_ms),
            sources: report.sources,
            items: report.items.into_iter().filter(|item| !item.is_in_error()).collect(),
        };
        Self::begin(plan, selected, layout, id, done)
    }

    /// What the engine needs, and what the recorder does.
    pub fn split(self, experiment: usize) -> (Work, Record) {
        let Self { plan, header, journal, mut done, elapsed, why: _ } = self;
        let expected = header.selection.clone().unwrap_or_else(|| (0..plan.dataset.len()).collect());
        // An item that was run again after an error stands in the journal twice; the later one counts.
        let mut seen = HashSet::new();
        done.reverse();
        done.retain(|item| {
            // What an earlier attempt left may be of another item.
            let is_known = plan.keys.get(item.index).is_some_and(|key| **key == *item.key);
            is_known && item.runs.len() == plan.definition.runs && seen.insert(item.index)
        });
        let work = Work {
            experiment,
            names: plan.definition.evaluators.iter().map(|evaluator| evaluator.name().into()).collect(),
            // A semaphore has a limit; more slots than items are of no use anyway.
            slots: Arc::new(Semaphore::new(plan.definition.concurrency.min(plan.dataset.len()))),
            definition: plan.definition,
            agent: plan.agent,
            dataset: plan.dataset,
            models: plan.models,
            keys: plan.keys,
            items: expected.into_iter().filter(|index| !seen.contains(index)).collect(),
        };
        let record = Record::new(&work, header, plan.progress, plan.baseline, journal, done, elapsed);
        (work, record)
    }
}
