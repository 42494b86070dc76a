//! The scores of an item in one allocation, for the lists of large runs.

use std::collections::BTreeMap;

use super::item::{ItemResult, ScoredEvaluation};

/// The scores of an item by all evaluators in all trials.
///
/// For each evaluator, the score of each trial: −1 if the evaluator failed, −2 if it was not run, and −3 if it does not apply to the
/// item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemScores {
    trials: u32,
    scores: Box<[f64]>,
}

const NO_SCORE: f64 = -1.0;
const NOT_RUN: f64 = -2.0;
const NOT_APPLICABLE: f64 = -3.0;

impl ItemScores {
    /// In the order of these evaluators.
    #[must_use]
    pub fn of(item: &ItemResult, evaluators: &[String]) -> Self {
        let score = |name: &String| {
            let evaluations = item.runs.iter().map(|run| run.evaluations.get(name));
            let score = |it: &ScoredEvaluation| match it.not_applicable {
                true => NOT_APPLICABLE,
                false => it.score.unwrap_or(NO_SCORE),
            };
            evaluations.map(|it| it.map_or(NOT_RUN, score)).collect::<Vec<_>>()
        };
        Self::from_values(item.runs.len(), evaluators.iter().flat_map(score).collect())
    }

    /// From the values of each evaluator in each trial, as described above.
    #[must_use]
    pub fn from_values(trials: usize, scores: Box<[f64]>) -> Self {
        Self { trials: u32::try_from(trials).unwrap_or(u32::MAX), scores }
    }

    /// The number of trials.
    #[must_use]
    pub fn trials(&self) -> usize {
        self.trials as usize
    }

    /// The value of an evaluator in each trial.
    #[must_use]
    pub fn values(&self, evaluator: usize) -> &[f64] {
        self.scores.get(evaluator * self.trials()..(evaluator + 1) * self.trials()).unwrap_or_default()
    }

    /// The scores of an evaluator.
    pub fn given(&self, evaluator: usize) -> impl Iterator<Item = f64> {
        self.values(evaluator).iter().copied().filter(|score| *score >= 0.0)
    }

    /// The scores by the names of these evaluators, without those that gave none.
    #[must_use]
    pub fn by_name(&self, evaluators: &[String]) -> BTreeMap<String, Vec<f64>> {
        let scores = evaluators.iter().enumerate();
        let scores = scores.map(|(at, name)| (name.clone(), self.given(at).collect::<Vec<_>>()));
        scores.filter(|(_, scores)| !scores.is_empty()).collect()
    }

    /// Their mean.
    #[must_use]
    pub fn mean(&self, evaluator: usize) -> Option<f64> {
        let (count, total) =
            self.given(evaluator).fold((0_u32, 0.0), |(n, total), score| (n + 1, total + score));
        (count > 0).then(|| total / f64::from(count))
    }

    /// The lowest of them.
    #[must_use]
    pub fn lowest(&self, evaluator: usize) -> Option<f64> {
        self.given(evaluator).reduce(f64::min)
    }

    /// Whether an evaluator was run in any trial.
    #[must_use]
    pub fn is_run(&self, evaluator: usize) -> bool {
        self.values(evaluator).iter().any(|value| *value != NOT_RUN)
    }

    /// Whether an evaluator scored any trial below a pass mark.
    #[must_use]
    pub fn is_below(&self, evaluator: usize, mark: f64) -> bool {
        self.given(evaluator).any(|score| score < mark)
    }

    /// Whether an evaluator failed in any trial.
    #[must_use]
    pub fn is_missing(&self, evaluator: usize) -> bool {
        self.values(evaluator).contains(&NO_SCORE)
    }

    /// Whether an evaluator applied in no trial.
    #[must_use]
    pub fn is_not_applicable(&self, evaluator: usize) -> bool {
        let values = self.values(evaluator);
        !values.is_empty() && values.iter().all(|value| *value == NOT_APPLICABLE)
    }

    /// The memory that the scores take besides this value, in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        size_of_val(&*self.scores)
    }
}
