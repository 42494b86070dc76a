//! The parts of result files that lists need and the index does not have, read once for each version of a file.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use cobalt_core::report::Report;
use cobalt_core::report::comparison::{Comparison, Verdict};
use cobalt_core::report::stats::Interval;

use super::run_file::RunFile;
use crate::sized_cache::lock;

/// A run without its items, in short.
#[derive(Debug)]
pub struct RunHead {
    /// The 95% CI of the mean of its scores: the means of the bounds of all evaluators. It is at least as wide as that of independent
    /// evaluators. `None` if an evaluator has no interval.
    pub score_interval: Option<Interval>,
    /// Its comparison with the baseline of its time.
    pub baseline: Option<StoredChange>,
}

/// A comparison with a baseline.
#[derive(Debug)]
pub struct StoredChange {
    /// The id of the baseline's run.
    pub run: String,
    pub scores: Arc<Vec<ScoreDifference>>,
}

/// How an evaluator's mean differs from that of the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreDifference {
    pub name: String,
    pub change: f64,
    pub interval: Option<Interval>,
    pub verdict: Verdict,
}

/// The heads of runs by id.
pub type RunHeads = HashMap<String, Arc<RunHead>>;

/// The heads of the files that were wanted last.
#[derive(Debug, Default)]
pub struct RunHeadCache(Mutex<HashMap<RunFile, Arc<RunHead>>>);

impl RunHeadCache {
    /// The heads of these runs; others are forgotten. Those that `read` cannot read are left out.
    pub fn get_all<'a>(
        &self,
        files: impl Iterator<Item = (&'a str, RunFile)>,
        read: impl Fn(&RunFile) -> Option<RunHead>,
    ) -> RunHeads {
        let mut known = lock(&self.0);
        let mut wanted = HashMap::new();
        let heads = files.filter_map(|(id, file)| {
            let head = match known.get(&file) {
                Some(head) => Arc::clone(head),
                None => Arc::new(read(&file)?),
            };
            wanted.insert(file, Arc::clone(&head));
            Some((id.to_owned(), head))
        });
        let heads = heads.collect();
        *known = wanted;
        heads
    }
}

impl RunHead {
    pub fn of(report: &Report) -> Self {
        let scores = &report.summary.scores;
        let intervals: Option<Vec<_>> = scores.values().map(|stats| stats.ci95).collect();
        let mean = |bound: fn(&Interval) -> f64, intervals: &[Interval]| {
            intervals.iter().map(bound).sum::<f64>() / intervals.len() as f64
        };
        let intervals = intervals.filter(|intervals| !intervals.is_empty());
        Self {
            score_interval: intervals.map(|intervals| Interval {
                low: mean(|it| it.low, &intervals),
                high: mean(|it| it.high, &intervals),
            }),
            baseline: report.baseline.as_ref().map(|comparison| StoredChange {
                run: comparison.base.id.clone(),
                scores: Arc::new(score_differences(comparison)),
            }),
        }
    }
}

/// The differences of all evaluators.
pub fn score_differences(comparison: &Comparison) -> Vec<ScoreDifference> {
    let difference = comparison.evaluators.iter().map(|it| ScoreDifference {
        name: it.name.clone(),
        change: it.difference,
        interval: it.ci95,
        verdict: it.verdict,
    });
    difference.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn head(scores: Value) -> RunHead {
        let report = json!({
            "schema": 1, "id": "aaaabbbbcccc", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z",
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": [] }, "summary": { "scores": scores }, "items": [],
        });
        RunHead::of(&serde_json::from_value(report).unwrap())
    }

    #[test]
    fn the_interval_is_the_mean_of_those_of_all_evaluators() {
        let stats = |low: f64, high: f64| json!({ "avg": 0.5, "ci95": { "low": low, "high": high } });
        let both = head(json!({ "tone": stats(0.2, 0.6), "facts": stats(0.4, 1.0) }));
        let interval = both.score_interval.unwrap();
        assert!((interval.low - 0.3).abs() < 1e-12 && (interval.high - 0.8).abs() < 1e-12, "{interval:?}");
        assert!(head(json!({ "tone": stats(0.2, 0.6), "facts": { "avg": 1 } })).score_interval.is_none());
        assert!(head(json!({})).score_interval.is_none());
    }
}
