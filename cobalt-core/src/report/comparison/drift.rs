//! Whether a run's scores differ from those of earlier runs of the same commit.

use super::Quantity;
use super::estimate::{Estimate, p_two_sided};
use super::paired::Paired;
use crate::report::stats::holm;
use crate::report::{FurtherTrials, RunMetrics, ScoreDrift};

/// The significance level. It is low, as each new run is tested.
const LEVEL: f64 = 0.01;

/// The evaluators whose scores differ from those of earlier runs of the same items, beyond noise at 1%, with Holm's correction for the
/// evaluators. `earlier` counts the runs in words.
///
/// The same code on the same items gives different scores for a reason outside the commit, such as another version of a model.
#[must_use]
pub fn score_drift(metrics: &RunMetrics<'_>, runs: &[FurtherTrials], earlier: &str) -> Vec<ScoreDrift> {
    let tested = metrics.evaluators.iter().enumerate().filter_map(|(place, evaluator)| {
        let paired = Paired::of_trials(evaluator.beside_further_trials(place, runs));
        let estimate = Estimate::of(&paired, Quantity::Score)?;
        let (p_value, _) = p_two_sided(&paired, Quantity::Score, &estimate)?;
        Some((evaluator.name, estimate, p_value))
    });
    let tested: Vec<_> = tested.collect();
    let adjusted = holm(&tested.iter().map(|(.., p_value)| *p_value).collect::<Vec<_>>());
    let differing = tested.into_iter().zip(adjusted).filter(|(_, p_value)| *p_value < LEVEL);
    let drift = differing.map(|((name, estimate, _), p_value)| ScoreDrift {
        evaluator: name.to_owned(),
        actual: estimate.other,
        earlier: estimate.base,
        p_value,
        message: format!(
            "the mean of `{name}` is {:.3} in this run and {:.3} in {earlier}, which is more than noise: something outside the commit \
             has changed, such as a model or a service",
            estimate.other, estimate.base
        ),
    });
    drift.collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::prices::PriceTable;
    use crate::report::{Execution, ItemResult, ItemScores, ScoredEvaluation};

    /// Items with these scores of an evaluator.
    fn items(scores: &[f64]) -> Vec<ItemResult> {
        let item = |(index, score): (usize, &f64)| {
            let evaluation = ScoredEvaluation { score: Some(*score), ..ScoredEvaluation::default() };
            let evaluations = [("e".into(), evaluation)].into_iter().collect();
            let runs = vec![Execution { evaluations, ..Execution::default() }];
            ItemResult { index, key: index.to_string(), input: Arc::default(), passed: true, runs }
        };
        scores.iter().enumerate().map(item).collect()
    }

    fn drift(now: &[f64], earlier: &[&[f64]]) -> Vec<ScoreDrift> {
        let now = items(now);
        let metrics = RunMetrics::gather(&now, &[("e", 0.5)], &PriceTable::default());
        let trials = |scores: &&[f64]| FurtherTrials {
            trials: 1,
            scores: items(scores).iter().map(|item| ItemScores::of(item, &["e".to_owned()])).collect(),
        };
        score_drift(&metrics, &earlier.iter().map(trials).collect::<Vec<_>>(), "earlier runs")
    }

    #[test]
    fn collapsed_run_differs_from_good_ones() {
        for (items, runs) in [(20, 7), (20, 1), (3, 7)] {
            let (bad, good) = (vec![0.0; items], vec![1.0; items]);
            let found = drift(&bad, &vec![&good[..]; runs]);
            let [ScoreDrift { evaluator, actual, earlier, p_value, .. }] = &found[..] else {
                panic!("{items}")
            };
            assert_eq!((&**evaluator, *actual, *earlier), ("e", 0.0, 1.0));
            assert!(*p_value < 0.01, "{p_value}");
        }
    }

    #[test]
    fn noise_is_no_drift() {
        let every =
            |third: usize| (0..30).map(|item| f64::from(u8::from(item % 3 != third))).collect::<Vec<_>>();
        let [now, one, other] = [0, 1, 2].map(every);
        assert_eq!(drift(&now, &[&one, &other]), []);
        assert_eq!(drift(&[0.0], &[&[1.0]]), [], "one item says little");
        assert_eq!(drift(&now, &[&now, &now]), []);
    }
}
