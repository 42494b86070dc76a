//! Keeps what the engine tells: puts each item into the journal, and the whole into the report and the result file.
//!
//! It runs on a thread of its own and takes all events that are there at a time, so that many quick items cost one
//! write. A listener hears of an item only when it is on disk.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::baseline::Baseline;
use crate::config::{Config, OnInconclusive};
use crate::engine::{Event, Work};
use crate::error::Error;
use crate::experiment::{Definition, Progress};
use crate::llm::prices::PRICES_AS_OF;
use crate::report::comparison::{Comparison, compare, too_old};
use crate::report::{
    Against, Figures, GitState, ItemResult, Measurements, Report, SCHEMA, Summary, ThresholdOutcome,
    ci_status, judge_all,
};
use crate::store::{JournalHeader, JournalWriter, Layout, git_state, write_report};

/// The most events taken at a time, so that a listener never waits long.
const BATCH: usize = 256;
/// How long a report waits for git: in a huge or a distant working tree it may take its time, or hang.
const GIT_PATIENCE: Duration = Duration::from_secs(5);

/// Hears what is recorded, in one order.
pub(crate) trait Listener: Send {
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

/// How an experiment ended.
#[derive(Debug)]
pub(crate) enum Ending {
    /// All items are done.
    Finished(Box<Outcome>),
    /// It was stopped before; its journal stays.
    Interrupted { experiment: String, id: String },
}

/// What a finished experiment came to.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) report: Report,
    pub(crate) thresholds: Vec<ThresholdOutcome>,
    /// The result file, where one is written.
    pub(crate) path: Option<PathBuf>,
    /// Why none could be written.
    pub(crate) unsaved: Option<Error>,
}

impl Outcome {
    pub(crate) fn into_report(self) -> Result<Report, Error> {
        match self.unsaved {
            None => Ok(self.report),
            Some(source) => Err(Error::Unsaved { report: Box::new(self.report), source: Box::new(source) }),
        }
    }
}

/// One experiment's record.
pub(crate) struct Record {
    header: JournalHeader,
    definition: Arc<Definition>,
    progress: Option<Progress>,
    journal: Option<JournalWriter>,
    saves: bool,
    /// What the run is held against, where that was looked for.
    baseline: Option<Baseline>,
    /// The first thing that went wrong with the journal; the result file may still be written.
    journal_error: Option<Error>,
    items: Vec<ItemResult>,
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
    ended: bool,
}

