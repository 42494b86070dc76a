//! The result of a large run: its items are evaluated and written one by one, while it runs or from its journal.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cobalt_core::item::CaseNames;
use cobalt_core::report::{GitState, ItemResult, Report};
use cobalt_core::reporters::NotableItems;
use cobalt_core::store::{JournalItems, PartsWriter, StoreError};

use super::evaluate_thresholds::{Baseline, Evaluation, OtherVariants, References};
use super::notes::add_notes;
use super::summaries::run_summaries;
use crate::config::Config;
use crate::engine::Event;
use crate::experiment::ResolvedDefinition;
use crate::recording::{RecordingFailure, RunTraffic};

/// The number of items that wait to be written.
const QUEUED_ITEMS: usize = 256;
/// The maximum size of the items that wait for earlier ones, in bytes of their lines in the journal.
const MAX_WAITING_BYTES: u64 = 16 << 20;

/// What is needed to evaluate and write a large run.
#[derive(Clone)]
pub struct PartsJob {
    /// The report without items, not evaluated.
    pub report: Report,
    pub definition: Arc<ResolvedDefinition>,
    pub names: Arc<CaseNames>,
    pub baseline: Arc<Baseline>,
    pub traffic: Option<Arc<RunTraffic>>,
    pub config: Config,
}

/// What is known only at the end of a run.
pub struct RunFacts {
    pub duration: Duration,
    pub git: Option<GitState>,
    pub others: OtherVariants,
}

/// An evaluated run.
#[derive(Debug)]
pub struct EvaluatedRun {
    pub report: Report,
    pub notable: NotableItems,
    /// Its result file.
    pub written: Result<PathBuf, StoreError>,
    /// Why something could not be recorded.
    pub unrecorded: Option<RecordingFailure>,
}

impl PartsJob {
    /// Evaluates and writes the items that `each` passes on in dataset order. An item is in memory at a time, unless there are summary
    /// functions, which take all. `None` if `each` gives up.
    pub fn run(
        self,
        each: impl FnOnce(&mut dyn FnMut(&ItemResult)) -> Result<Option<RunFacts>, StoreError>,
    ) -> Result<Option<EvaluatedRun>, StoreError> {
        let Self { mut report, definition, names, baseline, traffic, config } = self;
        let settings = report.config.clone();
        let mut evaluation = Evaluation::new(&report, &settings, &definition.thresholds, &baseline, &config);
        let mut notable = NotableItems::default();
        let mut writer = PartsWriter::create(config.layout(), &report, config.prices());
        let mut all = Vec::new();
        let facts = each(&mut |item| {
            evaluation.add(item);
            notable.add(item, &report.name, &settings, |index| names.get(index));
            if let Ok(parts) = &mut writer
                && let Err(error) = parts.push(item)
            {
                // Its summary is still known.
                writer = Err(error);
            }
            if !definition.summaries.is_empty() {
                all.push(item.clone());
            }
        })?;
        let Some(RunFacts { duration, git, others }) = facts else { return Ok(None) };
        let summaries = run_summaries(&definition.summaries, &mut all);
        drop(all);
        report.git = git;
        let references = References { baseline: &baseline, variants: &others };
        evaluation.finish(&mut report, &references, summaries, duration);
        let unrecorded = add_notes(traffic.as_deref(), &mut report);
        let written = writer.and_then(|parts| parts.finish(&report));
        Ok(Some(EvaluatedRun { report, notable, written, unrecorded }))
    }
}

/// Sends an event when a thread that writes a result ends, however it ends.
pub struct EndSignal {
    experiment: usize,
    events: Sender<Event>,
}

impl EndSignal {
    pub fn new(experiment: usize, events: &Sender<Event>) -> Self {
        Self { experiment, events: events.clone() }
    }
}

impl Drop for EndSignal {
    fn drop(&mut self) {
        // The receiver is gone only if the run was abandoned.
        let _ = self.events.send(Event::ResultWritten { experiment: self.experiment });
    }
}

