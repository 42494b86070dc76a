//! Records the engine's events: each item in the journal, then the report in the result file.

mod record_events;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use cobalt_core::item::CaseNames;
use cobalt_core::report::{GitState, ItemResult, Measurements, Report, RunMetrics, Threshold};
use cobalt_core::reporters::NotableItems;
use cobalt_core::store::{JournalHeader, JournalWriter, Payment, StoreError, write_report};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use super::evaluate_thresholds::{Baseline, OtherVariants, References, evaluate_run};
use super::finished_items::FinishedItems;
use super::notes::add_notes;
use super::parts::{EndSignal, EvaluatedRun, PartsJob, PartsStream, PartsThread, RunFacts};
use super::plan::{InterruptedRun, RunEnd, RunOutcome};
use crate::config::Config;
use crate::engine::{Event, Work};
use crate::error::Error;
use crate::experiment::{ProgressCallback, ResolvedDefinition};
use crate::recording::{RecordingFailure, RunTraffic};
pub use record_events::{Listener, record_events};

/// The results of earlier processes; of a new run, none.
pub struct EarlierResults {
    /// Further results are added to it.
    pub journal: Option<JournalWriter>,
    pub items: FinishedItems,
    /// How long these processes ran.
    pub duration: Duration,
    /// What they paid, in USD.
    pub paid: f64,
}

/// The recorder's state for one experiment.
pub struct Recorder {
    /// The experiment's number in events.
    experiment: usize,
    header: JournalHeader,
    definition: Arc<ResolvedDefinition>,
    /// The items' names in test cases.
    names: Arc<CaseNames>,
    progress: Option<ProgressCallback>,
    journal: Option<JournalWriter>,
    pub(super) saves: bool,
    /// The baseline of the run.
    baseline: Arc<Baseline>,
    /// Writes the items of a large run while it runs.
    stream: Option<PartsStream>,
    /// The thread that evaluates and writes a large run after its last item.
    finishing: Option<PartsThread>,
    /// Whether the items start in dataset order, and thus finish nearly in it.
    starts_in_order: bool,
    /// The first error of the journal or the dataset. If all items were done by then, the result file may still be written.
    failure: Option<Error>,
    /// The engine's task. It is stopped once the journal cannot be written: its results would be lost but still cost money.
    engine: Option<AbortHandle>,
    pub(super) items: FinishedItems,
    /// The final number of items.
    expected: usize,
    executed: usize,
    started: Instant,
    /// The duration of the run in earlier processes.
    earlier_duration: Duration,
    /// What was paid so far, also by earlier processes and for items that did not finish, in USD.
    paid: f64,
    /// The model traffic, if it passes through the gateway.
    traffic: Option<Arc<RunTraffic>>,
    /// The state of the source that gave the outputs, if they are only scored.
    source_of_outputs: Option<Option<GitState>>,
    /// The engine's permits to start items.
    slots: Arc<Semaphore>,
    /// Items of the current batch.
    batch_items: usize,
    /// Whether the current batch has payments.
    has_payments: bool,
    /// Whether the engine has finished, so that all items have arrived.
    is_complete: bool,
    /// What other variants are compared with; known once all items have arrived.
    measured: Option<Arc<Measurements>>,
    /// The report without its items, once the run of a variant has finished.
    finished: Option<Report>,
    pub(super) ended: bool,
}

