//! The user's project: its test targets with experiments, and their binaries.

mod cargo_env;
mod compile;
mod discover;
mod sources;
mod target_filter;

pub use cargo_env::inherited_names as variables_of_this_process;
pub use compile::{Binary, BuildOutput, cargo, compile};
pub use discover::{Project, harness};
pub use sources::{CACHE_TAG, LOCK, MANIFEST};
