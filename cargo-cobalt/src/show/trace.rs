//! The trace of an item, as a tree per trial.

use std::fmt::Write as _;

use cobalt_core::report::Report;
use cobalt_core::reporters::{Style, format_duration};
use cobalt_core::trace::{OutlineOptions, Trace, dropped_spans_note};

use super::items::{NamedItem, result};
use crate::terminal::one_line;

/// The most characters of one trial's tree.
const MAX_CHARS: usize = 40_000;

/// A trace with times and contents, one line per span, for people.
pub fn trace_outline(trace: &Trace, dropped_spans: usize) -> String {
    let options = OutlineOptions { times: true, content: true, max_chars: MAX_CHARS };
    let dropped = dropped_spans_note(dropped_spans).map(|note| format!("\n{note}"));
    trace.outline(options) + &dropped.unwrap_or_default()
}

/// The trees of an item's trials.
pub fn text(report: &Report, named: &NamedItem<'_>, paint: Style) -> String {
    let NamedItem { case, item, .. } = named;
    let name = paint.bold(one_line(&format!("{}::{case}", report.name)));
    let mut text = format!("{name}: {}, {}\n", result(report, item), format_duration(item.latency_ms()));
    for (number, run) in item.runs.iter().enumerate() {
        if item.runs.len() > 1 {
            let heading = format!("trial {}, {}", number + 1, format_duration(run.latency_ms));
            let _ = write!(text, "\n{}", paint.bold(heading));
        }
        let outline = match run.trace.is_empty() {
            true => "no spans were recorded".to_owned(),
            false => trace_outline(&run.trace, run.dropped_spans),
        };
        let _ = write!(text, "\n{outline}\n");
    }
    text
}
