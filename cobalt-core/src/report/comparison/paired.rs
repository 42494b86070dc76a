//! One metric of the items common to two runs: a pair of values for each item.

use super::Quantity;
use super::pairs::Pair;
use crate::report::stats::{
    Cluster, Interval, Stratum, TrialWeights, by_cluster, describe, ratio_of_means, sum,
};
use crate::report::{MeasuredItemRef, Measurements, TrialMeasurements};

/// The metric to compare.
#[derive(Clone, Debug)]
pub struct ComparedMetric<'a> {
    pub(super) quantity: Quantity,
    /// For scores: the evaluators whose mean is compared.
    pub(super) evaluators: Vec<&'a str>,
    /// For a metric that the agent recorded: its name.
    name: &'a str,
}

impl<'a> ComparedMetric<'a> {
    /// The mean score of these evaluators.
    pub fn score(evaluators: Vec<&'a str>) -> Self {
        Self { quantity: Quantity::Score, evaluators, name: "" }
    }

    pub fn amount(quantity: Quantity) -> Self {
        Self { quantity, evaluators: Vec::new(), name: "" }
    }

    /// A metric that the agent recorded.
    pub fn custom(name: &'a str) -> Self {
        Self { quantity: Quantity::Metric, evaluators: Vec::new(), name }
    }

    /// Whether any item of the run has the metric.
    pub fn is_in(&self, run: &Measurements) -> bool {
        match self.quantity {
            Quantity::Score => self.evaluators.iter().any(|name| run.items.has_scores(name)),
            Quantity::Metric => run.items.has_metric(self.name),
            quantity => run.items.iter().any(|item| TrialValues::of(quantity, item, run).is_some()),
        }
    }
}

/// A metric of the items that have it in both runs.
#[derive(Clone, Debug, Default)]
pub struct Paired {
    items: Vec<PairedItem>,
    /// The number of items without the metric in one of the runs.
    pub(super) unmeasured: usize,
}

/// What is exchangeable under the null hypothesis.
#[derive(Clone, Debug, Default)]
pub struct Exchangeable {
    /// The differences of clusters, each over equally many trials on both sides: their signs can be flipped.
    pub(super) differences: Vec<f64>,
    /// The trials of single items of which one side has more: they can be permuted.
    pub(super) strata: Vec<Stratum>,
}

/// The number of paired items, and the spread of their trials: what sample sizes depend on.
#[derive(Clone, Copy, Debug)]
pub struct PairedSize {
    pub(super) items: usize,
    /// Absent without items that have several trials on both sides.
    pub(super) trial_variance: Option<TrialVariance>,
}

/// The variance of the mean difference caused by the spread of trials within items.
#[derive(Clone, Copy, Debug)]
pub struct TrialVariance {
    /// With one trial per item in both runs.
    pub(super) of_one_run: f64,
    /// With the actual numbers of trials.
    pub(super) of_all_runs: f64,
}

