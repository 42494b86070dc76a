//! The command line: what may be typed, and nothing of what it means.

mod baseline;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use cobalt::config::OnInconclusive;
use cobalt::pattern::Pattern;

pub(crate) use baseline::{Baseline, BaselineCommand, SetBaseline, ShowBaselines};

use crate::history::Since;
use crate::runs::RunName;

/// What cargo calls: `cargo-cobalt cobalt …`.
#[derive(Debug, Parser)]
#[command(name = "cargo", bin_name = "cargo", styles = clap::builder::Styles::plain())]
pub(crate) enum Cargo {
    /// Runs experiments: `cargo test` for AI agents
    #[command(version)]
    Cobalt(Cobalt),
}

#[derive(Debug, Args)]
pub(crate) struct Cobalt {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// Where a terminal reads, and NO_COLOR is not set
    Auto,
    Always,
    Never,
}

impl Color {
    /// Sets it for all that this program prints.
    pub(crate) fn apply(self) {
        let choice = match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }

    /// As cargo's flag has it, where that is not left to cargo.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Self::Auto => None,
            Self::Always => Some("always"),
            Self::Never => Some("never"),
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Builds and runs the experiments of a workspace
    ///
    /// Experiments are the test targets with `harness = false` that call `cobalt::main()`.
    ///
    /// Exit codes: 0; 1 an item, an evaluator or a threshold failed (with --ci); 2 wrong arguments; 3 the project could
    /// not be built or configured, or the experiments not be run or kept; 4 nothing matched; 130 stopped by Ctrl-C.
    Run(Run),
    /// Names the experiments, their tags and how many items they have
    List(List),
    /// Shows past runs
    History(History),
    /// Tells whether a run is better or worse than another, and by which items
    ///
    /// A run is named by the beginning of its id; by `latest`, or `latest~1` for the one before; by `NAME@latest`, for
    /// those of an experiment; by a result file; or by a git revision that it was made on. `history` lists them.
    ///
    /// Exit codes: 0; 1 worse (with --fail-on-regression); 2 wrong arguments; 3 a file could not be read; 4 no such run, or
    /// no item in common.
    Compare(Compare),
    /// Sets and shows what later runs are held against
    Baseline(Baseline),
    /// Makes a new project with an experiment, or adds one to the package in the folder
    ///
    /// No file that is there is overwritten.
    Init(Init),
    /// Shows the settings in force, and where each comes from
    Config(Config),
}

/// Where the settings are.
#[derive(Debug, Args)]
pub(crate) struct Settings {
    /// Reads the settings from this file instead of the nearest cobalt.toml
    #[arg(long, value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) selection: Selection,

    /// How many items of an experiment are worked on at a time
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) concurrency: Option<NonZeroUsize>,

    /// Exits with 1 if an item, an evaluator or a threshold failed
    #[arg(long)]
    pub(crate) ci: bool,

    /// What runs are held against: a run as `compare` takes it, a git revision, a baseline file, or a folder of these
    ///
    /// Without it, each experiment has the baseline that `cargo cobalt baseline set` has kept. Of a git revision, that is a
    /// run of the commit, or else the baseline that is committed there, or else a run with changes beside the commit.
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<RunName>,

    /// What becomes of a threshold against a baseline that noise may hide, or that has no baseline: `pass` or `fail`
    #[arg(long, value_name = "OUTCOME")]
    pub(crate) on_inconclusive: Option<OnInconclusive>,

    /// Goes on with runs that were cut off, by their ids
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(crate) resume: Vec<String>,

    /// Runs only the items that failed last time: in error, or below a pass mark
    #[arg(long, conflicts_with = "resume")]
    pub(crate) rerun_failed: bool,

    /// Runs only what has no result yet, or none as the sources, the evaluators and the items are now
    #[arg(long, conflicts_with_all = ["rerun_failed", "resume"])]
    pub(crate) changed: bool,

    /// Shows no line for each item
    #[arg(short, long)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) settings: Settings,

    #[command(flatten)]
    pub(crate) build: Build,

    /// Arguments for the test binaries, as `cargo test` passes them: names of cases, `--exact`, `--skip`, `--list`, …
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub(crate) harness: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) selection: Selection,

    /// Prints a JSON list
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) settings: Settings,

    #[command(flatten)]
    pub(crate) build: Build,
}

