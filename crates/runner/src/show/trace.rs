//! The trace of an item, as a tree per trial.

use std::fmt::Write as _;

use cobalt_core::report::Report;
use cobalt_core::reporters::{Style, format_duration};

use super::items::result;
use crate::results::NamedItem;
use crate::terminal::one_line;

/// The trees of an item's trials.
pub fn text(report: &Report, named: &NamedItem, paint: Style) -> String {
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
            false => run.trace.outline_in_full(run.dropped_spans),
        };
        let _ = write!(text, "\n{outline}\n");
    }
    text
}
