//! What may be typed of `cargo cobalt run` and `watch`, and of `list`, which names what would be run.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use cobalt::pattern::Pattern;
use cobalt::report::Shard;

use super::{Build, Outcome, Settings, count};

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Exits with 1 if an item, an evaluator or a threshold failed, and judges the thresholds of `[ci]`, too
    #[arg(long)]
    pub(crate) ci: bool,

    /// Goes on with runs that were cut off, by their ids
    #[arg(long, value_name = "ID", value_delimiter = ',', conflicts_with_all = ["runs", "refresh"])]
    pub(crate) resume: Vec<String>,

    /// Runs only the items that failed last time: in error, or below a pass mark
    #[arg(long, conflicts_with = "resume")]
    pub(crate) rerun_failed: bool,

    /// Runs only what has no result yet, or none as the sources, the evaluators and the items are now
    #[arg(long, conflicts_with_all = ["rerun_failed", "resume"])]
    pub(crate) changed: bool,

    /// Runs one share of the items, `2/4` for the second of four, to be joined with the others by `merge`
    ///
    /// Which items are in it follows from their keys. The run is partial: its thresholds are judged when it is merged.
    #[arg(long, value_name = "INDEX/OF", conflicts_with_all = ["rerun_failed", "changed", "resume"])]
    pub(crate) shard: Option<Shard>,

    #[command(flatten)]
    pub(crate) options: RunOptions,
}

#[derive(Debug, Args)]
pub(crate) struct Watch {
    #[command(flatten)]
    pub(crate) options: RunOptions,
}

/// What is run and how, whether once or again and again.
#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub(crate) selection: Selection,

    /// How many items of an experiment are worked on at a time
    #[arg(short, long, value_name = "N", value_parser = count)]
    pub(crate) concurrency: Option<NonZeroUsize>,

    /// How often each item is run, whatever the experiments say
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) runs: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) data: Data,

    #[command(flatten)]
    pub(crate) outcome: Outcome,

    /// Opens what the run came to in the browser, on the dashboard
    ///
    /// That is the one of `cargo cobalt serve` where it runs. Else `run` serves one when it is done, until Ctrl-C, and then
    /// exits as without it; `watch` does not. None is opened under `--ci` or where the variable `CI` is set, and none is served
    /// where stderr is no terminal. The variable `BROWSER` names another browser.
    #[arg(long)]
    pub(crate) ui: bool,

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
    pub(crate) data: Data,

    #[command(flatten)]
    pub(crate) settings: Settings,

    #[command(flatten)]
    pub(crate) build: Build,
}

/// Where data comes from.
#[derive(Debug, Args)]
pub(crate) struct Data {
    /// Fetches the data sets anew that come from elsewhere, once each, in place of using the copies that are kept
    #[arg(long, conflicts_with_all = ["offline", "frozen"])]
    pub(crate) refresh: bool,
}

/// Which experiments.
#[derive(Debug, Default, Args)]
pub(crate) struct Selection {
    /// Test targets by name, by file, or by a folder of such files; a word that a target has for its name is no folder
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,

    /// A test target by its file, or those in a folder; may be given more than once
    #[arg(short, long, value_name = "PATH")]
    pub(crate) file: Vec<PathBuf>,

    /// Experiments whose name or tag contains or, with `*`, `?` or `[…]`, matches this; may be given more than once
    #[arg(short = 'n', long, value_name = "PATTERN")]
    pub(crate) filter: Vec<Pattern>,

    /// An experiment by its whole name, as declared or as in test cases; may be given more than once
    #[arg(short, long, value_name = "NAME")]
    pub(crate) experiment: Vec<String>,
}
