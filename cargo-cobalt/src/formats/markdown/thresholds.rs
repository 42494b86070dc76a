//! The thresholds of a run and what became of them.

use std::fmt::Write as _;

use cobalt::Report;
use cobalt::report::ThresholdOutcome;
use cobalt::report::comparison::Finding;

use crate::markdown::{cell, code};

/// A table of the thresholds, and a line on each that was not met; empty where there are none.
pub(super) fn table(report: &Report) -> String {
    let thresholds = report.thresholds();
    if thresholds.is_empty() {
        return violations(report);
    }
    let mut text = String::from("\n| threshold | found | finding |\n|---|--:|---|\n");
    for threshold in thresholds {
        let figure = threshold.figure.as_deref().unwrap_or("nothing");
        let _ = writeln!(text, "| {} | {figure} | {} |", cell(&code(&threshold.name)), finding(threshold));
    }
    for threshold in thresholds.iter().filter(|threshold| threshold.finding != Finding::Met) {
        let _ = writeln!(text, "\n> {}", code(&threshold.message));
    }
    text
}

/// The finding; one that is inconclusive is never shown as met.
pub(crate) fn finding(threshold: &ThresholdOutcome) -> &'static str {
    match (threshold.finding, threshold.passed) {
        (Finding::Met, _) => "✅ met",
        (Finding::Missed, _) => "❌ missed",
        (Finding::Inconclusive, true) => "⚠️ inconclusive",
        (Finding::Inconclusive, false) => "❌ inconclusive, which fails",
    }
}

/// Those that were missed, of a file that tells of no others.
fn violations(report: &Report) -> String {
    let violations = report.ci_status.iter().flat_map(|status| &status.violations);
    violations.map(|violation| format!("\n> ❌ {}\n", code(&violation.message))).collect()
}
