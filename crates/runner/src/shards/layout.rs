//! The names of a group's objects in the remote store.
//!
//! Below `journals/GROUP/` are the journals of its runs, a folder each, and the folder `_state`, whose small objects are listed often.

use cobalt_core::report::Shard;
use cobalt_core::store::file_slug;

/// No ID of a run has an underscore.
const STATE: &str = "_state";

/// The folder of a group's journals and states.
pub fn group(group: &str) -> String {
    format!("journals/{group}")
}

/// The folder of the states of a group.
pub fn states(group: &str) -> String {
    format!("journals/{group}/{STATE}")
}

/// The state of a shard.
pub fn status(group: &str, shard: Shard) -> String {
    format!("journals/{group}/{STATE}/shards/{}-of-{}.json", shard.index(), shard.total())
}

/// Whether this is the state of a shard.
pub fn is_status(group: &str, object: &str) -> bool {
    let name = object.strip_prefix(&format!("journals/{group}/{STATE}/shards/"));
    name.is_some_and(|name| name.ends_with(".json"))
}

/// The claim of who takes over the shard of the process with this token.
pub fn claim(group: &str, token: &str) -> String {
    format!("journals/{group}/{STATE}/taken/{token}")
}

/// Whether this is a claim.
pub fn is_claim(group: &str, object: &str) -> bool {
    object.starts_with(&format!("journals/{group}/{STATE}/taken/"))
}

/// An object whose time is that of the store's clock.
pub fn clock(group: &str, token: &str) -> String {
    format!("journals/{group}/{STATE}/clock/{token}")
}

/// Which results of the group are merged.
pub fn merged(group: &str) -> String {
    format!("journals/{group}/{STATE}/merged.json")
}

/// The segments of a run's journal.
pub fn journal(group: &str, id: &str) -> String {
    format!("journals/{group}/{id}")
}

/// A segment of a run's journal, by the number of bytes before it.
pub fn segment(group: &str, id: &str, offset: u64) -> String {
    format!("journals/{group}/{id}/{offset:020}.zst")
}

/// The number of bytes before a segment.
pub fn offset(segment: &str) -> Option<u64> {
    segment.rsplit_once('/')?.1.strip_suffix(".zst")?.parse().ok()
}

/// The plan that balances the shards of an experiment.
pub fn plan(group: &str, experiment: &str) -> String {
    format!("plans/{group}/{}.json", file_slug(experiment))
}
