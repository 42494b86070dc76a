//! One figure of one item in two runs, and whether the runs may be exchanged.

use super::Quantity;
use super::matching::Pair;
use crate::report::stats::{Stratum, describe, sum};
use crate::report::{MeasuredItem, Measurements, TrialAmounts};

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

    /// Of an amount in each run, of which 0 and 1 are figures as any other.
    pub(super) fn of_amounts(base: &[f64], other: &[f64]) -> Option<Self> {
        let mut item = Self::of_runs(base, other)?;
        (item.base.binary_runs, item.other.binary_runs) = (None, None);
        Some(item)
    }

    /// The same with the base's figures multiplied, which are no longer shares.
    pub(super) fn with_base_times(&self, factor: f64) -> Self {
        let unequal = self.unequal.as_ref().and_then(|unequal| unequal.with_first_times(factor));
        let variance = self.base.variance.map(|(variance, runs)| (variance * factor * factor, runs));
        let base = Measured { mean: self.base.mean * factor, binary_runs: None, variance };
        Self { base, other: self.other, cluster: self.cluster, unequal }
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

impl UnequalRuns {
    /// The same with the figures of the first side multiplied; `None` where the runs are not known as such.
    fn with_first_times(&self, factor: f64) -> Option<Self> {
        let Stratum { first, second } = self.runs.as_ref()?;
        let first: Vec<_> = first.iter().map(|figure| figure * factor).collect();
        PairedItem::of_runs(&first, second)?.unequal
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
}

/// An amount of an item for a single run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Amounts {
    /// In each run that has it, or the mean over the runs.
    values: Vec<f64>,
    /// How many runs the values stand for, where they are one mean.
    mean_of: Option<usize>,
}

impl Amounts {
    /// `None` where the item has no such amount.
    pub(super) fn of(quantity: Quantity, item: &MeasuredItem, run: &Measurements) -> Option<Self> {
        let (total, of_trial): (f64, fn(&TrialAmounts) -> Option<f64>) = match quantity {
            Quantity::Latency => (item.latency_ms * run.runs.max(1) as f64, |trial| Some(trial.latency_ms)),
            Quantity::Tokens => (item.tokens? as f64, |trial| trial.tokens.map(|tokens| tokens as f64)),
            Quantity::Cost => (item.cost?, |trial| trial.cost),
            Quantity::Errors | Quantity::Score => return None,
        };
        let values: Vec<_> = item.trials.iter().filter_map(of_trial).collect();
        if !values.is_empty() {
            return Some(Self { values, mean_of: None });
        }
        let runs = run.runs.max(1);
        Some(Self { values: vec![total / runs as f64], mean_of: (runs > 1).then_some(runs) })
    }

    /// The amounts of an item in two runs.
    pub(super) fn paired(self, other: Self) -> Option<PairedItem> {
        if self.mean_of.is_none() && other.mean_of.is_none() {
            return PairedItem::of_amounts(&self.values, &other.values);
        }
        PairedItem::of_amounts(&[self.mean()], &[other.mean()])
    }

    /// The logarithms of the amounts; `None` where one of them is 0, and where a mean stands for more runs than are on the other
    /// side: the logarithm of a mean is larger than the mean of logarithms.
    pub(super) fn paired_logs(self, other: Self) -> Option<PairedItem> {
        let runs = |side: &Self| side.mean_of.unwrap_or(side.values.len());
        let is_apart = self.mean_of.is_none() && other.mean_of.is_none();
        if !is_apart && runs(&self) != runs(&other) {
            return None;
        }
        let logs = |Self { values, mean_of }: Self| -> Option<Self> {
            let logs = values.iter().map(|value| (*value > 0.0).then(|| value.ln()));
            Some(Self { values: logs.collect::<Option<_>>()?, mean_of })
        };
        let (base, other) = if is_apart { (self, other) } else { (self.into_mean(), other.into_mean()) };
        PairedItem::of_amounts(&logs(base)?.values, &logs(other)?.values)
    }

    fn into_mean(self) -> Self {
        Self { values: vec![self.mean()], ..self }
    }

    fn mean(&self) -> f64 {
        sum(self.values.iter().copied()) / self.values.len() as f64
    }
}
