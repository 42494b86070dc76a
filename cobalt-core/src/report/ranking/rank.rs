//! Ranks runs: all pairs are compared at the same items, with a correction for the number of pairs.

use std::collections::BTreeSet;

use serde_json::Value;

use super::model::{PairDifference, RankInterval, RankedRun, RankedScore, Ranking};
use super::preferences::preferences;
use super::recommend::recommend;
use crate::report::comparison::{Quantity, RunIdentity, Verdict, compare_all};
use crate::report::stats::{describe, sum};
use crate::report::{MeasuredItemRef, Measurements, Report, RunVariant};

/// A run to rank.
#[derive(Clone, Copy, Debug)]
pub struct RankInput<'a> {
    /// The report; its items are not needed.
    pub report: &'a Report,
    /// What the run is compared by.
    pub measurements: &'a Measurements,
}

/// Ranks runs over the same items, in this order.
///
/// Every pair is compared with the tests of [`compare`](crate::report::comparison::compare), without an omnibus test before. The p-values
/// of all pairs are corrected together with Holm's method: those of all evaluators, those of latency, tokens, cost and errors, and those
/// of the metrics that agents recorded. This bounds the probability that any of the pairs is called different although all runs are equal.
#[must_use]
pub fn rank(runs: &[RankInput<'_>]) -> Ranking {
    let measured: Vec<_> = runs.iter().map(|run| run.measurements).collect();
    let (mut pairs, mut notes) = (Vec::new(), Vec::new());
    for (base, other, comparison) in compare_all(&measured) {
        let differences = comparison.evaluators.into_iter().chain(comparison.amounts);
        pairs.extend(differences.map(|difference| PairDifference { base, other, difference }));
        notes.extend(comparison.notes.into_iter().filter(|note| !notes.contains(note)).collect::<Vec<_>>());
    }
    let common = common_evaluators(runs);
    let labels = labels(runs);
    let ranked = runs.iter().enumerate().zip(labels);
    let mut ranked: Vec<_> =
        ranked.map(|((place, run), label)| ranked_run(place, run, label, &pairs, runs, &common)).collect();
    mark_pareto_front(&mut ranked);
    let recommendation = recommend(&ranked, &pairs, &common);
    Ranking {
        experiment: common_experiment(runs).map(str::to_owned),
        group: common_value(runs.iter().map(|run| Some(&*variant(run)?.group))).map(str::to_owned),
        runs: ranked,
        pairs,
        recommendation,
        preferences: preferences(runs),
        notes,
    }
}

fn variant<'a>(run: &RankInput<'a>) -> Option<&'a RunVariant> {
    run.report.variant.as_deref()
}

/// The experiment, if all runs are of one.
fn common_experiment<'a>(runs: &[RankInput<'a>]) -> Option<&'a str> {
    common_value(
        runs.iter().map(|run| Some(variant(run).map_or(&*run.report.name, |variant| &*variant.experiment))),
    )
}

fn common_value<'a>(mut values: impl Iterator<Item = Option<&'a str>>) -> Option<&'a str> {
    let first = values.next()??;
    values.all(|value| value == Some(first)).then_some(first)
}

