//! Archives of test binaries with their data, for machines that do not build: `cargo cobalt archive` packs them, and
//! `cargo cobalt run --archive` runs them.

mod error;
mod extract;
mod files;
mod frames;
mod libraries;
mod manifest;
mod nextest;
mod pack;
mod platform;
mod project;
mod source;
mod unpack;

pub use pack::archive;
pub use project::ArchivedProject;
pub use source::ArchivedBinaries;
