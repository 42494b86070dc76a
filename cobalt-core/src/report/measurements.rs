//! The measurements of each item that a comparison needs: the contents of a baseline file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::config::{DatasetSummary, GitState, SourceLocation};
use super::custom_metric::{Direction, MetricStats};
use super::custom_metric_stats::metric_stats;
use super::evaluator_metrics::FurtherTrials;
use super::identity::{cluster_name, item_keys};
use super::item::{Execution, ItemResult, ScoredEvaluation};
use super::measured_items::{MeasuredItemRef, MeasuredItems};
use super::metrics::ItemUsage;
use super::model::Report;
use super::outcome::RunVerdict;
use super::summary::Summary;
use super::traffic::TrafficSummary;
use crate::item::{ExecutionUsage, content_hash};
use crate::prices::PriceTable;
use crate::serde_skip::is_zero;
use crate::timestamp::Timestamp;

/// The version of this format.
const SCHEMA: u32 = 1;

/// The measurements of a run by item, without inputs, outputs and reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Measurements {
    /// The version of this format.
    pub measurements: u32,
    /// The run's id.
    pub id: String,
    /// The experiment's name.
    pub name: String,
    /// The experiment of which the run is a variant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant_of: Option<String>,
    /// When the run started.
    pub timestamp: Timestamp,
    /// Where the experiment was declared; absent in files of earlier versions, and without an attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_at: Option<SourceLocation>,
    /// The state of the source, if it is in git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitState>,
    /// The dataset of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<DatasetSummary>,
    /// The number of trials per item.
    pub runs: usize,
    /// Whether only some of the items were run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Whether the run failed; `false` in baseline files of earlier versions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Whether model responses of the run were replayed, at least in part: their latency and agent cost are those of the recording.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// The run that produced the outputs, if this one only scored them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs_of: Option<String>,
    /// Whether other model responses of a replayed run were live.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed_in_part: bool,
    /// The evaluators, in order.
    pub evaluators: Vec<EvaluatorSettings>,
    /// The unit and direction of the metrics that the agent recorded; empty in files of earlier versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, MetricSettings>,
    /// The items, in dataset order.
    pub items: MeasuredItems,
}

/// The unit and direction of a metric that the agent recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MetricSettings {
    /// The unit, such as `ms` or `documents`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Whether higher or lower values are better, if either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Direction>,
}

/// The settings of an evaluator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvaluatorSettings {
    /// Its name.
    pub name: String,
    /// The score from which an output passes; absent in runs of the original tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_mark: Option<f64>,
    /// A hash of its settings; absent in runs of the original tool and of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

/// The measurements of one item, as a baseline file has them. Those of a run are in columns: [`MeasuredItems`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MeasuredItem {
    /// The item's key, which matches it between runs.
    pub key: String,
    /// A hash of the whole item, to detect changes.
    pub content: String,
    /// The item's field `cluster`: items that share it are not independent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// The trials, numbered from 0, in which the agent or an evaluator failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<usize>,
    /// The agent's mean latency in milliseconds.
    pub latency_ms: f64,
    /// The agent's tokens over all trials of the item; absent if not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The agent cost over all trials of the item in USD; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// A hash of each message that the agent sent to a model in the first trial, in order; empty if its traffic did not pass through
    /// the gateway. See [`Traffic::asked`](super::Traffic::asked).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<String>,
    /// Whether its latency is that of a recording, at least in part.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// How many attempts were retried after transient errors, over all trials.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retried: usize,
    /// Each evaluator's scores from 0 to 1, one for each trial that it scored.
    pub scores: BTreeMap<String, Vec<f64>>,
    /// What judges said that compare the output with another answer, by evaluator: for each trial whether the output won, 1 if it did,
    /// 0 if the other answer did, and 0.5 for a tie. The first value is of the order with the output first, the second of the other order.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub compared: BTreeMap<String, Vec<[f64; 2]>>,
    /// The values of each metric that the agent recorded, one for each trial that recorded it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, Vec<f64>>,
    /// The latency and usage of each trial; empty for a single trial, and in files of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<TrialMeasurements>,
}

