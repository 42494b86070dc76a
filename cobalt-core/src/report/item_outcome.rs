//! The result of an item without its texts: what filters, rankings and histograms of all items of a run need.

use super::config::RunConfig;
use super::item::ItemResult;
use super::item_scores::ItemScores;

/// The result of an item without its texts.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemOutcome {
    /// The item's key, which matches it between runs.
    pub key: String,
    /// The item's index in the dataset, from 0.
    pub index: usize,
    /// The agent's mean latency in milliseconds.
    pub latency_ms: f64,
    /// Whether the item is at or above every pass mark in every trial, without an error.
    pub passed: bool,
    /// Whether any trial or any evaluator failed.
    pub is_in_error: bool,
    /// The scores, in the order of the run's evaluators.
    pub scores: ItemScores,
}

impl ItemOutcome {
    /// Of an item of a run with these settings.
    #[must_use]
    pub fn of(item: &ItemResult, key: String, config: &RunConfig) -> Self {
        Self {
            key,
            index: item.index,
            latency_ms: item.latency_ms(),
            passed: item.passed,
            is_in_error: item.is_in_error(),
            scores: ItemScores::of(item, &config.evaluators),
        }
    }

    /// The lowest of the scores that are below their evaluator's pass mark.
    #[must_use]
    pub fn lowest_below_pass_mark(&self, config: &RunConfig) -> Option<f64> {
        let lowest = config
            .evaluators()
            .enumerate()
            .filter_map(|(evaluator, (_, mark))| self.scores.lowest(evaluator).filter(|score| *score < mark));
        lowest.reduce(f64::min)
    }
}
