//! How the runs of an experiment went over time.

use cobalt::name;
use cobalt::report::{Category, Metric, Threshold};
use cobalt::store::ReportText;

use super::Store;
use super::loaded::FileProblem;
use super::runs::{moment, verdict};
use crate::index::Run;
use crate::serve::api::{ApiError, RunFacts, ThresholdLine, TrendPoint, TrendQuantity, Trends, TrendsQuery};

impl Store {
    pub(in crate::serve) fn trends(&self, query: &TrendsQuery) -> Result<Trends, ApiError> {
        let known = self.known()?;
        let since = query.since.as_deref().map(|text| moment("since", text)).transpose()?;
        let experiment = name::find(&query.experiment, known.runs.iter().map(|run| &*run.name));
        let is_meant = |run: &&Run| {
            Some(&*run.name) == experiment
                && query.tag.as_ref().is_none_or(|tag| run.tags.contains(tag))
                && since.as_ref().is_none_or(|since| run.timestamp >= *since)
        };
        let runs = known.runs.iter().filter(is_meant).take(query.limit.unwrap_or(usize::MAX));
        let mut runs: Vec<_> = runs.collect();
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

fn point(run: &Run, evaluator: Option<&str>) -> TrendPoint {
    let mut scores = run.scores.clone();
    scores.retain(|name, _| evaluator.is_none_or(|evaluator| name == evaluator));
    TrendPoint {
        facts: RunFacts::of(run, verdict(run.status)),
        scores,
        errors: run.failed_items + run.eval_errors,
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
