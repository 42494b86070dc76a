//! The items of a run that need attention.

use cobalt_core::report::{ItemResult, Report};
use cobalt_core::reporters::{format_score, format_turn_problems};

/// How bad an item is, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The agent or an evaluator failed.
    Error,
    /// A score is below its pass mark in a strict experiment.
    Failed,
    /// A score is below its pass mark, but thresholds decide.
    BelowPassMark,
}

/// An item that needs attention.
#[derive(Debug)]
pub struct NotableItem<'a> {
    /// The item's test-case name.
    pub name: String,
    pub item: &'a ItemResult,
    pub severity: Severity,
    /// The evaluators that scored it below their pass mark, with the lowest such score.
    pub low: Vec<(&'a str, f64)>,
}

impl NotableItem<'_> {
    /// What is wrong, in one line. `quote` formats evaluator names, `quote_error` formats errors.
    pub fn reason(&self, quote: impl Fn(&str) -> String, quote_error: impl Fn(&str) -> String) -> String {
        let reason = match self.item.first_error() {
            Some(error) => format!("error: {}", quote_error(&error)),
            None => {
                let low =
                    self.low.iter().map(|(name, score)| format!("{} {}", quote(name), format_score(*score)));
                format!("below pass mark in {}", low.collect::<Vec<_>>().join(", "))
            }
        };
        let transcripts = self.item.runs.iter().filter_map(|run| run.transcript.as_deref());
        match transcripts.filter_map(format_turn_problems).next() {
            Some(turns) => format!("{reason}; {}", quote_error(&turns)),
            None => reason,
        }
    }
}

/// The items that need attention, worst first, otherwise in dataset order.
pub fn notable_items(report: &Report) -> Vec<NotableItem<'_>> {
    let judged = report.case_names().into_iter().zip(&report.items).filter_map(|(name, item)| {
        let low: Vec<_> = report.config.scores_below_pass_mark(item).collect();
        let gravity = match item.is_in_error() {
            true => Severity::Error,
            false if low.is_empty() => return None,
            false if report.config.strict => Severity::Failed,
            false => Severity::BelowPassMark,
        };
        Some(NotableItem { name, item, severity: gravity, low })
    });
    let mut notable: Vec<_> = judged.collect();
    notable.sort_by_key(|item| item.severity);
    notable
}
