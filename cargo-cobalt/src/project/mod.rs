//! The user's project: which of its test targets hold experiments, and their binaries.

mod compile;
mod discover;

pub(crate) use compile::{Binary, compile};
pub(crate) use discover::experiments;
