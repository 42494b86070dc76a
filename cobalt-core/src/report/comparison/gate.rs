//! Evaluates thresholds against a baseline or another variant.

use std::fmt;

use super::gate_evidence::{COLLAPSE, GateEvidence, LEVEL};
use super::paired::{ComparedMetric, Paired};
use super::pairs::{Pair, match_items};
use super::{Quantity, ThresholdStatus};
use crate::report::metrics::format_value;
use crate::report::stats::holm;
use crate::report::threshold::unknown_evaluator;
use crate::report::{Category, Measurements, Metric, Threshold};
use crate::wording::{count, join_quoted};

/// What a run is compared with, in messages: a variant or, without one, the baseline.
#[derive(Clone, Copy)]
struct Reference<'a>(Option<&'a str>);

impl Reference<'_> {
    /// What to do if it is unsuitable.
    fn hint(self) -> &'static str {
        match self.0 {
            Some(_) => "run both variants on the same items",
            None => "update it with `cargo cobalt baseline set`",
        }
    }
}

impl fmt::Display for Reference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(variant) => write!(f, "variant `{variant}`"),
            None => f.write_str("the baseline"),
        }
    }
}

/// The result of a threshold against a baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct GateResult {
    /// Whether the threshold is met.
    pub finding: ThresholdStatus,
    /// The drop, the rise or the ratio; absent if there is nothing to measure.
    pub actual: Option<f64>,
    /// The result in a sentence: the value, its 95% CI and, if it is inconclusive, the sample size needed.
    pub message: String,
    /// Whether the mean score dropped by more than is allowed and by at least 0.5. If there are too few items to tell that from noise,
    /// it is inconclusive, but nothing to ignore.
    pub is_large_drop: bool,
}

/// Evaluates all of an experiment's thresholds against its baseline together, as they share a correction for multiple tests.
///
/// Items whose content has changed are excluded, and from the latency also those that were replayed. If this run or the baseline lacks
/// the metric, or if the baseline has none of its items unchanged, there is nothing to measure and the threshold is missed.
#[must_use]
pub fn evaluate_against(
    baseline: &Measurements,
    now: &Measurements,
    thresholds: &[&Threshold],
) -> Vec<GateResult> {
    evaluate_against_all(now, &[(baseline, thresholds.to_vec())]).remove(0)
}

/// The same against several runs, such as a baseline and other variants, each with its thresholds; all of them share the correction.
#[must_use]
pub fn evaluate_against_all(
    now: &Measurements,
    references: &[(&Measurements, Vec<&Threshold>)],
) -> Vec<Vec<GateResult>> {
    let runs: Vec<_> = references.iter().map(|(reference, _)| ComparedRuns::of(reference, now)).collect();
    let measured: Vec<Vec<_>> = runs
        .iter()
        .zip(references)
        .map(|(runs, (_, thresholds))| thresholds.iter().map(|threshold| runs.measure(threshold)).collect())
        .collect();
    let gates = measured.iter().flatten().flatten();
    let p_values: Vec<_> = gates.filter_map(|gate: &Gate<'_>| gate.excess.p_value).collect();
    let mut adjusted = holm(&p_values).into_iter();
    let mut judge = |gate: Result<Gate<'_>, GateResult>| match gate {
        Ok(gate) => {
            let p_adjusted = gate.excess.p_value.and_then(|_| adjusted.next());
            gate.evaluate(p_adjusted, p_values.len())
        }
        Err(judged) => judged,
    };
    measured.into_iter().map(|gates| gates.into_iter().map(&mut judge).collect()).collect()
}

/// A baseline, a run, and the items that are the same in both.
struct ComparedRuns<'a> {
    baseline: &'a Measurements,
    now: &'a Measurements,
    same: Vec<Pair<'a>>,
    changed: usize,
}

/// A threshold with its measurements.
struct Gate<'a> {
    threshold: &'a Threshold,
    excess: GateEvidence,
    /// The message about excluded items.
    excluded: String,
}

impl<'a> ComparedRuns<'a> {
    fn of(baseline: &'a Measurements, now: &'a Measurements) -> Self {
        let (changed, same): (Vec<_>, Vec<_>) =
            match_items(baseline, now).into_iter().partition(Pair::is_changed);
        Self { baseline, now, same, changed: changed.len() }
    }

