//! `cargo cobalt dataset`: data sets from the command line.

mod add;
mod check;
mod dedupe;
mod show;