/// The evaluators that scored an item in every run.
fn common_evaluators(runs: &[RankInput<'_>]) -> Vec<String> {
    let Some((first, others)) = runs.split_first() else { return Vec::new() };
    let is_common = |name: &&String| others.iter().all(|run| run.report.summary.scores.contains_key(*name));
    let names = first.report.config.evaluators.iter();
    names.filter(|name| first.report.summary.scores.contains_key(*name)).filter(is_common).cloned().collect()
}

/// What tells the runs apart: the variants of one experiment, the experiments, or else the IDs.
fn labels(runs: &[RankInput<'_>]) -> Vec<String> {
    let are_different = |names: &[String]| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    let variants: Option<Vec<_>> = runs.iter().map(|run| Some(variant(run)?.name.clone())).collect();
    let names: Vec<_> = runs.iter().map(|run| run.report.name.clone()).collect();
    let variants = variants.filter(|_| common_experiment(runs).is_some());
    [variants, Some(names)]
        .into_iter()
        .flatten()
        .find(|names| are_different(names))
        .unwrap_or_else(|| runs.iter().map(|run| run.report.id.clone()).collect())
}

fn ranked_run(
    place: usize,
    run: &RankInput<'_>,
    label: String,
    pairs: &[PairDifference],
    runs: &[RankInput<'_>],
    common: &[String],
) -> RankedRun {
    let RankInput { report, measurements } = run;
    let summary = &report.summary;
    let scores = report.config.evaluators.iter().filter_map(|evaluator| {
        let stats = summary.scores.get(evaluator)?;
        let ranked = runs.iter().filter(|run| run.report.summary.scores.contains_key(evaluator)).count();
        Some(RankedScore {
            evaluator: evaluator.clone(),
            mean: stats.avg,
            ci95: stats.ci95,
            pass_rate: stats.pass_rate,
            rank: rank_interval(place, evaluator, pairs, ranked),
        })
    });
    let scores: Vec<_> = scores.collect();
    let of_common = scores.iter().filter(|score| common.contains(&score.evaluator)).map(|score| score.mean);
    RankedRun {
        label,
        run: RunIdentity::of(measurements),
        is_default: variant(run).is_some_and(|variant| variant.is_default),
        settings: variant(run).map_or(Value::Null, |variant| variant.settings.clone()),
        verdict: report.verdict,
        items: summary.total_items,
        passed_items: summary.passed_items,
        failed_items: summary.items_in_error(),
        mean_score: describe(&of_common.collect::<Vec<_>>()).map(|stats| stats.mean),
        scores,
        latency_ms: (!measurements.replayed && summary.avg_latency_ms > 0.0)
            .then_some(summary.avg_latency_ms),
        cost_per_1000: per_trial(measurements, |item| item.cost()).map(|cost| cost * 1000.0),
        tokens_per_item: per_trial(measurements, |item| item.tokens().map(|tokens| tokens as f64)),
        is_on_pareto_front: false,
    }
}

/// The mean of an amount per trial of an item; `None` unless it is known for all items that are not in error.
fn per_trial(run: &Measurements, amount: impl Fn(MeasuredItemRef<'_>) -> Option<f64>) -> Option<f64> {
    if run.items.iter().any(|item| item.failed().is_empty() && amount(item).is_none()) {
        return None;
    }
    let known: Vec<_> = run.items.iter().filter_map(&amount).collect();
    (!known.is_empty()).then(|| sum(known.iter().copied()) / (known.len() * run.runs.max(1)) as f64)
}

/// The ranks that the run at this place may have among `ranked` runs.
fn rank_interval(place: usize, evaluator: &str, pairs: &[PairDifference], ranked: usize) -> RankInterval {
    let verdicts = pairs
        .iter()
        .filter(|pair| pair.difference.quantity == Quantity::Score && pair.difference.name == evaluator)
        .filter_map(|pair| pair.verdict_for(place));
    let (mut better_ones, mut worse_ones) = (0, 0);
    for verdict in verdicts {
        better_ones += usize::from(verdict == Verdict::Worse);
        worse_ones += usize::from(verdict == Verdict::Better);
    }
    RankInterval { best: 1 + better_ones, worst: ranked.saturating_sub(worse_ones).max(1) }
}

impl PairDifference {
    /// The verdict on the run at this place, compared with the other one of the pair; `None` if it is not in the pair.
    pub(super) fn verdict_for(&self, place: usize) -> Option<Verdict> {
        match self.difference.verdict {
            verdict if place == self.other => Some(verdict),
            Verdict::Better if place == self.base => Some(Verdict::Worse),
            Verdict::Worse if place == self.base => Some(Verdict::Better),
            verdict => (place == self.base).then_some(verdict),
        }
    }
}

/// Marks the runs to which no other is preferable in both score and cost.
fn mark_pareto_front(runs: &mut [RankedRun]) {
    let known: Vec<_> = runs.iter().map(|run| run.mean_score.zip(run.cost_per_1000)).collect();
    for (run, own) in runs.iter_mut().zip(&known) {
        let Some((score, cost)) = *own else { continue };
        let dominates = |other: &(f64, f64)| other.0 >= score && other.1 <= cost && *other != (score, cost);
        run.is_on_pareto_front = !known.iter().flatten().any(dominates);
    }
}