    fn measure<'t>(&self, threshold: &'t Threshold) -> Result<Gate<'t>, GateResult> {
        let reference = Reference(threshold.against());
        let figure = self.figure(threshold)?;
        let is_latency = figure.quantity == Quantity::Latency;
        let (replayed, measured): (Vec<_>, Vec<_>) =
            self.same.iter().partition(|pair| is_latency && pair.has_replayed_latency());
        let paired = Paired::of(&figure, &measured, self.baseline, self.now);
        let mut left_out = self.excluded_items(replayed.len(), paired.unmeasured);
        let unknown: Vec<_> = { figure.evaluators.iter() }
            .filter(|name| !self.baseline.items.has_scores(name) && self.now.items.has_scores(name))
            .collect();
        if !unknown.is_empty() {
            let names = join_quoted(unknown.iter().map(|name| **name));
            left_out += &format!("; {reference} has no scores of {names}");
        }
        if self.same.is_empty() && self.changed == 0 {
            let reason = format!("{reference} has no items in common with this run; {}", reference.hint());
            return Err(missed(threshold, &reason));
        }
        if paired.len() == 0 {
            let hint = match replayed.iter().any(|pair| pair.other.is_replayed()) {
                true => "to measure the latency, run with `COBALT_RECORD=off`",
                false => reference.hint(),
            };
            let reason = format!("no items can be compared{left_out}; {hint}");
            let outcome = if replayed.is_empty() { missed } else { inconclusive };
            return Err(outcome(threshold, &reason));
        }
        let is_unchanged = paired.is_unchanged();
        match GateEvidence::of(threshold, figure.quantity, paired) {
            Some(excess) => Ok(Gate { threshold, excess, excluded: left_out }),
            None if is_unchanged => {
                let message =
                    format!("both means of {} are 0, which meets `{threshold}`", threshold.category());
                let finding = ThresholdStatus::Met;
                Err(GateResult { finding, actual: None, message, is_large_drop: false })
            }
            None => {
                let other = match reference.0 {
                    Some(variant) => format!("rise_from({variant})"),
                    None => format!("vs_baseline.{}.rise", threshold.category()),
                };
                Err(missed(
                    threshold,
                    &format!("{reference} has a mean of 0, so there is no ratio; use `{other}`"),
                ))
            }
        }
    }

    /// The metric to compare, if both runs have it.
    fn figure<'t>(&'t self, threshold: &'t Threshold) -> Result<ComparedMetric<'t>, GateResult> {
        let reference = Reference(threshold.against());
        let names = self.now.evaluators.iter().map(|evaluator| &*evaluator.name);
        let figure = match threshold.category() {
            Category::Score => ComparedMetric::score(names.collect()),
            Category::Evaluator(name) => match names.clone().find(|known| known == name) {
                Some(name) => ComparedMetric::score(vec![name]),
                None => return Err(missed(threshold, &unknown_evaluator(name, threshold, names))),
            },
            Category::Latency => ComparedMetric::amount(Quantity::Latency),
            Category::Tokens => ComparedMetric::amount(Quantity::Tokens),
            Category::Cost => ComparedMetric::amount(Quantity::Cost),
            Category::CustomMetric(name) => ComparedMetric::custom(name),
            category @ (Category::JudgeCost
            | Category::UserCost
            | Category::TimeToFirstToken
            | Category::ModelTokens(_)
            | Category::ModelCost(_)
            | Category::ModelCalls
            | Category::ToolCalls) => {
                return Err(missed(threshold, &format!("`{category}` cannot be compared with {reference}")));
            }
        };
        if !figure.is_in(self.now) {
            return Err(missed(threshold, &format!("no item of this run has {}", figure.quantity)));
        }
        if !figure.is_in(self.baseline) {
            let reason = match threshold.category() {
                Category::Evaluator(name) => {
                    let known = self.baseline.evaluators.iter().map(|known| &*known.name);
                    let known: Vec<_> = known.filter(|known| self.baseline.items.has_scores(known)).collect();
                    let known = match known.is_empty() {
                        true => String::new(),
                        false => format!(", only of {}", join_quoted(known.into_iter())),
                    };
                    format!("{reference} has no scores of `{name}`{known}; if it is new or was renamed, ")
                }
                _ => format!("no item of {reference} has {}; ", figure.quantity),
            };
            return Err(missed(threshold, &(reason + reference.hint())));
        }
        Ok(figure)
    }

    fn excluded_items(&self, replayed: usize, unmeasured: usize) -> String {
        let parts =
            [(self.changed, "changed"), (replayed, "replayed"), (unmeasured, "not measured in both runs")];
        let parts = parts.iter().filter(|(number, _)| *number > 0);
        let parts: Vec<_> =
            parts.map(|(number, what)| format!("{} {what}", count(*number, "item"))).collect();
        if parts.is_empty() { String::new() } else { format!("; excluded: {}", parts.join(", ")) }
    }
}