impl Record {
    /// The record of what `work` adds to the items that are done.
    pub(super) fn new(
        work: &Work,
        header: JournalHeader,
        progress: Option<Progress>,
        baseline: Option<Baseline>,
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

    fn executed(&mut self) {
        self.executed += 1;
        let Some(progress) = &self.progress else { return };
        let (done, total) = (self.executed, self.expected * self.definition.runs);
        // The caller's function must not take the results down with it.
        if catch_unwind(AssertUnwindSafe(|| progress(done, total))).is_err() {
            self.progress = None;
        }
    }

    fn add_to_journal(&mut self, item: &ItemResult) {
        let at = self.elapsed();
        self.with_journal(|journal| journal.push(at, item));
        self.arrived += 1;
    }

    /// Puts the batch on disk, and lets the engine go on.
    fn flush(&mut self) {
        if self.arrived > 0 {
            self.with_journal(JournalWriter::flush);
            self.slots.add_permits(std::mem::take(&mut self.arrived));
        }
    }

    fn with_journal(&mut self, write: impl FnOnce(&mut JournalWriter) -> Result<(), Error>) {
        if let Some(journal) = &mut self.journal
            && let Err(error) = write(journal)
        {
            self.journal_error.get_or_insert(error);
        }
    }

    fn interrupt(&mut self) -> Ending {
        self.ended = true;
        Ending::Interrupted { experiment: self.header.name.clone(), id: self.header.id.clone() }
    }

    fn finish(&mut self, config: &Config, git: Option<GitState>) -> Ending {
        if self.items.len() < self.expected {
            return self.interrupt();
        }
        self.ended = true;
        let duration = self.elapsed();
        let mut items = std::mem::take(&mut self.items);
        items.sort_unstable_by_key(|item| item.index);
        let (report, thresholds) = self.report(items, duration, git, config);
        let (path, unsaved) = if self.saves { self.save(config.layout(), &report) } else { (None, None) };
        Ending::Finished(Box::new(Outcome { report, thresholds, path, unsaved }))
    }

    /// Writes the result file, which makes the journal superfluous.
    fn save(&mut self, layout: &Layout, report: &Report) -> (Option<PathBuf>, Option<Error>) {
        match write_report(layout, report) {
            Ok(path) => (Some(path), self.journal.take().and_then(|journal| journal.remove().err())),
            Err(error) => {
                let id = self.header.id.clone();
                // Where the journal broke off, that is where it began to go wrong.
                let kept = match self.journal_error.take() {
                    Some(first) => Error::PartlyInJournal { id, source: Box::new(first) },
                    None => Error::InJournal { id, source: Box::new(error) },
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
    ) -> (Report, Vec<ThresholdOutcome>) {
        let header = &self.header;
        let mut report = Report {
            schema: SCHEMA,
            id: header.id.clone(),
            name: header.name.clone(),
            timestamp: header.timestamp,
            tags: header.tags.clone(),
            config: header.config.clone(),
            ci_status: None,
            passed: false,
            summary: Summary::default(),
            // Some of the items are no measure of the agent.
            partial: header.selection.is_some(),
            dataset: Some(header.dataset.clone()),
            git,
            sources: header.sources.clone(),
            baseline: None,
            prices_as_of: Some(PRICES_AS_OF.to_owned()),
            items,
        };
        let thresholds = self.judge(&mut report, duration, config);
        (report, thresholds)
    }

    /// Adds the figures, and what they come to.
    fn judge(&self, report: &mut Report, duration: Duration, config: &Config) -> Vec<ThresholdOutcome> {
        let Definition { evaluators, thresholds, .. } = &*self.definition;
        let judged = if report.partial { &[][..] } else { &thresholds[..] };
        let now = self.found().map(|baseline| (baseline, Measurements::of(report, config.prices())));
        let against = Against {
            runs: now.as_ref().map(|(baseline, now)| (*baseline, now)).map_err(|reason| *reason),
            inconclusive_passes: config.on_inconclusive() == OnInconclusive::Pass,
        };
        let comparison = against.runs.ok().and_then(|(baseline, now)| {
            compare_with_baseline(baseline, now, config.baseline_max_age()).map(Box::new)
        });
        let evaluators: Vec<_> =
            evaluators.iter().map(|evaluator| (evaluator.name(), evaluator.pass_mark())).collect();
        let figures = Figures::gather(&report.items, &evaluators, config.prices());
        let outcomes = judge_all(judged, &figures, &against);
        let summary = figures.summary(duration);
        report.passed =
            summary.passed_items == summary.total_items && outcomes.iter().all(|threshold| threshold.passed);
        report.summary = summary;
        report.baseline = comparison;
        report.ci_status = ci_status(judged, &outcomes);
        outcomes
    }

    /// The run that this one is held against, or why there is none.
    fn found(&self) -> Result<&Measurements, &str> {
        match &self.baseline {
            Some(Baseline::Found(run)) => Ok(run),
            Some(Baseline::Absent(reason)) => Err(reason),
            None => Err("only some of the items are run"),
        }
    }
}

/// How a run differs from its baseline, and what speaks against holding it against that.
fn compare_with_baseline(
    baseline: &Measurements,
    now: &Measurements,
    max_age: Duration,
) -> Option<Comparison> {
    let mut comparison = compare(baseline, &[now]).pop()?;
    comparison.notes.extend(too_old(baseline, now.timestamp, max_age));
    Some(comparison)
}

/// Records until every experiment has come to an end.
pub(super) fn record(
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
        let Ok(first) = events.recv() else { return };
        let batch: Vec<_> = std::iter::once(first).chain(events.try_iter().take(BATCH)).collect();
        for event in &batch {
            if let Event::ItemFinished { experiment, item } = event {
                records[*experiment].add_to_journal(item);
            }
        }
        records.iter_mut().for_each(Record::flush);
        for event in batch {
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
