//! Live updates: unfinished runs, followed through their journals, and new results.
//!
//! Files are polled several times a second, and only while there are listeners or requests: not every file system reports changes.

mod journal;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use cobalt_core::report::stats::describe;
use cobalt_core::report::{ItemResult, Status};
use cobalt_core::store::{Layout, ResultFileName};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::Notify;
use tokio::sync::broadcast::{Receiver, Sender, channel};
use tokio::time::{MissedTickBehavior, interval};

use self::journal::Journal;
pub use self::journal::{LiveRun, LiveRunState};
use super::job::Job;
use crate::index::{FileStamp, result_files};
use crate::sized_cache::lock;

/// The polling interval while there are listeners.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// The maximum number of item events per poll; the counts include the rest.
const MAX_ITEM_EVENTS: usize = 50;
/// How many events a listener may lag behind before it gets a new snapshot.
const CHANNEL_CAPACITY: usize = 8 * MAX_ITEM_EVENTS;

/// An event of the server; its name is `type`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum ServerEvent {
    /// Nothing happened for 15 seconds, and the connection still works.
    Alive {},
    /// The unfinished runs: sent at first, and whenever one of them starts, makes progress, or ends.
    Live { runs: Vec<LiveRun> },
    /// An item of a run is finished.
    #[serde(rename_all = "camelCase")]
    Item {
        /// The run's id.
        run: String,
        key: String,
        /// The item's index in the dataset, from 0.
        index: usize,
        passed: bool,
        status: Status,
        /// In milliseconds.
        latency_ms: f64,
        /// Each evaluator's mean score.
        scores: BTreeMap<String, f64>,
    },
    /// A job has started, printed something, made progress, or ended.
    Job { job: Job },
    /// The results have changed: a run has finished, or files were added or removed.
    Results {},
    /// The remote store of `serve --remote` cannot be synced any more, or can be again: see `/api`.
    Remote {},
}

/// The live state of a store.
#[derive(Debug)]
pub struct LiveUpdates {
    seen: Mutex<PollState>,
    /// The event channel; absent after shutdown.
    listeners: Mutex<Option<Sender<ServerEvent>>>,
    /// Notified of a new listener, and of shutdown.
    wake: Notify,
}

/// The observed state, and the pending events.
#[derive(Debug)]
struct PollState {
    journals: JournalFolder,
    results: ResultFolder,
    /// The runs as last sent, without elapsed times.
    last_sent: Vec<LiveRun>,
    pending_items: Vec<ServerEvent>,
    results_pending: bool,
}

impl PollState {
    fn poll(&mut self) {
        let untold = &mut self.pending_items;
        self.journals.follow(|run, item| {
            if untold.len() < MAX_ITEM_EVENTS {
                untold.push(item_event(run, &item));
            }
        });
        // After the journals: a finished run's result file is written before its journal is removed.
        self.results_pending |= self.results.refresh();
    }

    /// The unfinished runs.
    fn runs(&self) -> Vec<LiveRun> {
        let mut runs = self.journals.runs();
        runs.retain(|run| !self.results.contains(&run.id));
        runs
    }

    /// The events since the last call.
    fn drain_events(&mut self) -> Vec<ServerEvent> {
        let runs = self.runs();
        let timeless: Vec<_> = runs.iter().map(|run| LiveRun { elapsed_ms: 0, ..run.clone() }).collect();
        let mut news = std::mem::take(&mut self.pending_items);
        if timeless != self.last_sent {
            self.last_sent = timeless;
            news.insert(0, ServerEvent::Live { runs });
        }
        if std::mem::take(&mut self.results_pending) {
            news.push(ServerEvent::Results {});
        }
        news
    }
}

impl LiveUpdates {
    pub fn new(layout: &Layout) -> Self {
        Self::with_folders(&layout.journals(), layout.results())
    }

    /// Without runs of this machine: only events that are [sent](Self::send).
    pub fn without_files() -> Self {
        Self::with_folders(Path::new(""), Path::new(""))
    }

    fn with_folders(journals: &Path, results: &Path) -> Self {
        let seen = PollState {
            journals: JournalFolder::of(journals.to_owned()),
            results: ResultFolder::of(results.to_owned()),
            last_sent: Vec::new(),
            pending_items: Vec::new(),
            results_pending: false,
        };
        Self {
            seen: Mutex::new(seen),
            listeners: Mutex::new(Some(channel(CHANNEL_CAPACITY).0)),
            wake: Notify::new(),
        }
    }

    /// The unfinished runs, newest first.
    pub fn runs(&self) -> Vec<LiveRun> {
        let mut seen = lock(&self.seen);
        seen.poll();
        seen.runs()
    }

    /// The journal of the run with this id, if unfinished.
    pub fn journal(&self, id: &str) -> Option<PathBuf> {
        let mut seen = lock(&self.seen);
        seen.poll();
        seen.journals.path(id).filter(|_| !seen.results.contains(id)).map(Path::to_owned)
    }

    /// Subscribes: returns the unfinished runs and the future events; `None` after shutdown.
    pub fn subscribe(&self) -> Option<(Vec<LiveRun>, Receiver<ServerEvent>)> {
        let mut seen = lock(&self.seen);
        seen.poll();
        let listener = {
            let listeners = lock(&self.listeners);
            let listeners = listeners.as_ref()?;
            if listeners.receiver_count() == 0 {
                // Drop events from before the first listener.
                drop(seen.drain_events());
            }
            listeners.subscribe()
        };
        self.wake.notify_one();
        Some((seen.runs(), listener))
    }