impl Gate<'_> {
    /// `p_adjusted` is absent for a single cluster. `gates` is the number of gates it is corrected for.
    fn evaluate(self, p_adjusted: Option<f64>, gates: usize) -> GateResult {
        let Self { threshold, excess, excluded: left_out } = self;
        let unchanged = excess.is_unchanged && threshold.is_met_by(excess.actual);
        let mut collapse = None;
        let finding = match (p_adjusted, excess.interval) {
            _ if unchanged => ThresholdStatus::Met,
            // The interval of a long-tailed metric may include the bound although the test by the standard error rejects it.
            (Some(p), Some(interval)) if p < LEVEL && !threshold.is_met_by(interval.low) => {
                ThresholdStatus::Missed
            }
            (_, Some(interval)) if threshold.is_met_by(interval.high) => ThresholdStatus::Met,
            _ => match &excess.collapse {
                Some(found) => {
                    collapse = Some(found.to_string());
                    ThresholdStatus::Missed
                }
                None => ThresholdStatus::Inconclusive,
            },
        };
        let shown = |figure| format_value(threshold, figure);
        let interval = excess.interval.filter(|_| !excess.is_unchanged);
        let interval = interval.map(|ci| format!(" (95% CI {} to {})", shown(ci.low), shown(ci.high)));
        let found = match finding {
            ThresholdStatus::Met => format!("which meets `{threshold}`"),
            ThresholdStatus::Missed => match collapse {
                Some(collapse) => format!("which misses `{threshold}`: {collapse}"),
                None => format!("which misses `{threshold}` beyond noise"),
            },
            ThresholdStatus::Inconclusive => {
                let side = if threshold.is_met_by(excess.actual) { "" } else { "more than allowed, but " };
                format!("inconclusive for `{threshold}`: {side}{}", sample_size_hint(&excess, gates))
            }
        };
        let is_large_drop = threshold.metric() == Metric::Drop
            && threshold.category().is_score()
            && excess.actual >= COLLAPSE
            && !threshold.is_met_by(excess.actual);
        let (metric, category) = (threshold.metric(), threshold.category());
        let message = format!(
            "the {metric} of {category} is {}{}, {found}{left_out}",
            shown(excess.actual),
            interval.unwrap_or_default(),
        );
        GateResult { finding, actual: Some(excess.actual), message, is_large_drop }
    }
}

fn sample_size_hint(excess: &GateEvidence, gates: usize) -> String {
    match (excess.p_value, excess.sample_size(gates)) {
        (None, _) => "one item or cluster is not enough to estimate noise".to_owned(),
        (_, Some(size)) => {
            format!("{} cannot tell it from noise; {size} needed", count(excess.items(), "item"))
        }
        (_, None) => format!("{} cannot tell it from noise", count(excess.items(), "item")),
    }
}

fn missed(threshold: &Threshold, reason: &str) -> GateResult {
    let message = format!("`{threshold}` has nothing to measure: {reason}");
    GateResult { finding: ThresholdStatus::Missed, actual: None, message, is_large_drop: false }
}

fn inconclusive(threshold: &Threshold, reason: &str) -> GateResult {
    let message = format!("`{threshold}` cannot be evaluated: {reason}");
    GateResult { finding: ThresholdStatus::Inconclusive, actual: None, message, is_large_drop: false }
}
