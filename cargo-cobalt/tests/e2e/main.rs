//! The command as started by a user, in temporary projects.

#[cfg(unix)]
mod action;
#[cfg(unix)]
mod archive;
mod assistants;
mod baseline;
mod calls;
#[cfg(unix)]
mod cargo_flags;
mod ci_safety;
mod clean;
mod command;
mod compare;
mod config;
mod dataset;
mod estimate;
mod export;
mod fetched;
mod gates;
mod git;
mod github;
mod gsm8k;
mod history;
mod import;
mod init;
mod keys;
mod large_runs;
mod markdown;
mod max_cost;
mod mcp;
mod names;
mod naming;
#[cfg(unix)]
mod native_exit;
mod otlp;
mod page;
mod parts;
mod plugins;
mod project;
mod readme;
mod receiver;
mod recordings;
mod reference;
mod remote;
mod remote_shards;
mod rerun;
mod run;
mod score;
mod selection;
mod serve;
mod shards;
mod show;
mod snapshot;
mod store;
mod stored_runs;
mod team;
mod traces;
mod variables;
mod variants;
mod warnings;
#[cfg(unix)]
mod watch;
mod webhooks;
