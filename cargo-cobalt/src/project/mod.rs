//! The user's project: its test targets with experiments, and their binaries.

mod cargo_env;
mod compile;
mod discover;
mod first_build;
mod greeting;
mod source;
mod sources;
mod target_filter;

pub use cargo_env::{inherited_names as variables_of_this_process, variables_configured_in};
pub use compile::{Binary, BinaryParts, BuildOutput, cargo};
pub use discover::{Candidate, Project, harness};
pub use source::{BinarySource, CargoBuild};
pub use sources::{CACHE_TAG, LOCK, MANIFEST};
