//! The items of a run that need attention.

use cobalt_core::report::{ItemResult, Report};
use cobalt_core::reporters::{format_score, format_turn_problems};
use cobalt_core::wording::count;

use crate::results::{FinishedExperiment, NamedItem};

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
    pub name: &'a str,
    pub item: &'a ItemResult,
    pub severity: Severity,
    /// The evaluators that scored it below their pass mark, with the lowest such score.
    pub low: Vec<(&'a str, f64)>,
}

impl<'a> NotableItem<'a> {
    /// `None` if the item passed.
    fn of(report: &'a Report, named: &'a NamedItem) -> Option<Self> {
        let NamedItem { case, item, .. } = named;
        let low: Vec<_> = report.config.scores_below_pass_mark(item).collect();
        let severity = match item.is_in_error() {
            true => Severity::Error,
            false if low.is_empty() => return None,
            false => Severity::low(report),
        };
        Some(Self { name: case, item, severity, low })
    }

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

/// The items of a run that need attention.
#[derive(Debug)]
pub struct NotableItems<'a> {
    /// The items, worst first, otherwise in dataset order; of a large run, some of them.
    pub shown: Vec<NotableItem<'a>>,
    /// How many items of each severity the run has.
    counts: Vec<(Severity, usize)>,
}

impl<'a> NotableItems<'a> {
    pub fn of(finished: &'a FinishedExperiment) -> Self {
        let FinishedExperiment { report, items, .. } = finished;
        let notable = |named: &'a NamedItem| NotableItem::of(report, named);
        let mut shown: Vec<_> = items.shown().iter().filter_map(notable).collect();
        shown.sort_by_key(|item| item.severity);
        let counts = [
            (Severity::Error, report.summary.items_in_error()),
            (Severity::low(report), report.summary.low_items),
        ];
        Self { shown, counts: counts.into() }
    }

    /// Only items of these severities.
    pub fn retain(&mut self, is_wanted: impl Fn(Severity) -> bool) {
        self.shown.retain(|item| is_wanted(item.severity));
        self.counts.retain(|(severity, _)| is_wanted(*severity));
    }

    /// How many items the run has that are not among the first `most` of those shown.
    pub fn more_than(&self, most: usize) -> usize {
        let all: usize = self.counts.iter().map(|(_, number)| number).sum();
        all.saturating_sub(self.shown.len().min(most))
    }

    /// The number of items of each severity.
    pub fn describe_counts(&self) -> String {
        let some = self.counts.iter().filter(|(_, number)| *number > 0);
        let words = some.map(|(severity, number)| format!("{} {}", count(*number, "item"), severity.words()));
        words.collect::<Vec<_>>().join(", ")
    }
}

impl Severity {
    /// That of items below a pass mark.
    fn low(report: &Report) -> Self {
        if report.config.strict { Self::Failed } else { Self::BelowPassMark }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Error => "in error",
            Self::Failed => "failed",
            Self::BelowPassMark => "below pass mark",
        }
    }
}
