//! The runs of a team in a remote store, for `serve --remote`: the list is synced in the background, and a run is fetched when it is
//! opened.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use cobalt::command::config::Config;
use cobalt_core::hash::sha256;
use cobalt_core::report::Timestamp;
use cobalt_core::store::Layout;
use schemars::JsonSchema;
use serde::Serialize;

use super::run_list::RunList;
use super::team_fetches::TeamFetches;
use crate::error::Error;
use crate::remote::{Remote, RemoteEntry, RemoteError, RemoteIndex};
use crate::runs::RunView;
use crate::serve::error::ApiError;
use crate::serve::live::{LiveUpdates, ServerEvent};
use crate::sized_cache::lock;
use crate::terminal::{eprint_wrapped, one_line};

/// How often the list is synced while it is used.
const SYNC_INTERVAL: Duration = Duration::from_secs(10);
/// How long after the last request the list counts as used.
const USED_FOR: Duration = Duration::from_secs(60);
/// How often to check whether the list has to be synced.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// The runs of a remote store.
#[derive(Debug)]
pub struct TeamRuns {
    remote: Remote,
    layout: Layout,
    synced: Mutex<Synced>,
    /// When the list was last requested.
    used: Mutex<Instant>,
    fetches: TeamFetches,
}

/// The list, as of the last successful sync.
#[derive(Debug)]
struct Synced {
    runs: Arc<RunList>,
    entries: HashMap<String, RemoteEntry>,
    /// A hash of the names of the index objects.
    state: String,
    at: Option<Timestamp>,
    failure: Option<SyncFailure>,
}

/// The remote store of `serve --remote`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RemoteStore")]
pub struct RemoteState {
    /// Its URL, or the path of its folder.
    url: String,
    /// The time of the last successful sync of the list, ISO 8601 in UTC; absent if none has succeeded since the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    synced_at: Option<String>,
    /// Why the list may be out of date.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<SyncFailure>,
}

/// A sync that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncFailure {
    /// When syncs began to fail, ISO 8601 in UTC.
    since: String,
    /// What failed, and what to do.
    message: String,
}

impl TeamRuns {
    /// Syncs the list for the first time. If that fails, the list of an earlier sync is served, if there is one.
    pub fn open(settings: &Config) -> Result<Self, Error> {
        let team = Self {
            remote: Remote::open(settings)?,
            layout: settings.layout().clone(),
            synced: Mutex::new(Synced {
                runs: Arc::new(RunList::new([Vec::new(), Vec::new()], Vec::new(), 0)),
                entries: HashMap::new(),
                state: String::new(),
                at: None,
                failure: None,
            }),
            used: Mutex::new(Instant::now()),
            fetches: TeamFetches::default(),
        };
        if let Err(error) = team.try_sync() {
            team.read(&team.remote.local_index(&team.layout)?)?;
            if lock(&team.synced).entries.is_empty() {
                return Err(error.into());
            }
            eprint_wrapped(&format!("warning: {error}; showing the runs of the last sync"));
            team.note_failure(&error);
        }
        Ok(team)
    }

    /// The runs, as of the last sync.
    pub fn runs(&self) -> Arc<RunList> {
        *lock(&self.used) = Instant::now();
        Arc::clone(&lock(&self.synced).runs)
    }

    /// The store, and whether the list is up to date.
    pub fn state(&self) -> RemoteState {
        let synced = lock(&self.synced);
        RemoteState {
            url: one_line(self.remote.url()),
            synced_at: synced.at.map(|at| at.to_string()),
            failure: synced.failure.clone(),
        }
    }

    /// A hash of the store's location.
    pub fn location_hash(&self) -> String {
        sha256(self.remote.identity().as_bytes())
    }

    /// The result file of a run, which is fetched if need be; `None` if there is no such run.
    pub fn file(&self, id: &str) -> Result<Option<PathBuf>, ApiError> {
        let Some(entry) = self.entry(id) else { return Ok(None) };
        let fetch = || self.remote.fetch(&entry, &self.layout);
        // Marks it as used, so that it makes no room for others.
        let fetched = self.remote.fetched(&entry, &self.layout).and_then(|_| fetch().ok());
        fetched.map_or_else(|| self.fetches.fetch(id, fetch), Ok).map(Some)
    }

    /// A text for which runs have been fetched.
    pub fn fetched_state(&self) -> String {
        self.remote.fetched_state(&self.layout)
    }

    /// The result file of a run, if it has been fetched.
    pub fn fetched_file(&self, id: &str) -> Option<PathBuf> {
        self.remote.fetched(&self.entry(id)?, &self.layout)
    }

    fn entry(&self, id: &str) -> Option<RemoteEntry> {
        lock(&self.synced).entries.get(id).cloned()
    }

    /// Syncs the list again and again on a thread of its own, while it is used, and tells listeners what changes.
    pub fn follow(self: Arc<Self>, live: Arc<LiveUpdates>) {
        thread::spawn(move || {
            let mut last = Instant::now();
            while !live.is_shut_down() {
                thread::sleep(CHECK_INTERVAL);
                let is_used = live.has_listeners() || lock(&self.used).elapsed() < USED_FOR;
                if is_used && last.elapsed() >= SYNC_INTERVAL {
                    self.sync().into_iter().for_each(|event| live.send(event));
                    last = Instant::now();
                }
            }
        });
    }

    /// Syncs the list. Returns the events.
    fn sync(&self) -> Vec<ServerEvent> {
        let failure = || lock(&self.synced).failure.clone();
        let before = failure();
        let has_changed = self.try_sync().unwrap_or_else(|error| {
            self.note_failure(&error);
            false
        });
        let results = has_changed.then_some(ServerEvent::Results {});
        results.into_iter().chain((failure() != before).then_some(ServerEvent::Remote {})).collect()
    }

    fn note_failure(&self, error: &RemoteError) {
        let mut synced = lock(&self.synced);
        let since =
            synced.failure.take().map_or_else(|| Timestamp::now().to_string(), |failure| failure.since);
        synced.failure = Some(SyncFailure { since, message: error.to_string() });
    }

    fn try_sync(&self) -> Result<bool, RemoteError> {
        let index = self.remote.sync(&self.layout)?;
        let has_changed = self.read(&index)?;
        let mut synced = lock(&self.synced);
        (synced.at, synced.failure) = (Some(Timestamp::now()), None);
        Ok(has_changed)
    }

    /// Reads the list from the local copy of the index, and returns whether it has changed.
    fn read(&self, index: &RemoteIndex) -> Result<bool, RemoteError> {
        let names: Vec<_> = index.names()?.into_iter().map(|(name, _)| name).collect();
        let state = sha256(names.join("\n").as_bytes());
        if lock(&self.synced).state == state {
            return Ok(false);
        }
        let entries = index.entries()?;
        let (partial, whole): (Vec<_>, Vec<_>) =
            entries.iter().map(|entry| entry.run.clone()).partition(|run| run.partial);
        let view = |runs: Vec<_>, is_partial| {
            runs.into_iter().map(|run| RunView::finished(run, is_partial)).collect()
        };
        let mut synced = lock(&self.synced);
        let version = synced.runs.version + 1;
        synced.runs = Arc::new(RunList::new([view(whole, false), view(partial, true)], Vec::new(), version));
        synced.entries = entries.into_iter().map(|entry| (entry.run.id.clone(), entry)).collect();
        synced.state = state;
        Ok(true)
    }
}
