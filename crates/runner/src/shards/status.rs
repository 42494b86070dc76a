//! The state of a shard in the remote store: written when its runs start, again and again while they run, and at the end.

use std::collections::BTreeMap;

use cobalt_core::report::Shard;
use cobalt_core::store::new_run_id;
use serde::{Deserialize, Serialize};

use super::layout;
use super::options::ShardOptions;
use crate::error::CommandError;
use crate::remote::{Remote, is_id};
use crate::terminal::one_line;

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
    /// How it runs them.
    #[serde(default)]
    pub options: ShardOptions,
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
    /// It ended before, because its budget was used up.
    BudgetSpent,
}

/// A state that cannot be used: anyone who can write to the store may have written it.
#[derive(Debug, thiserror::Error)]
#[error(
    "the state of a shard, `{object}` in the remote store `{url}`, is invalid: {problem}; delete it and run the shard again"
)]
pub struct InvalidStatus {
    url: String,
    object: String,
    problem: String,
}

impl CommandError for InvalidStatus {}

impl ShardStatus {
    /// The state of a shard that starts now.
    pub fn new(shard: Shard, experiments: Vec<String>, options: ShardOptions) -> Self {
        Self {
            shard,
            token: new_run_id(),
            state: ShardState::Running,
            experiments,
            options,
            runs: BTreeMap::new(),
        }
    }

    /// Reads the content of the object. IDs become names of files and objects, and options become arguments.
    pub fn parse(group: &str, object: &str, content: &[u8], remote: &Remote) -> Result<Self, InvalidStatus> {
        let status = serde_json::from_slice::<Self>(content).map_err(|error| error.to_string());
        let checked = status.and_then(|status| match status.problem(group, object) {
            None => Ok(status),
            Some(problem) => Err(problem),
        });
        checked.map_err(|problem| InvalidStatus {
            url: one_line(remote.url()),
            object: one_line(object),
            problem: one_line(&problem),
        })
    }

    fn problem(&self, group: &str, object: &str) -> Option<String> {
        if layout::status(group, self.shard) != object {
            return Some(format!("it is that of shard {}", self.shard));
        }
        let odd = std::iter::once(&self.token).chain(self.runs.values()).find(|id| !is_id(id));
        odd.map(|id| format!("`{id}` is not the ID of a run or a process")).or_else(|| self.options.problem())
    }
}
