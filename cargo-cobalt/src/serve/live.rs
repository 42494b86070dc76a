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
use crate::index::{Stamp, result_files};
use crate::recent::lock;

/// The polling interval while there are listeners.
const PERIOD: Duration = Duration::from_millis(250);
/// The maximum number of item events per poll; the counts include the rest.
const ITEMS: usize = 50;
/// How many events a listener may lag behind before it gets a new snapshot.
const BEHIND: usize = 8 * ITEMS;

/// An event of the server; its name is `type`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "type")]
#[schemars(rename = "Happening")]
pub enum ServerEvent {
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
    /// The results have changed: a run has finished, or files were added or removed.
    Results {},
}

/// The live state of a store.
#[derive(Debug)]
pub struct Live {
    seen: Mutex<Seen>,
    /// The event channel; absent after shutdown.
    listeners: Mutex<Option<Sender<ServerEvent>>>,
    /// Notified of a new listener, and of shutdown.
    called: Notify,
}

/// The observed state, and the pending events.
#[derive(Debug)]
struct Seen {
    journals: Journals,
    results: ResultFiles,
    /// The runs as last sent, without elapsed times.
    told: Vec<LiveRun>,
    untold_items: Vec<ServerEvent>,
    are_results_untold: bool,
}

impl Seen {
    fn look(&mut self) {
        let untold = &mut self.untold_items;
        self.journals.follow(|run, item| {
            if untold.len() < ITEMS {
                untold.push(finished(run, &item));
            }
        });
        // After the journals: a finished run's result file is written before its journal is removed.
        self.are_results_untold |= self.results.have_changed();
    }

    /// The unfinished runs.
    fn runs(&self) -> Vec<LiveRun> {
        let mut runs = self.journals.runs();
        runs.retain(|run| !self.results.have(&run.id));
        runs
    }

    /// The events since the last call.
    fn news(&mut self) -> Vec<ServerEvent> {
        let runs = self.runs();
        let timeless: Vec<_> = runs.iter().map(|run| LiveRun { elapsed_ms: 0, ..run.clone() }).collect();
        let mut news = std::mem::take(&mut self.untold_items);
        if timeless != self.told {
            self.told = timeless;
            news.insert(0, ServerEvent::Live { runs });
        }
        if std::mem::take(&mut self.are_results_untold) {
            news.push(ServerEvent::Results {});
        }
        news
    }
}

impl Live {
    pub fn of(layout: &Layout) -> Self {
        Self::of_folders(&layout.journals(), layout.results())
    }

    fn of_folders(journals: &Path, results: &Path) -> Self {
        let seen = Seen {
            journals: Journals::of(journals.to_owned()),
            results: ResultFiles::of(results.to_owned()),
            told: Vec::new(),
            untold_items: Vec::new(),
            are_results_untold: false,
        };
        Self { seen: Mutex::new(seen), listeners: Mutex::new(Some(channel(BEHIND).0)), called: Notify::new() }
    }

    /// The unfinished runs, newest first.
    pub fn runs(&self) -> Vec<LiveRun> {
        let mut seen = lock(&self.seen);
        seen.look();
        seen.runs()
    }

    /// The journal of the run with this id, if unfinished.
    pub fn journal(&self, id: &str) -> Option<PathBuf> {
        let mut seen = lock(&self.seen);
        seen.look();
        seen.journals.path(id).filter(|_| !seen.results.have(id)).map(Path::to_owned)
    }

    /// Subscribes: returns the unfinished runs and the future events; `None` after shutdown.
    pub fn listen(&self) -> Option<(Vec<LiveRun>, Receiver<ServerEvent>)> {
        let mut seen = lock(&self.seen);
        seen.look();
        let listener = {
            let listeners = lock(&self.listeners);
            let listeners = listeners.as_ref()?;
            if listeners.receiver_count() == 0 {
                // Drop events from before the first listener.
                drop(seen.news());
            }
            listeners.subscribe()
        };
        self.called.notify_one();
        Some((seen.runs(), listener))
    }

    /// Shuts down: ends all event streams.
    pub fn end(&self) {
        lock(&self.listeners).take();
        self.called.notify_one();
    }

    /// Polls and sends events until shutdown.
    pub async fn tell(self: Arc<Self>) {
        let mut ticks = interval(PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let listeners = lock(&self.listeners).as_ref().map(Sender::receiver_count);
            match listeners {
                None => return,
                Some(0) => self.called.notified().await,
                Some(_) => {
                    let live = Arc::clone(&self);
                    let told = tokio::task::spawn_blocking(move || live.tell_news()).await;
                    // It panicked; the panic is on stderr.
                    if told.is_err() {
                        return self.end();
                    }
                    ticks.tick().await;
                }
            }
        }
    }

    fn tell_news(&self) {
        let mut seen = lock(&self.seen);
        seen.look();
        let news = seen.news();
        // Send while holding the lock, so that no new listener sees a later state than its first events.
        if let Some(listeners) = lock(&self.listeners).as_ref() {
            // There may be no listeners left.
            news.into_iter().for_each(|event| drop(listeners.send(event)));
        }
    }
}

fn finished(run: &str, item: &ItemResult) -> ServerEvent {
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
struct Journals {
    folder: PathBuf,
    /// The existing journals by file name.
    known: BTreeMap<OsString, Journal>,
}

impl Journals {
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
            let Ok(items) = journal.follow() else { continue };
            if let Some(id) = journal.id() {
                items.into_iter().for_each(|item| tell(id, item));
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
        let mut runs: Vec<_> = self.known.values().filter_map(Journal::run).collect();
        runs.sort_by(|one, two| two.timestamp.cmp(&one.timestamp));
        runs
    }
}

/// How long a changed folder is scanned although its time stays the same: changes within one tick of the file system's clock have
/// the same time.
const TICK: Duration = Duration::from_secs(2);

/// The result files at the last scan.
#[derive(Debug)]
struct ResultFiles {
    folder: PathBuf,
    /// When the folder last changed.
    modified: Option<SystemTime>,
    files: BTreeMap<String, Stamp>,
    /// The run ids in their names.
    ids: HashSet<String>,
}

impl ResultFiles {
    fn of(folder: PathBuf) -> Self {
        Self { folder, modified: None, files: BTreeMap::new(), ids: HashSet::new() }
    }

    /// Checks whether files were added, removed or replaced.
    fn have_changed(&mut self) -> bool {
        let modified = fs::metadata(&self.folder).and_then(|folder| folder.modified()).ok();
        let is_settled = modified.is_none_or(|time| time.elapsed().is_ok_and(|age| age > TICK));
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
    fn have(&self, id: &str) -> bool {
        self.ids.contains(id)
    }
}
