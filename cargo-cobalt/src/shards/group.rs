//! A group of shards, as the remote store knows it: which shards are finished, running, dead or missing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant, SystemTime};

use cobalt_core::report::Shard;
use cobalt_core::store::{Layout, new_run_id};

use super::layout;
use super::status::{ShardState, ShardStatus};
use crate::error::{CommandError, Error, ErrorKind};
use crate::remote::{Remote, RemoteEntry, RemoteError, RemoteObject};

/// An object that is this old when it is read has another time when it is written again.
const SETTLED: Duration = Duration::from_secs(2);
/// How long the list of pushed runs is used, unless a shard's state changes.
const ENTRIES_LAST: Duration = Duration::from_secs(60);

/// How far a shard is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All of its runs are pushed.
    Finished,
    /// It runs; its last sign of life is this old.
    Running { silent: Duration },
    /// It has stopped, or gave no sign of life for too long.
    Dead { silent: Duration, status: Box<ShardStatus> },
    /// It has not started.
    Missing,
}

#[derive(Debug, thiserror::Error)]
pub enum GroupError {
    #[error(
        "the group `{group}` has shards of {} and of {}; give each of the two sets a name with --shard-group, and run one again",
        .totals[0], .totals[1]
    )]
    SeveralTotals { group: String, totals: [u16; 2] },
}

impl CommandError for GroupError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Setup
    }
}

/// The state of a shard, as it was read.
#[derive(Debug)]
struct KnownStatus {
    status: ShardStatus,
    written: SystemTime,
    /// Whether it was read long enough after it was written: stores may tell times in whole seconds.
    is_settled: bool,
}

/// A group of shards in a remote store.
#[derive(Debug)]
pub struct ShardGroupState<'a> {
    remote: &'a Remote,
    group: &'a str,
    layout: &'a Layout,
    dead_after: Duration,
    /// Names the object by which this process reads the store's clock.
    token: String,
    /// The known states, by the names of their objects.
    statuses: BTreeMap<String, KnownStatus>,
    /// How long ago dead shards were claimed, by the names of the claims.
    claims: BTreeMap<String, Duration>,
    /// The pushed runs of the shards, newest first, and when they were listed.
    entries: Vec<RemoteEntry>,
    listed: Option<Instant>,
}

impl<'a> ShardGroupState<'a> {
    pub fn new(remote: &'a Remote, group: &'a str, layout: &'a Layout, dead_after: Duration) -> Self {
        Self {
            remote,
            group,
            layout,
            dead_after,
            token: new_run_id(),
            statuses: BTreeMap::new(),
            claims: BTreeMap::new(),
            entries: Vec::new(),
            listed: None,
        }
    }

    /// Reads the store. The result has all shards of the group; it is empty if there is none.
    pub fn read(&mut self) -> Result<BTreeMap<Shard, Progress>, Error> {
        // Ages of objects are measured with the store's clock: this machine's may differ.
        let clock = layout::clock(self.group, &self.token);
        self.remote.put(&clock, "")?;
        let objects = self.remote.list(&layout::group(self.group))?;
        let now = objects.iter().find(|object| object.name == clock).map(|object| object.modified);
        let age =
            |written: SystemTime| now.and_then(|now| now.duration_since(written).ok()).unwrap_or_default();
        let claims = objects.iter().filter(|object| layout::is_claim(self.group, &object.name));
        self.claims = claims.map(|object| (object.name.clone(), age(object.modified))).collect();
        let has_changed = self.read_statuses(&objects, age)?;
        if has_changed || self.listed.is_none_or(|at| at.elapsed() > ENTRIES_LAST) {
            let all = self.remote.sync(self.layout)?.of_group(self.group).map_err(RemoteError::from)?;
            self.entries = all.into_iter().filter(|entry| entry.run.shard.is_some()).collect();
            self.listed = Some(Instant::now());
        }
        let shards = self.shards()?;
        let silent = |status: &ShardStatus, written: SystemTime| {
            let of_runs = objects.iter().filter(|object| {
                status.runs.values().any(|id| object.name.starts_with(&layout::journal(self.group, id)))
            });
            of_runs.map(|object| object.modified).chain([written]).max().map(age).unwrap_or_default()
        };
        let progress = |shard: Shard| match self.statuses.get(&layout::status(self.group, shard)) {
            Some(KnownStatus { status, .. }) if self.is_finished(status) => Progress::Finished,
            Some(KnownStatus { status, written, .. }) => {
                let silent = silent(status, *written);
                match status.state == ShardState::Running && silent < self.dead_after {
                    true => Progress::Running { silent },
                    false => Progress::Dead { silent, status: Box::new(status.clone()) },
                }
            }
            // Its runs were pushed by hand.
            None if self.entries.iter().any(|entry| shard_of(entry) == Some(shard)) => Progress::Finished,
            None => Progress::Missing,
        };
        Ok(shards.into_iter().map(|shard| (shard, progress(shard))).collect())
    }

