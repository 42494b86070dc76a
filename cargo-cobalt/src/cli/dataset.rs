//! Command-line definition of `cargo cobalt dataset`: commands that read data sets, and those that change data files.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use serde_json::Value;

use super::{RunName, Settings};

#[derive(Debug, Args)]
pub struct Dataset {
    #[command(subcommand)]
    pub command: DatasetCommand,
}

#[derive(Debug, Subcommand)]
pub enum DatasetCommand {
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
    pub fn settings(&self) -> &Settings {
        match self {
            Self::Show(show) => &show.settings,
            Self::Check(check) => &check.settings,
            Self::Add(add) => &add.settings,
            Self::Dedupe(dedupe) => &dedupe.settings,
        }
    }

    /// How data sets from elsewhere are had, where the command takes any.
    pub fn fetching(&self) -> Option<&Fetching> {
        match self {
            Self::Show(show) => Some(&show.fetching),
            Self::Check(check) => Some(&check.fetching),
            Self::Add(_) | Self::Dedupe(_) => None,
        }
    }
}

/// How data sets from elsewhere are had.
#[derive(Debug, Args)]
pub struct Fetching {
    /// Fetches what comes from elsewhere anew, in place of using the copy that is kept
    #[arg(long, conflicts_with = "offline")]
    pub refresh: bool,

    /// Uses the copy that is kept, however old it is
    #[arg(long)]
    pub offline: bool,
}

#[derive(Debug, Args)]
pub struct ShowDataset {
    /// A file; NAME of a table `[datasets.NAME]` in cobalt.toml; or a source of which a copy is kept, as `langfuse:support`
    #[arg(value_name = "SET")]
    pub set: String,

    /// The most items to show, the first ones; the statistics are of all
    #[arg(long, value_name = "N", default_value = "10")]
    pub limit: usize,

    /// Shows the item of this key alone, and all of it
    #[arg(long, value_name = "KEY", conflicts_with = "limit")]
    pub key: Option<String>,

    /// Prints a JSON object
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub fetching: Fetching,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct CheckDatasets {
    /// Files; names of tables `[datasets.NAME]` in cobalt.toml; or sources of which a copy is kept, as `langfuse:support`
    #[arg(value_name = "SET", required = true)]
    pub sets: Vec<String>,

    /// How much alike the inputs of near duplicates are: from 0.5 to 1, the Jaccard similarity of the runs of five
    /// characters in them, whatever the case and white space
    #[arg(long, value_name = "SIMILARITY", default_value = "0.9", value_parser = similarity)]
    pub near: f64,

    /// Exits with 1 also where there are only notes
    #[arg(long)]
    pub strict: bool,

    /// Prints a JSON object
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub fetching: Fetching,

    #[command(flatten)]
    pub settings: Settings,
}

/// Reads how much alike two texts are. Below one half, too much would be alike to be of use.
pub fn similarity(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|number| (0.5..=1.0).contains(number)).ok_or("expected a number from 0.5 to 1")
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").required(true).multiple(true).args(["items", "failed"]))]
pub struct AddItems {
    /// The data file, whose ending tells the format; it and the folders above it are made where they are not there
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The run that has the items: by id, `latest~1`, `help-desk@latest`, git revision or result file
    #[arg(long, value_name = "RUN")]
    pub from_run: RunName,

    /// An item, by its key, its name in test cases or its index; may be given more than once
    #[arg(long = "item", value_name = "KEY")]
    pub items: Vec<String>,

    /// All items that are in error, timed out, or have a score below its pass mark
    #[arg(long)]
    pub failed: bool,

    /// The field `expectedOutput` of the item, or the one that it has in its place, as `answer`: JSON where it is JSON, and text
    /// elsewhere
    #[arg(long, value_name = "TEXT|JSON", allow_hyphen_values = true, value_parser = value)]
    pub expected: Option<Value>,

    /// Takes what the agent gave in the run as the expected output
    #[arg(long, conflicts_with = "expected")]
    pub output_as_expected: bool,

    /// Sets a field of every item, as in `source=regression`: JSON where it is JSON, and text elsewhere; may be given more than
    /// once
    #[arg(long, value_name = "FIELD=VALUE", value_parser = field)]
    pub set: Vec<(String, Value)>,

    /// The id of the item in the file
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,

    /// Prints what would be written, and writes nothing
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct DedupeDataset {
    /// The data file: JSONL, JSON, CSV or TSV
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Items are duplicates where this field of them is equal, as in `--by input`, also where other fields differ
    #[arg(long, value_name = "FIELD")]
    pub by: Option<String>,

    /// Items are duplicates where their inputs are nearly equal and their expected outputs equal: from 0.5 to 1, the Jaccard
    /// similarity of the runs of five characters in them, whatever the case and white space [without a number: 0.9]
    #[arg(long, value_name = "SIMILARITY", num_args = 0..=1, default_missing_value = "0.9", value_parser = similarity,
        conflicts_with = "by")]
    pub near: Option<f64>,

    /// Says what would be removed, and writes nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Writes to this file, in place of one that is there, and leaves the data file as it is
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub settings: Settings,
}

/// Reads a value: JSON, or else a text. A number that would be written otherwise than it was typed, as `19.90`, is a text.
#[expect(clippy::unnecessary_wraps, reason = "clap takes a function that may fail")]
fn value(text: &str) -> Result<Value, std::convert::Infallible> {
    Ok(match serde_json::from_str(text) {
        Ok(Value::Number(number)) if number.to_string() != text.trim() => Value::String(text.to_owned()),
        Ok(value) => value,
        Err(_) => Value::String(text.to_owned()),
    })
}

/// Reads a field with its value.
fn field(text: &str) -> Result<(String, Value), &'static str> {
    let wanted = "expected a field and its value, as in `source=regression`";
    let (name, text) = text.split_once('=').ok_or(wanted)?;
    let Ok(value) = value(text);
    if name.is_empty() { Err(wanted) } else { Ok((name.to_owned(), value)) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_similarity_is_at_least_one_half() {
        assert_eq!([similarity("0.5"), similarity("1")], [Ok(0.5), Ok(1.0)]);
        for text in ["0.49", "1.1", "90", "NaN", "much"] {
            assert!(similarity(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_value_is_json_where_it_is_json_and_text_elsewhere() {
        for (text, expected) in [
            ("Rome", json!("Rome")),
            ("3", json!(3)),
            ("-0.5", json!(-0.5)),
            ("19.90", json!("19.90")),
            ("12345678901234567890123", json!("12345678901234567890123")),
            ("\"3\"", json!("3")),
            ("{\"a\": [null]}", json!({ "a": [null] })),
            ("{a}", json!("{a}")),
            ("", json!("")),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_field_has_a_name_and_a_value() {
        assert_eq!(field("note=a=b"), Ok(("note".to_owned(), json!("a=b"))));
        assert!(field("=b").is_err() && field("note").is_err());
    }
}
