//! The user's project: which of its test targets hold experiments, and their binaries.

mod compile;
mod discover;
mod sources;
mod variables;
mod wanted;

pub(crate) use compile::{Binary, Built, cargo, compile};
pub(crate) use discover::{Project, harness};
pub(crate) use sources::{CACHE, LOCK, MANIFEST};
pub(crate) use variables::of_this_process as variables_of_this_process;