    /// Reads the states that are new or have changed. Returns whether there were any.
    fn read_statuses(
        &mut self,
        objects: &[RemoteObject],
        age: impl Fn(SystemTime) -> Duration,
    ) -> Result<bool, RemoteError> {
        let mut has_changed = false;
        for object in objects.iter().filter(|object| layout::is_status(self.group, &object.name)) {
            let written = object.modified;
            let is_current = |known: &KnownStatus| known.is_settled && known.written == written;
            if self.statuses.get(&object.name).is_some_and(is_current) {
                continue;
            }
            let Some(content) = self.remote.get(&object.name)? else { continue };
            let status: ShardStatus =
                serde_json::from_slice(&content).map_err(|error| RemoteError::Damaged {
                    url: self.remote.url().to_owned(),
                    object: object.name.clone(),
                    problem: error.to_string(),
                })?;
            has_changed |= self.statuses.get(&object.name).is_none_or(|known| known.status != status);
            let is_settled = age(written) >= SETTLED;
            self.statuses.insert(object.name.clone(), KnownStatus { status, written, is_settled });
        }
        Ok(has_changed)
    }

    /// All shards of the group, also those that nobody has heard of.
    fn shards(&self) -> Result<BTreeSet<Shard>, GroupError> {
        let told = self.statuses.values().map(|known| known.status.shard);
        let known: BTreeSet<_> = told.chain(self.entries.iter().filter_map(shard_of)).collect();
        let Some(first) = known.first() else { return Ok(known) };
        match known.iter().find(|shard| shard.total() != first.total()) {
            Some(other) => Err(GroupError::SeveralTotals {
                group: self.group.to_owned(),
                totals: [first.total(), other.total()],
            }),
            None => Ok(first.siblings().collect()),
        }
    }

    /// Whether all runs of a shard are pushed: it says so, or each of its experiments has a run that is.
    fn is_finished(&self, status: &ShardStatus) -> bool {
        let is_pushed = |name: &String| status.runs.get(name).is_some_and(|id| self.is_pushed(id));
        let are_pushed = !status.experiments.is_empty() && status.experiments.iter().all(is_pushed);
        status.state == ShardState::Finished || are_pushed
    }

    /// Whether a run is in the store.
    pub fn is_pushed(&self, id: &str) -> bool {
        self.entries.iter().any(|entry| entry.run.id == id)
    }

    /// Whether somebody claimed a dead shard, but never began to run it.
    pub fn is_abandoned_claim(&self, claim: &str) -> bool {
        self.claims.get(claim).is_some_and(|age| *age >= self.dead_after.max(SETTLED))
    }

    /// The newest pushed run of each shard and experiment.
    pub fn newest_runs(&self) -> Vec<&RemoteEntry> {
        let mut newest = BTreeMap::<_, &RemoteEntry>::new();
        for entry in &self.entries {
            let known = newest.entry((&entry.run.name, &entry.run.shard)).or_insert(entry);
            let order = |entry: &RemoteEntry| (entry.run.timestamp.clone(), entry.pushed_at.clone());
            if order(entry) > order(known) {
                *known = entry;
            }
        }
        newest.into_values().collect()
    }
}

impl Drop for ShardGroupState<'_> {
    fn drop(&mut self) {
        let _ = self.remote.delete(&layout::clock(self.group, &self.token));
    }
}

fn shard_of(entry: &RemoteEntry) -> Option<Shard> {
    entry.run.shard.as_ref()?.parse().ok()
}
