//! What may be typed of what runs come to, whether they are made or merged.

use clap::Args;
use cobalt::config::{OnInconclusive, Reporter};

use super::RunName;

/// What runs are held against, and how they are shown.
#[derive(Debug, Args)]
pub(crate) struct Outcome {
    /// What runs are held against: a run as `compare` takes it, a git revision, a baseline file, or a folder of these
    ///
    /// Without it, each experiment has the baseline that `cargo cobalt baseline set` has kept. Of a git revision, that is a
    /// run of the commit, or else the baseline that is committed there, or else a run with changes beside the commit.
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<RunName>,

    /// What becomes of a threshold against a baseline that noise may hide, or that has no baseline: `pass` or `fail`
    #[arg(long, value_name = "OUTCOME")]
    pub(crate) on_inconclusive: Option<OnInconclusive>,

    /// Shows the run in this way, in place of what cobalt.toml says: `cli`, `json` or `github-actions`, or, in a file of
    /// `.cobalt/reports` or as in `junit=out.xml`, `junit`, `pr-comment`, `markdown` or `html`; may be given more than once
    #[arg(long, value_name = "NAME[=PATH]")]
    pub(crate) reporter: Vec<Reporter>,
}
