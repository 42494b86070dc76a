//! Records the engine's events: each item in the journal, then the report in the result file.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use cobalt_core::report::{GitState, ItemResult, Report};
use cobalt_core::store::{JournalHeader, JournalWriter, Layout, StoreError, git_state, write_report};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use super::evaluate_thresholds::{Baseline, evaluate_run};
use super::plan::{InterruptedRun, RunEnd, RunOutcome};
use crate::config::Config;
use crate::engine::{Event, Work};
use crate::error::Error;
use crate::experiment::{ProgressCallback, ResolvedDefinition};
use crate::recording::RunTraffic;
#[cfg(feature = "otlp")]
use crate::trace::export_note;
use crate::trace::take_note;

/// The recorder's state for one experiment.
pub struct Recorder {
    header: JournalHeader,
    definition: Arc<ResolvedDefinition>,
    progress: Option<ProgressCallback>,
    journal: Option<JournalWriter>,
    pub(super) saves: bool,
    /// The baseline of the run.
    baseline: Baseline,
    /// The first error of the journal. If all items were done by then, the result file may still be written.
    journal_error: Option<StoreError>,
    /// The engine's task. It is stopped once the journal cannot be written: its results would be lost but still cost money.
    engine: Option<AbortHandle>,
    pub(super) items: Vec<ItemResult>,
    /// The final number of items.
    expected: usize,
    executed: usize,
    started: Instant,
    /// The duration of the run in earlier processes.
    earlier_duration: Duration,
    /// The model traffic, if it passes through the gateway.
    traffic: Option<Arc<RunTraffic>>,
    /// The engine's permits to start items.
    slots: Arc<Semaphore>,
    /// Items of the current batch.
    batch_items: usize,
    pub(super) ended: bool,
}

impl Recorder {
    /// Records `work`, in addition to the items that are already done.
    pub fn new(
        work: &Work,
        header: JournalHeader,
        progress: Option<ProgressCallback>,
        baseline: Baseline,
        journal: Option<JournalWriter>,
        mut items: Vec<ItemResult>,
        earlier_duration: Duration,
    ) -> Self {
        items.reserve_exact(work.items.len());
        Self {
            header,
            definition: Arc::clone(&work.definition),
            progress,
            saves: journal.is_some(),
            journal,
            baseline,
            journal_error: None,
            engine: None,
            expected: items.len() + work.items.len(),
            executed: items.len() * work.definition.runs,
            items,
            started: Instant::now(),
            earlier_duration,
            traffic: work.traffic.clone(),
            slots: Arc::clone(&work.slots),
            batch_items: 0,
            ended: false,
        }
    }

    fn elapsed(&self) -> Duration {
        self.earlier_duration + self.started.elapsed()
    }

    pub fn count_trial(&mut self) {
        self.executed += 1;
        let Some(progress) = &self.progress else { return };
        let (done, total) = (self.executed, self.expected * self.definition.runs);
        // A panic in the caller's function must not lose the results.
        if catch_unwind(AssertUnwindSafe(|| progress(done, total))).is_err() {
            self.progress = None;
        }
    }

    pub fn add_to_journal(&mut self, item: &ItemResult) {
        let at = self.elapsed();
        self.with_journal(|journal| journal.push(at, item));
        self.batch_items += 1;
    }

    /// Sets the engine's task, to be stopped if the journal fails.
    pub fn set_engine(&mut self, engine: AbortHandle) {
        self.engine = Some(engine);
    }

    /// Writes the batch to disk, and lets the engine start further items.
    pub fn flush(&mut self) {
        if self.batch_items > 0 {
            self.with_journal(JournalWriter::flush);
            let arrived = std::mem::take(&mut self.batch_items);
            if self.journal_error.is_none() {
                self.slots.add_permits(arrived);
            }
        }
    }

