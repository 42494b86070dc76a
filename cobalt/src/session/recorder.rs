//! Keeps what the engine tells: puts each item into the journal, and the whole into the report and the result file.
//!
//! It runs on a thread of its own and takes all events that are there at a time, so that many quick items cost one
//! write. A listener hears of an item only when it is in the journal, unless that cannot be written: then the run is stopped.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::ending::Ending;
use super::record::Record;
use crate::config::Config;
use crate::engine::Event;
use crate::report::{GitState, ItemResult};
use crate::store::git_state;

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
