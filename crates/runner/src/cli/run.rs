//! Command-line definition of `cargo cobalt run`, `watch` and `list`, with the options that they share.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use cobalt::command::config::{
    KeepWorkspaces, MaxCost, OnInconclusive, Reporter, SettingChange, ShardChoice, ShardGroup,
    VariantSelection,
};
use cobalt::recording::RecordMode;
use cobalt_core::pattern::Pattern;

use super::{ArchiveOptions, RemoteOptions, RunName, Settings, parse_count};

#[derive(Debug, Args)]
pub struct Run {
    /// Exit with 1 if a test case fails; also evaluate the thresholds of `[ci]`
    #[arg(long)]
    pub ci: bool,

    /// Resume interrupted runs by ID (printed when a run is interrupted)
    #[arg(long, value_name = "ID", value_delimiter = ',', conflicts_with_all = ["runs", "refresh"])]
    pub resume: Vec<String>,

    /// Run only items that failed last time (error, or below a pass mark)
    #[arg(long, conflicts_with = "resume")]
    pub rerun_failed: bool,

    /// Run only items whose result is missing or out of date
    #[arg(long, conflicts_with_all = ["rerun_failed", "resume"])]
    pub changed: bool,

    /// Run one shard of the items, e.g. `2/4`, the second of four; combine shards with `merge`
    ///
    /// `auto` takes the shard from the variables of GitLab, Buildkite, CircleCI, a Kubernetes Indexed Job or a Slurm array; on GitHub,
    /// set COBALT_SHARD_INDEX and COBALT_SHARD_TOTAL. If the experiment has a baseline, its latencies balance the shards. The run is
    /// partial: thresholds are evaluated by `merge`.
    #[arg(long, value_name = "INDEX/TOTAL|auto", conflicts_with_all = ["rerun_failed", "changed", "resume"])]
    pub shard: Option<ShardChoice>,

    /// Name of the shard group; its shards are merged together [default: the CI pipeline's or Slurm array's ID]
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    pub shard_group: Option<ShardGroup>,

    /// Balance the shards by the latencies of this run (as for `compare`) instead of the baseline's
    ///
    /// Use the same run on all machines.
    #[arg(long, value_name = "RUN", conflicts_with = "resume")]
    pub balance: Option<RunName>,

    /// Push finished runs to the team's remote store
    ///
    /// A failure is a warning with the command that repeats it; the exit code is that of the run.
    #[arg(long)]
    pub push: bool,

    #[command(flatten)]
    pub remote: RemoteOptions,

    /// Print what the run would cost, according to earlier runs, and run nothing
    #[arg(long, conflicts_with_all = ["resume", "rerun_failed", "changed", "shard", "balance"])]
    pub estimate: bool,

    #[command(flatten)]
    pub archive: ArchiveOptions,

    #[command(flatten)]
    pub options: RunOptions,
}

#[derive(Debug, Args)]
pub struct Watch {
    #[command(flatten)]
    pub options: RunOptions,
}

/// What to run and how; shared by `run` and `watch`.
#[derive(Debug, Args)]
pub struct RunOptions {
    #[command(flatten)]
    pub selection: Selection,

    /// Maximum items in parallel per experiment
    #[arg(short, long, value_name = "N", value_parser = parse_count)]
    pub concurrency: Option<NonZeroUsize>,

    /// Trials per item; overrides the experiments' own setting
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub runs: Option<NonZeroUsize>,

    /// Budget of agents, judges and simulated users in USD; when it is spent, the run stops and can be resumed
    #[arg(long, value_name = "USD")]
    pub max_cost: Option<MaxCost>,

    /// How to use recordings of model traffic; overrides the experiments' own setting
    #[arg(long, value_name = "MODE")]
    pub record: Option<RecordingMode>,

    /// Record again what was recorded longer ago than this, e.g. `30d`
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    pub record_stale: Option<Duration>,

    /// Workspaces to keep, in `.cobalt/workspaces/`
    #[arg(long, value_name = "WHICH")]
    pub keep_workspaces: Option<WorkspaceRetention>,

    #[command(flatten)]
    pub data: DataOptions,

    #[command(flatten)]
    pub outcome: OutcomeOptions,

