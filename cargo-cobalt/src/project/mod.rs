//! The user's project: its test targets with experiments, and their binaries.

mod compile;
mod discover;
mod sources;
mod variables;
mod wanted;

pub use compile::{Binary, Built, cargo, compile};
pub use discover::{Project, harness};
pub use sources::{CACHE, LOCK, MANIFEST};
pub use variables::of_this_process as variables_of_this_process;
