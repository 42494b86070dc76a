//! Command-line definition of `cargo cobalt run` and `watch`, of `list`, which names what would be run, and of `merge`, with the options
//! that they share.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use cobalt::command::config::{OnInconclusive, Reporter};
use cobalt_core::pattern::Pattern;
use cobalt_core::report::Shard;

use super::{RunName, Settings, count};

#[derive(Debug, Args)]
pub struct Run {
    /// Exits with 1 if an item, an evaluator or a threshold failed, and judges the thresholds of `[ci]`, too
    #[arg(long)]
    pub ci: bool,

    /// Goes on with runs that were cut off, by their ids
    #[arg(long, value_name = "ID", value_delimiter = ',', conflicts_with_all = ["runs", "refresh"])]
    pub resume: Vec<String>,

    /// Runs only the items that failed last time: in error, or below a pass mark
    #[arg(long, conflicts_with = "resume")]
    pub rerun_failed: bool,

    /// Runs only what has no result yet, or none as the sources, the evaluators and the items are now
    #[arg(long, conflicts_with_all = ["rerun_failed", "resume"])]
    pub changed: bool,

    /// Runs one share of the items, `2/4` for the second of four, to be joined with the others by `merge`
    ///
    /// Which items are in it follows from their keys. The run is partial: its thresholds are judged when it is merged.
    #[arg(long, value_name = "INDEX/OF", conflicts_with_all = ["rerun_failed", "changed", "resume"])]
    pub shard: Option<Shard>,

    #[command(flatten)]
    pub options: RunOptions,
}

#[derive(Debug, Args)]
pub struct Watch {
    #[command(flatten)]
    pub options: RunOptions,
}

/// What is run and how, whether once or again and again.
#[derive(Debug, Args)]
pub struct RunOptions {
    #[command(flatten)]
    pub selection: Selection,

    /// How many items of an experiment are worked on at a time
    #[arg(short, long, value_name = "N", value_parser = count)]
    pub concurrency: Option<NonZeroUsize>,

    /// How often each item is run, whatever the experiments say
    #[arg(long, value_name = "N", value_parser = count)]
    pub runs: Option<NonZeroUsize>,

    #[command(flatten)]
    pub data: Data,

    #[command(flatten)]
    pub outcome: Outcome,

    /// Opens what the run came to in the browser, on the dashboard
    ///
    /// That is the one of `cargo cobalt serve` where it runs. Else `run` serves one when it is done, until Ctrl-C, and then
    /// exits as without it; `watch` does not. None is opened under `--ci` or where the variable `CI` is set, and none is served
    /// where stderr is no terminal. The variable `BROWSER` names another browser.
    #[arg(long)]
    pub ui: bool,

    /// Shows no line for each item
    #[arg(short, long)]
    pub quiet: bool,

    #[command(flatten)]
    pub settings: Settings,

    #[command(flatten)]
    pub build: Build,

    /// Arguments for the test binaries, as `cargo test` passes them: names of cases, `--exact`, `--skip`, `--list`, …
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub harness: Vec<String>,
}

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    pub selection: Selection,

    /// Prints a JSON list
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub data: Data,

    #[command(flatten)]
    pub settings: Settings,

    #[command(flatten)]
    pub build: Build,
}

/// Where data comes from.
#[derive(Debug, Args)]
pub struct Data {
    /// Fetches the data sets anew that come from elsewhere, once each, in place of using the copies that are kept
    #[arg(long, conflicts_with_all = ["offline", "frozen"])]
    pub refresh: bool,
}

/// Which experiments.
#[derive(Debug, Default, Args)]
pub struct Selection {
    /// Test targets by name, by file, or by a folder of such files; a word that a target has for its name is no folder
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,

    /// A test target by its file, or those in a folder; may be given more than once
    #[arg(short, long, value_name = "PATH")]
    pub file: Vec<PathBuf>,

    /// Experiments whose name or tag contains or, with `*`, `?` or `[…]`, matches this; may be given more than once
    #[arg(short = 'n', long, value_name = "PATTERN")]
    pub filter: Vec<Pattern>,

    /// An experiment by its whole name, as declared or as in test cases; may be given more than once
    #[arg(short, long, value_name = "NAME")]
    pub experiment: Vec<String>,
}

