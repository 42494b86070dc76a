//! The command as a user starts it, in throw-away projects.

mod baseline;
mod command;
mod compare;
mod config;
mod export;
mod gates;
mod git;
mod github;
mod history;
mod import;
mod init;
mod keys;
mod markdown;
mod naming;
mod page;
mod plugins;
mod project;
mod rerun;
mod run;
mod selection;
mod store;
mod variables;
