//! Command-line definition of the commands for past runs: `cargo cobalt history`, `show`, `compare`, `baseline`, `export`,
//! `import` and `clean`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use super::{ExperimentName, RemoteOptions, RunName, Settings, Since, parse_count};

#[derive(Debug, Args)]
pub struct History {
    /// Maximum number of runs to show, newest first
    #[arg(short = 'n', long, value_name = "N", default_value = "20", value_parser = parse_count)]
    pub limit: NonZeroUsize,

    /// Only experiments with this exact name or matching this pattern (`*`, `?`, `[…]`), with all of their variants
    #[arg(short = 'e', long = "experiment", value_name = "NAME")]
    pub experiment: Option<ExperimentName>,

    /// Only runs with this tag
    #[arg(long, value_name = "TAG")]
    pub tag: Option<String>,

    /// Only runs of this branch
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,

    /// Only runs since this date (2026-02-05), time (2026-02-05T14:30:00Z) or age (7d, 12h)
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,

    /// Show the runs of the team's remote store: that of cobalt.toml or COBALT_REMOTE, or the one at URL
    #[arg(long, value_name = "URL", num_args = 0..=1, require_equals = true)]
    pub remote: Option<Option<String>>,

    /// Print a JSON list
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct Show {
    /// Run: ID prefix, name, `latest~1`, `help-desk@latest`, `branch:main`, git revision or result file
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: RunName,

    /// Item to show in full: key, key prefix, index or test-case name
    #[arg(value_name = "ITEM")]
    pub item: Option<String>,

    /// Only items below a pass mark or with an error
    #[arg(long, conflicts_with = "item")]
    pub low: bool,

    /// Show the trace of the item: its model calls, tool calls and steps
    #[arg(long, conflicts_with_all = ["json", "low"])]
    pub trace: bool,

    /// Print the item, or a list of items, as JSON in the format of result files
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub remote: RemoteOptions,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct Compare {
    /// The run to compare against, then the runs to compare with it, up to eight runs; or one variant, to compare all of its group
    #[arg(value_name = "RUN", required = true, num_args = 1..=8)]
    pub runs: Vec<RunName>,

    /// Maximum number of items to show, largest changes first
    #[arg(long, value_name = "N", default_value = "5")]
    pub items: usize,

    /// Print a JSON object
    #[arg(long)]
    pub json: bool,

    /// Print Markdown, e.g. for a pull request comment
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,

    /// Exit with 1 if an evaluator or the error rate is significantly worse, or if a score dropped by 0.5 or more
    #[arg(long)]
    pub fail_on_regression: bool,

    #[command(flatten)]
    pub remote: RemoteOptions,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct Baseline {
    #[command(subcommand)]
    pub command: BaselineCommand,
}

#[derive(Debug, Subcommand)]
pub enum BaselineCommand {
    /// Save runs as baselines
    ///
    /// Commit the small files in `.cobalt/baselines`: they contain metrics per item, no inputs or outputs.
    Set(SetBaseline),
    /// Show the baselines and what has changed since each was set
    Show(ShowBaselines),
}

#[derive(Debug, Args)]
pub struct SetBaseline {
    /// Runs: ID prefix, name, `latest~1`, `help-desk@latest`, `branch:main`, git revision or result file [default: the latest complete run of each experiment of the package, or in the workspace root of each experiment]
    #[arg(value_name = "RUN")]
    pub runs: Vec<RunName>,

    /// Only experiments with this exact name or matching this pattern (`*`, `?`, `[…]`)
    #[arg(long = "experiment", value_name = "NAME")]
    pub experiment: Option<ExperimentName>,

    /// Accept failed runs as baselines; later runs that are as bad then do not count as worse
    #[arg(long)]
    pub allow_failed: bool,

    /// Accept replayed runs as baselines; their latency and agent cost are those of the recordings
    #[arg(long)]
    pub allow_replayed: bool,

    #[command(flatten)]
    pub remote: RemoteOptions,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct ShowBaselines {
    /// Only experiments with this exact name or matching this pattern (`*`, `?`, `[…]`)
    #[arg(long = "experiment", value_name = "NAME")]
    pub experiment: Option<ExperimentName>,

    /// Print a JSON list
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct Export {
    /// Runs: ID prefix, name, `latest~1`, `help-desk@latest`, `branch:main`, git revision or result file; all are written to one file
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<RunName>,

    /// Output format [default: from the extension of the output file]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,

    /// Output file; overwritten if it exists, parent folders are created
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub remote: RemoteOptions,

    #[command(flatten)]
    pub settings: Settings,
}

/// Export formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// An Arrow IPC file (Feather), one row per item; needs the feature `parquet`
    #[value(alias = "feather")]
    Arrow,
    /// One row per trial of each item
    Csv,
    /// A self-contained HTML page
    Html,
    /// The result file unchanged; several runs as a list
    Json,
    /// Test cases in JUnit XML, for CI servers
    Junit,
    /// Markdown, e.g. for a pull request comment
    #[value(alias = "md")]
    Markdown,
    /// A Parquet file, one row per item, for DuckDB, polars and pandas; needs the feature `parquet`
    Parquet,
}

#[derive(Debug, Args)]
pub struct Import {
    /// Result files or folders. From a folder, `*.json` files in it and in its results folder are imported (in a project root,
    /// only files named like result files) [default: the project root, without its own results folder]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").multiple(true).args(["results", "cache", "datasets", "remote"]))]
pub struct Clean {
    /// Runs: result files, journals of interrupted runs, kept workspaces, and reporter files
    #[arg(short, long)]
    pub results: bool,

    /// Cached model responses; they will be requested again
    #[arg(short, long)]
    pub cache: bool,

    /// Cached copies of remote datasets; they will be fetched again
    #[arg(long)]
    pub datasets: bool,

    /// Only files older than N days; for model responses, also expired ones
    #[arg(short, long, value_name = "N", value_parser = parse_count)]
    pub days: Option<NonZeroUsize>,

    /// Keep the latest N complete runs of each experiment, and everything newer than the oldest of them
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub keep: Option<NonZeroUsize>,

    /// Runs of the team's remote store: that of cobalt.toml or COBALT_REMOTE, or the one at URL; needs `--older-than`, `--keep` or both
    ///
    /// With `--keep`, runs are counted for each experiment and branch. The newest complete run of each experiment and branch is always
    /// kept. What interrupted deletions have left is deleted, too; with `--older-than`, also old journals and plans of shards, and files
    /// of pushes that did not finish.
    #[arg(long, value_name = "URL", num_args = 0..=1, require_equals = true, conflicts_with_all = ["results", "cache", "datasets", "days"])]
    pub remote: Option<Option<String>>,

    /// Only runs of the remote store older than this, e.g. `90d`
    #[arg(long, value_name = "AGE", requires = "remote")]
    pub older_than: Option<Since>,

    /// Delete without asking for confirmation
    #[arg(short, long, requires = "what", visible_alias = "force", visible_short_alias = 'f')]
    pub yes: bool,

    /// List each file
    #[arg(long)]
    pub files: bool,

    #[command(flatten)]
    pub settings: Settings,
}
