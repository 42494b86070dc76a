//! The result of one item: its executions, each with an output and its evaluations.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::custom_metric::{Metrics, redacted_metric};
use super::fault::InjectedFault;
use super::retried::RetriedExecution;
use super::stats::describe;
use super::traffic::Traffic;
use super::transcript::Transcript;
use super::workspace::WorkspaceChanges;
use crate::item::{ExecutionUsage, Item, Output, TokenCount};
use crate::prices::{JudgeUsage, PriceTable};
use crate::redact::{redact, redact_fields};
use crate::serde_skip::is_zero;
use crate::trace::{Trace, TraceWithoutContents};

/// The status of an execution. Ordered from best to worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The agent gave an output.
    #[default]
    Ok,
    /// The agent took longer than the experiment's timeout.
    Timeout,
    /// The agent failed or panicked.
    Error,
}

impl Status {
    /// The name used in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Timeout => "timeout",
            Self::Error => "error",
        }
    }
}

/// One evaluator's result for one output: a score, or why there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ScoredEvaluation {
    /// From 0 to 1; absent if the evaluator failed or does not apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The reason for the score, or why the evaluator does not apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The reasoning that led to the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain_of_thought: Option<String>,
    /// Further values by name, such as the parts of a score.
    #[serde(skip_serializing_if = "Item::is_empty")]
    pub metadata: Item,
    /// The models' usage and cost for it; absent if no model was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    // Boxed: most evaluations call no model, and there may be hundreds of thousands of them.
    pub judge: Option<Box<JudgeUsage>>,
    /// Why the evaluator failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the evaluator does not apply to the item; there is neither a score nor an error then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub not_applicable: bool,
}

impl ScoredEvaluation {
    /// Whether the evaluator failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.score.is_none() && !self.not_applicable
    }
}

/// The evaluations of one output by evaluator name, in the order in which the experiment lists them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluations(Vec<(Arc<str>, ScoredEvaluation)>);

impl Evaluations {
    /// The evaluation of the evaluator with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ScoredEvaluation> {
        self.0.iter().find(|(known, _)| **known == *name).map(|(_, evaluation)| evaluation)
    }

    /// All evaluations with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ScoredEvaluation)> {
        self.0.iter().map(|(name, evaluation)| (&**name, evaluation))
    }

    /// Whether nothing was evaluated, for example because the agent failed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(Arc<str>, ScoredEvaluation)> for Evaluations {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, ScoredEvaluation)>>(evaluations: I) -> Self {
        Self(evaluations.into_iter().collect())
    }
}

impl Serialize for Evaluations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, evaluation) in &self.0 {
            map.serialize_entry(&**name, evaluation)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Evaluations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Evaluations;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("evaluations by evaluator name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Evaluations, A::Error> {
                let mut entries = Vec::with_capacity(map.size_hint().unwrap_or(0));
                while let Some((name, evaluation)) = map.next_entry::<String, ScoredEvaluation>()? {
                    entries.push((name.into(), evaluation));
                }
                Ok(Evaluations(entries))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

/// One trial: a run of the agent on an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Execution {
    /// The status.
    pub status: Status,
    /// What the agent returned; absent unless the status is `ok`.
    pub output: Option<Output>,
    /// The agent's latency in milliseconds.
    pub latency_ms: f64,
    /// The evaluators' results.
    pub evaluations: Evaluations,
    /// Why there is no output.
    pub error: Option<String>,
    /// What the agent recorded before it failed; empty if there is an output, whose metadata includes it.
    pub recorded: Item,
    /// The model traffic that passed through the gateway; absent if there was none.
    pub traffic: Option<Box<Traffic>>,
    /// What the agent did, as far as it is known.
    pub trace: Trace,
    /// How many further spans were dropped, as there were too many.
    pub dropped_spans: usize,
    /// The metrics that the agent recorded, by name.
    pub metrics: Metrics,
    /// Attempts that failed with a transient error before this one, in order. Everything else is of the last attempt, except the
    /// traffic, which is of all.
    pub retried: Vec<RetriedExecution>,
    /// The conversation, if the agent takes turns with a user.
    pub transcript: Option<Box<Transcript>>,
    /// What the agent changed in its workspace; absent if the experiment has none, or the agent did not start.
    pub workspace: Option<Box<WorkspaceChanges>>,
    /// The faults that were injected into calls of tools, in order.
    pub faults: Vec<InjectedFault>,
}

impl Execution {
    /// Redacts all texts and the names in metadata. The trace was redacted before its texts were cut.
    #[doc(hidden)]
    pub fn redact(&mut self) {
        if let Some(output) = &mut self.output {
            output.redact();
        }
        self.error.iter_mut().for_each(redact);
        redact_fields(&mut self.recorded);
        self.metrics = std::mem::take(&mut self.metrics).into_iter().map(redacted_metric).collect();
        self.retried.iter_mut().for_each(RetriedExecution::redact);
        self.transcript.iter_mut().for_each(|transcript| transcript.redact());
        self.workspace.iter_mut().for_each(|changes| changes.redact());
        self.faults.iter_mut().for_each(InjectedFault::redact);
        for (_, evaluation) in &mut self.evaluations.0 {
            let ScoredEvaluation { reason, chain_of_thought, metadata, error, .. } = evaluation;
            [reason, chain_of_thought, error].into_iter().flatten().for_each(redact);
            redact_fields(metadata);
        }
    }