    /// Open the run in the dashboard
    ///
    /// Uses the dashboard of `cargo cobalt serve` if it is running. Otherwise `run` starts one when it is done, serves it until
    /// Ctrl-C and then exits with the run's exit code; `watch` does not start one. No browser is opened with `--ci` or if `CI` is
    /// set, and no dashboard is started if stderr is not a terminal. Set `BROWSER` to use another browser.
    #[arg(long)]
    pub ui: bool,

    /// Show each item's trace
    #[arg(long)]
    pub trace: bool,

    /// Hide per-item lines
    #[arg(short, long)]
    pub quiet: bool,

    #[command(flatten)]
    pub settings: Settings,

    #[command(flatten)]
    pub build: BuildOptions,

    /// Arguments for the test binaries, as with `cargo test`: test-case names, `--exact`, `--skip`, `--list`, …
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub harness: Vec<String>,
}

/// How to use recordings of model traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RecordingMode {
    /// Send requests to the providers; record nothing
    Off,
    /// Answer requests from the recordings; nothing leaves the machine
    Replay,
    /// Send requests to the providers; record everything again
    Record,
    /// Replay until a conversation diverges; send and record the rest
    Auto,
}

impl From<RecordingMode> for RecordMode {
    fn from(mode: RecordingMode) -> Self {
        match mode {
            RecordingMode::Off => Self::Off,
            RecordingMode::Replay => Self::Replay,
            RecordingMode::Record => Self::Record,
            RecordingMode::Auto => Self::Auto,
        }
    }
}

/// Which workspaces to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WorkspaceRetention {
    /// Those of trials that failed or are below a pass mark
    Failed,
    /// All
    All,
    /// None
    None,
}

impl From<WorkspaceRetention> for KeepWorkspaces {
    fn from(kept: WorkspaceRetention) -> Self {
        match kept {
            WorkspaceRetention::Failed => Self::Failed,
            WorkspaceRetention::All => Self::All,
            WorkspaceRetention::None => Self::None,
        }
    }
}

/// Parses an age.
fn parse_age(text: &str) -> Result<Duration, &'static str> {
    humantime::parse_duration(text).map_err(|_| "expected an age such as `30d` or `12h`")
}

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    pub selection: Selection,

    /// Print a JSON list
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub data: DataOptions,

    #[command(flatten)]
    pub settings: Settings,

    #[command(flatten)]
    pub build: BuildOptions,
}

/// Data options.
#[derive(Clone, Debug, Args)]
pub struct DataOptions {
    /// Re-fetch remote datasets, once each, instead of using cached copies
    #[arg(long, conflicts_with_all = ["offline", "frozen"])]
    pub refresh: bool,
}

/// Which experiments to run.
#[derive(Clone, Debug, Default, Args)]
pub struct Selection {
    /// Test targets by name, file or folder; target names take precedence over folders
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,

    /// Test targets by file, or by folder; can be repeated
    #[arg(short, long, value_name = "PATH")]
    pub file: Vec<PathBuf>,

    /// Experiments whose name or tag contains this text or matches this pattern (`*`, `?`, `[…]`); can be repeated
    #[arg(short = 'n', long, value_name = "PATTERN")]
    pub filter: Vec<Pattern>,

    /// Experiments by exact name; can be repeated
    #[arg(short, long, value_name = "NAME")]
    pub experiment: Vec<String>,

    /// Variants by name, of experiments that have variants; can be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub variant: Vec<String>,

    /// Change a setting of the variants, e.g. `model=gpt-4o`; can be repeated
    ///
    /// Without `--variant`, it changes the default variant or, if there is none, the first one.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<SettingChange>,
}

impl Selection {
    /// Whether all experiments are selected.
    pub fn is_everything(&self) -> bool {
        let Self { targets, file, filter, experiment, variant, set } = self;
        targets.is_empty()
            && file.is_empty()
            && filter.is_empty()
            && experiment.is_empty()
            && variant.is_empty()
            && set.is_empty()
    }

    /// The variants to run, and the changes of their settings.
    pub fn variants(&self) -> VariantSelection {
        VariantSelection { names: self.variant.clone(), changes: self.set.clone() }
    }
}

