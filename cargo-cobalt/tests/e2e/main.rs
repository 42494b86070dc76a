//! The command as a user starts it, in throw-away projects.

mod assistants;
mod baseline;
mod command;
mod compare;
mod config;
mod gates;
mod git;
mod history;
mod init;
mod keys;
mod naming;
mod plugins;
mod project;
mod reference;
mod rerun;
mod run;
mod selection;
mod store;
mod variables;