/// The latency and usage of one trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialMeasurements {
    /// The agent's latency in milliseconds.
    pub latency_ms: f64,
    /// The agent's tokens; absent if not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The agent cost in USD; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Measurements {
    /// The name of the experiment, without the variant.
    #[must_use]
    pub fn experiment(&self) -> &str {
        self.variant_of.as_deref().unwrap_or(&self.name)
    }

    /// These measurements with the scores of further trials of the same items. As in
    /// [`RunMetrics::with_further_trials`](super::RunMetrics::with_further_trials), everything else stays that of this run.
    #[must_use]
    #[doc(hidden)]
    pub fn with_further_trials(mut self, further: &[FurtherTrials]) -> Self {
        let names = self.evaluators.iter().map(|evaluator| evaluator.name.clone()).enumerate();
        let names: Vec<_> = names.filter(|(_, name)| self.items.has_scores(name)).collect();
        let pooled = |item: MeasuredItemRef<'_>| {
            let (position, mut item) = (item.position(), item.to_item());
            for (place, name) in &names {
                let scores = further.iter().flat_map(|trials| trials.scores[position].given(*place));
                let scores: Vec<_> = scores.collect();
                if !scores.is_empty() {
                    item.scores.entry(name.clone()).or_default().extend(scores);
                }
            }
            item
        };
        self.items = self.items.iter().map(pooled).collect();
        self
    }

    /// Adds what is known only once the run is evaluated.
    #[doc(hidden)]
    pub fn add_summary(&mut self, report: &Report) {
        let traffic = report.summary.traffic.as_ref();
        self.git.clone_from(&report.git);
        self.failed = report.verdict == RunVerdict::Failed;
        self.replayed = traffic.is_some_and(TrafficSummary::has_replays);
        self.replayed_in_part = traffic.is_some_and(|traffic| traffic.has_replays() && traffic.live > 0);
        self.metrics = metric_settings(report);
    }

    /// The measurements of a run. Costs are recalculated with `prices`, so two runs are compared at the same prices.
    #[must_use]
    pub fn from_report(report: &Report, prices: &PriceTable) -> Self {
        let (config, traffic) = (&report.config, report.summary.traffic.as_ref());
        let evaluators = config.evaluators.iter().enumerate().map(|(index, name)| EvaluatorSettings {
            name: name.clone(),
            pass_mark: config.pass_marks.get(index).copied(),
            hash: config.evaluator_hashes.get(index).cloned(),
        });
        let keys = item_keys(&report.items);
        let items = report.items.iter().zip(keys);
        Self {
            measurements: SCHEMA,
            id: report.id.clone(),
            name: report.name.clone(),
            variant_of: report.variant.as_ref().map(|variant| variant.experiment.clone()),
            timestamp: report.timestamp,
            declared_at: report.declared_at.clone(),
            git: report.git.clone(),
            dataset: report.dataset.clone(),
            runs: config.runs,
            partial: report.partial,
            failed: report.verdict == RunVerdict::Failed,
            replayed: traffic.is_some_and(TrafficSummary::has_replays),
            outputs_of: report.rescored.as_ref().map(|rescored| rescored.run.clone()),
            replayed_in_part: traffic.is_some_and(|traffic| traffic.has_replays() && traffic.live > 0),
            evaluators: evaluators.collect(),
            metrics: metric_settings(report),
            items: items.map(|(item, key)| MeasuredItem::of(item, key, &config.evaluators, prices)).collect(),
        }
    }

    /// Adds the next item of the run in dataset order.
    #[doc(hidden)]
    pub fn push(&mut self, item: &ItemResult, prices: &PriceTable) {
        let evaluators: Vec<_> = self.evaluators.iter().map(|evaluator| evaluator.name.clone()).collect();
        self.items.push(MeasuredItem::of(item, item.key.clone(), &evaluators, prices));
    }

    /// These measurements with the metrics that the agent recorded, which are known after all items.
    #[doc(hidden)]
    #[must_use]
    pub fn with_metrics_of(self, summary: &Summary) -> Self {
        let settings =
            |stats: &MetricStats| MetricSettings { unit: stats.unit.clone(), better: stats.better };
        let metrics = summary.metrics.iter().map(|(name, stats)| (name.clone(), settings(stats)));
        Self { metrics: metrics.collect(), ..self }
    }

    /// A copy without the items.
    pub(crate) fn without_items(&self) -> Self {
        Self {
            measurements: self.measurements,
            id: self.id.clone(),
            name: self.name.clone(),
            variant_of: self.variant_of.clone(),
            timestamp: self.timestamp,
            declared_at: self.declared_at.clone(),
            git: self.git.clone(),
            dataset: self.dataset.clone(),
            runs: self.runs,
            partial: self.partial,
            failed: self.failed,
            replayed: self.replayed,
            outputs_of: self.outputs_of.clone(),
            replayed_in_part: self.replayed_in_part,
            evaluators: self.evaluators.clone(),
            metrics: self.metrics.clone(),
            items: MeasuredItems::default(),
        }
    }
}

