//! The user's project: which of its test targets hold experiments, and their binaries.

mod compile;
mod discover;
mod recognise;
mod variables;

pub(crate) use compile::{Binary, Built, compile};
pub(crate) use discover::Project;
