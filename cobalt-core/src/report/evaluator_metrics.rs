//! The scores of an evaluator in a run, and their statistics.

use super::item::ItemResult;
use super::item_scores::ItemScores;
use super::stats::{Cluster, Interval, by_cluster, describe, pass_at_k, pass_hat_k, sum, wilson_clustered};
use super::summary::ScoreStats;
use crate::wording::count;

/// The scores of another run of the same items, whose trials count as further ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FurtherTrials {
    /// The number of trials of each item.
    pub trials: usize,
    /// In the order of the run's evaluators, by the position of the item in the run.
    pub scores: Vec<ItemScores>,
}

/// One evaluator's scores.
#[derive(Debug)]
pub struct EvaluatorMetrics<'a> {
    pub name: &'a str,
    pub pass_mark: f64,
    /// Every score of every execution.
    pub scores: Vec<f64>,
    /// Executions in which the evaluator failed.
    pub errors: usize,
    /// Executions to which the evaluator does not apply.
    pub not_applicable: usize,
    /// Items to which it does not apply in some trial.
    pub not_applicable_items: usize,
    /// Each item, also those without a score.
    items: Vec<ScoredItem>,
}

/// An evaluator's scores of one item.
#[derive(Clone, Copy, Debug, Default)]
struct ScoredItem {
    /// The sum of the scores.
    total: f64,
    count: u32,
    /// The number of scores at or above the pass mark.
    passes: u32,
    /// The number of the item's cluster.
    cluster: u32,
}

impl<'a> EvaluatorMetrics<'a> {
    pub fn new(name: &'a str, pass_mark: f64) -> Self {
        Self {
            name,
            pass_mark,
            scores: Vec::new(),
            errors: 0,
            not_applicable: 0,
            not_applicable_items: 0,
            items: Vec::new(),
        }
    }

    pub fn add(&mut self, item: &ItemResult, cluster: usize) {
        let (mut total, mut count, mut passes, mut not_applicable) = (0.0, 0, 0, 0);
        for evaluation in item.runs.iter().filter_map(|run| run.evaluations.get(self.name)) {
            match evaluation.score {
                Some(score) => {
                    self.scores.push(score);
                    total += score;
                    count += 1;
                    passes += u32::from(score >= self.pass_mark);
                }
                None if evaluation.not_applicable => not_applicable += 1,
                None => self.errors += 1,
            }
        }
        self.not_applicable += not_applicable;
        self.not_applicable_items += usize::from(not_applicable > 0);
        let cluster = u32::try_from(cluster).expect("a run has fewer than 2^32 items");
        self.items.push(ScoredItem { total, count, passes, cluster });
    }

    /// These metrics with the scores that further trials of the same items have of the evaluator at this place; `positions` are those of
    /// the items in the run. An evaluator without a score in this run stays so. Failures stay those of this run.
    pub fn with_further_trials(
        self,
        place: usize,
        positions: impl Iterator<Item = usize>,
        further: &[FurtherTrials],
    ) -> Self {
        if self.scores.is_empty() {
            return self;
        }
        let (mut own, mut scores, mut items) = (self.scores.iter(), Vec::new(), Vec::new());
        for (item, position) in self.items.iter().zip(positions) {
            let start = scores.len();
            scores.extend(own.by_ref().take(item.count as usize).copied());
            for trials in further {
                scores.extend(trials.scores[position].given(place));
            }
            let mut all = ScoredItem { cluster: item.cluster, ..ScoredItem::default() };
            for score in &scores[start..] {
                all.total += score;
                all.count += 1;
                all.passes += u32::from(*score >= self.pass_mark);
            }
            items.push(all);
        }
        Self { scores, items, ..self }
    }

    /// Each item's cluster, the scores that further trials have of the evaluator at this place, and those of this run.
    pub fn beside_further_trials(
        &self,
        place: usize,
        further: &[FurtherTrials],
    ) -> impl Iterator<Item = (usize, Vec<f64>, Vec<f64>)> {
        let mut own = self.scores.iter().copied();
        self.items.iter().enumerate().map(move |(position, item)| {
            let given = further.iter().flat_map(|trials| trials.scores[position].given(place));
            (item.cluster as usize, given.collect(), own.by_ref().take(item.count as usize).collect())
        })
    }

    /// The share of scores at or above `mark`.
    pub fn pass_rate(&self, mark: Option<f64>) -> Option<f64> {
        let mark = mark.unwrap_or(self.pass_mark);
        ratio(self.scores.iter().filter(|score| **score >= mark).count(), self.scores.len())
    }

    /// Why the evaluator has no score.
    pub fn no_score(&self) -> String {
        match self.not_applicable_items {
            0 => format!("`{}` gave no score in {}", self.name, count(self.errors, "evaluation")),
            items if self.errors == 0 => {
                format!("`{}` applied to none of the {}", self.name, count(items, "item"))
            }
            items => format!(
                "`{}` gave no score: it failed in {} and did not apply to {}",
                self.name,
                count(self.errors, "evaluation"),
                count(items, "item")
            ),
        }
    }

