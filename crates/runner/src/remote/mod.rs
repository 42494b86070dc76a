//! The remote store of a team: runs on object storage, or in a folder on a network file system.
//!
//! Runs are immutable objects named by their content. Lists come from small index objects, one per run, which any writer adds without
//! a lock; an index object is written last, so a cut upload leaves at most objects that nothing refers to.
//!
//! [`Remote`] is the store: `put`, `create`, `get` and `list` for small objects, [`Remote::sync`] for the list of runs, and
//! [`Remote::fetch`] for a run's result file. All calls block; from async code, use `spawn_blocking`.

mod cache;
mod entry;
mod error;
mod fetch;
mod layout;
mod leftovers;
mod local_index;
mod location;
mod packs;
mod parallel;
mod pull;
mod push;
mod push_finished;
mod rebuild;
mod redacted;
mod retention;
mod shared_files;
mod store;
mod sync;
#[cfg(test)]
mod tests;
mod transfer;

pub use entry::RemoteEntry;
pub use error::{Problem, RemoteError};
pub use fetch::compress;
pub use layout::is_id;
pub use leftovers::Leftovers;
pub use local_index::RemoteIndex;
pub use parallel::map as map_in_parallel;
pub use pull::pull;
pub use push::push;
pub use push_finished::{check_push, push_finished};
pub use retention::RemoteRetention;
pub use store::{Remote, RemoteObject};
