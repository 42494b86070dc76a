//! What happens: runs that are going on, followed by their journals, and results that come.
//!
//! Files are looked at several times a second, and only while somebody listens or asks: a file system may be one that tells
//! nobody of its changes.

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

/// How often files are looked at while somebody listens.
const PERIOD: Duration = Duration::from_millis(250);
/// The most items that are told at a time; of those that are left out, the counts tell.
const ITEMS: usize = 50;
/// How many events a listener may be behind before it is told anew how all stands.
const BEHIND: usize = 8 * ITEMS;

/// What is told; the event's name is `type`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "type")]
#[schemars(rename = "Happening")]
pub enum ServerEvent {
    /// The runs that have not ended, at first and whenever one of them is new, has got further, or has ended.
    Live { runs: Vec<LiveRun> },
    /// An item of a run was finished.
    #[serde(rename_all = "camelCase")]
    Item {
        /// The run's id.
        run: String,
        key: String,
        /// The item's place in the data set, from 0.
        index: usize,
        passed: bool,
        status: Status,
        /// In milliseconds.
        latency_ms: f64,
        /// Each evaluator's mean score.
        scores: BTreeMap<String, f64>,
    },
    /// There are other results than before: a run has ended, or files came or went.
    Results {},
}

/// What happens in a store.
#[derive(Debug)]
pub struct Live {
    seen: Mutex<Seen>,
    /// Tells the listeners; absent when it is over.
    listeners: Mutex<Option<Sender<ServerEvent>>>,
    /// Somebody new listens, or it is over.
    called: Notify,
}

/// What was seen, and what of it is not told yet.
#[derive(Debug)]
struct Seen {
    journals: Journals,
    results: ResultFiles,
    /// The runs as they were told, but for the time that passes.
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
        // After the journals: the file of a run that has ended is there before its journal is removed.
        self.are_results_untold |= self.results.have_changed();
    }

    /// The runs that have not ended.
    fn runs(&self) -> Vec<LiveRun> {
        let mut runs = self.journals.runs();
        runs.retain(|run| !self.results.have(&run.id));
        runs
    }

    /// What has happened since it was last told.
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

    /// The runs that have not ended, the newest first.
    pub fn runs(&self) -> Vec<LiveRun> {
        let mut seen = lock(&self.seen);
        seen.look();
        seen.runs()
    }

    /// The journal of the run of this id, where it has not ended.
    pub fn journal(&self, id: &str) -> Option<PathBuf> {
        let mut seen = lock(&self.seen);
        seen.look();
        seen.journals.path(id).filter(|_| !seen.results.have(id)).map(Path::to_owned)
    }

    /// Begins to listen: the runs that have not ended, and what happens from now on; `None` when it is over.
    pub fn listen(&self) -> Option<(Vec<LiveRun>, Receiver<ServerEvent>)> {
        let mut seen = lock(&self.seen);
        seen.look();
        let listener = {
            let listeners = lock(&self.listeners);
            let listeners = listeners.as_ref()?;
            if listeners.receiver_count() == 0 {
                // What has happened while nobody listened is no news.
                drop(seen.news());
            }
            listeners.subscribe()
        };
        self.called.notify_one();
        Some((seen.runs(), listener))
    }

    /// Ends what is told to all listeners.
    pub fn end(&self) {
        lock(&self.listeners).take();
        self.called.notify_one();
    }

    /// Tells the listeners what happens, until it is over.
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
                    // It has panicked, of which the terminal tells.
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
        // Before anybody else looks, who would know later news than he is told.
        if let Some(listeners) = lock(&self.listeners).as_ref() {
            // The last of them may have gone.
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
    /// Those that are there, by their names.
    known: BTreeMap<OsString, Journal>,
}

impl Journals {
    fn of(folder: PathBuf) -> Self {
        Self { folder, known: BTreeMap::new() }
    }

    /// Reads what was added to all of them, and tells of each item that was finished, with its run's id.
    fn follow(&mut self, mut tell: impl FnMut(&str, ItemResult)) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut before = std::mem::take(&mut self.known);
        for path in entries.map(|entry| entry.path()) {
            let is_journal = path.extension().is_some_and(|extension| extension == "jsonl");
            let (Some(name), true) = (path.file_name(), is_journal) else { continue };
            let mut journal = before.remove(name).unwrap_or_else(|| Journal::new(&path));
            // It may have been removed at this moment, as its run has ended.
            let Ok(items) = journal.follow() else { continue };
            if let Some(id) = journal.id() {
                items.into_iter().for_each(|item| tell(id, item));
            }
            self.known.insert(name.to_owned(), journal);
        }
    }

    /// The journal of the run of this id.
    fn path(&self, id: &str) -> Option<&Path> {
        self.known.values().find(|journal| journal.id() == Some(id)).map(Journal::path)
    }

    /// The runs, the newest first.
    fn runs(&self) -> Vec<LiveRun> {
        let mut runs: Vec<_> = self.known.values().filter_map(Journal::run).collect();
        runs.sort_by(|one, two| two.timestamp.cmp(&one.timestamp));
        runs
    }
}

/// How long a folder that has changed is looked into although its time stays the same: what changes within one tick of the
/// file system's clock has the same time.
const TICK: Duration = Duration::from_secs(2);

/// The result files as they were last seen.
#[derive(Debug)]
struct ResultFiles {
    folder: PathBuf,
    /// When the folder last changed.
    modified: Option<SystemTime>,
    files: BTreeMap<String, Stamp>,
    /// The ids that their names tell.
    ids: HashSet<String>,
}

impl ResultFiles {
    fn of(folder: PathBuf) -> Self {
        Self { folder, modified: None, files: BTreeMap::new(), ids: HashSet::new() }
    }

    /// Looks whether files came or went, or have been replaced.
    fn have_changed(&mut self) -> bool {
        let modified = fs::metadata(&self.folder).and_then(|folder| folder.modified()).ok();
        let is_settled = modified.is_none_or(|time| time.elapsed().is_ok_and(|age| age > TICK));
        if modified == self.modified && is_settled {
            return false;
        }
        // A folder that cannot be listed is reported when somebody asks for runs.
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

    /// Whether there is a file of the run of this id.
    fn have(&self, id: &str) -> bool {
        self.ids.contains(id)
    }
}
