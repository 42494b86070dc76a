//! Records what the engine tells: each item in the journal, the whole in the report and the result file.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use cobalt_core::report::{GitState, ItemResult, Report};
use cobalt_core::store::{JournalHeader, JournalWriter, Layout, StoreError, git_state, write_report};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use super::judging::{Baseline, judge};
use super::plan::{Ending, Interrupted, Outcome};
use crate::config::Config;
use crate::engine::{Event, Work};
use crate::error::Error;
use crate::experiment::{Definition, Progress};

/// One experiment's record.
pub struct Record {
    header: JournalHeader,
    definition: Arc<Definition>,
    progress: Option<Progress>,
    journal: Option<JournalWriter>,
    pub(super) saves: bool,
    /// What the run is held against.
    baseline: Baseline,
    /// The first thing that went wrong with the journal. If all items were done by then, the result file may still be written.
    journal_error: Option<StoreError>,
    /// The engine's work, which is stopped once the journal cannot be written: what it finds would be lost, and costs.
    engine: Option<AbortHandle>,
    pub(super) items: Vec<ItemResult>,
    /// How many items `items` will be in the end.
    expected: usize,
    executed: usize,
    started: Instant,
    /// How long the run had gone on in earlier processes.
    before: Duration,
    /// What the engine waits for before it starts another item.
    slots: Arc<Semaphore>,
    /// Items of the batch at hand.
    arrived: usize,
    pub(super) ended: bool,
}

