//! What may be typed of `cargo cobalt dataset`.

use clap::{Args, Subcommand};

use super::Settings;
use super::data_file::{AddItems, DedupeDataset};

#[derive(Debug, Args)]
pub(crate) struct Dataset {
    #[command(subcommand)]
    pub(crate) command: DatasetCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DatasetCommand {
    /// Shows a data set as a table, with statistics of its fields
    ///
    /// Exit codes: 0; 2 wrong arguments; 3 the data set could not be read; 4 no item has the key.
    Show(ShowDataset),
    /// Finds what is broken in data sets, and items that are alike
    ///
    /// Errors are what is lost or read wrongly, such as lines that are no item, two items of one id, or equal inputs with
    /// different expected outputs. All else is a note: duplicates and near duplicates, fields that only some items have.
    ///
    /// Exit codes: 0, also where there are notes; 1 there are errors (with --strict, notes too); 2 wrong arguments; 3 a data
    /// set could not be read.
    Check(CheckDatasets),
    /// Appends items of a run to a data file, as they stood in the data set
    ///
    /// The run is named as `compare` names it. The file is JSONL, JSON, CSV or TSV; all that is in it stays as it is. An item that
    /// is there already is not added again. One whose `id` another item has, or whose `input` where there are no ids, is refused,
    /// and the others are added.
    ///
    /// Exit codes: 0, also where all are there already, or none failed; 2 wrong arguments; 3 an item was refused, or a file could
    /// not be read or written; 4 no such run or item.
    Add(AddItems),
    /// Takes items that are there twice out of a data file
    ///
    /// The first one stays, and so do all other bytes of the file; without duplicates it is not written at all. It is not asked
    /// first, as data files are under version control: `--dry-run` shows what would go, and `--output` writes to another file.
    ///
    /// Exit codes: 0; 2 wrong arguments; 3 a file could not be read or written.
    Dedupe(DedupeDataset),
}

impl DatasetCommand {
    pub(crate) fn settings(&self) -> &Settings {
        match self {
            Self::Show(show) => &show.settings,
            Self::Check(check) => &check.settings,
            Self::Add(add) => &add.settings,
            Self::Dedupe(dedupe) => &dedupe.settings,
        }
    }

    /// How data sets from elsewhere are had, where the command takes any.
    pub(crate) fn fetching(&self) -> Option<&Fetching> {
        match self {
            Self::Show(show) => Some(&show.fetching),
            Self::Check(check) => Some(&check.fetching),
            Self::Add(_) | Self::Dedupe(_) => None,
        }
    }
}

/// How data sets from elsewhere are had.
#[derive(Debug, Args)]
pub(crate) struct Fetching {
    /// Fetches what comes from elsewhere anew, in place of using the copy that is kept
    #[arg(long, conflicts_with = "offline")]
    pub(crate) refresh: bool,

    /// Uses the copy that is kept, however old it is
    #[arg(long)]
    pub(crate) offline: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowDataset {
    /// A file; NAME of a table `[datasets.NAME]` in cobalt.toml; or a source of which a copy is kept, as `langfuse:support`
    #[arg(value_name = "SET")]
    pub(crate) set: String,

    /// The most items to show, the first ones; the statistics are of all
    #[arg(long, value_name = "N", default_value = "10")]
    pub(crate) limit: usize,

    /// Shows the item of this key alone, and all of it
    #[arg(long, value_name = "KEY", conflicts_with = "limit")]
    pub(crate) key: Option<String>,

    /// Prints a JSON object
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) fetching: Fetching,

    #[command(flatten)]
    pub(crate) settings: Settings,
}

#[derive(Debug, Args)]
pub(crate) struct CheckDatasets {
    /// Files; names of tables `[datasets.NAME]` in cobalt.toml; or sources of which a copy is kept, as `langfuse:support`
    #[arg(value_name = "SET", required = true)]
    pub(crate) sets: Vec<String>,

    /// How much alike the inputs of near duplicates are: from 0.5 to 1, the Jaccard similarity of the runs of five
    /// characters in them, whatever the case and white space
    #[arg(long, value_name = "SIMILARITY", default_value = "0.9", value_parser = similarity)]
    pub(crate) near: f64,

    /// Exits with 1 also where there are only notes
    #[arg(long)]
    pub(crate) strict: bool,

    /// Prints a JSON object
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) fetching: Fetching,

    #[command(flatten)]
    pub(crate) settings: Settings,
}

/// Reads how much alike two texts are. Below one half, too much would be alike to be of use.
pub(super) fn similarity(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|number| (0.5..=1.0).contains(number)).ok_or("expected a number from 0.5 to 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_similarity_is_at_least_one_half() {
        assert_eq!([similarity("0.5"), similarity("1")], [Ok(0.5), Ok(1.0)]);
        for text in ["0.49", "1.1", "90", "NaN", "much"] {
            assert!(similarity(text).is_err(), "{text}");
        }
    }
}
