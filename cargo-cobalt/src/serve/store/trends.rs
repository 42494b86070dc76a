//! How the runs of an experiment went over time.

use cobalt::report::{Category, Metric, Threshold};
use cobalt::store::ReportText;

use super::Store;
use super::loaded::FileProblem;
use super::runs::{moment, verdict};
use crate::index::Run;
use crate::serve::api::{ApiError, ThresholdLine, TrendPoint, TrendQuantity, Trends, TrendsQuery};

impl Store {
    pub(in crate::serve) fn trends(&self, query: &TrendsQuery) -> Result<Trends, ApiError> {
        let known = self.known()?;
        let since = query.since.as_deref().map(|text| moment("since", text)).transpose()?;
        let is_meant = |run: &&Run| {
            run.name == query.experiment
                && query.tag.as_ref().is_none_or(|tag| run.tags.contains(tag))
                && since.as_ref().is_none_or(|since| run.timestamp >= *since)
        };
        let runs = known.whole().filter(is_meant).take(query.limit.unwrap_or(usize::MAX));
        let mut runs: Vec<_> = runs.cloned().collect();
        runs.reverse();
        let evaluator = query.evaluator.as_deref();
        let thresholds = runs.last().map(|run| self.thresholds(&run.id)).transpose()?.unwrap_or_default();
        let lines = thresholds.iter().filter_map(line).filter(|line| is_shown(line, evaluator));
        Ok(Trends {
            thresholds: lines.collect(),
            trends: runs.into_iter().map(|run| point(run, evaluator)).collect(),
        })
    }

    /// The thresholds of a run, as far as they can be read, which those of old files cannot always.
    fn thresholds(&self, id: &str) -> Result<Vec<Threshold>, ApiError> {
        let _pass = self.loaders.pass();
        let bytes = match self.file(id)?.read() {
            Ok(bytes) => bytes,
            Err(FileProblem::Final(error)) => return Err(error),
            Err(FileProblem::Changed) => return Ok(Vec::new()),
        };
        let text = ReportText::of(&bytes).ok();
        Ok(text.and_then(|text| text.head().config.read_thresholds().ok()).unwrap_or_default())
    }
}

fn point(mut run: Run, evaluator: Option<&str>) -> TrendPoint {
    if let Some(evaluator) = evaluator {
        run.scores.retain(|name, _| name == evaluator);
    }
    TrendPoint {
        verdict: verdict(&run),
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

/// A threshold as a line, where the points of runs have its figure.
fn line(threshold: &Threshold) -> Option<ThresholdLine> {
    let (quantity, evaluator) = match (threshold.category(), threshold.metric()) {
        (Category::Score, Metric::Avg) => (TrendQuantity::Score, None),
        (Category::Evaluator(name), Metric::Avg) => (TrendQuantity::Score, Some(name.clone())),
        (Category::Latency, Metric::Avg) => (TrendQuantity::Latency, None),
        (Category::Tokens, Metric::Total) => (TrendQuantity::Tokens, None),
        (Category::Cost, Metric::Total) => (TrendQuantity::Cost, None),
        _ => return None,
    };
    Some(ThresholdLine { name: threshold.case_name(), quantity, evaluator, bound: threshold.bound() })
}

/// Whether a line belongs to what is shown: where that is one evaluator, a bound of other scores does not.
fn is_shown(line: &ThresholdLine, evaluator: Option<&str>) -> bool {
    line.quantity != TrendQuantity::Score
        || evaluator.is_none_or(|name| line.evaluator.as_deref() == Some(name))
}
