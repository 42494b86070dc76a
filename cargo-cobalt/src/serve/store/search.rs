//! Looks for a text in items, of which all but the beginnings lie in the file alone.

use std::sync::Arc;

use cobalt::report::ItemResult;
use serde_json::Value;

use super::Store;
use super::loaded::{FileProblem, LoadedRun};

impl Store {
    /// The places of the items with a text in their key, input, output or error, whatever its case.
    pub(super) fn found(&self, run: &LoadedRun, text: &str) -> Result<Arc<Vec<usize>>, FileProblem> {
        let wanted = text.to_lowercase();
        let size = |found: &Vec<usize>| size_of_val(&**found) + wanted.len();
        self.found.get(&(run.file.clone(), wanted.clone()), size, || {
            let (mut reader, mut found) = (run.file.reader()?, Vec::new());
            for (place, item) in run.items.iter().enumerate() {
                if has_text(&item.key, &wanted) || says(&reader.item(&item.place)?, &wanted) {
                    found.push(place);
                }
            }
            Ok(found)
        })
    }
}

/// Whether an item says something, in small letters.
fn says(item: &ItemResult, wanted: &str) -> bool {
    item.input.values().any(|value| is_in(value, wanted))
        || item.runs.iter().any(|run| {
            let failed = run.evaluations.iter().filter_map(|(_, evaluation)| evaluation.error.as_ref());
            run.output.as_ref().is_some_and(|output| has_text(&output.text(), wanted))
                || run.error.iter().chain(failed).any(|error| has_text(error, wanted))
        })
}

/// Whether a text stands anywhere in a value: names of fields do not count.
fn is_in(value: &Value, wanted: &str) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => has_text(text, wanted),
        Value::Array(values) => values.iter().any(|value| is_in(value, wanted)),
        Value::Object(fields) => fields.values().any(|value| is_in(value, wanted)),
        Value::Bool(_) | Value::Number(_) => has_text(&value.to_string(), wanted),
    }
}

/// Whether a text has another one, which is in small letters.
pub(super) fn has_text(text: &str, wanted: &str) -> bool {
    text.to_lowercase().contains(wanted)
}
