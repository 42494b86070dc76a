//! The names of a group's objects in the remote store.

use cobalt_core::report::Shard;
use cobalt_core::store::file_slug;

/// The folder of a group's journals and states.
pub fn group(group: &str) -> String {
    format!("journals/{group}")
}

/// The state of a shard.
pub fn status(group: &str, shard: Shard) -> String {
    format!("journals/{group}/shards/{}-of-{}.json", shard.index(), shard.total())
}

/// Whether this is the state of a shard.
pub fn is_status(group: &str, object: &str) -> bool {
    object.strip_prefix(&format!("journals/{group}/shards/")).is_some_and(|name| name.ends_with(".json"))
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

/// The claim of who takes over the shard of the process with this token.
pub fn claim(group: &str, token: &str) -> String {
    format!("journals/{group}/taken/{token}")
}

/// Whether this is a claim.
pub fn is_claim(group: &str, object: &str) -> bool {
    object.starts_with(&format!("journals/{group}/taken/"))
}

/// An object that tells the time of the store's clock.
pub fn clock(group: &str, token: &str) -> String {
    format!("journals/{group}/clock/{token}")
}

/// The plan that balances the shards of an experiment.
pub fn plan(group: &str, experiment: &str) -> String {
    format!("plans/{group}/{}.json", file_slug(experiment))
}
