//! Command-line definition of `cargo cobalt dataset`: commands that read datasets and commands that edit data files.

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
    /// Show a dataset as a table, with statistics per field
    ///
    /// Exit codes: 0; 2 invalid arguments; 3 the dataset could not be read; 4 no item has the key.
    Show(ShowDataset),
    /// Find errors and duplicates in datasets
    ///
    /// Errors are data that is lost or misread: lines that are not items, two items with the same ID, equal inputs with different
    /// expected outputs. Everything else is a note: duplicates, near duplicates, fields that only some items have.
    ///
    /// Exit codes: 0, even if there are notes; 1 there are errors (with --strict, errors or notes); 2 invalid arguments; 3 a
    /// dataset could not be read.
    Check(CheckDatasets),
    /// Append items of a run, or of recorded traces, to a data file
    ///
    /// The file is JSONL, JSON, CSV or TSV; its existing content is not changed.
    ///
    /// Items of a run are added as they were in the dataset; the run is selected as for `compare`. Items that the file already
    /// contains are not added again. An item is refused if another item has the same `id` or, without IDs, the same `input`; the
    /// other items are added.
    ///
    /// With `--from-otlp`, each trace becomes an item: `input` is what the agent was asked, and `metadata` has the trace's ID and the
    /// recorded output. Secrets are redacted. A trace is left out if it has no input, or if the file or an earlier trace has the
    /// same one.
    ///
    /// Exit codes: 0, even if all items already exist or none failed; 2 invalid arguments; 3 an item was refused, or a file could
    /// not be read or written; 4 no such run or item.
    Add(AddItems),
    /// Remove duplicate items from a data file
    ///
    /// The first of several duplicates is kept, and the rest of the file is unchanged. Without duplicates the file is not
    /// written. There is no confirmation, as data files are under version control: preview with `--dry-run`, or write to another
    /// file with `--output`.
    ///
    /// Exit codes: 0; 2 invalid arguments; 3 a file could not be read or written.
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

    /// The fetch options, if the command reads remote datasets.
    pub fn fetch_options(&self) -> Option<&FetchOptions> {
        match self {
            Self::Show(show) => Some(&show.fetching),
            Self::Check(check) => Some(&check.fetching),
            Self::Add(_) | Self::Dedupe(_) => None,
        }
    }
}

/// How remote datasets are fetched.
#[derive(Debug, Args)]
pub struct FetchOptions {
    /// Re-fetch remote datasets instead of using the cached copy
    #[arg(long, conflicts_with = "offline")]
    pub refresh: bool,

    /// Use the cached copy, however old it is
    #[arg(long)]
    pub offline: bool,
}

#[derive(Debug, Args)]
pub struct ShowDataset {
    /// A file, a name from `[datasets]` in cobalt.toml, or a cached source such as `langfuse:support`
    #[arg(value_name = "DATASET")]
    pub set: String,

    /// Show the first N items; statistics cover all items
    #[arg(long, value_name = "N", default_value = "10")]
    pub limit: usize,

    /// Show only the item with this key, in full
    #[arg(long, value_name = "KEY", conflicts_with = "limit")]
    pub key: Option<String>,

    /// Print a JSON object
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub fetching: FetchOptions,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct CheckDatasets {
    /// Files, names from `[datasets]` in cobalt.toml, or cached sources such as `langfuse:support`
    #[arg(value_name = "DATASET", required = true)]
    pub sets: Vec<String>,

    /// Minimum similarity of near-duplicate inputs, from 0.5 to 1: Jaccard similarity of 5-character shingles, ignoring case and
    /// whitespace
    #[arg(long, value_name = "SIMILARITY", default_value = "0.9", value_parser = parse_similarity)]
    pub near: f64,

    /// Also exit with 1 if there are only notes
    #[arg(long)]
    pub strict: bool,

    /// Print a JSON object
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub fetching: FetchOptions,

    #[command(flatten)]
    pub settings: Settings,
}

/// Parses a similarity. Below 0.5, too many items would match to be useful.
pub fn parse_similarity(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|number| (0.5..=1.0).contains(number)).ok_or("expected a number from 0.5 to 1")
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("from").required(true).args(["from_run", "from_otlp"]))]
#[command(group = ArgGroup::new("which").multiple(true).args(["items", "failed"]).conflicts_with("from_otlp"))]
pub struct AddItems {
    /// Data file; its extension determines the format. The file and its parent folders are created if missing
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The run to take the items from: ID prefix, `latest~1`, `help-desk@latest`, git revision or result file
    #[arg(long, value_name = "RUN", requires = "which")]
    pub from_run: Option<RunName>,

