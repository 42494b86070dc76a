//! Selects traces and adds their items to a data file.

use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use cobalt::command::config::Flags;
use cobalt::dataset::{Format, detect_format};
use cobalt_core::item::Item;
use cobalt_core::redact::redacted_item;
use cobalt_core::wording::count;
use serde_json::Value;

use super::RecordedTrace;
use super::file::read;
use crate::cli::AddItems;
use crate::config::settings;
use crate::datasets::additions::{NewItem, check_single, item_key, set_fields, write_items};
use crate::datasets::edit::DataFile;
use crate::error::Error;
use crate::terminal::relative_path;

pub fn add_traces(path: &Path, arguments: &AddItems, flags: &Flags) -> Result<ExitCode, Error> {
    check_format(&arguments.file)?;
    let settings = settings(flags)?;
    let (traces, notes) = read(path)?;
    notes.iter().for_each(|note| eprintln!("warning: {note}"));
    let mut left_out = LeftOut::default();
    let wanted = items(traces, arguments, &mut left_out);
    check_single(wanted.len(), arguments)?;
    let file = DataFile::read(&arguments.file, &settings.layout().datasets())?;
    let (names, items): (Vec<_>, Vec<_>) = wanted.into_iter().unzip();
    let existing: HashSet<_> = file.items().iter().map(item_key).collect();
    let mut added = HashSet::new();
    let (mut new, mut refused) = (Vec::new(), Vec::new());
    for (name, item) in names.into_iter().zip(file.fit_items(items)) {
        match item {
            Err(error) => refused.push(format!("`{name}` was not added: {error}")),
            Ok(item) => {
                let key = item_key(&item);
                if existing.contains(&key) {
                    left_out.existing += 1;
                } else if !added.insert(key) {
                    left_out.repeated += 1;
                } else {
                    new.push(NewItem { name, item });
                }
            }
        }
    }
    left_out.sentence().iter().for_each(|sentence| eprintln!("{sentence}"));
    write_items(file, new, arguments)?;
    if refused.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Error::Multiple(refused)) }
}

/// Refuses files with columns: the `metadata` of these items is an object.
fn check_format(file: &Path) -> Result<(), Error> {
    match detect_format(&file.to_string_lossy(), &[]) {
        Ok(Format::Csv | Format::Tsv) => Err(Error::Arguments(format!(
            "`{}` cannot hold items of traces, whose `metadata` is an object: use a `.jsonl` file",
            relative_path(file)
        ))),
        _ => Ok(()),
    }
}

/// The items of the selected traces, with their names.
fn items(traces: Vec<RecordedTrace>, arguments: &AddItems, left_out: &mut LeftOut) -> Vec<(String, Item)> {
    let mut items = Vec::new();
    for trace in traces {
        if !arguments.attributes.iter().all(|(name, value)| has_attribute(&trace, name, value)) {
            left_out.other_attributes += 1;
        } else if arguments.errors && !trace.has_failed() {
            left_out.without_error += 1;
        } else if let Some(exchange) = trace.exchange() {
            if arguments.output_as_expected && exchange.output.is_none() {
                left_out.without_output += 1;
                continue;
            }
            // Runs are redacted when they are saved; traces are not.
            let item = redacted_item(&Arc::new(trace.item(exchange, arguments.output_as_expected)));
            let mut item = Arc::unwrap_or_clone(item);
            set_fields(&mut item, "expectedOutput", arguments);
            items.push((trace.name(), item));
        } else {
            left_out.without_input += 1;
        }
    }
    items
}

/// Whether a span of a trace, or what reported it, has an attribute.
fn has_attribute(trace: &RecordedTrace, name: &str, value: &str) -> bool {
    // A number or a boolean is written as in JSON.
    let is_equal = |known: &Value| {
        known.as_str() == Some(value)
            || serde_json::from_str::<Value>(value).is_ok_and(|value| value == *known)
    };
    let has = |fields: &Item| fields.get(name).is_some_and(is_equal);
    trace.spans().iter().any(|span| has(&span.span.fields) || has(&span.resource))
}

/// How many traces did not become items, by reason.
#[derive(Debug, Default)]
struct LeftOut {
    other_attributes: usize,
    without_error: usize,
    without_input: usize,
    without_output: usize,
    existing: usize,
    repeated: usize,
}

impl LeftOut {
    /// `None` if there are none.
    fn sentence(&self) -> Option<String> {
        let Self { other_attributes, without_error, without_input, without_output, existing, repeated } =
            *self;
        let reasons = [
            (other_attributes, "without these attributes"),
            (without_error, "without an error"),
            (without_input, "without an input"),
            (without_output, "without an output"),
            (existing, "with an input that the file has"),
            (repeated, "with the input of an earlier trace"),
        ];
        let all = reasons.iter().map(|(number, _)| number).sum();
        let reasons = reasons.iter().filter(|(number, _)| *number > 0);
        let reasons: Vec<_> = reasons.map(|(number, why)| format!("{number} {why}")).collect();
        (all > 0).then(|| format!("Left out {}: {}", count(all, "trace"), reasons.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_columns_is_refused_and_one_with_objects_is_not() {
        for file in ["items.csv", "items.TSV"] {
            let error = check_format(Path::new(file)).unwrap_err().to_string();
            assert!(error.contains(file) && error.contains("`.jsonl`"), "{error}");
        }
        for file in ["items.jsonl", "items.json"] {
            assert!(check_format(Path::new(file)).is_ok(), "{file}");
        }
    }
}