impl Paired {
    pub fn of(
        figure: &ComparedMetric<'_>,
        pairs: &[Pair<'_>],
        base: &Measurements,
        other: &Measurements,
    ) -> Self {
        let mut paired = Self::default();
        for pair in pairs {
            let item = match figure.quantity {
                Quantity::Score => PairedItem::of_scores(pair, &figure.evaluators),
                Quantity::Errors => {
                    PairedItem::of_runs(&trial_failures(pair.base, base), &trial_failures(pair.other, other))
                }
                Quantity::Metric => PairedItem::of_metric(pair, figure.name),
                quantity => trial_values(quantity, pair, base, other).and_then(|(a, b)| a.paired(b)),
            };
            match item {
                Some(item) => paired.items.push(PairedItem { cluster: pair.cluster, ..item }),
                None => paired.unmeasured += 1,
            }
        }
        paired
    }

    /// The logarithms of latency, tokens or cost of the items that have it in both runs. `None` if one has no logarithm.
    pub fn logs(
        quantity: Quantity,
        pairs: &[Pair<'_>],
        base: &Measurements,
        other: &Measurements,
    ) -> Option<Self> {
        let measured = pairs.iter().filter_map(|pair| {
            let (a, b) = trial_values(quantity, pair, base, other)?;
            Some(a.paired_logs(b).map(|item| PairedItem { cluster: pair.cluster, ..item }))
        });
        Some(Self { items: measured.collect::<Option<_>>()?, unmeasured: 0 })
    }

    /// The items that have trials on both sides, from each item's cluster and the scores of its trials.
    pub fn of_trials(items: impl Iterator<Item = (usize, Vec<f64>, Vec<f64>)>) -> Self {
        let pair = |(cluster, base, other): (usize, Vec<f64>, Vec<f64>)| {
            Some(PairedItem { cluster, ..PairedItem::of_runs(&base, &other)? })
        };
        Self { items: items.filter_map(pair).collect(), unmeasured: 0 }
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Swaps the runs.
    pub fn reversed(mut self) -> Self {
        for item in &mut self.items {
            (item.base, item.other) = (item.other, item.base);
            if let Some(unequal) = item.unequal.as_deref_mut() {
                unequal.equal_trials_difference = -unequal.equal_trials_difference;
                if let Some(runs) = &mut unequal.runs {
                    std::mem::swap(&mut runs.first, &mut runs.second);
                }
            }
        }
        self
    }

    /// Multiplies the base values.
    pub fn scale_base(mut self, factor: f64) -> Self {
        for item in &mut self.items {
            *item = item.scale_base(factor);
        }
        self
    }

    /// The means of both sides.
    pub fn means(&self) -> Option<(f64, f64)> {
        let mean = |side: fn(&PairedItem) -> f64| {
            describe(&self.items.iter().map(side).collect::<Vec<_>>()).map(|d| d.mean)
        };
        mean(|item| item.base.mean).zip(mean(|item| item.other.mean))
    }

    /// Each item's difference; exactly 0 if it is only rounding.
    pub fn differences(&self) -> impl Iterator<Item = f64> {
        self.items.iter().map(PairedItem::difference)
    }

    /// Whether every item has the same value in both runs.
    pub fn is_unchanged(&self) -> bool {
        self.differences().all(|difference| difference == 0.0)
    }

    /// Whether some item has more trials on one side.
    pub fn is_unequal(&self) -> bool {
        self.items.iter().any(|item| item.unequal.is_some())
    }

    /// The sum and number of differences per cluster.
    pub fn clusters(&self) -> Vec<Cluster> {
        self.clusters_by(PairedItem::difference)
    }

    /// The same over equally many trials on both sides, if only these are tested: see [`exchangeable`](Self::exchangeable).
    pub fn clusters_of_equal_trials(&self) -> Option<Vec<Cluster>> {
        let is_by_pairs = self.is_unequal() && self.exchangeable().strata.is_empty();
        is_by_pairs.then(|| self.clusters_by(PairedItem::difference_of_equal_trials))
    }

    fn clusters_by(&self, difference: fn(&PairedItem) -> f64) -> Vec<Cluster> {
        let cluster = |members: &[&PairedItem]| Cluster {
            total: sum_differences(members, difference),
            count: members.len(),
        };
        by_members(&self.in_cluster_order()).map(cluster).collect()
    }

    /// The 95% CI of the ratio of the means, other over base (Fieller, "Some problems in interval estimation", Journal of the Royal
    /// Statistical Society B 16, 1954). `None` for one cluster, and if the base mean may be 0.
    pub fn ratio_interval(&self) -> Option<Interval> {
        let items = self.in_cluster_order();
        let values = |side: fn(&PairedItem) -> f64| {
            let cluster = |members: &[&PairedItem]| Cluster {
                total: sum(members.iter().map(|item| side(item))),
                count: members.len(),
            };
            by_cluster(&by_members(&items).map(cluster).collect::<Vec<_>>())
        };
        ratio_of_means(&values(|item| item.base.mean), &values(|item| item.other.mean), 0.95)
    }

    /// The data for sign flips and permutations. A mean of five trials and a single trial have different spreads even under the null
    /// hypothesis, so the sign of their difference must not be flipped; but the trials can be permuted. The items of a cluster may
    /// vary together in a run: there, only equally many trials count on both sides.
    pub fn exchangeable(&self) -> Exchangeable {
        let mut exchangeable = Exchangeable::default();
        for members in by_members(&self.in_cluster_order()) {
            let trials = match members {
                [item] => item.unequal.as_ref().and_then(|unequal| unequal.runs.as_ref()),
                _ => None,
            };
            match trials {
                Some(runs) => exchangeable.strata.push(runs.clone()),
                None => exchangeable
                    .differences
                    .push(sum_differences(members, PairedItem::difference_of_equal_trials)),
            }
        }
        exchangeable
    }

    /// The items sorted by cluster, each cluster in its own order.
    fn in_cluster_order(&self) -> Vec<&PairedItem> {
        let mut items: Vec<_> = self.items.iter().collect();
        items.sort_by_key(|item| item.cluster);
        items
    }

    /// If each item is its own cluster with a single observation of 0 or 1 in both runs: the numbers of items that are 1 only in the
    /// base run, and only in the other run.
    pub fn discordant(&self) -> Option<(u64, u64)> {
        // The mean of several evaluators may be between 0 and 1.
        let is_one =
            |side: SideStats| side.binary_trials() == Some(1) && (side.mean == 0.0 || side.mean == 1.0);
        let is_single = |item: &PairedItem| is_one(item.base) && is_one(item.other);
        if !self.items.iter().all(is_single) || self.clusters().len() < self.len() {
            return None;
        }
        let count = |sign: f64| self.differences().filter(|difference| *difference == sign).count() as u64;
        Some((count(-1.0), count(1.0)))
    }

    /// If every observation is 0 or 1: the weight of one trial in the base run and in the other run.
    pub fn trial_weights(&self) -> Option<TrialWeights> {
        let weights = |side: fn(&PairedItem) -> SideStats| -> Option<f64> {
            let weight = |item: &PairedItem| Some(1.0 / side(item).binary_trials()? as f64);
            let weights: Option<Vec<_>> = self.items.iter().map(weight).collect();
            describe(&weights?).map(|weights| weights.mean)
        };
        Some(TrialWeights { first: weights(|item| item.base)?, second: weights(|item| item.other)? })
    }

    pub fn size(&self) -> PairedSize {
        PairedSize { items: self.len(), trial_variance: self.trial_variance() }
    }

    /// The spread of trials within items, over the items with several trials on both sides.
    fn trial_variance(&self) -> Option<TrialVariance> {
        let several = self.items.iter().filter_map(|item| item.base.variance().zip(item.other.variance()));
        let (one, all): (Vec<_>, Vec<_>) =
            several.map(|((a, n), (b, m))| (a + b, a / n as f64 + b / m as f64)).unzip();
        let of_mean = |variances: &[f64]| Some(describe(variances)?.mean / self.len() as f64);
        Some(TrialVariance { of_one_run: of_mean(&one)?, of_all_runs: of_mean(&all)? })
    }
}

/// The items of each cluster, from those in the order of clusters.
fn by_members<'i, 'a>(items: &'i [&'a PairedItem]) -> impl Iterator<Item = &'i [&'a PairedItem]> {
    items.chunk_by(|one, next| one.cluster == next.cluster)
}

fn trial_values(
    quantity: Quantity,
    pair: &Pair<'_>,
    base: &Measurements,
    other: &Measurements,
) -> Option<(TrialValues, TrialValues)> {
    TrialValues::of(quantity, pair.base, base).zip(TrialValues::of(quantity, pair.other, other))
}

/// Differences below this share of the values are rounding.
const ROUNDING: f64 = 1e-12;

/// A metric of an item that has it in both runs.
#[derive(Clone, Debug)]
pub struct PairedItem {
    pub(super) base: SideStats,
    pub(super) other: SideStats,
    pub(super) cluster: usize,
    /// Present if one side has more trials.
    pub(super) unequal: Option<Box<UnequalTrials>>,
}

/// An item's values if the numbers of trials differ.
#[derive(Clone, Debug)]
pub struct UnequalTrials {
    /// All trials; absent if they are unknown, for example for several evaluators of which some lack a score.
    pub(super) runs: Option<Stratum>,
    /// The difference over the smaller number of trials.
    pub(super) equal_trials_difference: f64,
}

/// An item's value in one run. There may be a million of them.
#[derive(Clone, Copy, Debug)]
pub struct SideStats {
    /// The mean over the trials.
    pub(super) mean: f64,
    /// The variance of the trials; NaN for one trial, and if they are not known individually.
    variance: f64,
    /// The number of trials; 0 if they are not known.
    trials: u32,
    /// Whether each trial is 0 or 1.
    is_binary: bool,
}

impl PairedItem {
    /// An item in the first cluster.
    pub fn of((base, other): (SideStats, SideStats)) -> Self {
        Self { base, other, cluster: 0, unequal: None }
    }