    /// Sends an event to all listeners.
    pub fn send(&self, event: ServerEvent) {
        if let Some(listeners) = lock(&self.listeners).as_ref() {
            // There may be no listeners.
            let _ = listeners.send(event);
        }
    }

    /// Whether anyone listens.
    pub fn has_listeners(&self) -> bool {
        lock(&self.listeners).as_ref().is_some_and(|listeners| listeners.receiver_count() > 0)
    }

    pub fn is_shut_down(&self) -> bool {
        lock(&self.listeners).is_none()
    }

    /// Shuts down: ends all event streams.
    pub fn shut_down(&self) {
        lock(&self.listeners).take();
        self.wake.notify_one();
    }

    /// Polls and sends events until shutdown.
    pub async fn run(self: Arc<Self>) {
        let mut ticks = interval(POLL_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let listeners = lock(&self.listeners).as_ref().map(Sender::receiver_count);
            match listeners {
                None => return,
                Some(0) => self.wake.notified().await,
                Some(_) => {
                    let live = Arc::clone(&self);
                    let told = tokio::task::spawn_blocking(move || live.poll_and_send()).await;
                    // It panicked; the panic is on stderr.
                    if told.is_err() {
                        return self.shut_down();
                    }
                    ticks.tick().await;
                }
            }
        }
    }

    fn poll_and_send(&self) {
        let mut seen = lock(&self.seen);
        seen.poll();
        let news = seen.drain_events();
        // Send while holding the lock, so that no new listener sees a later state than its first events.
        if let Some(listeners) = lock(&self.listeners).as_ref() {
            // There may be no listeners left.
            news.into_iter().for_each(|event| drop(listeners.send(event)));
        }
    }
}

fn item_event(run: &str, item: &ItemResult) -> ServerEvent {
    let names = item.runs.iter().flat_map(|run| run.evaluations.iter()).map(|(name, _)| name);
    let scores: BTreeMap<_, _> = names
        .filter_map(|name| {
            let scores = describe(&item.scores(name).collect::<Vec<_>>())?;
            Some((name.to_owned(), scores.mean))
        })
        .collect();
    ServerEvent::Item {
        run: run.to_owned(),
        key: item.key.clone(),
        index: item.index,
        passed: item.passed,
        status: item.status(),
        latency_ms: item.latency_ms(),
        scores,
    }
}

/// The folder of the journals.
#[derive(Debug)]
struct JournalFolder {
    folder: PathBuf,
    /// The existing journals by file name.
    known: BTreeMap<OsString, Journal>,
}

impl JournalFolder {
    fn of(folder: PathBuf) -> Self {
        Self { folder, known: BTreeMap::new() }
    }

    /// Reads new lines of all journals, and reports each finished item with its run's id.
    fn follow(&mut self, mut tell: impl FnMut(&str, ItemResult)) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut before = std::mem::take(&mut self.known);
        for path in entries.map(|entry| entry.path()) {
            let is_journal = path.extension().is_some_and(|extension| extension == "jsonl");
            let (Some(name), true) = (path.file_name(), is_journal) else { continue };
            let mut journal = before.remove(name).unwrap_or_else(|| Journal::new(&path));
            // It may just have been removed because its run has finished.
            if journal.follow(&mut tell).is_err() {
                continue;
            }
            self.known.insert(name.to_owned(), journal);
        }
    }

    /// The journal of the run with this id.
    fn path(&self, id: &str) -> Option<&Path> {
        self.known.values().find(|journal| journal.id() == Some(id)).map(Journal::path)
    }

    /// The runs, newest first.
    fn runs(&self) -> Vec<LiveRun> {
        let mut runs: Vec<_> = self.known.values().filter_map(Journal::live_run).collect();
        runs.sort_by(|one, two| two.timestamp.cmp(&one.timestamp));
        runs
    }
}

/// How long a changed folder is scanned although its time stays the same: changes within one tick of the file system's clock have
/// the same time.
const MTIME_GRANULARITY: Duration = Duration::from_secs(2);

/// The result files at the last scan.
#[derive(Debug)]
struct ResultFolder {
    folder: PathBuf,
    /// When the folder last changed.
    modified: Option<SystemTime>,
    files: BTreeMap<String, FileStamp>,
    /// The run ids in their names.
    ids: HashSet<String>,
}

impl ResultFolder {
    fn of(folder: PathBuf) -> Self {
        Self { folder, modified: None, files: BTreeMap::new(), ids: HashSet::new() }
    }

    /// Checks whether files were added, removed or replaced.
    fn refresh(&mut self) -> bool {
        let modified = fs::metadata(&self.folder).and_then(|folder| folder.modified()).ok();
        let is_settled = modified.is_none_or(|time| time.elapsed().is_ok_and(|age| age > MTIME_GRANULARITY));
        if modified == self.modified && is_settled {
            return false;
        }
        // An unreadable folder is reported when runs are requested.
        let files = result_files(&self.folder).unwrap_or_default();
        self.modified = modified;
        if files == self.files {
            return false;
        }
        let ids = files.keys().filter_map(|file| Some(ResultFileName::parse(file)?.id.to_owned()));
        self.ids = ids.collect();
        self.files = files;
        true
    }

    /// Whether there is a file for the run with this id.
    fn contains(&self, id: &str) -> bool {
        self.ids.contains(id)
    }
}
