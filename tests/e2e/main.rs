//! End-to-end tests: what users see when they run the real binaries.

mod accepted;
mod arguments;
mod budgets;
mod causes;
mod config;
mod conversations;
mod data;
#[cfg(target_os = "linux")]
mod disk;
mod exits;
#[cfg(feature = "full")]
mod exported;
mod failures;
mod faults;
mod fetched;
mod files;
mod gates;
mod groups;
mod judges;
mod keys;
mod kill_and_resume;
mod log;
mod metrics;
mod model;
mod named;
mod nextest;
#[cfg(unix)]
mod programs;
mod projects;
mod recordings;
mod records;
mod rerun;
mod resume;
mod retried;
mod sandbox;
mod selection;
mod shards;
mod shared_crates;
#[cfg(unix)]
mod signals;
mod source;
#[cfg(feature = "full")]
mod text;
mod values;
mod variants;
mod verdicts;
mod warnings;
#[cfg(unix)]
mod workspaces;
