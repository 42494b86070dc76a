//! Command-line definition of `cargo cobalt push` and `pull`.

use clap::Args;
use cobalt::command::config::RemoteUrl;

use super::{ExperimentName, RunName, Settings, Since};

/// The remote store.
#[derive(Clone, Debug, Args)]
pub struct RemoteOptions {
    /// Remote store to use instead of that in cobalt.toml: `s3://bucket/prefix`, `gs://…`, `az://…`, or a folder
    #[arg(long, value_name = "URL")]
    pub remote: Option<RemoteUrl>,
}

#[derive(Debug, Args)]
pub struct Push {
    /// Runs: ID prefix, `latest~1`, `help-desk@latest`, git revision or result file [default: all complete runs that the store lacks]
    #[arg(value_name = "RUN")]
    pub runs: Vec<RunName>,

    /// Also push partial runs, such as shards
    #[arg(long, conflicts_with = "runs")]
    pub all: bool,

    /// Leave out what the items contain: inputs, outputs, expected values, reasons, traces, transcripts and files
    ///
    /// Scores, states, latencies, tokens and costs remain, and so do keys of items and values of group fields.
    #[arg(long)]
    pub redacted: bool,

    /// Push the project's recordings instead of runs; they contain inputs and outputs
    #[arg(long, conflicts_with_all = ["runs", "all", "redacted"])]
    pub recordings: bool,

    /// Push the judges' cached answers instead of runs; they contain inputs and outputs
    #[arg(long, conflicts_with_all = ["runs", "all", "redacted"])]
    pub answers: bool,

    /// Push nothing; make missing entries of the store's list of runs again, from the result files that it has
    #[arg(long, conflicts_with_all = ["runs", "all", "redacted", "recordings", "answers"])]
    pub rebuild_index: bool,

    #[command(flatten)]
    pub remote: RemoteOptions,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct Pull {
    /// Runs: ID prefix or the name of a run [default: all complete runs that match the filters]
    #[arg(value_name = "RUN", conflicts_with_all = ["branch", "since", "experiment", "all"])]
    pub runs: Vec<String>,

    /// Only runs of this branch
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,

    /// Only runs since this date (2026-02-05), time (2026-02-05T14:30:00Z) or age (7d, 12h)
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,

    /// Only experiments with this exact name or matching this pattern (`*`, `?`, `[…]`), with all of their variants
    #[arg(short = 'e', long = "experiment", value_name = "NAME")]
    pub experiment: Option<ExperimentName>,

    /// Also pull partial runs, such as shards
    #[arg(long)]
    pub all: bool,

    /// Pull recordings instead of runs; existing files are not changed
    #[arg(long, conflicts_with_all = ["runs", "branch", "since", "experiment", "all"])]
    pub recordings: bool,

    /// Pull judges' cached answers instead of runs
    #[arg(long, conflicts_with_all = ["runs", "branch", "since", "experiment", "all"])]
    pub answers: bool,

    #[command(flatten)]
    pub remote: RemoteOptions,

    #[command(flatten)]
    pub settings: Settings,
}
