//! One figure of the items that two runs have in common: a pair of numbers for each item.

use super::Quantity;
use super::matching::Pair;
use super::paired_item::{Amounts, Measured, PairedItem, UnequalRuns, failures, total};
use crate::report::Measurements;
use crate::report::stats::{
    Cluster, Interval, RunWeights, Stratum, by_cluster, describe, ratio_of_means, sum,
};

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
            quantity => Amounts::of(quantity, item, run).is_some(),
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

/// What would be as likely the other way round, had nothing changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Exchangeable {
    /// The differences of clusters, each over as many runs on both sides: as likely with the other sign.
    pub(super) differences: Vec<f64>,
    /// The runs of single items of which one side has more: as likely on either side.
    pub(super) strata: Vec<Stratum>,
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
                quantity => amounts(quantity, pair, base, other).and_then(|(a, b)| a.paired(b)),
            };
            match item {
                Some(item) => paired.items.push(PairedItem { cluster: pair.cluster, ..item }),
                None => paired.unmeasured += 1,
            }
        }
        paired
    }

    /// The logarithms of an amount of the items that have it in both runs. `None` where one of them has no logarithm.
    pub(super) fn logs(
        quantity: Quantity,
        pairs: &[Pair<'_>],
        base: &Measurements,
        other: &Measurements,
    ) -> Option<Self> {
        let measured = pairs.iter().filter_map(|pair| {
            let (a, b) = amounts(quantity, pair, base, other)?;
            Some(a.paired_logs(b).map(|item| PairedItem { cluster: pair.cluster, ..item }))
        });
        Some(Self { items: measured.collect::<Option<_>>()?, unmeasured: 0 })
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// The same with the runs' roles exchanged.
    pub(super) fn reversed(mut self) -> Self {
        for item in &mut self.items {
            (item.base, item.other) = (item.other, item.base);
            if let Some(unequal) = &mut item.unequal {
                unequal.as_often = -unequal.as_often;
                if let Some(runs) = &mut unequal.runs {
                    std::mem::swap(&mut runs.first, &mut runs.second);
                }
            }
        }
        self
    }

    /// The same with the base's figures multiplied.
    pub(super) fn with_base_times(mut self, factor: f64) -> Self {
        for item in &mut self.items {
            *item = item.with_base_times(factor);
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

    /// Whether some item was run more often on one side than on the other.
    pub(super) fn is_unequal(&self) -> bool {
        self.items.iter().any(|item| item.unequal.is_some())
    }

    /// The differences of each cluster added up, and how many there are.
    pub(super) fn clusters(&self) -> Vec<Cluster> {
        self.clusters_by(PairedItem::difference)
    }

    /// The same over as many runs on both sides, where only these are tested: see [`exchangeable`](Self::exchangeable).
    pub(super) fn clusters_as_often(&self) -> Option<Vec<Cluster>> {
        let is_by_pairs = self.is_unequal() && self.exchangeable().strata.is_empty();
        is_by_pairs.then(|| self.clusters_by(PairedItem::difference_as_often))
    }

    fn clusters_by(&self, difference: fn(&PairedItem) -> f64) -> Vec<Cluster> {
        let total = |members: &Vec<&PairedItem>| total(members, difference);
        let cluster = |members| Cluster { total: total(members), count: members.len() };
        self.members().iter().map(cluster).collect()
    }

    /// The 95 % interval of the ratio of the means, other over base (Fieller, "Some problems in interval estimation", Journal
    /// of the Royal Statistical Society B 16, 1954). `None` for one cluster, and where the base's mean may be 0.
    pub(super) fn ratio_interval(&self) -> Option<Interval> {
        let values = |side: fn(&PairedItem) -> f64| {
            let cluster = |members: &Vec<&PairedItem>| Cluster {
                total: sum(members.iter().map(|item| side(item))),
                count: members.len(),
            };
            by_cluster(&self.members().iter().map(cluster).collect::<Vec<_>>())
        };
        ratio_of_means(&values(|item| item.base.mean), &values(|item| item.other.mean), 0.95)
    }

    /// What flips of signs and changes of sides may be tried on. Had nothing changed, a mean of five runs and a single one
    /// would still not be spread alike, so that the sign of their difference tells nothing; but each run would be as
    /// likely on either side. The items of one cluster may vary together in a run: there, only as many runs count on
    /// both sides.
    pub(super) fn exchangeable(&self) -> Exchangeable {
        let mut exchangeable = Exchangeable::default();
        for members in self.members() {
            match members[..] {
                [PairedItem { unequal: Some(UnequalRuns { runs: Some(runs), .. }), .. }] => {
                    exchangeable.strata.push(runs.clone());
                }
                _ => exchangeable.differences.push(total(&members, PairedItem::difference_as_often)),
            }
        }
        exchangeable
    }

    /// The items of each cluster.
    fn members(&self) -> Vec<Vec<&PairedItem>> {
        let clusters = self.items.iter().map(|item| item.cluster + 1).max().unwrap_or(0);
        let mut members = vec![Vec::new(); clusters];
        for item in &self.items {
            members[item.cluster].push(item);
        }
        members.retain(|members| !members.is_empty());
        members
    }

    /// Where each item is by itself and has a single observation of 0 or 1 in both runs: how many are 1 in the base
    /// only, and how many in the other run only.
    pub(super) fn discordant(&self) -> Option<(u64, u64)> {
        // The mean of several evaluators may lie between.
        let is_one = |side: Measured| side.binary_runs == Some(1) && (side.mean == 0.0 || side.mean == 1.0);
        let is_single = |item: &PairedItem| is_one(item.base) && is_one(item.other);
        if !self.items.iter().all(is_single) || self.clusters().len() < self.len() {
            return None;
        }
        let count = |sign: f64| self.differences().filter(|difference| *difference == sign).count() as u64;
        Some((count(-1.0), count(1.0)))
    }

    /// Where every observation is 0 or 1: how much one of an item's runs weighs in the base and in the other run.
    pub(super) fn weights_of_a_run(&self) -> Option<RunWeights> {
        let weights = |side: fn(&PairedItem) -> Measured| -> Option<f64> {
            let weight = |item: &PairedItem| Some(1.0 / side(item).binary_runs? as f64);
            let weights: Option<Vec<_>> = self.items.iter().map(weight).collect();
            describe(&weights?).map(|weights| weights.mean)
        };
        Some(RunWeights { first: weights(|item| item.base)?, second: weights(|item| item.other)? })
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

fn amounts(
    quantity: Quantity,
    pair: &Pair<'_>,
    base: &Measurements,
    other: &Measurements,
) -> Option<(Amounts, Amounts)> {
    Amounts::of(quantity, pair.base, base).zip(Amounts::of(quantity, pair.other, other))
}
