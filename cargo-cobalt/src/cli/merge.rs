//! What may be typed of `cargo cobalt merge`.

use std::path::PathBuf;

use clap::Args;

use super::{Outcome, Settings};

#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Result files of shards, or folders with such files anywhere below
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Exits with 1 if an item, an evaluator or a threshold failed, and judges the thresholds of `[ci]`, too
    #[arg(long)]
    pub(crate) ci: bool,

    #[command(flatten)]
    pub(crate) outcome: Outcome,

    #[command(flatten)]
    pub(crate) settings: Settings,
}
