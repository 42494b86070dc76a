//! The scores of an item, all evaluators' of all runs in one piece of memory.

use cobalt::report::ItemResult;

/// For each evaluator, the score of each run: [`NO_SCORE`] where it failed, [`NOT_ASKED`] where it had nothing to score.
#[derive(Debug)]
pub(in crate::serve) struct Scores {
    runs: usize,
    scores: Box<[f64]>,
}

const NO_SCORE: f64 = -1.0;
const NOT_ASKED: f64 = -2.0;

impl Scores {
    /// In the order of these evaluators.
    pub(super) fn of(item: &ItemResult, evaluators: &[String]) -> Self {
        let score = |name: &String| {
            let evaluations = item.runs.iter().map(|run| run.evaluations.get(name));
            let scores = evaluations.map(|it| it.map_or(NOT_ASKED, |it| it.score.unwrap_or(NO_SCORE)));
            scores.collect::<Vec<_>>()
        };
        Self { runs: item.runs.len(), scores: evaluators.iter().flat_map(score).collect() }
    }

    fn all(&self, evaluator: usize) -> &[f64] {
        self.scores.get(evaluator * self.runs..(evaluator + 1) * self.runs).unwrap_or_default()
    }

    /// The scores that an evaluator gave.
    pub(in crate::serve) fn given(&self, evaluator: usize) -> impl Iterator<Item = f64> {
        self.all(evaluator).iter().copied().filter(|score| *score != NO_SCORE && *score != NOT_ASKED)
    }

    /// Their mean.
    pub(in crate::serve) fn mean(&self, evaluator: usize) -> Option<f64> {
        let (count, total) =
            self.given(evaluator).fold((0_u32, 0.0), |(n, total), score| (n + 1, total + score));
        (count > 0).then(|| total / f64::from(count))
    }

    /// Whether an evaluator scored some run below a mark.
    pub(in crate::serve) fn is_low(&self, evaluator: usize, mark: f64) -> bool {
        self.given(evaluator).any(|score| score < mark)
    }

    /// Whether an evaluator failed in some run.
    pub(in crate::serve) fn is_missing(&self, evaluator: usize) -> bool {
        self.all(evaluator).contains(&NO_SCORE)
    }

    pub(super) fn size(&self) -> usize {
        size_of_val(&*self.scores)
    }
}
