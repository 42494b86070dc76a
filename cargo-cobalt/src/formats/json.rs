//! Runs as JSON: the report of one, a list of those of several.

use serde_json::{Result, to_string_pretty};

use crate::reporters::Results;

/// The reports with all of their items, indented.
pub(crate) fn json(results: &Results) -> Result<String> {
    let reports: Vec<_> = results.experiments.iter().map(|finished| &finished.report).collect();
    let text = match reports[..] {
        [report] => to_string_pretty(report)?,
        _ => to_string_pretty(&reports)?,
    };
    Ok(text + "\n")
}
