//! One figure of the items that two runs have in common: a pair of numbers for each item.

use super::Quantity;
use super::matching::Pair;
use crate::report::stats::{describe, sum};
use crate::report::{MeasuredItem, Measurements};

/// Differences below this share of their figures are rounding.
const ROUNDING: f64 = 1e-12;

/// What is compared.
#[derive(Clone, Debug)]
pub(super) struct Figure<'a> {
    pub(super) quantity: Quantity,
    /// Of scores: the evaluators whose mean is compared.
    pub(super) evaluators: Vec<&'a str>,
}

impl<'a> Figure<'a> {
    /// The mean score of these evaluators.
    pub(super) fn score(evaluators: Vec<&'a str>) -> Self {
        Self { quantity: Quantity::Score, evaluators }
    }

    pub(super) fn amount(quantity: Quantity) -> Self {
        Self { quantity, evaluators: Vec::new() }
    }

    /// Whether any item of the run has it.
    pub(super) fn is_in(&self, run: &Measurements) -> bool {
        run.items.iter().any(|item| match self.quantity {
            Quantity::Score => self.evaluators.iter().any(|name| item.scores.contains_key(*name)),
            quantity => Measured::amount(quantity, item, run).is_some(),
        })
    }
}

/// A figure of the items that have it in both runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Paired {
    items: Vec<PairedItem>,
    /// How many items lack the figure in one of the runs.
    pub(super) unmeasured: usize,
}

#[derive(Clone, Copy, Debug)]
struct PairedItem {
    base: Measured,
    other: Measured,
    /// Both over as many runs as the side with fewer of them has.
    as_often: (Measured, Measured),
    cluster: usize,
}

/// An item's figure in one run.
#[derive(Clone, Copy, Debug)]
struct Measured {
    /// The mean over the runs.
    mean: f64,
    /// Whether it is a single observation of 0 or 1.
    is_binary: bool,
    /// The variance among the runs, and how many they are; absent for one, and where they are not known apart.
    variance: Option<(f64, usize)>,
}

/// How much the runs of the same item differ, and what that adds to the variance of the mean difference.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunSpread {
    /// With one run of each item in both runs.
    pub(super) of_one_run: f64,
    /// With as many runs as there are.
    pub(super) of_all_runs: f64,
}

