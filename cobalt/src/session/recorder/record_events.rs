//! Records the events of all experiments in one order, and reports them to a listener.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use cobalt_core::report::ranking::{RankInput, Ranking, rank};
use cobalt_core::report::{GitState, ItemResult};
use cobalt_core::store::{ReportFile, StoreError, git_state};

use super::super::evaluate_thresholds::OtherVariants;
use super::super::plan::RunEnd;
use super::super::variants::run_id;
use super::Recorder;
use crate::config::Config;
use crate::engine::Event;

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

/// Records until every experiment has ended. `sender` sends further events to `events`.
pub fn record_events(
    records: Vec<Recorder>,
    config: Config,
    listener: impl Listener,
    sender: Sender<Event>,
    events: &Receiver<Event>,
) {
    let git = GitQuery::start(records.iter().any(|record| record.saves));
    let mut recording = Recording { records, config, listener, git, sender };
    recording.start();
    while recording.records.iter().any(|record| !record.ended) {
        let Some(first) = next_event(events, &mut recording.records) else { return };
        let batch: Vec<_> = std::iter::once(first).chain(events.try_iter().take(MAX_BATCH)).collect();
        for event in &batch {
            match event {
                Event::ItemFinished { experiment, item } => {
                    recording.records[*experiment].add_to_journal(item);
                }
                Event::Paid { experiment, payment } => {
                    recording.records[*experiment].add_payment(*payment);
                }
                _ => {}
            }
        }
        recording.records.iter_mut().for_each(Recorder::flush);
        for event in batch {
            recording.on_event(event);
        }
        recording.listener.on_batch_end();
    }
}

/// The recorders of all experiments, and what they share.
struct Recording<L> {
    records: Vec<Recorder>,
    config: Config,
    listener: L,
    git: GitQuery,
    /// For the threads that write results.
    sender: Sender<Event>,
}

impl<L: Listener> Recording<L> {
    /// Reports the items of earlier processes, and starts writing large runs.
    fn start(&mut self) {
        for (experiment, record) in self.records.iter_mut().enumerate() {
            let reported = record.for_each_item(|item| {
                self.listener.on_earlier_item(experiment, item);
                Ok(())
            });
            if let Err(error) = reported {
                record.fail(error);
            }
            record.start_stream(&self.config, &self.sender);
        }
        self.listener.on_batch_end();
    }

    fn on_event(&mut self, event: Event) {
        // Items that were running when an experiment was stopped may still finish.
        if event.experiment().is_some_and(|experiment| self.records[experiment].ended) {
            return;
        }
        match event {
            Event::TrialFinished { experiment, index, run } => {
                self.records[experiment].count_trial();
                self.listener.run(experiment, index, run);
            }
            Event::ItemFinished { experiment, item } => {
                self.listener.item(experiment, &item);
                self.records[experiment].keep(item);
            }
            // It is in the journal.
            Event::Paid { .. } => {}
            Event::Failed { experiment, error } => self.records[experiment].fail(error),
            Event::ExperimentFinished { experiment } => {
                self.records[experiment].complete(&self.config);
                while let Some(ready) = next_ready(&self.records) {
                    if let Some(end) = self.finish(ready) {
                        self.on_end(ready, end);
                    }
                }
            }
            Event::ResultWritten { experiment } => {
                if let Some(end) = self.records[experiment].finish_written() {
                    self.on_end(experiment, end);
                }
            }
            Event::Interrupted => {
                for experiment in 0..self.records.len() {
                    if self.records[experiment].ended {
                        continue;
                    }
                    // A run whose result is being written is finished.
                    match self.records[experiment].finish_written() {
                        Some(end) => self.on_end(experiment, end),
                        None => {
                            let end = self.records[experiment].interrupt();
                            self.listener.on_end(experiment, end);
                        }
                    }
                }
            }
        }
    }

    /// Finishes a run. `None` if its result is written on a thread.
    fn finish(&mut self, ready: usize) -> Option<RunEnd> {
        match measured_variants(&self.records[ready], &self.records, &self.config) {
            Ok(others) => self.records[ready].finish(&self.config, self.git.state(), &others, &self.sender),
            Err(error) => {
                self.records[ready].fail(error);
                Some(self.records[ready].interrupt())
            }
        }
    }

    fn on_end(&mut self, experiment: usize, end: RunEnd) {
        self.listener.on_end(experiment, end);
        if let Some(ranking) = rank_variants(&self.records, experiment) {
            self.listener.on_variants_compared(ranking);
        }
    }
}

/// A complete run that waits for no other variant.
fn next_ready(records: &[Recorder]) -> Option<usize> {
    let waits_for = |record: &Recorder, other: &Recorder| {
        record.compares_with(other) && !other.is_complete && !other.ended
    };
    let is_ready = |record: &Recorder| {
        let is_open = record.is_complete && !record.ended && record.finishing.is_none();
        is_open && !records.iter().any(|other| waits_for(record, other))
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
