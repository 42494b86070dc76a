//! Traces of items: in full, or as outlines in a text.

use cobalt_core::report::{Execution, ItemResult};
use cobalt_core::trace::{OutlineOptions, dropped_spans_note};
use serde_json::{Map, Value};

/// The field that replaces the spans of a trace.
const OUTLINE: &str = "traceOutline";
/// The most characters of an item's outlines in a list.
pub const IN_LIST: usize = 1_000;
/// The fewest characters of an outline.
const LEAST: usize = 200;

/// Replaces the traces of an item by outlines of at most `room` characters together.
pub fn outline(fields: &mut Map<String, Value>, item: &ItemResult, room: usize) {
    let traced = item.runs.iter().filter(|run| !run.trace.is_empty()).count();
    let max_chars = (room / traced.max(1)).max(LEAST);
    let replace = |fields: &mut Map<String, Value>, run: &Execution| {
        if fields.shift_remove("trace").is_some() {
            fields.shift_remove("droppedSpans");
            let dropped = dropped_spans_note(run.dropped_spans).map(|note| format!("\n{note}"));
            let options = OutlineOptions { times: true, content: true, max_chars };
            let outline = run.trace.outline(options) + &dropped.unwrap_or_default();
            fields.insert(OUTLINE.to_owned(), outline.into());
        }
    };
    if let Some(Value::Array(trials)) = fields.get_mut("runs") {
        let trials = trials.iter_mut().filter_map(Value::as_object_mut);
        trials.zip(&item.runs).for_each(|(fields, run)| replace(fields, run));
    }
    replace(fields, item.first_trial());
}