/// What runs are compared with, and how they are reported.
#[derive(Clone, Debug, Args)]
pub struct OutcomeOptions {
    /// Baseline: a run (as for `compare`), `target`, a git revision, a baseline file or a folder of baseline files
    ///
    /// By default, each experiment uses the baseline saved by `cargo cobalt baseline set`. `target` is the latest run on the target
    /// branch of the pull request. For a git revision, Cobalt looks for a run of that commit, then for the baseline committed there, then
    /// for a run of that commit with uncommitted changes.
    #[arg(long, value_name = "RUN")]
    pub baseline: Option<RunName>,

    /// How to treat inconclusive baseline thresholds, including those without a baseline: `pass` or `fail`
    #[arg(long, value_name = "OUTCOME")]
    pub on_inconclusive: Option<OnInconclusive>,

    /// Reporter to use instead of those in cobalt.toml; can be repeated. On the terminal: `cli`, `json`, `github-actions`. To files in
    /// `.cobalt/reports` or to a path as in `junit=out.xml`: `junit`, `pr-comment`, `markdown`, `html`. To a server: `otlp=URL`
    #[arg(long, value_name = "NAME[=PATH]")]
    pub reporter: Vec<Reporter>,
}

/// Build options, named as in cargo.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Cargo options")]
pub struct BuildOptions {
    /// Packages to run, by name or pattern (`*`, `?`, `[…]`); can be repeated
    #[arg(short, long, value_name = "NAME")]
    pub package: Vec<String>,

    /// All packages of the workspace, regardless of the current folder
    #[arg(long)]
    pub workspace: bool,

    /// Packages to exclude, by name or pattern
    #[arg(long, value_name = "NAME")]
    pub exclude: Vec<String>,

    /// Test targets by name; can be repeated
    #[arg(long, value_name = "NAME")]
    pub test: Vec<String>,

    /// Features to enable
    #[arg(short = 'F', long, value_name = "FEATURES")]
    pub features: Vec<String>,

    /// Enable all features
    #[arg(long)]
    pub all_features: bool,

    /// Disable default features
    #[arg(long)]
    pub no_default_features: bool,

    /// Build with optimisations
    #[arg(short, long)]
    pub release: bool,

    /// Build with this profile
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,

    /// Build for this target triple
    ///
    /// The binaries are started directly: a `runner` in Cargo's configuration is not used.
    #[arg(long, value_name = "TRIPLE")]
    pub target: Option<String>,

    /// Folder for build output
    #[arg(long, value_name = "PATH")]
    pub target_dir: Option<PathBuf>,

    /// Path of the project's Cargo.toml [default: that of the current folder]
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,

    /// Format of compiler messages: `human` on stderr, or `json`, Cargo's messages on stdout, one per line
    #[arg(long, value_name = "FORMAT", default_value = "human", hide_default_value = true)]
    pub message_format: MessageFormat,

    /// Number of parallel build jobs
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<String>,

    /// Also run or list the test targets that can be built if others cannot
    ///
    /// The exit code is 3 if a target cannot be built.
    #[arg(long)]
    pub keep_going: bool,

    /// Require that Cargo.lock is up to date
    #[arg(long)]
    pub locked: bool,

    /// Build without network access and use cached copies of remote datasets
    ///
    /// The experiments themselves can still use the network.
    #[arg(long)]
    pub offline: bool,

    /// Same as --locked and --offline
    #[arg(long)]
    pub frozen: bool,
}

impl BuildOptions {
    /// Whether `--offline` or `--frozen` is set.
    pub fn is_offline(&self) -> bool {
        self.offline || self.frozen
    }
}

/// Format of compiler messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// For people, on stderr.
    #[default]
    Human,
    /// For programs, on stdout.
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// If the output is a terminal and NO_COLOR is not set
    Auto,
    Always,
    Never,
}

impl Color {
    /// Applies it to everything this program prints.
    pub fn apply(self) {
        let choice = match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }

    /// The value of cargo's `--color`; `None` leaves the choice to cargo.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Auto => None,
            Self::Always => Some("always"),
            Self::Never => Some("never"),
        }
    }
}
