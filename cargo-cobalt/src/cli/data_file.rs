//! What may be typed of the commands that change data files: `cargo cobalt dataset add` and `dedupe`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use serde_json::Value;

use super::dataset::similarity;
use super::{RunName, Settings};

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").required(true).multiple(true).args(["items", "failed"]))]
pub(crate) struct AddItems {
    /// The data file, whose ending tells the format; it and the folders above it are made where they are not there
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// The run that has the items: by id, `latest~1`, `help-desk@latest`, git revision or result file
    #[arg(long, value_name = "RUN")]
    pub(crate) from_run: RunName,

    /// An item, by its key, its name in test cases or its index; may be given more than once
    #[arg(long = "item", value_name = "KEY")]
    pub(crate) items: Vec<String>,

    /// All items that are in error, timed out, or have a score below its pass mark
    #[arg(long)]
    pub(crate) failed: bool,

    /// The field `expectedOutput` of the item, or the one that it has in its place, as `answer`: JSON where it is JSON, and text
    /// elsewhere
    #[arg(long, value_name = "TEXT|JSON", allow_hyphen_values = true, value_parser = value)]
    pub(crate) expected: Option<Value>,

    /// Takes what the agent gave in the run as the expected output
    #[arg(long, conflicts_with = "expected")]
    pub(crate) output_as_expected: bool,

    /// Sets a field of every item, as in `source=regression`: JSON where it is JSON, and text elsewhere; may be given more than
    /// once
    #[arg(long, value_name = "FIELD=VALUE", value_parser = field)]
    pub(crate) set: Vec<(String, Value)>,

    /// The id of the item in the file
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,

    /// Prints what would be written, and writes nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) settings: Settings,
}

#[derive(Debug, Args)]
pub(crate) struct DedupeDataset {
    /// The data file: JSONL, JSON, CSV or TSV
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Items are duplicates where this field of them is equal, as in `--by input`, also where other fields differ
    #[arg(long, value_name = "FIELD")]
    pub(crate) by: Option<String>,

    /// Items are duplicates where their inputs are nearly equal and their expected outputs equal: from 0.5 to 1, the Jaccard
    /// similarity of the runs of five characters in them, whatever the case and white space [without a number: 0.9]
    #[arg(long, value_name = "SIMILARITY", num_args = 0..=1, default_missing_value = "0.9", value_parser = similarity,
        conflicts_with = "by")]
    pub(crate) near: Option<f64>,

    /// Says what would be removed, and writes nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Writes to this file, in place of one that is there, and leaves the data file as it is
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) settings: Settings,
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
