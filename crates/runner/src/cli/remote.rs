//! Command-line definition of `cargo cobalt push` and `pull`.

use clap::Args;

use super::{ExperimentName, RunName, Settings, Since};

/// The remote store.
#[derive(Clone, Debug, Args)]
pub struct RemoteOptions {
    /// Remote store to use instead of that in cobalt.toml: `s3://bucket/prefix`, `gs://…`, `az://…`, or a folder
    #[arg(long, value_name = "URL")]
    pub remote: Option<String>,
}

#[derive(Debug, Args)]
pub struct Push {
    /// Runs: ID prefix, `latest~1`, `help-desk@latest`, git revision or result file [default: all complete runs that the store does not contain]
    #[arg(value_name = "RUN")]
    pub runs: Vec<RunName>,

    /// Also push partial runs, such as shards
    #[arg(long, conflicts_with = "runs")]
    pub all: bool,

    /// Leave out what the items contain: inputs, outputs, expected values, reasons, traces, transcripts and files
    ///
    /// Scores, statuses, latencies, tokens and costs remain, and so do item keys and the values of `group-by` fields.
    #[arg(long)]
    pub redacted: bool,

    /// Push the project's recordings instead of runs; they contain inputs and outputs
    #[arg(long, conflicts_with_all = ["runs", "all", "redacted"])]
    pub recordings: bool,

    /// Push cached model responses instead of runs; they contain inputs and outputs
    #[arg(long, conflicts_with_all = ["runs", "all", "redacted"])]
    pub cache: bool,

    /// Rebuild missing index entries from the stored result files; push nothing
    #[arg(long, conflicts_with_all = ["runs", "all", "redacted", "recordings", "cache"])]
    pub rebuild_index: bool,

    #[command(flatten)]
    pub remote: RemoteOptions,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct Pull {
    /// Runs of the store: ID prefix, `help-desk@latest`, `branch:main`, git revision or the name of a run [default: all complete runs
    /// that match the filters]
    #[arg(value_name = "RUN", conflicts_with_all = ["branch", "since", "experiment", "all"])]
    pub runs: Vec<RunName>,

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

    /// Pull cached model responses instead of runs
    #[arg(long, conflicts_with_all = ["runs", "branch", "since", "experiment", "all"])]
    pub cache: bool,

    #[command(flatten)]
    pub remote: RemoteOptions,

    #[command(flatten)]
    pub settings: Settings,
}