    /// The metadata that the agent reported, with an output or before it failed. That of retried attempts is in
    /// [`retried`](Self::retried).
    #[must_use]
    pub fn metadata(&self) -> &Item {
        self.output.as_ref().map_or(&self.recorded, Output::all_metadata)
    }

    /// The agent's tokens, if reported, including those of retried attempts.
    #[must_use]
    pub fn token_count(&self) -> Option<TokenCount> {
        let retried = self.retried.iter().filter_map(RetriedExecution::token_count);
        TokenCount::of(self.metadata()).into_iter().chain(retried).reduce(TokenCount::plus)
    }

    /// The cost of the agent's model calls in USD, including those of retried attempts: as reported, or else by these prices. `None`
    /// unless it is known for all calls.
    #[must_use]
    pub fn cost(&self, prices: &PriceTable) -> Option<f64> {
        self.usage(prices).cost
    }

    /// The usage of all attempts.
    pub fn usage(&self, prices: &PriceTable) -> ExecutionUsage {
        let mut usage = ExecutionUsage::of(self.metadata(), prices);
        self.retried.iter().for_each(|attempt| usage.add_execution(attempt.usage(prices)));
        usage
    }

    /// Why it was retried: each error once, in order, with the number of attempts that ended in it.
    #[must_use]
    pub fn retried_errors(&self) -> Vec<(&str, usize)> {
        let mut errors: Vec<(&str, usize)> = Vec::new();
        for RetriedExecution { error, .. } in &self.retried {
            match errors.iter_mut().find(|(known, _)| known == error) {
                Some((_, number)) => *number += 1,
                None => errors.push((error, 1)),
            }
        }
        errors
    }

    /// Whether the agent or an evaluator failed.
    #[must_use]
    pub fn is_in_error(&self) -> bool {
        self.status != Status::Ok || self.evaluations.iter().any(|(_, evaluation)| evaluation.is_error())
    }
}

/// The result of one item over all of its trials.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemResult {
    /// The item's index in the dataset, from 0.
    pub index: usize,
    /// The item's identity: its `id`, or a hash of its input. Empty in files of the original tool.
    pub key: String,
    /// The item.
    pub input: Arc<Item>,
    /// Whether the item is at or above every pass mark in every trial, without an error. When a file is read, it is calculated
    /// from the scores and pass marks of the run: see [`RunConfig::passes`](super::RunConfig::passes).
    pub passed: bool,
    /// The executions, at least one.
    pub runs: Vec<Execution>,
}

impl ItemResult {
    /// How many attempts were retried, over all trials.
    #[must_use]
    pub fn retried_attempts(&self) -> usize {
        self.runs.iter().map(|run| run.retried.len()).sum()
    }

    /// The first trial, whose output and evaluations represent the item.
    #[must_use]
    pub fn first_trial(&self) -> &Execution {
        &self.runs[0]
    }

    /// The worst status of the trials.
    #[must_use]
    pub fn status(&self) -> Status {
        self.runs.iter().map(|run| run.status).max().unwrap_or_default()
    }

    /// The agent's mean latency in milliseconds.
    #[must_use]
    pub fn latency_ms(&self) -> f64 {
        let runs = self.runs.len().max(1) as f64;
        self.runs.iter().map(|run| run.latency_ms).sum::<f64>() / runs
    }