    /// From the observations of each trial; `None` without a trial on one side.
    pub fn of_runs(base: &[f64], other: &[f64]) -> Option<Self> {
        let runs = |most: usize| {
            let first = |observed: &[f64]| SideStats::runs(&observed[..observed.len().min(most)]);
            first(base).zip(first(other))
        };
        let all = Self::of(runs(usize::MAX)?);
        if base.len() == other.len() {
            return Some(all);
        }
        let as_often = Self::of(runs(base.len().min(other.len()))?).difference();
        let runs = Some(Stratum { first: base.to_vec(), second: other.to_vec() });
        let unequal = UnequalTrials { runs, equal_trials_difference: as_often };
        Some(Self { unequal: Some(Box::new(unequal)), ..all })
    }

    /// From values per trial such as latency, tokens or cost, where 0 and 1 are ordinary values.
    pub fn of_amounts(base: &[f64], other: &[f64]) -> Option<Self> {
        let mut item = Self::of_runs(base, other)?;
        (item.base.is_binary, item.other.is_binary) = (false, false);
        Some(item)
    }

    /// From the values of a metric that the agent recorded, by trial.
    fn of_metric(pair: &Pair<'_>, name: &str) -> Option<Self> {
        Self::of_amounts(pair.base.metric(name)?, pair.other.metric(name)?)
    }

