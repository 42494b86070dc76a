//! The user's project: its test targets with experiments, and their binaries.

mod build_inputs;
mod cargo_env;
mod compile;
mod declared;
mod discover;
mod first_build;
mod greeting;
mod inputs;
mod source;
mod source_texts;
mod sources;
mod target_filter;

pub use cargo_env::{inherited_names as variables_of_this_process, variables_configured_in};
pub use compile::{Binary, BinaryParts, BuildOutput, cargo};
pub use declared::{LIBRARY, LIBRARY_CRATE};
pub use discover::{Candidate, Project, harness};
pub use inputs::{ARCHIVE_MANIFEST, GENERATED_FOLDERS, Inputs, TEMPORARY_SUFFIXES, is_archive};
pub use source::{BinarySource, CargoBuild, SourceHash};
pub use sources::{CACHE_TAG, LOCK, MANIFEST};