impl Recorder {
    /// Records `work`, in addition to the items that are already done.
    pub fn new(
        work: &Work,
        header: JournalHeader,
        names: Arc<CaseNames>,
        progress: Option<ProgressCallback>,
        baseline: Baseline,
        earlier: EarlierResults,
    ) -> Self {
        let EarlierResults { journal, mut items, duration: earlier_duration, paid } = earlier;
        let finished = items.count(journal.as_ref());
        if let FinishedItems::InMemory(items) = &mut items {
            items.reserve_exact(work.items.len());
        }
        Self {
            experiment: work.experiment,
            header,
            names,
            definition: Arc::clone(&work.definition),
            progress,
            saves: journal.is_some(),
            journal,
            baseline: Arc::new(baseline),
            stream: None,
            finishing: None,
            starts_in_order: work.items.is_sorted(),
            failure: None,
            engine: None,
            expected: finished + work.items.len(),
            executed: finished * work.definition.runs,
            items,
            started: Instant::now(),
            earlier_duration,
            paid,
            traffic: work.traffic.clone(),
            source_of_outputs: work.rescoring.as_ref().map(|rescoring| rescoring.git.clone()),
            slots: Arc::clone(&work.slots),
            batch_items: 0,
            has_payments: false,
            is_complete: false,
            measured: None,
            finished: None,
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

    /// Adds a payment to the journal; [`flush`](Self::flush) writes it.
    pub fn add_payment(&mut self, payment: Payment) {
        let at = self.elapsed();
        self.paid += payment.usd;
        self.has_payments = true;
        self.with_journal(|journal| journal.push_payment(at, payment));
    }

    /// Sets the engine's task, to be stopped if the journal fails.
    pub fn set_engine(&mut self, engine: AbortHandle) {
        self.engine = Some(engine);
    }

    /// Writes the batch to disk, and lets the engine start further items.
    pub fn flush(&mut self) {
        if self.batch_items > 0 || std::mem::take(&mut self.has_payments) {
            self.with_journal(JournalWriter::flush);
            let arrived = std::mem::take(&mut self.batch_items);
            if self.failure.is_none() {
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
            self.fail(error);
        }
    }

    /// Starts no further items, and cancels running ones.
    fn fail(&mut self, error: impl Into<Error>) {
        self.failure.get_or_insert_with(|| error.into());
        self.slots.close();
        if let Some(engine) = self.engine.take() {
            engine.abort();
        }
    }

    pub fn interrupt(&mut self) -> RunEnd {
        self.stream.take().into_iter().for_each(PartsStream::cancel);
        // Try again: there may be space by now.
        self.with_journal(JournalWriter::flush);
        self.sync();
        self.ended = true;
        if let Some(traffic) = &self.traffic {
            // A resumed run does not send again what finished items have sent.
            let unrecorded = traffic.finish(&mut None).map(Error::from);
            self.failure = self.failure.take().or(unrecorded);
        }
        let (id, items) = (self.header.id.clone(), self.expected);
        // Dropping the journal unlocks it or, if it has no items, removes it.
        let kept = self.journal.take().map_or(0, |journal| journal.saved_items());
        let stopped = |source| Error::Stopped { id: id.clone(), kept, items, source: Box::new(source) };
        let error = self.failure.take().map(stopped);
        let (experiment, paid) = (self.header.name.clone(), self.paid);
        RunEnd::Interrupted(InterruptedRun { experiment, id, kept, paid, error })
    }

    /// Notes that the engine has finished. What other variants are compared with is measured then, unless items are missing.
    pub fn complete(&mut self, config: &Config) {
        self.is_complete = true;
        // Some of the items do not measure a variant.
        let is_whole = self.header.selection.is_none() && self.has_all_items();
        if self.header.variant.is_none() || !is_whole {
            return;
        }
        let mut measured = Measurements::from_report(&self.header.report(Vec::new()), config.prices());
        let mut metrics = RunMetrics::new(&[], &[], &[], config.prices());
        let read = self.for_each_item(|item| {
            measured.push(item, config.prices());
            metrics.add(item);
            Ok(())
        });
        match read {
            Ok(()) => {
                let measured = measured.with_metrics_of(&metrics.summary(Duration::ZERO));
                self.measured = Some(Arc::new(measured));
            }
            // The run cannot be finished either.
            Err(error) => self.fail(error),
        }
    }

    fn has_all_items(&self) -> bool {
        self.items.count(self.journal.as_ref()) >= self.expected
    }

    /// Calls a function with the finished items in dataset order.
    fn for_each_item(
        &mut self,
        mut each: impl FnMut(&ItemResult) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        match (&mut self.items, &self.journal) {
            (FinishedItems::InMemory(items), _) => {
                items.sort_unstable_by_key(|item| item.index);
                items.iter().try_for_each(each)
            }
            (FinishedItems::InJournal, Some(journal)) => {
                journal.items(&self.header.config)?.for_each(|item| each(&item))
            }
            (FinishedItems::InJournal, None) => Ok(()),
        }
    }

    /// The items in order.
    fn take_items(&mut self) -> Vec<ItemResult> {
        let FinishedItems::InMemory(items) = &mut self.items else { return Vec::new() };
        let mut items = std::mem::take(items);
        items.sort_unstable_by_key(|item| item.index);
        items
    }

    /// Keeps a finished item, which is in the journal already.
    fn keep(&mut self, item: ItemResult) {
        match &mut self.items {
            FinishedItems::InMemory(items) => items.push(item),
            FinishedItems::InJournal => {
                let bytes = self.journal.as_ref().map_or(0, |journal| journal.mean_line());
                self.stream = self.stream.take().and_then(|stream| stream.add(item, bytes));
            }
        }
    }

    /// Whether its thresholds compare it with this run.
    fn compares_with(&self, other: &Self) -> bool {
        let (Some(variant), Some(reference)) = (&self.header.variant, &other.header.variant) else {
            return false;
        };
        variant.group == reference.group && self.compared_variants().any(|name| other.is_variant(name))
    }

    /// Whether it is the variant that was declared with this name.
    fn is_variant(&self, name: &str) -> bool {
        self.definition.variant.as_ref().is_some_and(|variant| variant.declared_name == name)
    }

    /// The variants that its thresholds compare it with.
    fn compared_variants(&self) -> impl Iterator<Item = &str> {
        self.definition.thresholds.iter().filter_map(Threshold::against)
    }

    /// Ends the run. `others`: the variants of its group that its thresholds compare it with, as far as they are measured. `None` for a
    /// large run, which is evaluated and written on a thread; [`finish_written`](Self::finish_written) ends it.
    pub fn finish(
        &mut self,
        config: &Config,
        git: Option<GitState>,
        others: &OtherVariants,
        events: &Sender<Event>,
    ) -> Option<RunEnd> {
        if !self.has_all_items() {
            return Some(self.interrupt());
        }
        let duration = self.elapsed();
        if matches!(self.items, FinishedItems::InJournal) {
            let git = self.source_of_outputs.clone().unwrap_or(git);
            let facts = RunFacts { duration, git, others: others.clone() };
            return self.start_writing(facts, config, events).err().map(|error| {
                self.fail(error);
                self.interrupt()
            });
        }
        let items = self.take_items();
        let (report, unrecorded) = self.report(items, duration, git, config, others);
        let notable = NotableItems::of(&report, |index| self.names.get(index));
        let written = self.saves.then(|| write_report(config.layout(), &report));
        Some(self.finish_evaluated(report, notable, written, unrecorded))
    }

    /// Evaluates and writes a large run: most of it is done if its items were streamed, else it is read from the journal.
    fn start_writing(
        &mut self,
        facts: RunFacts,
        config: &Config,
        events: &Sender<Event>,
    ) -> Result<(), StoreError> {
        self.finishing = Some(match (self.stream.take(), &self.journal) {
            (Some(stream), _) => stream.finish(facts),
            (None, Some(journal)) => {
                let items = journal.items(&self.header.config)?;
                let signal = EndSignal::new(self.experiment, events);
                PartsThread::of_journal(self.parts_job(config), items, facts, signal)
            }
            (None, None) => return Err(self.incomplete()),
        });
        Ok(())
    }

    /// The error of a large run that lacks items although all were done.
    fn incomplete(&self) -> StoreError {
        let (id, reason) = (self.header.id.clone(), "its items are not complete; resume it".to_owned());
        StoreError::Resume { id, reason }
    }

    /// Ends a large run whose result is written, or waits until it is. `None` if no result is being written.
    pub fn finish_written(&mut self) -> Option<RunEnd> {
        let evaluated = self.finishing.take()?.join();
        Some(match evaluated.and_then(|evaluated| evaluated.ok_or_else(|| self.incomplete())) {
            Ok(EvaluatedRun { report, notable, written, unrecorded }) => {
                self.finish_evaluated(report, notable, Some(written), unrecorded)
            }
            Err(error) => {
                self.fail(error);
                self.interrupt()
            }
        })
    }

    fn finish_evaluated(
        &mut self,
        report: Report,
        notable: NotableItems,
        written: Option<Result<PathBuf, StoreError>>,
        unrecorded: Option<RecordingFailure>,
    ) -> RunEnd {
        self.ended = true;
        self.finished = self.header.variant.is_some().then(|| report.without_items());
        if let Some(measured) = &mut self.measured {
            Arc::make_mut(measured).add_summary(&report);
        }
        let (path, unsaved) = written.map_or((None, None), |written| self.end_journal(written));
        let unsaved = unsaved.or(unrecorded.map(Error::from));
        RunEnd::Finished(Box::new(RunOutcome { report, notable, path, unsaved }))
    }

    fn parts_job(&self, config: &Config) -> PartsJob {
        PartsJob {
            report: self.unevaluated_report(Vec::new(), None),
            definition: Arc::clone(&self.definition),
            names: Arc::clone(&self.names),
            baseline: Arc::clone(&self.baseline),
            traffic: self.traffic.clone(),
            config: config.clone(),
        }
    }

    /// Writes a new large run while it runs, unless its first items come last.
    fn start_stream(&mut self, config: &Config, events: &Sender<Event>) {
        let is_new = self.items.count(self.journal.as_ref()) == 0;
        if !is_new || !self.starts_in_order || !matches!(self.items, FinishedItems::InJournal) {
            return;
        }
        let order: Box<dyn Iterator<Item = usize> + Send> = match &self.header.selection {
            None => Box::new(0..self.header.dataset.items),
            Some(selection) => {
                let mut selection = selection.clone();
                selection.sort_unstable();
                Box::new(selection.into_iter())
            }
        };
        let signal = EndSignal::new(self.experiment, events);
        self.stream = Some(PartsStream::start(self.parts_job(config), order, signal));
    }

    /// Removes the journal if the result file is written: it is then no longer needed.
    fn end_journal(&mut self, written: Result<PathBuf, StoreError>) -> (Option<PathBuf>, Option<Error>) {
        match written {
            Ok(path) => {
                (Some(path), self.journal.take().and_then(|journal| journal.remove().err().map(Error::from)))
            }
            Err(error) => {
                self.sync();
                let (id, items) = (self.header.id.clone(), self.expected);
                let kept = self.journal.take().map_or(0, |journal| journal.saved_items());
                // If the journal failed before, report that first error.
                let kept = match self.failure.take() {
                    Some(first) if kept == 0 => Error::Stopped { id, kept, items, source: Box::new(first) },
                    Some(first) => Error::PartlySavedInJournal { id, source: Box::new(first) },
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
        others: &OtherVariants,
    ) -> (Report, Option<RecordingFailure>) {
        let mut report = self.unevaluated_report(items, git);
        let ResolvedDefinition { thresholds, summaries, .. } = &*self.definition;
        let references = References { baseline: &self.baseline, variants: others };
        evaluate_run(&mut report, thresholds, summaries, &references, duration, config);
        let unrecorded = add_notes(self.traffic.as_deref(), &mut report);
        (report, unrecorded)
    }

    fn unevaluated_report(&self, items: Vec<ItemResult>, git: Option<GitState>) -> Report {
        let declared_at = self.definition.declared_at.clone();
        let git = self.source_of_outputs.clone().unwrap_or(git);
        Report { declared_at, git, ..self.header.report(items) }
    }
}
