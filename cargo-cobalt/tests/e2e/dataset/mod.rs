//! `cargo cobalt dataset`: datasets on the command line.

mod add;
mod check;
mod dedupe;
mod show;
mod traces;
