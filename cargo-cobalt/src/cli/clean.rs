//! What may be typed of `cargo cobalt clean`.

use std::num::NonZeroUsize;

use clap::{ArgGroup, Args};

use super::{Settings, count};

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").multiple(true).args(["results", "cache", "datasets"]))]
pub(crate) struct Clean {
    /// Runs: result files, the journals of runs that were cut off, and the files of reporters
    #[arg(short, long)]
    pub(crate) results: bool,

    /// Answers of models, which will be asked for again
    #[arg(short, long)]
    pub(crate) cache: bool,

    /// Copies of data sets that were fetched, which will be fetched again
    #[arg(long)]
    pub(crate) datasets: bool,

    /// Only what is older than so many days; of answers, also those that are too old to be used
    #[arg(short, long, value_name = "N", value_parser = count)]
    pub(crate) days: Option<NonZeroUsize>,

    /// The newest N whole runs of each experiment stay, and what is newer than the oldest of these; files of reporters do, too
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) keep: Option<NonZeroUsize>,

    /// Removes without asking
    #[arg(short, long, requires = "what", visible_alias = "force", visible_short_alias = 'f')]
    pub(crate) yes: bool,

    /// Names each file
    #[arg(short, long)]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) settings: Settings,
}