impl Record {
    /// The record of what `work` adds to the items that are done.
    pub fn new(
        work: &Work,
        header: JournalHeader,
        progress: Option<Progress>,
        baseline: Baseline,
        journal: Option<JournalWriter>,
        mut items: Vec<ItemResult>,
        before: Duration,
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
            before,
            slots: Arc::clone(&work.slots),
            arrived: 0,
            ended: false,
        }
    }

    fn elapsed(&self) -> Duration {
        self.before + self.started.elapsed()
    }

    pub fn executed(&mut self) {
        self.executed += 1;
        let Some(progress) = &self.progress else { return };
        let (done, total) = (self.executed, self.expected * self.definition.runs);
        // The caller's function must not take the results down with it.
        if catch_unwind(AssertUnwindSafe(|| progress(done, total))).is_err() {
            self.progress = None;
        }
    }

    pub fn add_to_journal(&mut self, item: &ItemResult) {
        let at = self.elapsed();
        self.with_journal(|journal| journal.push(at, item));
        self.arrived += 1;
    }

    /// Gives the record a handle on the engine's work.
    pub fn stops(&mut self, engine: AbortHandle) {
        self.engine = Some(engine);
    }

    /// Puts the batch on disk, and lets the engine start further items.
    pub fn flush(&mut self) {
        if self.arrived > 0 {
            self.with_journal(JournalWriter::flush);
            let arrived = std::mem::take(&mut self.arrived);
            if self.journal_error.is_none() {
                self.slots.add_permits(arrived);
            }
        }
    }

    /// When [`sync`](Self::sync) is to be called next, if it is.
    pub fn sync_due(&self) -> Option<Instant> {
        self.journal.as_ref()?.sync_due()
    }

    /// Waits until the journal is on the device.
    pub fn sync(&mut self) {
        self.with_journal(JournalWriter::sync);
    }

    /// Writes to the journal. Once that fails, no item is started any more, and what is under way is cancelled.
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

    pub fn interrupt(&mut self) -> Ending {
        // Where it could not be written, there may be room by now.
        self.with_journal(JournalWriter::flush);
        self.sync();
        self.ended = true;
        let (id, items) = (self.header.id.clone(), self.expected);
        // Dropped, and so unlocked or, where it has no item, removed.
        let kept = self.journal.take().map_or(0, |journal| journal.kept());
        let stopped = |source: StoreError| Error::Stopped {
            id: id.clone(),
            kept,
            items,
            source: Box::new(source.into()),
        };
        let error = self.journal_error.take().map(stopped);
        Ending::Interrupted(Interrupted { experiment: self.header.name.clone(), id, kept, error })
    }

    pub fn finish(&mut self, config: &Config, git: Option<GitState>) -> Ending {
        if self.items.len() < self.expected {
            return self.interrupt();
        }
        self.ended = true;
        let duration = self.elapsed();
        let mut items = std::mem::take(&mut self.items);
        items.sort_unstable_by_key(|item| item.index);
        let report = self.report(items, duration, git, config);
        let (path, unsaved) = if self.saves { self.save(config.layout(), &report) } else { (None, None) };
        Ending::Finished(Box::new(Outcome { report, path, unsaved }))
    }

    /// Writes the result file, which makes the journal superfluous.
    fn save(&mut self, layout: &Layout, report: &Report) -> (Option<PathBuf>, Option<Error>) {
        match write_report(layout, report) {
            Ok(path) => {
                (Some(path), self.journal.take().and_then(|journal| journal.remove().err().map(Error::from)))
            }
            Err(error) => {
                self.sync();
                let (id, items) = (self.header.id.clone(), self.expected);
                let kept = self.journal.take().map_or(0, |journal| journal.kept());
                // Where the journal broke off, that is where it began to go wrong.
                let kept = match self.journal_error.take() {
                    Some(first) if kept == 0 => {
                        Error::Stopped { id, kept, items, source: Box::new(first.into()) }
                    }
                    Some(first) => Error::PartlyInJournal { id, source: Box::new(first.into()) },
                    None => Error::InJournal { id, source: Box::new(error.into()) },
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
        judge(&mut report, &self.definition.thresholds, &self.baseline, duration, config);
        report
    }
}

/// The most events taken at a time, so that a listener never waits long.
const BATCH: usize = 256;
/// How long a report waits for git: in a huge or a distant working tree it may take its time, or hang.
const GIT_PATIENCE: Duration = Duration::from_secs(5);

/// Hears what is recorded, in one order.
pub trait Listener: Send {
    /// A run of an item is done: its index and the run's number.
    fn run(&mut self, _experiment: usize, _index: usize, _run: usize) {}

    /// An item is finished and on disk.
    fn item(&mut self, experiment: usize, item: &ItemResult);

    /// An item that an earlier process has finished.
    fn item_done_before(&mut self, experiment: usize, item: &ItemResult) {
        self.item(experiment, item);
    }

    /// No more items are there for the moment.
    fn flush(&mut self) {}

    /// An experiment has come to its end.
    fn ended(&mut self, experiment: usize, ending: Ending);
}

/// Records until every experiment has come to an end.
pub fn record(
    mut records: Vec<Record>,
    config: Config,
    mut listener: impl Listener,
    events: &Receiver<Event>,
) {
    for (experiment, record) in records.iter().enumerate() {
        record.items.iter().for_each(|item| listener.item_done_before(experiment, item));
    }
    listener.flush();
    let mut git = Git::ask(records.iter().any(|record| record.saves));
    while records.iter().any(|record| !record.ended) {
        let Some(first) = next(events, &mut records) else { return };
        let batch: Vec<_> = std::iter::once(first).chain(events.try_iter().take(BATCH)).collect();
        for event in &batch {
            if let Event::ItemFinished { experiment, item } = event {
                records[*experiment].add_to_journal(item);
            }
        }
        records.iter_mut().for_each(Record::flush);
        for event in batch {
            // What was under way when an experiment was stopped may still come to its end.
            if event.experiment().is_some_and(|experiment| records[experiment].ended) {
                continue;
            }
            match event {
                Event::ExecutionFinished { experiment, index, run } => {
                    records[experiment].executed();
                    listener.run(experiment, index, run);
                }
                Event::ItemFinished { experiment, item } => {
                    listener.item(experiment, &item);
                    records[experiment].items.push(item);
                }
                Event::ExperimentFinished { experiment } => {
                    let ending = records[experiment].finish(&config, git.state());
                    listener.ended(experiment, ending);
                }
                Event::Interrupted => {
                    for (experiment, record) in records.iter_mut().enumerate().filter(|(_, r)| !r.ended) {
                        listener.ended(experiment, record.interrupt());
                    }
                    return;
                }
            }
        }
        listener.flush();
    }
}

/// The next event. The journals are synced whenever that is due.
fn next(events: &Receiver<Event>, records: &mut [Record]) -> Option<Event> {
    loop {
        let now = Instant::now();
        let is_due = |record: &&mut Record| record.sync_due().is_some_and(|due| due <= now);
        records.iter_mut().filter(is_due).for_each(Record::sync);
        let Some(due) = records.iter().filter_map(Record::sync_due).min() else { return events.recv().ok() };
        match events.recv_timeout(due.saturating_duration_since(now)) {
            Ok(event) => return Some(event),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

/// The state of the source, asked for while the items run.
struct Git {
    asked: Option<Receiver<Option<GitState>>>,
    known: Option<GitState>,
}

impl Git {
    fn ask(needed: bool) -> Self {
        let asked = needed.then(|| {
            let (sender, answer) = mpsc::channel();
            // Nobody listens any more when the answer came too late.
            std::thread::spawn(move || drop(sender.send(git_state())));
            answer
        });
        Self { asked, known: None }
    }

    fn state(&mut self) -> Option<GitState> {
        if let Some(answer) = self.asked.take() {
            self.known = answer.recv_timeout(GIT_PATIENCE).ok().flatten();
        }
        self.known.clone()
    }
}
