//! One experiment's record: its journal while it goes on, its report at the end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use super::baseline::Baseline;
use super::ending::{Ending, Interrupted, Outcome};
use super::judging::judge;
use crate::config::Config;
use crate::engine::Work;
use crate::error::Error;
use crate::experiment::{Definition, Progress};
use crate::report::{GitState, ItemResult, Report};
use crate::store::{JournalHeader, JournalWriter, Layout, StoreError, write_report};

/// One experiment's record.
pub(crate) struct Record {
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
    pub(super) fn new(
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

    pub(super) fn executed(&mut self) {
        self.executed += 1;
        let Some(progress) = &self.progress else { return };
        let (done, total) = (self.executed, self.expected * self.definition.runs);
        // The caller's function must not take the results down with it.
        if catch_unwind(AssertUnwindSafe(|| progress(done, total))).is_err() {
            self.progress = None;
        }
    }

    pub(super) fn add_to_journal(&mut self, item: &ItemResult) {
        let at = self.elapsed();
        self.with_journal(|journal| journal.push(at, item));
        self.arrived += 1;
    }

    /// Gives the record a handle on the engine's work.
    pub(super) fn stops(&mut self, engine: AbortHandle) {
        self.engine = Some(engine);
    }

    /// Puts the batch on disk, and lets the engine start further items.
    pub(super) fn flush(&mut self) {
        if self.arrived > 0 {
            self.with_journal(JournalWriter::flush);
            let arrived = std::mem::take(&mut self.arrived);
            if self.journal_error.is_none() {
                self.slots.add_permits(arrived);
            }
        }
    }

    /// When [`sync`](Self::sync) is to be called next, if it is.
    pub(super) fn sync_due(&self) -> Option<Instant> {
        self.journal.as_ref()?.sync_due()
    }

    /// Waits until the journal is on the device.
    pub(super) fn sync(&mut self) {
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

    pub(super) fn interrupt(&mut self) -> Ending {
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

    pub(super) fn finish(&mut self, config: &Config, git: Option<GitState>) -> Ending {
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
