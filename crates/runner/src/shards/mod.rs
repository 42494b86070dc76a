//! Runs on several machines: the plans that balance their shards, and shards that meet in the remote store.
//!
//! A shard whose runs are pushed writes its state and the journals of its runs to the store while it runs, see [`ShardJob`].
//! `cargo cobalt merge --remote` waits for all shards of the group, see [`await_group`], and takes over those that died.

mod group;
mod heartbeat;
mod job;
mod journal;
mod layout;
mod merged;
mod options;
mod plans;
mod remote_plans;
mod state_listing;
mod status;
mod take_over;
#[cfg(test)]
mod tests;
mod wait;

pub use self::heartbeat::HeartbeatError;
pub use self::job::ShardJob;
pub use self::plans::PlanFile;
pub use self::status::ShardState;
pub use self::wait::{FinishedGroup, await_group};
