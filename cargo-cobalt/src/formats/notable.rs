//! The items of a run that somebody should look at.

use cobalt_core::report::{ItemResult, Report};
use cobalt_core::reporters::figure;

/// How bad an item is. Ordered from the gravest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gravity {
    /// The agent or an evaluator failed.
    Error,
    /// A score is below its pass mark, where every item has to pass.
    Failed,
    /// The same, where thresholds decide.
    Low,
}

/// An item that somebody should look at.
#[derive(Debug)]
pub struct Notable<'a> {
    /// The item's name in test cases.
    pub name: String,
    pub item: &'a ItemResult,
    pub gravity: Gravity,
    /// The evaluators that scored it below their pass mark, and the lowest of these scores.
    pub low: Vec<(&'a str, f64)>,
}

impl Notable<'_> {
    /// What is wrong, in a line. Names of evaluators are set off as `quote` does it, errors as `quote_error` does.
    pub fn reason(&self, quote: impl Fn(&str) -> String, quote_error: impl Fn(&str) -> String) -> String {
        match self.item.why_in_error() {
            Some(error) => format!("in error: {}", quote_error(&error)),
            None => {
                let low = self.low.iter().map(|(name, score)| format!("{} {}", quote(name), figure(*score)));
                format!("low in {}", low.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// The items to look at, the gravest first, else in the order of the data set.
pub fn notable(report: &Report) -> Vec<Notable<'_>> {
    let judged = report.case_names().into_iter().zip(&report.items).filter_map(|(name, item)| {
        let low: Vec<_> = report.config.low_scores(item).collect();
        let gravity = match item.is_in_error() {
            true => Gravity::Error,
            false if low.is_empty() => return None,
            false if report.config.strict => Gravity::Failed,
            false => Gravity::Low,
        };
        Some(Notable { name, item, gravity, low })
    });
    let mut notable: Vec<_> = judged.collect();
    notable.sort_by_key(|item| item.gravity);
    notable
}
