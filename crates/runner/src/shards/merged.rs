//! Which results of a group are merged, so that a later merge of the same group waits for new ones.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::layout;
use crate::error::Error;
use crate::remote::{Remote, map_in_parallel};

/// What the last merge of a group merged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MergedResults {
    /// The tokens of the shards' processes; of a shard without a state, the IDs of its runs.
    pub tokens: BTreeSet<String>,
}

impl MergedResults {
    /// Reads the object. A damaged one counts as missing: the group is then merged again.
    pub fn read(remote: &Remote, group: &str) -> Result<Self, Error> {
        let content = remote.get(&layout::merged(group))?;
        Ok(content.and_then(|content| serde_json::from_slice(&content).ok()).unwrap_or_default())
    }

    pub fn write(&self, remote: &Remote, group: &str) -> Result<(), Error> {
        let text = serde_json::to_vec(self).map_err(Error::Json)?;
        Ok(remote.put(&layout::merged(group), text)?)
    }
}

/// Deletes the journals of all runs of a group.
pub fn delete_journals(remote: &Remote, group: &str) -> Result<(), Error> {
    let states = format!("{}/", layout::states(group));
    let mut objects = remote.list(&layout::group(group))?;
    objects.retain(|object| !object.name.starts_with(&states));
    let deleted = map_in_parallel(&objects, |object| remote.delete(&object.name));
    Ok(deleted.into_iter().collect::<Result<(), _>>()?)
}