    /// Multiplies the base values, which are no longer shares then.
    pub fn scale_base(&self, factor: f64) -> Self {
        let unequal = self.unequal.as_ref().and_then(|unequal| unequal.scale_first(factor));
        let SideStats { mean, variance, .. } = self.base;
        let (mean, variance) = (mean * factor, variance * factor * factor);
        let base = SideStats { mean, variance, is_binary: false, ..self.base };
        Self { base, other: self.other, cluster: self.cluster, unequal }
    }

    /// The mean score of the evaluators that scored the item in both runs.
    pub fn of_scores(pair: &Pair<'_>, evaluators: &[&str]) -> Option<Self> {
        let scores = |name: &&str| {
            let (base, other) = (pair.base.scores(name)?, pair.other.scores(name)?);
            Self::of_runs(base, other)
        };
        let mut items: Vec<_> = evaluators.iter().filter_map(scores).collect();
        if items.len() == 1 {
            return items.pop();
        }
        let mean =
            |side: fn(&Self) -> SideStats| SideStats::mean_of(&items.iter().map(side).collect::<Vec<_>>());
        let all = Self::of(mean(|item| item.base).zip(mean(|item| item.other))?);
        let is_unequal = items.iter().any(|item| item.unequal.is_some());
        let unequal = is_unequal.then(|| {
            let difference = sum(items.iter().map(Self::difference_of_equal_trials)) / items.len() as f64;
            Box::new(UnequalTrials { runs: mean_trials(&items), equal_trials_difference: difference })
        });
        Some(Self { unequal, ..all })
    }

    pub fn difference_of_equal_trials(&self) -> f64 {
        self.unequal.as_ref().map_or_else(|| self.difference(), |unequal| unequal.equal_trials_difference)
    }

    pub fn difference(&self) -> f64 {
        // Means of the same scores in a different order may differ in the last digit.
        snap_to_zero(self.other.mean - self.base.mean, self.size())
    }

