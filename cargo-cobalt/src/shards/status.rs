//! The state of a shard in the remote store: written when its runs start, again and again while they run, and at the end.

use std::collections::BTreeMap;

use cobalt_core::report::Shard;
use cobalt_core::store::new_run_id;
use serde::{Deserialize, Serialize};

/// What the process that runs a shard says of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShardStatus {
    pub shard: Shard,
    /// Identifies the process.
    pub token: String,
    pub state: ShardState,
    /// The names of the experiments that it runs.
    pub experiments: Vec<String>,
    /// The IDs of the runs that it has started, by the names of their experiments.
    pub runs: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ShardState {
    Running,
    /// All runs are finished and pushed.
    Finished,
    /// It ended before: it was interrupted, or something failed.
    Stopped,
}

impl ShardStatus {
    /// The state of a shard that starts now.
    pub fn new(shard: Shard, experiments: Vec<String>) -> Self {
        Self { shard, token: new_run_id(), state: ShardState::Running, experiments, runs: BTreeMap::new() }
    }
}
