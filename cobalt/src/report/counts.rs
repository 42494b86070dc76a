//! How many items of a run ended in which way: what files of the original leave to be counted.

use super::item::{ItemResult, Status};
use super::run_config::RunConfig;

/// The items of a run, counted one by one.
#[derive(Debug, Default)]
pub(crate) struct ItemCounts {
    pub(super) items: usize,
    /// Those whose agent gave an output in every run.
    pub(super) successful: usize,
    pub(super) timeouts: usize,
    /// Those at or above every pass mark, without an error.
    pub(super) passed: usize,
    /// Those below a pass mark, without an error.
    pub(super) low: usize,
    /// Evaluations without a score.
    pub(super) eval_errors: usize,
}

impl ItemCounts {
    pub(crate) fn add(&mut self, item: &ItemResult, config: &RunConfig) {
        let status = item.status();
        self.items += 1;
        self.successful += usize::from(status == Status::Ok);
        self.timeouts += usize::from(status == Status::Timeout);
        self.passed += usize::from(config.passes(item));
        self.low += usize::from(!config.passes(item) && !item.is_in_error());
        let evaluations = item.runs.iter().flat_map(|run| run.evaluations.iter());
        let without_score = evaluations
            .filter(|(name, it)| it.score.is_none() && config.evaluators.iter().any(|known| known == name));
        self.eval_errors += without_score.count();
    }
}