    /// Why the item has no output: the first trial's error.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.runs.iter().find_map(|run| run.error.as_deref())
    }

    /// Why the agent or, if it gave an output, an evaluator failed: the first such error.
    #[must_use]
    pub fn first_error(&self) -> Option<String> {
        self.runs.iter().find_map(|run| {
            let no_score = || {
                let (name, evaluation) =
                    run.evaluations.iter().find(|(_, evaluation)| evaluation.is_error())?;
                let reason = evaluation.error.as_deref().unwrap_or("no reason given");
                Some(format!("{name} gave no score: {reason}"))
            };
            run.error.clone().or_else(no_score)
        })
    }

    /// Whether any trial or any evaluator failed.
    #[must_use]
    pub fn is_in_error(&self) -> bool {
        self.runs.iter().any(Execution::is_in_error)
    }

    /// One evaluator's scores over the trials, without evaluations that failed or do not apply.
    pub fn scores<'a>(&'a self, evaluator: &'a str) -> impl Iterator<Item = f64> + 'a {
        self.runs.iter().filter_map(move |run| run.evaluations.get(evaluator)?.score)
    }
}

/// One evaluator's scores over an item's trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrialStats {
    /// The mean.
    pub mean: f64,
    /// The population standard deviation.
    pub stddev: f64,
    /// The lowest.
    pub min: f64,
    /// The highest.
    pub max: f64,
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// Each trial's score, in order.
    pub scores: Vec<f64>,
}

impl TrialStats {
    fn of(scores: Vec<f64>) -> Option<Self> {
        let d = describe(&scores)?;
        Some(Self {
            mean: d.mean,
            stddev: d.stddev_population,
            min: d.min,
            max: d.max,
            p50: d.p50,
            p95: d.p95,
            p99: d.p99,
            scores,
        })
    }
}

/// The file format of an execution.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Execution"))]
#[serde(rename_all = "camelCase")]
struct SerializedExecution<'a> {
    #[cfg_attr(feature = "schema", schemars(with = "Output"))]
    output: SerializedOutput<'a>,
    latency_ms: f64,
    evaluations: &'a Evaluations,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    traffic: Option<&'a Traffic>,
    #[serde(skip_serializing_if = "Trace::is_empty")]
    trace: &'a Trace,
    #[serde(skip_serializing_if = "is_zero")]
    dropped_spans: usize,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metrics: &'a Metrics,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    retried: &'a [RetriedExecution],
    #[serde(skip_serializing_if = "Option::is_none")]
    transcript: Option<&'a Transcript>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<&'a WorkspaceChanges>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    faults: &'a [InjectedFault],
}

/// An output. The original tool expects one even if the agent failed.
struct SerializedOutput<'a>(&'a Execution);

impl Serialize for SerializedOutput<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0.output {
            Some(output) => output.serialize(serializer),
            None => {
                let mut output = serializer.serialize_map(None)?;
                output.serialize_entry("output", "")?;
                if !self.0.recorded.is_empty() {
                    output.serialize_entry("metadata", &self.0.recorded)?;
                }
                output.end()
            }
        }
    }
}

impl<'a> From<&'a Execution> for SerializedExecution<'a> {
    fn from(run: &'a Execution) -> Self {
        Self {
            output: SerializedOutput(run),
            latency_ms: run.latency_ms,
            evaluations: &run.evaluations,
            status: run.status,
            error: run.error.as_deref(),
            traffic: run.traffic.as_deref(),
            trace: &run.trace,
            dropped_spans: run.dropped_spans,
            metrics: &run.metrics,
            retried: &run.retried,
            transcript: run.transcript.as_deref(),
            workspace: run.workspace.as_deref(),
            faults: &run.faults,
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Item"))]
#[serde(rename_all = "camelCase")]
pub struct SerializedItem<'a> {
    index: usize,
    key: &'a str,
    input: &'a Item,
    #[cfg_attr(feature = "schema", schemars(with = "Output"))]
    output: SerializedOutput<'a>,
    latency_ms: f64,
    evaluations: &'a Evaluations,
    status: Status,
    passed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    traffic: Option<&'a Traffic>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Trace"))]
    trace: Option<&'a Trace>,
    #[serde(skip_serializing_if = "is_zero")]
    dropped_spans: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Metrics"))]
    metrics: Option<&'a Metrics>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    retried: &'a [RetriedExecution],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    faults: &'a [InjectedFault],
    #[serde(skip_serializing_if = "Option::is_none")]
    transcript: Option<&'a Transcript>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<&'a WorkspaceChanges>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<Vec<SerializedExecution<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregated: Option<SerializedAggregation<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Aggregated"))]
#[serde(rename_all = "camelCase")]
struct SerializedAggregation<'a> {
    avg_latency_ms: f64,
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, TrialStats>"))]
    evaluations: Aggregations<'a>,
}

/// The aggregations of every evaluator that gave a score, in the evaluators' order.
struct Aggregations<'a>(&'a ItemResult);