    /// When to call [`sync`](Self::sync) next, if at all.
    pub fn sync_due(&self) -> Option<Instant> {
        self.journal.as_ref()?.sync_deadline()
    }

    /// Waits until the journal is on disk (fsync).
    pub fn sync(&mut self) {
        self.with_journal(JournalWriter::sync);
    }

    /// Writes to the journal. If that fails, no further items are started, and running ones are cancelled.
    fn with_journal(&mut self, write: impl FnOnce(&mut JournalWriter) -> Result<(), StoreError>) {
        if let Some(journal) = &mut self.journal
            && let Err(error) = write(journal)
        {
            self.journal_error.get_or_insert(error);
            self.slots.close();
            if let Some(engine) = self.engine.take() {
                engine.abort();
            }
        }
    }

    pub fn interrupt(&mut self) -> RunEnd {
        // Try again: there may be space by now.
        self.with_journal(JournalWriter::flush);
        self.sync();
        self.ended = true;
        if let Some(traffic) = &self.traffic {
            // A resumed run does not send again what finished items have sent.
            traffic.finish(&mut None);
        }
        let (id, items) = (self.header.id.clone(), self.expected);
        // Dropping the journal unlocks it or, if it has no items, removes it.
        let kept = self.journal.take().map_or(0, |journal| journal.saved_items());
        let stopped = |source: StoreError| Error::JournalFailed {
            id: id.clone(),
            kept,
            items,
            source: Box::new(source.into()),
        };
        let error = self.journal_error.take().map(stopped);
        RunEnd::Interrupted(InterruptedRun { experiment: self.header.name.clone(), id, kept, error })
    }

    pub fn finish(&mut self, config: &Config, git: Option<GitState>) -> RunEnd {
        if self.items.len() < self.expected {
            return self.interrupt();
        }
        self.ended = true;
        let duration = self.elapsed();
        let mut items = std::mem::take(&mut self.items);
        items.sort_unstable_by_key(|item| item.index);
        let report = self.report(items, duration, git, config);
        let (path, unsaved) = if self.saves { self.save(config.layout(), &report) } else { (None, None) };
        RunEnd::Finished(Box::new(RunOutcome { report, path, unsaved }))
    }

    /// Writes the result file, and removes the journal, which is then no longer needed.
    fn save(&mut self, layout: &Layout, report: &Report) -> (Option<PathBuf>, Option<Error>) {
        match write_report(layout, report) {
            Ok(path) => {
                (Some(path), self.journal.take().and_then(|journal| journal.remove().err().map(Error::from)))
            }
            Err(error) => {
                self.sync();
                let (id, items) = (self.header.id.clone(), self.expected);
                let kept = self.journal.take().map_or(0, |journal| journal.saved_items());
                // If the journal failed before, report that first error.
                let kept = match self.journal_error.take() {
                    Some(first) if kept == 0 => {
                        Error::JournalFailed { id, kept, items, source: Box::new(first.into()) }
                    }
                    Some(first) => Error::PartlySavedInJournal { id, source: Box::new(first.into()) },
                    None => Error::SavedInJournal { id, source: Box::new(error.into()) },
                };
                (None, Some(kept))
            }
        }
    }

    fn report(
        &self,
        items: Vec<ItemResult>,
        duration: Duration,
        git: Option<GitState>,
        config: &Config,
    ) -> Report {
        let declared_at = self.definition.declared_at.clone();
        let mut report = Report { declared_at, git, ..self.header.report(items) };
        let ResolvedDefinition { thresholds, summaries, .. } = &*self.definition;
        evaluate_run(&mut report, thresholds, summaries, &self.baseline, duration, config);
        if let Some(traffic) = &self.traffic {
            traffic.finish(&mut report.summary.traffic);
        }
        if let Some(note) = take_note() {
            eprintln!("{note}");
        }
        #[cfg(feature = "otlp")]
        if let Some(note) = export_note() {
            eprintln!("{note}");
        }
        report
    }
}