/// A thread that evaluates and writes a large run. `None` if an item is missing.
#[derive(Debug)]
pub struct PartsThread(JoinHandle<Result<Option<EvaluatedRun>, StoreError>>);

impl PartsThread {
    fn spawn(
        signal: EndSignal,
        run: impl FnOnce() -> Result<Option<EvaluatedRun>, StoreError> + Send + 'static,
    ) -> Self {
        Self(thread::spawn(move || {
            let _signal = signal;
            run()
        }))
    }

    /// Evaluates and writes a run from its journal.
    pub fn of_journal(job: PartsJob, items: JournalItems, facts: RunFacts, signal: EndSignal) -> Self {
        Self::spawn(signal, move || {
            job.run(|take| {
                items.for_each(|item| {
                    take(&item);
                    Ok::<_, StoreError>(())
                })?;
                Ok(Some(facts))
            })
        })
    }

    /// Waits until it ends.
    pub fn join(self) -> Result<Option<EvaluatedRun>, StoreError> {
        self.0.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

enum Message {
    Item(Box<ItemResult>),
    End(RunFacts),
}

/// Evaluates and writes a large run while it runs, on a thread. Items that finish before earlier ones wait for them.
pub struct PartsStream {
    messages: SyncSender<Message>,
    thread: PartsThread,
    /// The indexes of the items that are not written yet, in dataset order.
    order: Box<dyn Iterator<Item = usize> + Send>,
    next: Option<usize>,
    /// The finished items that wait, each with its size.
    waiting: BTreeMap<usize, (Box<ItemResult>, u64)>,
    waiting_bytes: u64,
}

impl PartsStream {
    /// Starts with the items at these indexes, in dataset order.
    pub fn start(
        job: PartsJob,
        mut order: Box<dyn Iterator<Item = usize> + Send>,
        signal: EndSignal,
    ) -> Self {
        let (messages, received) = sync_channel(QUEUED_ITEMS);
        let thread = PartsThread::spawn(signal, move || job.run(|take| Ok(take_items(&received, take))));
        let next = order.next();
        Self { messages, thread, order, next, waiting: BTreeMap::new(), waiting_bytes: 0 }
    }

    /// Adds a finished item of this size. `None` if too many items wait for a slow one: the run is then written from its journal.
    pub fn add(mut self, item: ItemResult, bytes: u64) -> Option<Self> {
        self.waiting_bytes += bytes;
        self.waiting.insert(item.index, (Box::new(item), bytes));
        while let Some((item, bytes)) = self.next.and_then(|next| self.waiting.remove(&next)) {
            self.waiting_bytes -= bytes;
            // If the thread has ended, its error is reported at the end.
            let _ = self.messages.send(Message::Item(item));
            self.next = self.order.next();
        }
        if self.waiting_bytes > MAX_WAITING_BYTES {
            self.cancel();
            return None;
        }
        Some(self)
    }

    /// Removes what is written so far.
    pub fn cancel(self) {
        let Self { messages, thread, .. } = self;
        drop(messages);
        // Its error concerns a file that is of no use.
        let _ = thread.join();
    }

    /// Ends the run after its last item. The thread then evaluates it.
    pub fn finish(self, facts: RunFacts) -> PartsThread {
        let Self { messages, thread, next, .. } = self;
        if next.is_none() {
            // If the thread has ended, its error is reported at the end.
            let _ = messages.send(Message::End(facts));
        }
        thread
    }
}

/// Passes the items on until the end; `None` without an end.
fn take_items(messages: &Receiver<Message>, take: &mut dyn FnMut(&ItemResult)) -> Option<RunFacts> {
    loop {
        match messages.recv().ok()? {
            Message::Item(item) => take(&item),
            Message::End(facts) => return Some(facts),
        }
    }
}