/// Which experiments.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    /// Test targets by name, by file, or by a folder of such files; a word that a target has for its name is no folder
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,

    /// A test target by its file, or those in a folder; may be given more than once
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Vec<PathBuf>,

    /// Experiments whose name or tag contains or, with `*`, `?` or `[…]`, matches this; may be given more than once
    #[arg(long, value_name = "PATTERN")]
    pub(crate) filter: Vec<Pattern>,
}

/// How cargo is to build, in cargo's own words.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cargo options")]
pub(crate) struct Build {
    /// Packages whose experiments are meant, by name or by a pattern with `*`, `?` or `[…]`; may be given more than once
    #[arg(short, long, value_name = "NAME")]
    pub(crate) package: Vec<String>,

    /// All packages of the workspace, wherever the command is started
    #[arg(long)]
    pub(crate) workspace: bool,

    /// Packages to leave out, by name or by pattern
    #[arg(long, value_name = "NAME")]
    pub(crate) exclude: Vec<String>,

    /// Test targets by name; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub(crate) test: Vec<String>,

    /// Features to turn on
    #[arg(short = 'F', long, value_name = "FEATURES")]
    pub(crate) features: Vec<String>,

    /// Turns all features on
    #[arg(long)]
    pub(crate) all_features: bool,

    /// Leaves the default features off
    #[arg(long)]
    pub(crate) no_default_features: bool,

    /// Builds with optimisations
    #[arg(short, long)]
    pub(crate) release: bool,

    /// Builds with this profile
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,

    /// Builds for this platform
    ///
    /// The binaries are started as they are: a `runner` of cargo's configuration is not used.
    #[arg(long, value_name = "TRIPLE")]
    pub(crate) target: Option<String>,

    /// Where cargo puts what it builds
    #[arg(long, value_name = "PATH")]
    pub(crate) target_dir: Option<PathBuf>,

    /// The manifest of the project, instead of that of the current folder
    #[arg(long, value_name = "PATH")]
    pub(crate) manifest_path: Option<PathBuf>,

    /// How many jobs cargo runs at a time
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<String>,

    /// Refuses to change Cargo.lock
    #[arg(long)]
    pub(crate) locked: bool,

    /// Refuses to use the network while it builds
    #[arg(long)]
    pub(crate) offline: bool,

    /// Both of these
    #[arg(long)]
    pub(crate) frozen: bool,
}

#[derive(Debug, Args)]
pub(crate) struct History {
    /// The most runs to show, the newest first
    #[arg(long, value_name = "N", default_value = "20", value_parser = count)]
    pub(crate) limit: NonZeroUsize,

    /// Only experiments whose name contains or, with `*`, `?` or `[…]`, matches this
    #[arg(long, value_name = "PATTERN")]
    pub(crate) name: Option<Pattern>,

    /// Only runs with this tag
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,

    /// Only runs since then: a date such as 2026-02-05, a time such as 2026-02-05T14:30:00Z, or an age such as 7d or 12h
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<Since>,

    /// Prints a JSON list
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) settings: Settings,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The run to compare with, and one or more that are compared with it
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    pub(crate) runs: Vec<RunName>,

    /// How many of the items that changed most are shown
    #[arg(long, value_name = "N", default_value = "5")]
    pub(crate) items: usize,

    /// Prints a JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Prints Markdown, as for a comment on a pull request
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,

    /// Exits with 1 if an evaluator or the share of errors is worse, beyond noise
    #[arg(long)]
    pub(crate) fail_on_regression: bool,

    #[command(flatten)]
    pub(crate) settings: Settings,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The folder of the project
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Config {
    /// Prints a JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Prints the JSON schema of cobalt.toml instead
    #[arg(long)]
    pub(crate) schema: bool,

    #[command(flatten)]
    pub(crate) settings: Settings,
}

/// Reads a number that is not 0.
fn count(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse().map_err(|_| "expected a whole number from 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_starts_at_one() {
        assert_eq!(count("1").map(NonZeroUsize::get), Ok(1));
        for text in ["0", "-1", "1.5", "many"] {
            assert_eq!(count(text), Err("expected a whole number from 1"), "{text}");
        }
    }

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Cargo::command().debug_assert();
    }
}
