//! Records the engine's events: each item in the journal, then the report in the result file.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use cobalt_core::item::CaseNames;
use cobalt_core::report::ranking::{RankInput, Ranking, rank};
use cobalt_core::report::{GitState, ItemResult, Measurements, Report, RunMetrics, Threshold};
use cobalt_core::reporters::NotableItems;
use cobalt_core::store::{JournalHeader, JournalWriter, ReportFile, StoreError, git_state, write_report};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use super::evaluate_thresholds::{Baseline, OtherVariants, References, evaluate_run};
use super::finished_items::FinishedItems;
use super::notes::add_notes;
use super::parts::{EvaluatedRun, PartsJob, PartsStream, RunFacts};
use super::plan::{InterruptedRun, RunEnd, RunOutcome};
use super::variants::run_id;
use crate::config::Config;
use crate::engine::{Event, Work};
use crate::error::Error;
use crate::experiment::{ProgressCallback, ResolvedDefinition};
use crate::recording::RunTraffic;

/// The results of earlier processes; of a new run, none.
pub struct EarlierResults {
    /// Further results are added to it.
    pub journal: Option<JournalWriter>,
    pub items: FinishedItems,
    /// How long these processes ran.
    pub duration: Duration,
}

/// The recorder's state for one experiment.
pub struct Recorder {
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
    /// The model traffic, if it passes through the gateway.
    traffic: Option<Arc<RunTraffic>>,
    /// The state of the source that gave the outputs, if they are only scored.
    source_of_outputs: Option<Option<GitState>>,
    /// The engine's permits to start items.
    slots: Arc<Semaphore>,
    /// Items of the current batch.
    batch_items: usize,
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
        let EarlierResults { journal, mut items, duration: earlier_duration } = earlier;
        let finished = items.count(journal.as_ref());
        if let FinishedItems::InMemory(items) = &mut items {
            items.reserve_exact(work.items.len());
        }
        Self {
            header,
            names,
            definition: Arc::clone(&work.definition),
            progress,
            saves: journal.is_some(),
            journal,
            baseline: Arc::new(baseline),
            stream: None,
            starts_in_order: work.items.is_sorted(),
            failure: None,
            engine: None,
            expected: finished + work.items.len(),
            executed: finished * work.definition.runs,
            items,
            started: Instant::now(),
            earlier_duration,
            traffic: work.traffic.clone(),
            source_of_outputs: work.rescoring.as_ref().map(|rescoring| rescoring.git.clone()),
            slots: Arc::clone(&work.slots),
            batch_items: 0,
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

    /// Sets the engine's task, to be stopped if the journal fails.
    pub fn set_engine(&mut self, engine: AbortHandle) {
        self.engine = Some(engine);
    }

    /// Writes the batch to disk, and lets the engine start further items.
    pub fn flush(&mut self) {
        if self.batch_items > 0 {
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
            traffic.finish(&mut None);
        }
        let (id, items) = (self.header.id.clone(), self.expected);
        // Dropping the journal unlocks it or, if it has no items, removes it.
        let kept = self.journal.take().map_or(0, |journal| journal.saved_items());
        let stopped = |source| Error::Stopped { id: id.clone(), kept, items, source: Box::new(source) };
        let error = self.failure.take().map(stopped);
        RunEnd::Interrupted(InterruptedRun { experiment: self.header.name.clone(), id, kept, error })
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
        let mut figures = RunMetrics::new(&[], &[], &[], config.prices());
        let read = self.for_each_item(|item| {
            measured.push(item, config.prices());
            figures.add(item);
            Ok(())
        });
        match read {
            Ok(()) => {
                let measured = measured.with_metrics_of(&figures.summary(Duration::ZERO));
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

    /// Ends the run. `others`: the variants of its group that its thresholds compare it with, as far as they are measured.
    pub fn finish(&mut self, config: &Config, git: Option<GitState>, others: &OtherVariants) -> RunEnd {
        if !self.has_all_items() {
            return self.interrupt();
        }
        self.ended = true;
        let duration = self.elapsed();
        let (report, notable, written) = match self.items {
            FinishedItems::InMemory(_) => {
                let items = self.take_items();
                let report = self.report(items, duration, git, config, others);
                let notable = NotableItems::of(&report, |index| self.names.get(index));
                let written = self.saves.then(|| write_report(config.layout(), &report));
                (report, notable, written)
            }
            FinishedItems::InJournal => {
                match self.finish_in_parts(RunFacts { duration, git, others: others.clone() }, config) {
                    Ok(EvaluatedRun { report, notable, written }) => (report, notable, Some(written)),
                    Err(error) => {
                        self.fail(error);
                        return self.interrupt();
                    }
                }
            }
        };
        self.finished = self.header.variant.is_some().then(|| report.without_items());
        if let Some(measured) = &mut self.measured {
            Arc::make_mut(measured).add_summary(&report);
        }
        let (path, unsaved) = written.map_or((None, None), |written| self.end_journal(written));
        RunEnd::Finished(Box::new(RunOutcome { report, notable, path, unsaved }))
    }

    /// Evaluates and writes a large run: most of it is done if its items were streamed, else it is read from the journal.
    fn finish_in_parts(&mut self, facts: RunFacts, config: &Config) -> Result<EvaluatedRun, StoreError> {
        let facts = RunFacts { git: self.source_of_outputs.clone().unwrap_or(facts.git), ..facts };
        let job = self.parts_job(config);
        let missing = || StoreError::Resume {
            id: self.header.id.clone(),
            reason: "its items are not complete; resume it".to_owned(),
        };
        if let Some(stream) = self.stream.take() {
            return stream.finish(facts)?.ok_or_else(missing);
        }
        let evaluated = job.run(|take| {
            self.for_each_item(|item| {
                take(item);
                Ok(())
            })?;
            Ok(Some(facts))
        })?;
        Ok(evaluated.expect("the facts of its end are there"))
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
    fn start_stream(&mut self, config: &Config) {
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
        self.stream = Some(PartsStream::start(self.parts_job(config), order));
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
    ) -> Report {
        let mut report = self.unevaluated_report(items, git);
        let ResolvedDefinition { thresholds, summaries, .. } = &*self.definition;
        let references = References { baseline: &self.baseline, variants: others };
        evaluate_run(&mut report, thresholds, summaries, &references, duration, config);
        add_notes(self.traffic.as_deref(), &mut report);
        report
    }

    fn unevaluated_report(&self, items: Vec<ItemResult>, git: Option<GitState>) -> Report {
        let declared_at = self.definition.declared_at.clone();
        let git = self.source_of_outputs.clone().unwrap_or(git);
        Report { declared_at, git, ..self.header.report(items) }
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

    /// All variants of an experiment have ended.
    fn on_variants_compared(&mut self, _ranking: Ranking) {}
}

/// Records until every experiment has ended.
pub fn record_events(
    mut records: Vec<Recorder>,
    config: Config,
    mut listener: impl Listener,
    events: &Receiver<Event>,
) {
    for (experiment, record) in records.iter_mut().enumerate() {
        let told = record.for_each_item(|item| {
            listener.on_earlier_item(experiment, item);
            Ok(())
        });
        if let Err(error) = told {
            record.fail(error);
        }
        record.start_stream(&config);
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
                    records[experiment].keep(item);
                }
                Event::DatasetUnreadable { experiment, error } => records[experiment].fail(error),
                Event::ExperimentFinished { experiment } => {
                    records[experiment].complete(&config);
                    while let Some(ready) = next_ready(&records) {
                        let ending = match measured_variants(&records[ready], &records, &config) {
                            Ok(others) => records[ready].finish(&config, git.state(), &others),
                            Err(error) => {
                                records[ready].fail(error);
                                records[ready].interrupt()
                            }
                        };
                        listener.on_end(ready, ending);
                        if let Some(ranking) = rank_variants(&records, ready) {
                            listener.on_variants_compared(ranking);
                        }
                    }
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

/// A complete run that waits for no other variant.
fn next_ready(records: &[Recorder]) -> Option<usize> {
    let waits_for = |record: &Recorder, other: &Recorder| {
        record.compares_with(other) && !other.is_complete && !other.ended
    };
    let is_ready = |record: &Recorder| {
        record.is_complete && !record.ended && !records.iter().any(|other| waits_for(record, other))
    };
    records.iter().position(is_ready)
}

/// The variants that a run is compared with: those of this process, and those of its group that earlier processes have finished.
///
/// # Errors
///
/// The result of such a variant is damaged or incomplete.
fn measured_variants(
    record: &Recorder,
    records: &[Recorder],
    config: &Config,
) -> Result<OtherVariants, StoreError> {
    let Some(variant) = &record.header.variant else { return Ok(OtherVariants::new()) };
    let here = |name: &str| {
        let is_it = |other: &&Recorder| {
            other.header.variant.as_ref().is_some_and(|other| other.group == variant.group)
        };
        records.iter().filter(is_it).find(|other| other.is_variant(name))?.measured.clone()
    };
    let stored = |name: &str| {
        let Some(path) = config.layout().result_of(&run_id(&variant.group, name)) else { return Ok(None) };
        let file = ReportFile::open(&path)?;
        match file.report().partial {
            true => Ok(None),
            false => file.measurements(config.prices()).map(|measured| Some(Arc::new(measured))),
        }
    };
    let measured = |name: &str| match here(name) {
        Some(measured) => Ok(Some(measured)),
        None => stored(name),
    };
    let named = |name: &str| measured(name).map(|found| Some((name.to_owned(), found?))).transpose();
    record.compared_variants().filter_map(named).collect()
}

/// Ranks the variants of a run's group once all of them have ended. `None` unless at least two have finished with all items.
fn rank_variants(records: &[Recorder], ended: usize) -> Option<Ranking> {
    let group = |record: &Recorder| record.header.variant.as_ref().map(|variant| variant.group.clone());
    let of_group = group(&records[ended])?;
    let members: Vec<_> = records.iter().filter(|record| group(record).as_ref() == Some(&of_group)).collect();
    if !members.iter().all(|record| record.ended) {
        return None;
    }
    let runs = members.iter().filter_map(|record| {
        let report = record.finished.as_ref().filter(|report| !report.partial)?;
        Some(RankInput { report, measurements: record.measured.as_deref()? })
    });
    let mut runs: Vec<_> = runs.collect();
    runs.sort_by_key(|run| run.report.variant.as_ref().map(|variant| variant.position));
    (runs.len() > 1).then(|| rank(&runs))
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
