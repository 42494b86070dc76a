//! What may be typed of `cargo cobalt merge`.

use std::path::PathBuf;

use clap::Args;
use cobalt::config::{OnInconclusive, Reporter};

use super::Settings;
use crate::runs::RunName;

#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Result files of shards, or folders with such files anywhere below
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Exits with 1 if an item, an evaluator or a threshold failed, and judges the thresholds of `[ci]`, too
    #[arg(long)]
    pub(crate) ci: bool,

    /// What the merged runs are held against, as `cargo cobalt run` takes it
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<RunName>,

    /// What becomes of a threshold against a baseline that noise may hide, or that has no baseline: `pass` or `fail`
    #[arg(long, value_name = "OUTCOME")]
    pub(crate) on_inconclusive: Option<OnInconclusive>,

    /// Shows the merged runs in this way, as `cargo cobalt run` takes it; may be given more than once
    #[arg(long, value_name = "NAME[=PATH]")]
    pub(crate) reporter: Vec<Reporter>,

    #[command(flatten)]
    pub(crate) settings: Settings,
}
