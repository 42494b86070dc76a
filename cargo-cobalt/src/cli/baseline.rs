//! What may be typed of `cargo cobalt baseline`.

use clap::{Args, Subcommand};

use super::{ExperimentName, RunName, Settings};

#[derive(Debug, Args)]
pub(crate) struct Baseline {
    #[command(subcommand)]
    pub(crate) command: BaselineCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Makes runs the baselines that later ones are held against
    ///
    /// Each is a small file in `.cobalt/baselines`, to be committed: numbers of each item, and no inputs or outputs.
    Set(SetBaseline),
    /// Shows the baselines, and what has changed since each was set
    Show(ShowBaselines),
}

impl BaselineCommand {
    pub(crate) fn settings(&self) -> &Settings {
        match self {
            Self::Set(set) => &set.settings,
            Self::Show(show) => &show.settings,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct SetBaseline {
    /// Runs by id, `latest~1`, `help-desk@latest`, git revision or result file [default: the newest whole run of each
    /// experiment]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<RunName>,

    /// Only the experiment of this name, as declared or as in test cases; or, with `*`, `?` or `[…]`, those that match
    #[arg(long = "experiment", value_name = "NAME")]
    pub(crate) experiment: Option<ExperimentName>,

    /// Keeps runs that failed, too: later runs that are as bad then count as no worse
    #[arg(long)]
    pub(crate) allow_failed: bool,

    #[command(flatten)]
    pub(crate) settings: Settings,
}

#[derive(Debug, Args)]
pub(crate) struct ShowBaselines {
    /// Only the experiment of this name, as declared or as in test cases; or, with `*`, `?` or `[…]`, those that match
    #[arg(long = "experiment", value_name = "NAME")]
    pub(crate) experiment: Option<ExperimentName>,

    /// Prints a JSON list
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) settings: Settings,
}