impl Paired {
    pub(super) fn of(
        figure: &Figure<'_>,
        pairs: &[Pair<'_>],
        base: &Measurements,
        other: &Measurements,
    ) -> Self {
        let mut paired = Self::default();
        for pair in pairs {
            let item = match figure.quantity {
                Quantity::Score => PairedItem::of_scores(pair, &figure.evaluators),
                Quantity::Errors => {
                    PairedItem::of_runs(&failures(pair.base, base), &failures(pair.other, other))
                }
                quantity => {
                    let amount = |item, run| Measured::amount(quantity, item, run);
                    amount(pair.base, base).zip(amount(pair.other, other)).map(PairedItem::of)
                }
            };
            match item {
                Some(item) => paired.items.push(PairedItem { cluster: pair.cluster, ..item }),
                None => paired.unmeasured += 1,
            }
        }
        paired
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// The same with the runs' roles exchanged.
    pub(super) fn reversed(mut self) -> Self {
        for item in &mut self.items {
            (item.base, item.other) = (item.other, item.base);
            item.as_often = (item.as_often.1, item.as_often.0);
        }
        self
    }

    /// The same over as many runs of each item on both sides. Had nothing changed, a mean of three runs and a single one
    /// would still not be spread alike, and the sign of their difference would not be as likely as the other.
    pub(super) fn as_often(&self) -> Self {
        let item = |item: &PairedItem| PairedItem { cluster: item.cluster, ..PairedItem::of(item.as_often) };
        Self { items: self.items.iter().map(item).collect(), unmeasured: self.unmeasured }
    }

    /// The same with the base's figures multiplied, which are no longer those of runs.
    pub(super) fn with_base_times(mut self, factor: f64) -> Self {
        for item in &mut self.items {
            let base = Measured::plain(item.base.mean * factor);
            *item = PairedItem { cluster: item.cluster, ..PairedItem::of((base, item.other)) };
        }
        self
    }

    /// The means of both sides.
    pub(super) fn means(&self) -> Option<(f64, f64)> {
        let mean = |side: fn(&PairedItem) -> f64| {
            describe(&self.items.iter().map(side).collect::<Vec<_>>()).map(|d| d.mean)
        };
        mean(|item| item.base.mean).zip(mean(|item| item.other.mean))
    }

    /// Each item's difference; exactly 0 where it is no more than rounding.
    pub(super) fn differences(&self) -> impl Iterator<Item = f64> {
        self.items.iter().map(PairedItem::difference)
    }

    /// Whether every item has the same figure in both runs.
    pub(super) fn is_unchanged(&self) -> bool {
        self.differences().all(|difference| difference == 0.0)
    }

    /// The differences of each cluster added up, and how many there are.
    pub(super) fn clusters(&self) -> Vec<(f64, usize)> {
        let clusters = self.items.iter().map(|item| item.cluster + 1).max().unwrap_or(0);
        let mut members = vec![Vec::new(); clusters];
        for item in &self.items {
            members[item.cluster].push(item);
        }
        let total = |members: &Vec<&PairedItem>| {
            let size = sum(members.iter().map(|item| item.size()));
            without_rounding(sum(members.iter().map(|item| item.difference())), size)
        };
        let measured = members.iter().filter(|members| !members.is_empty());
        measured.map(|members| (total(members), members.len())).collect()
    }

    /// Where each item is by itself and has a single observation of 0 or 1 in both runs: how many are 1 in the base
    /// only, and how many in the other run only.
    pub(super) fn discordant(&self) -> Option<(u64, u64)> {
        let is_binary = self.items.iter().all(|item| item.base.is_binary && item.other.is_binary);
        if !is_binary || self.clusters().len() < self.len() {
            return None;
        }
        let count = |sign: f64| self.differences().filter(|difference| *difference == sign).count() as u64;
        Some((count(-1.0), count(1.0)))
    }

    /// How much the runs of an item differ, over the items with several runs on both sides.
    pub(super) fn run_spread(&self) -> Option<RunSpread> {
        let several = self.items.iter().filter_map(|item| item.base.variance.zip(item.other.variance));
        let (one, all): (Vec<_>, Vec<_>) =
            several.map(|((a, n), (b, m))| (a + b, a / n as f64 + b / m as f64)).unzip();
        let of_mean = |variances: &[f64]| Some(describe(variances)?.mean / self.len() as f64);
        Some(RunSpread { of_one_run: of_mean(&one)?, of_all_runs: of_mean(&all)? })
    }
}

impl PairedItem {
    /// In the first cluster.
    fn of((base, other): (Measured, Measured)) -> Self {
        Self { base, other, as_often: (base, other), cluster: 0 }
    }

    /// Of what was observed in each run; `None` without a run on one side.
    fn of_runs(base: &[f64], other: &[f64]) -> Option<Self> {
        let runs = |most: usize| {
            let first = |observed: &[f64]| Measured::runs(&observed[..observed.len().min(most)]);
            first(base).zip(first(other))
        };
        let all = Self::of(runs(usize::MAX)?);
        if base.len() == other.len() {
            return Some(all);
        }
        Some(Self { as_often: runs(base.len().min(other.len()))?, ..all })
    }

    /// The mean score of the evaluators that scored the item in both runs.
    fn of_scores(pair: &Pair<'_>, evaluators: &[&str]) -> Option<Self> {
        let scores = |name: &&str| {
            let (base, other) = (pair.base.scores.get(*name)?, pair.other.scores.get(*name)?);
            Self::of_runs(base, other)
        };
        let items: Vec<_> = evaluators.iter().filter_map(scores).collect();
        let mean =
            |side: fn(&Self) -> Measured| Measured::mean_of(&items.iter().map(side).collect::<Vec<_>>());
        let all = Self::of(mean(|item| item.base).zip(mean(|item| item.other))?);
        let as_often = mean(|item| item.as_often.0).zip(mean(|item| item.as_often.1))?;
        Some(Self { as_often, ..all })
    }

    fn difference(&self) -> f64 {
        // Means of the same scores in another order may differ in their last digit.
        without_rounding(self.other.mean - self.base.mean, self.size())
    }

    fn size(&self) -> f64 {
        self.base.mean.abs().max(self.other.mean.abs())
    }
}

/// The difference of figures of this size; 0 where it is no more than rounding.
fn without_rounding(difference: f64, size: f64) -> f64 {
    if difference.abs() <= ROUNDING * size { 0.0 } else { difference }
}

/// For each run of the item whether it failed: 1 or 0.
fn failures(item: &MeasuredItem, run: &Measurements) -> Vec<f64> {
    (0..run.runs.max(1)).map(|index| f64::from(u8::from(item.failed.contains(&index)))).collect()
}

impl Measured {
    fn plain(mean: f64) -> Self {
        Self { mean, is_binary: false, variance: None }
    }

    fn runs(scores: &[f64]) -> Option<Self> {
        let all = describe(scores)?;
        Some(Self {
            mean: all.mean,
            is_binary: matches!(*scores, [score] if score == 0.0 || score == 1.0),
            variance: all.stddev_sample.map(|deviation| (deviation * deviation, scores.len())),
        })
    }

    /// Several evaluators' figures as one; they hang together in a way that their variances do not tell.
    fn mean_of(evaluators: &[Self]) -> Option<Self> {
        match evaluators {
            [only] => Some(*only),
            _ => describe(&evaluators.iter().map(|one| one.mean).collect::<Vec<_>>())
                .map(|d| Self::plain(d.mean)),
        }
    }

    fn amount(quantity: Quantity, item: &MeasuredItem, run: &Measurements) -> Option<Self> {
        let for_a_run = |total: f64| Self::plain(total / run.runs.max(1) as f64);
        match quantity {
            Quantity::Latency => Some(Self::plain(item.latency_ms)),
            Quantity::Tokens => item.tokens.map(|tokens| for_a_run(tokens as f64)),
            Quantity::Cost => item.cost.map(for_a_run),
            Quantity::Errors | Quantity::Score => None,
        }
    }
}