impl Serialize for Aggregations<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in self.0.runs.iter().flat_map(|run| run.evaluations.iter()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let scored =
            names.into_iter().filter_map(|name| Some((name, TrialStats::of(self.0.scores(name).collect())?)));
        serializer.collect_map(scored)
    }
}

impl Serialize for ItemResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let first = self.first_trial();
        let several = self.runs.len() > 1;
        SerializedItem {
            index: self.index,
            key: &self.key,
            input: &self.input,
            output: SerializedOutput(first),
            latency_ms: self.latency_ms(),
            evaluations: &first.evaluations,
            status: self.status(),
            passed: self.passed,
            error: self.error(),
            traffic: first.traffic.as_deref().filter(|_| !several),
            trace: Some(&first.trace).filter(|trace| !several && !trace.is_empty()),
            dropped_spans: if several { 0 } else { first.dropped_spans },
            metrics: Some(&first.metrics).filter(|metrics| !several && !metrics.is_empty()),
            retried: if several { &[] } else { &first.retried },
            transcript: first.transcript.as_deref().filter(|_| !several),
            workspace: first.workspace.as_deref().filter(|_| !several),
            faults: if several { &[] } else { &first.faults },
            runs: several.then(|| self.runs.iter().map(SerializedExecution::from).collect()),
            aggregated: several.then(|| SerializedAggregation {
                avg_latency_ms: self.latency_ms(),
                evaluations: Aggregations(self),
            }),
        }
        .serialize(serializer)
    }
}

/// `T` is the type of the trace.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound = "T: Default + Deserialize<'de>")]
struct ParsedExecution<T> {
    #[serde(default)]
    output: Option<Output>,
    #[serde(default)]
    latency_ms: f64,
    #[serde(default)]
    evaluations: Evaluations,
    status: Option<Status>,
    error: Option<String>,
    traffic: Option<Box<Traffic>>,
    #[serde(default)]
    trace: T,
    #[serde(default)]
    dropped_spans: usize,
    #[serde(default)]
    metrics: Metrics,
    #[serde(default)]
    retried: Vec<RetriedExecution>,
    transcript: Option<Box<Transcript>>,
    workspace: Option<Box<WorkspaceChanges>>,
    #[serde(default)]
    faults: Vec<InjectedFault>,
}

impl<T: Into<Trace>> From<ParsedExecution<T>> for Execution {
    fn from(run: ParsedExecution<T>) -> Self {
        let status = run.status.unwrap_or_else(|| infer_status(run.error.as_deref()));
        let (output, recorded) = match run.output {
            output if status == Status::Ok => (output, Item::new()),
            output => (None, output.map(Output::into_metadata).unwrap_or_default()),
        };
        let ParsedExecution {
            latency_ms,
            evaluations,
            error,
            traffic,
            trace,
            dropped_spans,
            metrics,
            retried,
            transcript,
            workspace,
            faults,
            ..
        } = run;
        Self {
            status,
            output,
            latency_ms,
            evaluations,
            error,
            recorded,
            traffic,
            trace: trace.into(),
            dropped_spans,
            metrics,
            retried,
            transcript,
            workspace,
            faults,
        }
    }
}

/// The original tool stores no status: the error's text distinguishes a timeout from a failure.
fn infer_status(error: Option<&str>) -> Status {
    match error {
        None => Status::Ok,
        Some(error) if error.contains("timed out after") => Status::Timeout,
        Some(_) => Status::Error,
    }
}

/// `T` is the type of the trace.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound = "T: Default + Deserialize<'de>")]
struct ParsedItem<T> {
    index: usize,
    #[serde(default)]
    key: String,
    input: Value,
    passed: Option<bool>,
    runs: Option<Vec<ParsedExecution<T>>>,
    #[serde(default)]
    output: Option<Output>,
    #[serde(default)]
    latency_ms: f64,
    #[serde(default)]
    evaluations: Evaluations,
    status: Option<Status>,
    error: Option<String>,
    traffic: Option<Box<Traffic>>,
    #[serde(default)]
    trace: T,
    #[serde(default)]
    dropped_spans: usize,
    #[serde(default)]
    metrics: Metrics,
    #[serde(default)]
    retried: Vec<RetriedExecution>,
    transcript: Option<Box<Transcript>>,
    workspace: Option<Box<WorkspaceChanges>>,
    #[serde(default)]
    faults: Vec<InjectedFault>,
}

