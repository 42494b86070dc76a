//! The heart of the `cargo cobalt` command: finds, builds and runs experiments, and reads past runs.
//!
//! The package `cargo-cobalt` adds what takes long to build, as [`Extensions`](extensions::Extensions): the dashboard, the MCP server,
//! archives and others. Not public API: nothing here is stable.

#![expect(missing_docs, missing_debug_implementations, reason = "only for the command")]

pub mod atomic_file;
pub mod baseline;
pub mod browser;
pub mod clean;
pub mod cli;
pub mod compare;
pub mod config;
pub mod dashboard_link;
pub mod environment;
pub mod error;
pub mod estimate;
pub mod extensions;
pub mod formats;
pub mod git_ignored;
pub mod history;
pub mod http_client;
pub mod index;
pub mod interrupt;
pub mod list;
pub mod lookup;
pub mod markdown;
pub mod process_group;
pub mod project;
pub mod recordings;
pub mod remote;
pub mod reporters;
pub mod results;
pub mod run;
pub mod runs;
pub mod score;
pub mod shards;
pub mod shell;
pub mod show;
pub mod sized_cache;
pub mod start;
pub mod terminal;
pub mod text_table;
pub mod webhooks;

pub use start::{start, start_or_else};
