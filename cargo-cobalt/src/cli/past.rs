//! Command-line definition of the commands that work on past runs: `cargo cobalt history`, `show`, `compare`, `baseline`, `export`,
//! `import` and `clean`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use super::{ExperimentName, RunName, Settings, Since, count};

#[derive(Debug, Args)]
pub struct History {
    /// The most runs to show, the newest first
    #[arg(short = 'n', long, value_name = "N", default_value = "20", value_parser = count)]
    pub limit: NonZeroUsize,

    /// Only the experiment of this name, as declared or as in test cases; or, with `*`, `?` or `[…]`, those that match
    #[arg(short = 'e', long = "experiment", value_name = "NAME")]
    pub experiment: Option<ExperimentName>,

    /// Only runs with this tag
    #[arg(long, value_name = "TAG")]
    pub tag: Option<String>,

    /// Only runs since then: a date such as 2026-02-05, a time such as 2026-02-05T14:30:00Z, or an age such as 7d or 12h
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,

    /// Prints a JSON list
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct Show {
    /// A run by id, `latest~1`, `help-desk@latest`, git revision or result file
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: RunName,

    /// The item to show in full: its key, the beginning of it, its index, or its name in test cases
    #[arg(value_name = "ITEM")]
    pub item: Option<String>,

    /// Only items below a pass mark or in error
    #[arg(long, conflicts_with = "item")]
    pub low: bool,

    /// Prints the item, or a list of the items, as JSON in the shape of result files
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct Compare {
    /// The run to compare with, and one or more that are compared with it
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    pub runs: Vec<RunName>,

    /// How many of the items that changed most are shown
    #[arg(long, value_name = "N", default_value = "5")]
    pub items: usize,

    /// Prints a JSON object
    #[arg(long)]
    pub json: bool,

    /// Prints Markdown, as for a comment on a pull request
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,

    /// Exits with 1 if an evaluator or the share of errors is worse, beyond noise
    #[arg(long)]
    pub fail_on_regression: bool,

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
    /// Makes runs the baselines that later ones are held against
    ///
    /// Each is a small file in `.cobalt/baselines`, to be committed: numbers of each item, and no inputs or outputs.
    Set(SetBaseline),
    /// Shows the baselines, and what has changed since each was set
    Show(ShowBaselines),
}

impl BaselineCommand {
    pub fn settings(&self) -> &Settings {
        match self {
            Self::Set(set) => &set.settings,
            Self::Show(show) => &show.settings,
        }
    }
}

#[derive(Debug, Args)]
pub struct SetBaseline {
    /// Runs by id, `latest~1`, `help-desk@latest`, git revision or result file [default: the newest whole run of each
    /// experiment]
    #[arg(value_name = "RUN")]
    pub runs: Vec<RunName>,

    /// Only the experiment of this name, as declared or as in test cases; or, with `*`, `?` or `[…]`, those that match
    #[arg(long = "experiment", value_name = "NAME")]
    pub experiment: Option<ExperimentName>,

    /// Keeps runs that failed, too: later runs that are as bad then count as no worse
    #[arg(long)]
    pub allow_failed: bool,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct ShowBaselines {
    /// Only the experiment of this name, as declared or as in test cases; or, with `*`, `?` or `[…]`, those that match
    #[arg(long = "experiment", value_name = "NAME")]
    pub experiment: Option<ExperimentName>,

    /// Prints a JSON list
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct Export {
    /// Runs by id, `latest~1`, `help-desk@latest`, git revision or result file; all in one file
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<RunName>,

    /// The format, which otherwise the ending of the output tells
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,

    /// The file to write, in place of one that is there; the folders above it are made
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub settings: Settings,
}

/// How a run can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A row for each run of each item
    Csv,
    /// A page of its own, for a browser
    Html,
    /// The result file as it is; of several runs a list
    Json,
    /// Test cases as CI servers show them, in XML
    Junit,
    /// Markdown, as for a comment on a pull request
    #[value(alias = "md")]
    Markdown,
}

#[derive(Debug, Args)]
pub struct Import {
    /// Result files, or folders: of a folder the files `*.json` in it and in its folder of results (of a project's root only those
    /// with names of result files) [default: the project's root, without the folder of results of its own]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").multiple(true).args(["results", "cache", "datasets"]))]
pub struct Clean {
    /// Runs: result files, the journals of runs that were cut off, and the files of reporters
    #[arg(short, long)]
    pub results: bool,

    /// Answers of models, which will be asked for again
    #[arg(short, long)]
    pub cache: bool,

    /// Copies of data sets that were fetched, which will be fetched again
    #[arg(long)]
    pub datasets: bool,

    /// Only what is older than so many days; of answers, also those that are too old to be used
    #[arg(short, long, value_name = "N", value_parser = count)]
    pub days: Option<NonZeroUsize>,

    /// The newest N whole runs of each experiment stay, and what is newer than the oldest of these; files of reporters do, too
    #[arg(long, value_name = "N", value_parser = count)]
    pub keep: Option<NonZeroUsize>,

    /// Removes without asking
    #[arg(short, long, requires = "what", visible_alias = "force", visible_short_alias = 'f')]
    pub yes: bool,

    /// Names each file
    #[arg(short, long)]
    pub verbose: bool,

    #[command(flatten)]
    pub settings: Settings,
}
