//! The filter of items by score.

use super::column::evaluator_index;
use super::query::ItemsQuery;
use crate::serve::error::ApiError;
use crate::serve::store::{LoadedItem, LoadedRun};

/// A filter by score.
pub struct ScoreRange {
    evaluators: std::ops::Range<usize>,
    low: f64,
    high: f64,
}

impl ScoreRange {
    /// `None` without a filter.
    pub fn parse(run: &LoadedRun, query: &ItemsQuery) -> Result<Option<Self>, ApiError> {
        let ItemsQuery { evaluator, min_score, max_score, .. } = query;
        if evaluator.is_none() && min_score.is_none() && max_score.is_none() {
            return Ok(None);
        }
        let (low, high) = (min_score.unwrap_or(0.0), max_score.unwrap_or(1.0));
        if low > high || low.is_nan() || high.is_nan() {
            return Err(ApiError::bad_request(format!(
                "invalid score range {low} to {high}: `minScore` and `maxScore` go from 0 to 1, with the smaller one in `minScore`"
            )));
        }
        let evaluators = match evaluator {
            Some(name) => evaluator_index(run, name).map(|at| at..at + 1)?,
            None => 0..run.head.config.evaluators.len(),
        };
        Ok(Some(Self { evaluators, low, high }))
    }

    pub fn contains(&self, item: &LoadedItem) -> bool {
        let mut scores = self.evaluators.clone().filter_map(|at| item.scores.mean(at));
        scores.any(|score| (self.low..=self.high).contains(&score))
    }
}
