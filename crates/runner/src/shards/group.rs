//! A group of shards, as the remote store knows it: which shards are finished, running, stopped, dead or missing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant, SystemTime};

use cobalt_core::report::Shard;
use cobalt_core::store::{Layout, new_run_id};

use super::layout;
use super::merged::MergedResults;
use super::state_listing::{StateListing, delete_clock};
use super::status::{ShardState, ShardStatus};
use crate::error::{CommandError, Error, ErrorKind};
use crate::remote::{Remote, RemoteEntry, RemoteError};

/// An object that is this old when it is read has another time when it is written again.
const SETTLED: Duration = Duration::from_secs(2);
/// How long the list of pushed runs is used, unless a shard's state changes.
const ENTRIES_LAST: Duration = Duration::from_secs(60);

/// How far a shard is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All of its runs are pushed.
    Finished,
    /// The same, but they were merged before.
    Merged,
    Running {
        since_heartbeat: Duration,
    },
    /// Its process has ended before the runs were finished.
    Stopped {
        status: Box<ShardStatus>,
    },
    /// The same, because its budget was used up.
    BudgetSpent {
        status: Box<ShardStatus>,
    },
    /// There was no heartbeat for too long.
    Dead {
        since_heartbeat: Duration,
        status: Box<ShardStatus>,
    },
    /// It has not started.
    Missing,
}

#[derive(Debug, thiserror::Error)]
pub enum GroupError {
    #[error("the group `{group}` mixes shards of {} and of {}; use a different --shard-group for each set", .totals[0], .totals[1])]
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
    /// Whether it was read long enough after it was written: stores may have times in whole seconds.
    is_settled: bool,
}

/// A group of shards in a remote store.
#[derive(Debug)]
pub struct ShardGroupState<'a> {
    remote: &'a Remote,
    group: &'a str,
    layout: &'a Layout,
    dead_after: Duration,
    /// What was merged before this process started.
    merged: MergedResults,
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
    /// `merged`: the results that do not count, as they were merged before.
    pub fn new(
        remote: &'a Remote,
        group: &'a str,
        layout: &'a Layout,
        dead_after: Duration,
        merged: MergedResults,
    ) -> Self {
        Self {
            remote,
            group,
            layout,
            dead_after,
            merged,
            token: new_run_id(),
            statuses: BTreeMap::new(),
            claims: BTreeMap::new(),
            entries: Vec::new(),
            listed: None,
        }
    }

    /// Reads the store. The result has all shards of the group; it is empty if there is none.
    pub fn read(&mut self) -> Result<BTreeMap<Shard, Progress>, Error> {
        let listing = StateListing::read(self.remote, self.group, &self.token)?;
        let claims = listing.objects.iter().filter(|object| layout::is_claim(self.group, &object.name));
        self.claims = claims.map(|object| (object.name.clone(), listing.age(object.modified))).collect();
        let has_changed = self.read_statuses(&listing)?;
        if has_changed || self.listed.is_none_or(|at| at.elapsed() > ENTRIES_LAST) {
            let all = self.remote.sync(self.layout)?.of_group(self.group).map_err(RemoteError::from)?;
            self.entries = all.into_iter().filter(|entry| entry.run.shard.is_some()).collect();
            self.listed = Some(Instant::now());
        }
        let shards = self.shards()?;
        Ok(shards.into_iter().map(|shard| (shard, self.progress(shard, &listing))).collect())
    }

    fn progress(&self, shard: Shard, listing: &StateListing) -> Progress {
        let status = self.statuses.get(&layout::status(self.group, shard));
        let is_pushed_by_hand = || self.entries.iter().any(|entry| shard_of(entry) == Some(shard));
        let Some(KnownStatus { status, written, .. }) = status else {
            return if is_pushed_by_hand() { self.finished(shard) } else { Progress::Missing };
        };
        if self.is_finished(status) {
            return self.finished(shard);
        }
        let since_heartbeat = listing.age(*written);
        let is_alive = since_heartbeat < self.dead_after;
        let status = Box::new(status.clone());
        match status.state {
            ShardState::BudgetSpent => Progress::BudgetSpent { status },
            ShardState::Running if is_alive => Progress::Running { since_heartbeat },
            ShardState::Running => Progress::Dead { since_heartbeat, status },
            ShardState::Stopped | ShardState::Finished => Progress::Stopped { status },
        }
    }

    /// The progress of a shard whose runs are all pushed.
    fn finished(&self, shard: Shard) -> Progress {
        match self.tokens_of(shard).is_subset(&self.merged.tokens) {
            true => Progress::Merged,
            false => Progress::Finished,
        }
    }

    /// What identifies the results of a shard: the process that ran it or, if it has no state, its runs.
    fn tokens_of(&self, shard: Shard) -> BTreeSet<String> {
        match self.statuses.get(&layout::status(self.group, shard)) {
            Some(known) => [known.status.token.clone()].into(),
            None => {
                let runs = self.entries.iter().filter(|entry| shard_of(entry) == Some(shard));
                runs.map(|entry| entry.run.id.clone()).collect()
            }
        }
    }

    /// Reads the states that are new or have changed. Returns whether there were any.
    fn read_statuses(&mut self, listing: &StateListing) -> Result<bool, Error> {
        let mut has_changed = false;
        for object in listing.objects.iter().filter(|object| layout::is_status(self.group, &object.name)) {
            let written = object.modified;
            let is_current = |known: &KnownStatus| known.is_settled && known.written == written;
            if self.statuses.get(&object.name).is_some_and(is_current) {
                continue;
            }
            let Some(content) = self.remote.get(&object.name)? else { continue };
            let status = ShardStatus::parse(self.group, &object.name, &content, self.remote)?;
            has_changed |= self.statuses.get(&object.name).is_none_or(|known| known.status != status);
            let is_settled = listing.age(written) >= SETTLED;
            self.statuses.insert(object.name.clone(), KnownStatus { status, written, is_settled });
        }
        Ok(has_changed)
    }

    /// All shards of the group, including shards without a state.
    fn shards(&self) -> Result<BTreeSet<Shard>, GroupError> {
        let with_state = self.statuses.values().map(|known| known.status.shard);
        let known: BTreeSet<_> = with_state.chain(self.entries.iter().filter_map(shard_of)).collect();
        let Some(first) = known.first() else { return Ok(known) };
        match known.iter().find(|shard| shard.total() != first.total()) {
            Some(other) => Err(GroupError::SeveralTotals {
                group: self.group.to_owned(),
                totals: [first.total(), other.total()],
            }),
            None => Ok(first.siblings().collect()),
        }
    }

    /// Whether all runs of a shard are pushed: its state says so, or each of its experiments has a run that is.
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

    /// What identifies the results of all shards.
    pub fn results(&self) -> Result<MergedResults, GroupError> {
        Ok(MergedResults {
            tokens: self.shards()?.into_iter().flat_map(|shard| self.tokens_of(shard)).collect(),
        })
    }
}

impl Drop for ShardGroupState<'_> {
    fn drop(&mut self) {
        delete_clock(self.remote, self.group, &self.token);
    }
}

fn shard_of(entry: &RemoteEntry) -> Option<Shard> {
    entry.run.shard.as_ref()?.parse().ok()
}