    /// Recorded traces to make items of: JSON lines of the `file` exporter of OpenTelemetry's collector. FILE must be JSONL or JSON
    #[arg(long, value_name = "TRACES")]
    pub from_otlp: Option<PathBuf>,

    /// Only traces with this attribute on a span or on its resource, e.g. `service.name=support`; repeat it to require several
    #[arg(long = "where", value_name = "ATTRIBUTE=VALUE", conflicts_with = "from_run", value_parser = parse_attribute)]
    pub attributes: Vec<(String, String)>,

    /// Only traces with a failed span
    #[arg(long, conflicts_with = "from_run")]
    pub errors: bool,

    /// Item by key, test-case name or index; can be repeated
    #[arg(long = "item", value_name = "KEY")]
    pub items: Vec<String>,

    /// All items with an error, a timeout or a score below its pass mark
    #[arg(long)]
    pub failed: bool,

    /// Set the item's `expectedOutput`, or the field it uses instead, such as `answer`; parsed as JSON if valid, otherwise as text
    #[arg(long, value_name = "TEXT|JSON", allow_hyphen_values = true, value_parser = parse_value)]
    pub expected: Option<Value>,

    /// Use the agent's output in the run or trace as the expected output
    #[arg(long, conflicts_with = "expected")]
    pub output_as_expected: bool,

    /// Set a field of every item, e.g. `source=regression`; parsed as JSON if valid, otherwise as text; can be repeated
    #[arg(long, value_name = "FIELD=VALUE", value_parser = parse_field)]
    pub set: Vec<(String, Value)>,

    /// ID of the item in the file
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,

    /// Print what would be written without writing it
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct DedupeDataset {
    /// Data file: JSONL, JSON, CSV or TSV
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Items are duplicates if this field is equal, e.g. `--by input`, even if other fields differ
    #[arg(long, value_name = "FIELD")]
    pub by: Option<String>,

    /// Items are duplicates if their inputs are nearly equal and their expected outputs are equal. The similarity, from 0.5 to 1,
    /// is the Jaccard similarity of 5-character shingles, ignoring case and whitespace [without a value: 0.9]
    #[arg(long, value_name = "SIMILARITY", num_args = 0..=1, default_missing_value = "0.9", value_parser = parse_similarity,
        conflicts_with = "by")]
    pub near: Option<f64>,

    /// Print what would be removed without writing
    #[arg(long)]
    pub dry_run: bool,

    /// Write to this file (overwriting it) and leave the data file unchanged
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub settings: Settings,
}

/// Parses a value as JSON, or else takes it as text. A number that JSON would rewrite, such as `19.90`, stays text.
#[expect(clippy::unnecessary_wraps, reason = "clap takes a function that may fail")]
fn parse_value(text: &str) -> Result<Value, std::convert::Infallible> {
    Ok(match serde_json::from_str(text) {
        Ok(Value::Number(number)) if number.to_string() != text.trim() => Value::String(text.to_owned()),
        Ok(value) => value,
        Err(_) => Value::String(text.to_owned()),
    })
}

/// Parses `FIELD=VALUE`.
fn parse_field(text: &str) -> Result<(String, Value), &'static str> {
    let wanted = "expected a field and its value, as in `source=regression`";
    let (name, text) = text.split_once('=').ok_or(wanted)?;
    let Ok(value) = parse_value(text);
    if name.is_empty() { Err(wanted) } else { Ok((name.to_owned(), value)) }
}

/// Parses `ATTRIBUTE=VALUE`.
fn parse_attribute(text: &str) -> Result<(String, String), &'static str> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = pair.ok_or("expected an attribute and its value, as in `service.name=support`")?;
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_similarity_is_at_least_one_half() {
        assert_eq!([parse_similarity("0.5"), parse_similarity("1")], [Ok(0.5), Ok(1.0)]);
        for text in ["0.49", "1.1", "90", "NaN", "much"] {
            assert!(parse_similarity(text).is_err(), "{text}");
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
            assert_eq!(parse_value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_field_has_a_name_and_a_value() {
        assert_eq!(parse_field("note=a=b"), Ok(("note".to_owned(), json!("a=b"))));
        assert!(parse_field("=b").is_err() && parse_field("note").is_err());
    }
}