impl<'de> Deserialize<'de> for ItemResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ParsedItem::<Trace>::deserialize(deserializer).map(Self::from)
    }
}

/// An item that is read without the contents of its spans: their errors, attributes, messages, arguments and results.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemWithoutContents(pub ItemResult);

impl<'de> Deserialize<'de> for ItemWithoutContents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ParsedItem::<TraceWithoutContents>::deserialize(deserializer).map(|item| Self(item.into()))
    }
}

impl<T: Into<Trace>> From<ParsedItem<T>> for ItemResult {
    fn from(item: ParsedItem<T>) -> Self {
        let mut runs: Vec<Execution> =
            item.runs.unwrap_or_default().into_iter().map(Execution::from).collect();
        if runs.is_empty() {
            runs.push(Execution::from(ParsedExecution {
                output: item.output,
                latency_ms: item.latency_ms,
                evaluations: item.evaluations,
                status: item.status,
                error: item.error,
                traffic: item.traffic,
                trace: item.trace,
                dropped_spans: item.dropped_spans,
                metrics: item.metrics,
                retried: item.retried,
                transcript: item.transcript,
                workspace: item.workspace,
                faults: item.faults,
            }));
        }
        let input = match item.input {
            Value::Object(fields) => fields,
            other => Item::from_iter([("input".to_owned(), other)]),
        };
        let passed = item.passed.unwrap_or_else(|| !runs.iter().any(Execution::is_in_error));
        Self { index: item.index, key: item.key, input: Arc::new(input), passed, runs }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::item::into_item;

    fn execution(score: f64) -> Execution {
        Execution {
            output: Some(Output::new("4").tokens(1, 2)),
            latency_ms: 2.0,
            evaluations: Evaluations::from_iter([(
                "exact".into(),
                ScoredEvaluation { score: Some(score), ..Default::default() },
            )]),
            ..Execution::default()
        }
    }

    fn item(runs: Vec<Execution>) -> ItemResult {
        ItemResult {
            index: 3,
            key: "k".to_owned(),
            input: Arc::new(into_item(json!({ "input": "2 + 2" })).unwrap()),
            passed: true,
            runs,
        }
    }

    #[test]
    fn an_item_of_one_run_has_no_list_of_runs() {
        let json = serde_json::to_value(item(vec![execution(1.0)])).unwrap();
        assert_eq!(
            json,
            json!({
                "index": 3, "key": "k", "input": {"input": "2 + 2"},
                "output": {"output": "4", "metadata": {"tokens": {"input": 1, "output": 2}}},
                "latencyMs": 2.0, "evaluations": {"exact": {"score": 1.0}}, "status": "ok", "passed": true,
            })
        );
    }

    #[test]
    fn several_runs_are_kept_and_aggregated_and_the_worst_gives_the_status() {
        let failed =
            Execution { status: Status::Error, error: Some("no".to_owned()), ..Execution::default() };
        let json = serde_json::to_value(item(vec![execution(1.0), failed, execution(0.5)])).unwrap();
        assert_eq!(json["status"], "error");
        assert_eq!(json["runs"].as_array().unwrap().len(), 3);
        assert_eq!(json["aggregated"]["evaluations"]["exact"]["scores"], json!([1.0, 0.5]));
        assert_eq!(json["aggregated"]["evaluations"]["exact"]["mean"], 0.75);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let failed =
            Execution { status: Status::Timeout, error: Some("slow".to_owned()), ..Execution::default() };
        let recorded =
            into_item(json!({ "tokens": { "input": 3, "output": 1 }, "toolCalls": [{ "tool": "look" }] }))
                .unwrap();
        let changes = WorkspaceChanges { patch: "+a\n".to_owned(), ..WorkspaceChanges::default() };
        let changed = Execution { workspace: Some(Box::new(changes)), ..execution(1.0) };
        let fault = |call| InjectedFault { tool: "look".to_owned(), call, fault: "timeout".to_owned() };
        let half = Execution { recorded, faults: vec![fault(1), fault(2)], ..failed.clone() };
        for runs in [
            vec![changed.clone()],
            vec![changed, execution(1.0)],
            vec![execution(0.1 + 0.2)],
            vec![execution(1.0), failed.clone()],
            vec![failed],
            vec![half.clone()],
            vec![half, execution(1.0)],
        ] {
            let written = item(runs);
            let text = serde_json::to_string(&written).unwrap();
            assert_eq!(serde_json::from_str::<ItemResult>(&text).unwrap(), written, "{text}");
        }
    }
}