impl MeasuredItem {
    /// The measurements of an item with this key, by these evaluators.
    #[must_use]
    pub fn of(item: &ItemResult, key: String, evaluators: &[String], prices: &PriceTable) -> Self {
        let usage = ItemUsage::of(item, prices);
        let scores = evaluators.iter().map(|name| (name.clone(), item.scores(name).collect::<Vec<_>>()));
        Self {
            key,
            content: content_hash(&item.input),
            cluster: cluster_name(&item.input),
            failed: (0..).zip(&item.runs).filter(|(_, run)| run.is_in_error()).map(|(run, _)| run).collect(),
            latency_ms: item.latency_ms(),
            asked: item
                .runs
                .first()
                .and_then(|run| run.traffic.as_ref())
                .map_or_else(Vec::new, |traffic| traffic.asked.clone()),
            replayed: item.has_replayed_latency(),
            retried: item.retried_attempts(),
            tokens: usage.tokens,
            cost: usage.known_cost(),
            scores: scores.filter(|(_, scores)| !scores.is_empty()).collect(),
            compared: comparisons(&item.runs, evaluators),
            metrics: metric_values(&item.runs),
            trials: trial_measurements(&item.runs, prices),
        }
    }
}

/// The verdicts of judges that compare two answers in both orders, by evaluator: those with the metadata `orders`.
fn comparisons(runs: &[Execution], evaluators: &[String]) -> BTreeMap<String, Vec<[f64; 2]>> {
    let of_evaluator = |name: &String| {
        let evaluations = runs.iter().filter_map(|run| run.evaluations.get(name));
        let orders: Vec<_> = evaluations.filter_map(orders).collect();
        (!orders.is_empty()).then(|| (name.clone(), orders))
    };
    evaluators.iter().filter_map(of_evaluator).collect()
}

/// Whether the output won in each order.
fn orders(evaluation: &ScoredEvaluation) -> Option<[f64; 2]> {
    const OUTPUT: &str = "output";
    let orders = evaluation.metadata.get("orders")?.as_array()?;
    let outcome = |output_first: bool| {
        let place = if output_first { "first" } else { "second" };
        let order = orders.iter().find(|order| order[place] == OUTPUT)?;
        Some(match order["winner"].as_str()? {
            OUTPUT => 1.0,
            "tie" => 0.5,
            _ => 0.0,
        })
    };
    Some([outcome(true)?, outcome(false)?])
}

fn metric_settings(report: &Report) -> BTreeMap<String, MetricSettings> {
    // A report whose items are elsewhere has a summary; one that is not evaluated yet has items.
    let stats = match report.items.is_empty() {
        true => report.summary.metrics.clone(),
        false => metric_stats(&report.items),
    };
    stats
        .into_iter()
        .map(|(name, stats)| (name, MetricSettings { unit: stats.unit, better: stats.better }))
        .collect()
}

fn metric_values(runs: &[Execution]) -> BTreeMap<String, Vec<f64>> {
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (name, metric) in runs.iter().flat_map(|run| &run.metrics) {
        values.entry(name.clone()).or_default().push(metric.value);
    }
    values
}

fn trial_measurements(runs: &[Execution], prices: &PriceTable) -> Vec<TrialMeasurements> {
    if runs.len() < 2 {
        return Vec::new();
    }
    let amounts = |run: &Execution| {
        let ExecutionUsage { tokens, cost, .. } = run.usage(prices);
        TrialMeasurements { latency_ms: run.latency_ms, tokens, cost }
    };
    runs.iter().map(amounts).collect()
}