    /// The number of clusters with a score.
    pub fn scored_clusters(&self) -> usize {
        self.clusters(|item| item.total).len()
    }

    /// The mean of the scores and its 95% CI, which a single cluster does not have.
    pub fn mean_with_ci(&self) -> Option<(f64, Option<Interval>)> {
        let stats = self.stats(1)?;
        Some((stats.avg, stats.ci95.filter(|_| self.scored_clusters() > 1)))
    }

    /// The share of scores at or above `mark` and its 95% CI, which a single cluster does not have.
    pub fn pass_rate_with_ci(&self, mark: Option<f64>) -> Option<(f64, Option<Interval>)> {
        let Some(mark) = mark else {
            let clusters = self.clusters(|item| f64::from(item.passes));
            return share_with_ci(&clusters);
        };
        let mut scores = self.scores.iter();
        let passes = self.items.iter().map(|item| {
            let passes = scores.by_ref().take(item.count as usize).filter(|score| **score >= mark).count();
            ScoredItem { passes: u32::try_from(passes).unwrap_or(u32::MAX), ..*item }
        });
        let items: Vec<_> = passes.collect();
        share_with_ci(&clusters(&items, |item| f64::from(item.passes)))
    }

    /// Adds the scores of another evaluator for items with the same cluster numbers.
    pub fn extend(&mut self, other: &Self) {
        self.scores.extend(&other.scores);
        self.items.extend(&other.items);
    }

    pub fn stats(&self, runs: usize) -> Option<ScoreStats> {
        let all = describe(&self.scores)?;
        let scores = self.clusters(|item| item.total);
        let means = describe(&by_cluster(&scores))?;
        let is_shares = self.scores.iter().all(|score| *score == 0.0 || *score == 1.0);
        Some(ScoreStats {
            avg: all.mean,
            min: all.min,
            max: all.max,
            p50: all.p50,
            p95: all.p95,
            p99: all.p99,
            count: all.n,
            stddev: all.stddev_population,
            std_error: means.std_error,
            ci95: if is_shares {
                wilson_clustered(&scores, 0.95)
            } else {
                means.ci95.map(|ci| Interval { low: ci.low.max(0.0), high: ci.high.min(1.0) })
            },
            pass_rate: self.pass_rate(None),
            pass_rate_ci95: wilson_clustered(&self.clusters(|item| f64::from(item.passes)), 0.95),
            pass_at_k: self.mean_over_items_per_k(runs, pass_at_k),
            pass_hat_k: self.mean_over_items_per_k(runs, pass_hat_k),
        })
    }

    /// A value of each item summed by cluster, with the number of scores in the cluster.
    fn clusters(&self, figure: fn(&ScoredItem) -> f64) -> Vec<Cluster> {
        clusters(&self.items, figure)
    }

    /// A metric of n trials of which c pass, for each k up to `runs`, averaged over the items with a score in every trial: with
    /// different items per k, the values would not be comparable.
    fn mean_over_items_per_k(&self, runs: usize, figure: fn(u64, u64, u64) -> Option<f64>) -> Vec<f64> {
        if runs < 2 {
            return Vec::new();
        }
        let items = self.items.iter().filter(|item| item.count as usize == runs);
        let average = |k| {
            let values: Vec<f64> = items
                .clone()
                .filter_map(|item| figure(u64::from(item.count), u64::from(item.passes), k))
                .collect();
            describe(&values).map(|d| d.mean)
        };
        (1..=runs as u64).map_while(average).collect()
    }
}

/// A value of each item summed by cluster, with the number of scores in the cluster.
fn clusters(items: &[ScoredItem], figure: fn(&ScoredItem) -> f64) -> Vec<Cluster> {
    let most = items.iter().map(|item| item.cluster as usize + 1).max().unwrap_or(0);
    let mut clusters = vec![Cluster { total: 0.0, count: 0 }; most];
    for item in items {
        let cluster = &mut clusters[item.cluster as usize];
        cluster.total += figure(item);
        cluster.count += item.count as usize;
    }
    clusters.retain(|cluster| cluster.count > 0);
    clusters
}

/// The share of passes and its 95% CI, which a single cluster does not have.
fn share_with_ci(clusters: &[Cluster]) -> Option<(f64, Option<Interval>)> {
    let scores: usize = clusters.iter().map(|cluster| cluster.count).sum();
    let share = sum(clusters.iter().map(|cluster| cluster.total)) / scores as f64;
    let ci95 = wilson_clustered(clusters, 0.95).filter(|_| clusters.len() > 1);
    (scores > 0).then_some((share, ci95))
}

pub fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