    fn size(&self) -> f64 {
        self.base.mean.abs().max(self.other.mean.abs())
    }
}

impl UnequalTrials {
    /// Multiplies the values of the first side; `None` if the trials are not known.
    fn scale_first(&self, factor: f64) -> Option<Box<Self>> {
        let Stratum { first, second } = self.runs.as_ref()?;
        let first: Vec<_> = first.iter().map(|figure| figure * factor).collect();
        PairedItem::of_runs(&first, second)?.unequal
    }
}

/// The mean over several evaluators in each trial; `None` unless all have equally many scores.
fn mean_trials(evaluators: &[PairedItem]) -> Option<Stratum> {
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

/// The sum of the items' differences.
pub fn sum_differences(members: &[&PairedItem], difference: fn(&PairedItem) -> f64) -> f64 {
    let size = sum(members.iter().map(|item| item.size()));
    snap_to_zero(sum(members.iter().map(|item| difference(item))), size)
}

/// The difference of values of this size; 0 if it is only rounding.
fn snap_to_zero(difference: f64, size: f64) -> f64 {
    if difference.abs() <= ROUNDING * size { 0.0 } else { difference }
}

/// Whether each trial of the item failed: 1 or 0.
pub fn trial_failures(item: MeasuredItemRef<'_>, run: &Measurements) -> Vec<f64> {
    (0..run.runs.max(1)).map(|index| f64::from(u8::from(item.failed().contains(&index)))).collect()
}

impl SideStats {
    pub fn plain(mean: f64) -> Self {
        Self { mean, variance: f64::NAN, trials: 0, is_binary: false }
    }

    fn runs(scores: &[f64]) -> Option<Self> {
        let all = describe(scores)?;
        Some(Self {
            mean: all.mean,
            variance: all.stddev_sample.map_or(f64::NAN, |deviation| deviation * deviation),
            trials: u32::try_from(scores.len()).unwrap_or(u32::MAX),
            is_binary: scores.iter().all(|score| *score == 0.0 || *score == 1.0),
        })
    }

    /// The mean of several evaluators. They are correlated to an unknown degree, so the mean of shares counts as uncertain as a
    /// share of equally many trials.
    fn mean_of(evaluators: &[Self]) -> Option<Self> {
        if let [only] = evaluators {
            return Some(*only);
        }
        let mean = describe(&evaluators.iter().map(|one| one.mean).collect::<Vec<_>>())?.mean;
        let trials = evaluators.iter().map(|one| one.trials).min().unwrap_or_default();
        let is_binary = evaluators.iter().all(|one| one.is_binary);
        Some(Self { trials, is_binary, ..Self::plain(mean) })
    }

    /// The number of trials, if they are known and each is 0 or 1.
    fn binary_trials(self) -> Option<usize> {
        (self.is_binary && self.trials > 0).then_some(self.trials as usize)
    }

    /// The variance and number of the trials; absent for one trial, and if they are not known individually.
    fn variance(self) -> Option<(f64, usize)> {
        (!self.variance.is_nan()).then_some((self.variance, self.trials as usize))
    }
}

/// An item's latency, tokens or cost per trial.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialValues {
    /// The value of each trial that has one, or the mean over the trials.
    values: Vec<f64>,
    /// The number of trials, if the value is their mean.
    mean_of: Option<usize>,
}

impl TrialValues {
    /// `None` if the item has no such value.
    pub fn of(quantity: Quantity, item: MeasuredItemRef<'_>, run: &Measurements) -> Option<Self> {
        let (total, of_trial): (f64, fn(&TrialMeasurements) -> Option<f64>) = match quantity {
            Quantity::Latency => (item.latency_ms() * run.runs.max(1) as f64, |trial| Some(trial.latency_ms)),
            Quantity::Tokens => (item.tokens()? as f64, |trial| trial.tokens.map(|tokens| tokens as f64)),
            Quantity::Cost => (item.cost()?, |trial| trial.cost),
            Quantity::Errors | Quantity::Score | Quantity::Metric => return None,
        };
        let values: Vec<_> = item.trials().filter_map(|trial| of_trial(&trial)).collect();
        if !values.is_empty() {
            return Some(Self { values, mean_of: None });
        }
        let runs = run.runs.max(1);
        Some(Self { values: vec![total / runs as f64], mean_of: (runs > 1).then_some(runs) })
    }

    /// The values of an item in two runs.
    pub fn paired(self, other: Self) -> Option<PairedItem> {
        if self.mean_of.is_none() && other.mean_of.is_none() {
            return PairedItem::of_amounts(&self.values, &other.values);
        }
        PairedItem::of_amounts(&[self.mean()], &[other.mean()])
    }

    /// The logarithms of the values; `None` if one is 0, or if a mean is over another number of trials than the other side: the
    /// logarithm of a mean is larger than the mean of logarithms.
    pub fn paired_logs(self, other: Self) -> Option<PairedItem> {
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