/// What runs are held against, and how they are shown.
#[derive(Debug, Args)]
pub struct Outcome {
    /// What runs are held against: a run as `compare` takes it, a git revision, a baseline file, or a folder of these
    ///
    /// Without it, each experiment has the baseline that `cargo cobalt baseline set` has kept. Of a git revision, that is a
    /// run of the commit, or else the baseline that is committed there, or else a run with changes beside the commit.
    #[arg(long, value_name = "RUN")]
    pub baseline: Option<RunName>,

    /// What becomes of a threshold against a baseline that noise may hide, or that has no baseline: `pass` or `fail`
    #[arg(long, value_name = "OUTCOME")]
    pub on_inconclusive: Option<OnInconclusive>,

    /// Shows the run in this way, in place of what cobalt.toml says: `cli`, `json` or `github-actions`, or, in a file of
    /// `.cobalt/reports` or as in `junit=out.xml`, `junit`, `pr-comment`, `markdown` or `html`; may be given more than once
    #[arg(long, value_name = "NAME[=PATH]")]
    pub reporter: Vec<Reporter>,
}

#[derive(Debug, Args)]
pub struct Merge {
    /// Result files of shards, or folders with such files anywhere below
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,

    /// Exits with 1 if an item, an evaluator or a threshold failed, and judges the thresholds of `[ci]`, too
    #[arg(long)]
    pub ci: bool,

    #[command(flatten)]
    pub outcome: Outcome,

    #[command(flatten)]
    pub settings: Settings,
}

/// How cargo is to build, in cargo's own words.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Cargo options")]
pub struct Build {
    /// Packages whose experiments are meant, by name or by a pattern with `*`, `?` or `[…]`; may be given more than once
    #[arg(short, long, value_name = "NAME")]
    pub package: Vec<String>,

    /// All packages of the workspace, wherever the command is started
    #[arg(long)]
    pub workspace: bool,

    /// Packages to leave out, by name or by pattern
    #[arg(long, value_name = "NAME")]
    pub exclude: Vec<String>,

    /// Test targets by name; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub test: Vec<String>,

    /// Features to turn on
    #[arg(short = 'F', long, value_name = "FEATURES")]
    pub features: Vec<String>,

    /// Turns all features on
    #[arg(long)]
    pub all_features: bool,

    /// Leaves the default features off
    #[arg(long)]
    pub no_default_features: bool,

    /// Builds with optimisations
    #[arg(short, long)]
    pub release: bool,

    /// Builds with this profile
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,

    /// Builds for this platform
    ///
    /// The binaries are started as they are: a `runner` of cargo's configuration is not used.
    #[arg(long, value_name = "TRIPLE")]
    pub target: Option<String>,

    /// Where cargo puts what it builds
    #[arg(long, value_name = "PATH")]
    pub target_dir: Option<PathBuf>,

    /// The manifest of the project, instead of that of the current folder
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,

    /// How what the compiler says is printed: for people on stderr or, as `json`, each message in a line of stdout as cargo has it
    #[arg(long, value_name = "FORMAT", default_value = "human", hide_default_value = true)]
    pub message_format: MessageFormat,

    /// How many jobs cargo runs at a time
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<String>,

    /// Refuses to change Cargo.lock
    #[arg(long)]
    pub locked: bool,

    /// Refuses to use the network while it builds, and uses the copies of data sets that were fetched before
    ///
    /// The experiments themselves may use the network.
    #[arg(long)]
    pub offline: bool,

    /// Both of these, --locked and --offline
    #[arg(long)]
    pub frozen: bool,
}

impl Build {
    /// Whether nothing is to be fetched, by either of the flags that say so.
    pub fn is_offline(&self) -> bool {
        self.offline || self.frozen
    }
}

/// How what the compiler says is printed.
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
    /// Where a terminal reads, and NO_COLOR is not set
    Auto,
    Always,
    Never,
}

impl Color {
    /// Sets it for all that this program prints.
    pub fn apply(self) {
        let choice = match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }

    /// As cargo's flag has it, where that is not left to cargo.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Auto => None,
            Self::Always => Some("always"),
            Self::Never => Some("never"),
        }
    }
}
