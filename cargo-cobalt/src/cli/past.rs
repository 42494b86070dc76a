//! Command-line definition of the commands that look at past runs: `cargo cobalt history`, `show` and `compare`.

use std::num::NonZeroUsize;

use clap::Args;

use super::{ExperimentName, RunName, Settings, Since, count};

#[derive(Debug, Args)]
pub(crate) struct History {
    /// The most runs to show, the newest first
    #[arg(short = 'n', long, value_name = "N", default_value = "20", value_parser = count)]
    pub(crate) limit: NonZeroUsize,

    /// Only the experiment of this name, as declared or as in test cases; or, with `*`, `?` or `[…]`, those that match
    #[arg(short = 'e', long = "experiment", value_name = "NAME")]
    pub(crate) experiment: Option<ExperimentName>,

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
pub(crate) struct Show {
    /// A run by id, `latest~1`, `help-desk@latest`, git revision or result file
    #[arg(value_name = "RUN", default_value = "latest")]
    pub(crate) run: RunName,

    /// The item to show in full: its key, the beginning of it, its index, or its name in test cases
    #[arg(value_name = "ITEM")]
    pub(crate) item: Option<String>,

    /// Only items below a pass mark or in error
    #[arg(long, conflicts_with = "item")]
    pub(crate) low: bool,

    /// Prints the item, or a list of the items, as JSON in the shape of result files
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