/// The maximum number of events per batch, so that a listener never waits long.
const MAX_BATCH: usize = 256;
/// How long a report waits for git, which may be slow or hang in a huge or remote working tree.
const GIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Receives the recorded events, in one order.
pub trait Listener: Send {
    /// A trial of an item is done: the item's index and the trial's number.
    fn run(&mut self, _experiment: usize, _index: usize, _run: usize) {}

    /// An item is finished and on disk.
    fn item(&mut self, experiment: usize, item: &ItemResult);

    /// An item that an earlier process finished.
    fn on_earlier_item(&mut self, experiment: usize, item: &ItemResult) {
        self.item(experiment, item);
    }

    /// The end of a batch.
    fn on_batch_end(&mut self) {}

    /// An experiment has ended.
    fn on_end(&mut self, experiment: usize, ending: RunEnd);
}

/// Records until every experiment has ended.
pub fn record_events(
    mut records: Vec<Recorder>,
    config: Config,
    mut listener: impl Listener,
    events: &Receiver<Event>,
) {
    for (experiment, record) in records.iter().enumerate() {
        record.items.iter().for_each(|item| listener.on_earlier_item(experiment, item));
    }
    listener.on_batch_end();
    let mut git = GitQuery::start(records.iter().any(|record| record.saves));
    while records.iter().any(|record| !record.ended) {
        let Some(first) = next_event(events, &mut records) else { return };
        let batch: Vec<_> = std::iter::once(first).chain(events.try_iter().take(MAX_BATCH)).collect();
        for event in &batch {
            if let Event::ItemFinished { experiment, item } = event {
                records[*experiment].add_to_journal(item);
            }
        }
        records.iter_mut().for_each(Recorder::flush);
        for event in batch {
            // Items that were running when an experiment was stopped may still finish.
            if event.experiment().is_some_and(|experiment| records[experiment].ended) {
                continue;
            }
            match event {
                Event::TrialFinished { experiment, index, run } => {
                    records[experiment].count_trial();
                    listener.run(experiment, index, run);
                }
                Event::ItemFinished { experiment, item } => {
                    listener.item(experiment, &item);
                    records[experiment].items.push(item);
                }
                Event::ExperimentFinished { experiment } => {
                    let ending = records[experiment].finish(&config, git.state());
                    listener.on_end(experiment, ending);
                }
                Event::Interrupted => {
                    for (experiment, record) in records.iter_mut().enumerate().filter(|(_, r)| !r.ended) {
                        listener.on_end(experiment, record.interrupt());
                    }
                    return;
                }
            }
        }
        listener.on_batch_end();
    }
}

/// Waits for the next event, and syncs the journals when due.
fn next_event(events: &Receiver<Event>, records: &mut [Recorder]) -> Option<Event> {
    loop {
        let now = Instant::now();
        let is_due = |record: &&mut Recorder| record.sync_due().is_some_and(|due| due <= now);
        records.iter_mut().filter(is_due).for_each(Recorder::sync);
        let Some(due) = records.iter().filter_map(Recorder::sync_due).min() else {
            return events.recv().ok();
        };
        match events.recv_timeout(due.saturating_duration_since(now)) {
            Ok(event) => return Some(event),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

/// The git state, determined while the items run.
struct GitQuery {
    asked: Option<Receiver<Option<GitState>>>,
    known: Option<GitState>,
}

impl GitQuery {
    fn start(needed: bool) -> Self {
        let asked = needed.then(|| {
            let (sender, answer) = mpsc::channel();
            // The receiver is gone if the answer comes too late.
            std::thread::spawn(move || drop(sender.send(git_state())));
            answer
        });
        Self { asked, known: None }
    }

    fn state(&mut self) -> Option<GitState> {
        if let Some(answer) = self.asked.take() {
            self.known = answer.recv_timeout(GIT_TIMEOUT).ok().flatten();
        }
        self.known.clone()
    }
}
