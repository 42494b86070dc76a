//! The command as a user starts it, in throw-away projects.

#[cfg(unix)]
mod action;
mod baseline;
mod command;
mod compare;
mod config;
mod gates;
mod git;
mod github;
mod history;
mod init;
mod keys;
mod markdown;
mod naming;
mod plugins;
mod project;
mod rerun;
mod run;
mod selection;
mod shards;
mod store;
mod variables;
