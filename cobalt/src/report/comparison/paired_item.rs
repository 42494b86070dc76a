//! One figure of one item in two runs, and whether the runs may be exchanged.

use super::Quantity;
use super::matching::Pair;
use crate::report::stats::{Stratum, describe, sum};
use crate::report::{MeasuredItem, Measurements};

/// Differences below this share of their figures are rounding.
const ROUNDING: f64 = 1e-12;

/// A figure of an item that has it in both runs.
#[derive(Clone, Debug)]
pub(super) struct PairedItem {
    pub(super) base: Measured,
    pub(super) other: Measured,
    pub(super) cluster: usize,
    /// Where one side has more runs than the other.
    pub(super) unequal: Option<UnequalRuns>,
}

/// An item's figures in runs that are not as many on both sides.
#[derive(Clone, Debug)]
pub(super) struct UnequalRuns {
    /// All runs; absent where they are not known as such, as of several evaluators of which some lack a score.
    pub(super) runs: Option<Stratum>,
    /// The difference over as many runs as the side with fewer of them has.
    pub(super) as_often: f64,
}

/// An item's figure in one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    /// The mean over the runs.
    pub(super) mean: f64,
    /// Where the runs are known and each is 0 or 1: how many they are.
    pub(super) binary_runs: Option<usize>,
    /// The variance among the runs, and how many they are; absent for one, and where they are not known apart.
    pub(super) variance: Option<(f64, usize)>,
}

impl PairedItem {
    /// In the first cluster.
    pub(super) fn of((base, other): (Measured, Measured)) -> Self {
        Self { base, other, cluster: 0, unequal: None }
    }

    /// Of what was observed in each run; `None` without a run on one side.
    pub(super) fn of_runs(base: &[f64], other: &[f64]) -> Option<Self> {
        let runs = |most: usize| {
            let first = |observed: &[f64]| Measured::runs(&observed[..observed.len().min(most)]);
            first(base).zip(first(other))
        };
        let all = Self::of(runs(usize::MAX)?);
        if base.len() == other.len() {
            return Some(all);
        }
        let as_often = Self::of(runs(base.len().min(other.len()))?).difference();
        let runs = Some(Stratum { first: base.to_vec(), second: other.to_vec() });
        Some(Self { unequal: Some(UnequalRuns { runs, as_often }), ..all })
    }

    /// The mean score of the evaluators that scored the item in both runs.
    pub(super) fn of_scores(pair: &Pair<'_>, evaluators: &[&str]) -> Option<Self> {
        let scores = |name: &&str| {
            let (base, other) = (pair.base.scores.get(*name)?, pair.other.scores.get(*name)?);
            Self::of_runs(base, other)
        };
        let mut items: Vec<_> = evaluators.iter().filter_map(scores).collect();
        if items.len() == 1 {
            return items.pop();
        }
        let mean =
            |side: fn(&Self) -> Measured| Measured::mean_of(&items.iter().map(side).collect::<Vec<_>>());
        let all = Self::of(mean(|item| item.base).zip(mean(|item| item.other))?);
        let unequal = items.iter().any(|item| item.unequal.is_some()).then(|| UnequalRuns {
            runs: mean_runs(&items),
            as_often: sum(items.iter().map(Self::difference_as_often)) / items.len() as f64,
        });
        Some(Self { unequal, ..all })
    }

    pub(super) fn difference_as_often(&self) -> f64 {
        self.unequal.as_ref().map_or_else(|| self.difference(), |unequal| unequal.as_often)
    }

    pub(super) fn difference(&self) -> f64 {
        // Means of the same scores in another order may differ in their last digit.
        without_rounding(self.other.mean - self.base.mean, self.size())
    }

    fn size(&self) -> f64 {
        self.base.mean.abs().max(self.other.mean.abs())
    }
}

/// The mean over several evaluators in each run; `None` unless all of them have as many scores.
fn mean_runs(evaluators: &[PairedItem]) -> Option<Stratum> {
    let runs: Option<Vec<_>> = evaluators.iter().map(|one| one.unequal.as_ref()?.runs.as_ref()).collect();
    let runs = runs?;
    let mean = |side: fn(&Stratum) -> &Vec<f64>| -> Option<Vec<f64>> {
        let count = side(runs.first()?).len();
        let is_alike = runs.iter().all(|one| side(one).len() == count);
        let run = |index: usize| sum(runs.iter().map(|one| side(one)[index])) / runs.len() as f64;
        is_alike.then(|| (0..count).map(run).collect())
    };
    Some(Stratum { first: mean(|one| &one.first)?, second: mean(|one| &one.second)? })
}

/// A difference of each item added up.
pub(super) fn total(members: &[&PairedItem], difference: fn(&PairedItem) -> f64) -> f64 {
    let size = sum(members.iter().map(|item| item.size()));
    without_rounding(sum(members.iter().map(|item| difference(item))), size)
}

/// The difference of figures of this size; 0 where it is no more than rounding.
fn without_rounding(difference: f64, size: f64) -> f64 {
    if difference.abs() <= ROUNDING * size { 0.0 } else { difference }
}

/// For each run of the item whether it failed: 1 or 0.
pub(super) fn failures(item: &MeasuredItem, run: &Measurements) -> Vec<f64> {
    (0..run.runs.max(1)).map(|index| f64::from(u8::from(item.failed.contains(&index)))).collect()
}

impl Measured {
    pub(super) fn plain(mean: f64) -> Self {
        Self { mean, binary_runs: None, variance: None }
    }

    fn runs(scores: &[f64]) -> Option<Self> {
        let all = describe(scores)?;
        Some(Self {
            mean: all.mean,
            binary_runs: scores.iter().all(|score| *score == 0.0 || *score == 1.0).then_some(scores.len()),
            variance: all.stddev_sample.map(|deviation| (deviation * deviation, scores.len())),
        })
    }

    /// Several evaluators' figures as one; they hang together in a way that their variances do not tell. The mean of shares is
    /// taken for as uncertain as a share of as many runs.
    fn mean_of(evaluators: &[Self]) -> Option<Self> {
        if let [only] = evaluators {
            return Some(*only);
        }
        let mean = describe(&evaluators.iter().map(|one| one.mean).collect::<Vec<_>>())?.mean;
        let runs: Option<Vec<_>> = evaluators.iter().map(|one| one.binary_runs).collect();
        Some(Self { binary_runs: runs.and_then(|runs| runs.into_iter().min()), ..Self::plain(mean) })
    }

    pub(super) fn amount(quantity: Quantity, item: &MeasuredItem, run: &Measurements) -> Option<Self> {
        let for_a_run = |total: f64| Self::plain(total / run.runs.max(1) as f64);
        match quantity {
            Quantity::Latency => Some(Self::plain(item.latency_ms)),
            Quantity::Tokens => item.tokens.map(|tokens| for_a_run(tokens as f64)),
            Quantity::Cost => item.cost.map(for_a_run),
            Quantity::Errors | Quantity::Score => None,
        }
    }
}
