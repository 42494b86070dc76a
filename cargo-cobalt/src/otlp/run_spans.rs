//! The spans of a run: one in a trace of its own, and a trace per trial of an item.
//!
//! Source: <https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-events/>.

use std::iter;
use std::time::UNIX_EPOCH;

use cobalt_core::experiment_name::case_name;
use cobalt_core::item::TokenCount;
use cobalt_core::prices::{JudgeUsage, PriceTable};
use cobalt_core::report::{Execution, ItemResult, Report, RunVerdict, ScoredEvaluation, Status, Summary};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::{Event, Link, SpanKind};
use serde_json::{Value, json};

use super::attributes::Attributes;
use super::ids::TraceIds;
use super::trace_spans::{OTHER_ERROR, after, error_status, trace_spans};
use crate::results::{FinishedExperiment, NamedItem};

/// The spans of a run and of the items that reports show.
pub fn run_spans<'a>(
    FinishedExperiment { report, items, .. }: &'a FinishedExperiment,
    prices: &'a PriceTable,
) -> impl Iterator<Item = Span> + 'a {
    let run = RunContext::of(report, prices);
    let root = run.root_span();
    let trials = items.shown().iter().flat_map(|NamedItem { case, item, .. }| {
        item.runs.iter().enumerate().map(move |(index, execution)| (item, case, index + 1, execution))
    });
    iter::once(root).chain(trials.flat_map(move |(item, case, trial, execution)| {
        let ids = TraceIds::of_trial(&report.id, item.index, &item.key, trial);
        let root = run.trial_span(item, case, trial, execution, &ids);
        let below: Vec<_> = trace_spans(&execution.trace, &ids, run.start).collect();
        iter::once(root).chain(below)
    }))
}

/// A run, and what its spans have in common.
#[derive(Debug)]
struct RunContext<'a> {
    report: &'a Report,
    prices: &'a PriceTable,
    ids: TraceIds,
    /// The start of the run, in nanoseconds since 1970. Result files have no start of each item: all begin with the run.
    start: u64,
    /// The experiment's name in test cases.
    experiment: String,
}

impl<'a> RunContext<'a> {
    fn of(report: &'a Report, prices: &'a PriceTable) -> Self {
        let since = report.timestamp.time().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            report,
            prices,
            ids: TraceIds::of_run(&report.id),
            start: u64::try_from(since.as_nanos()).unwrap_or(u64::MAX),
            experiment: case_name(&report.name),
        }
    }

    /// The attributes that all root spans have.
    fn shared_attributes(&self) -> Attributes {
        let report = self.report;
        let mut attributes = Attributes::default();
        attributes.set("test.suite.name", &*report.name);
        attributes.set("cobalt.run.id", &*report.id);
        attributes.set("vcs.ref.head.revision", report.git.as_ref().map(|git| &*git.commit));
        let tags = report.tags.as_slice();
        if !tags.is_empty() {
            attributes.set("langfuse.trace.tags", tags);
            attributes.set("tag.tags", tags);
        }
        // Tools group the traces of a session.
        attributes.set("session.id", &*report.id);
        attributes
    }

    fn root_span(&self) -> Span {
        let Report { summary, verdict, .. } = self.report;
        let mut attributes = self.shared_attributes();
        let status = match verdict {
            RunVerdict::Passed => Some("success"),
            RunVerdict::Failed => Some("failure"),
            RunVerdict::NotEvaluated => None,
        };
        attributes.set("test.suite.run.status", status);
        attributes.set("openinference.span.kind", "CHAIN");
        attributes.set("cobalt.verdict", verdict.to_string());
        attributes.set("cobalt.items", summary.total_items);
        attributes.set("cobalt.items.passed", summary.passed_items);
        attributes.set("cobalt.items.below_pass_mark", summary.low_items);
        attributes.set("cobalt.items.failed", summary.failed_items);
        attributes.set("cobalt.eval_errors", summary.eval_errors);
        attributes.set("cobalt.rescored.run", self.report.rescored.as_ref().map(|rescored| &*rescored.run));
        attributes.set("cobalt.agent_cost", summary.estimated_cost);
        attributes.set("cobalt.judge_cost", summary.judge_cost);
        let users = summary.simulated_users.as_deref();
        attributes.set("cobalt.user_cost", users.and_then(JudgeUsage::known_cost));
        attributes.set("cobalt.dataset", self.report.dataset.as_ref().map(|dataset| &*dataset.source));
        for (name, stats) in &summary.scores {
            attributes.set(&format!("cobalt.mean_score.{name}"), stats.avg);
        }
        for (name, metric) in &summary.run_metrics {
            attributes.set(&format!("cobalt.run_metric.{name}"), metric.value);
        }
        #[expect(clippy::cast_precision_loss, reason = "durations are shorter than 2^53 ms")]
        let end = after(self.start, summary.total_duration_ms as f64);
        let thresholds = self.report.thresholds().iter();
        let missed: Vec<_> = thresholds.filter(|threshold| !threshold.passed).map(|it| &*it.name).collect();
        if !missed.is_empty() {
            attributes.set("cobalt.thresholds.missed", &json!(missed));
        }
        Span {
            trace_id: self.ids.trace.clone(),
            span_id: self.ids.root.clone(),
            name: format!("run {}", self.experiment),
            kind: SpanKind::Internal.into(),
            start_time_unix_nano: self.start,
            end_time_unix_nano: end,
            attributes: attributes.into_vec(),
            status: (*verdict == RunVerdict::Failed)
                .then(|| error_status(summary_errors(summary).as_deref())),
            ..Span::default()
        }
    }

    fn trial_span(
        &self,
        item: &ItemResult,
        case: &str,
        trial: usize,
        execution: &Execution,
        ids: &TraceIds,
    ) -> Span {
        let end = after(self.start, execution.latency_ms);
        let link =
            Link { trace_id: self.ids.trace.clone(), span_id: self.ids.root.clone(), ..Link::default() };
        Span {
            trace_id: ids.trace.clone(),
            span_id: ids.root.clone(),
            name: format!("{}::{case}", self.experiment),
            kind: SpanKind::Internal.into(),
            start_time_unix_nano: self.start,
            end_time_unix_nano: end,
            attributes: self.trial_attributes(item, case, trial, execution).into_vec(),
            events: self.evaluation_events(execution, end),
            links: vec![link],
            status: (execution.status != Status::Ok).then(|| error_status(execution.error.as_deref())),
            ..Span::default()
        }
    }

    fn trial_attributes(
        &self,
        item: &ItemResult,
        case: &str,
        trial: usize,
        execution: &Execution,
    ) -> Attributes {
        let config = &self.report.config;
        let mut attributes = self.shared_attributes();
        attributes.set("test.case.name", format!("{}::{case}", self.experiment));
        let passed =
            !execution.is_in_error() && self.scores(execution).all(|(_, _, label)| label != Some("fail"));
        let fails = execution.is_in_error() || config.strict && !passed;
        attributes.set("test.case.result.status", if fails { "fail" } else { "pass" });
        attributes.set("gen_ai.operation.name", "invoke_agent");
        attributes.set("gen_ai.agent.name", &*self.report.name);
        attributes.set("openinference.span.kind", "AGENT");
        attributes.set_content("input", &Value::Object((*item.input).clone()));
        if let Some(output) = &execution.output {
            attributes.set_content("output", output.value());
        }
        attributes.set("error.type", error_type(execution.status));
        attributes.set("cobalt.item.key", &*item.key);
        attributes.set("cobalt.item.index", item.index);
        attributes.set("cobalt.trial", trial);
        attributes.set("cobalt.passed", passed);
        attributes
            .set("cobalt.retried_attempts", Some(execution.retried.len()).filter(|retried| *retried > 0));
        attributes.set("cobalt.dropped_spans", Some(execution.dropped_spans).filter(|dropped| *dropped > 0));
        for (name, evaluation, _) in self.scores(execution) {
            attributes.set(&format!("cobalt.score.{name}"), evaluation.score);
        }
        for (name, metric) in &execution.metrics {
            attributes.set(&format!("cobalt.metric.{name}"), metric.value);
        }
        // Tools add up the usage of all spans.
        if execution.trace.model_calls().next().is_none() {
            self.set_usage(&mut attributes, execution);
        }
        attributes
    }

    /// The usage that the agent reported without spans of its model calls.
    fn set_usage(&self, attributes: &mut Attributes, execution: &Execution) {
        let metadata = execution.metadata();
        attributes.set("gen_ai.request.model", metadata.get("model").and_then(Value::as_str));
        if let Some(TokenCount { split: Some((input, output)), cached_input, .. }) = execution.token_count() {
            attributes.set("gen_ai.usage.input_tokens", input);
            attributes.set("gen_ai.usage.output_tokens", output);
            let cached = Some(cached_input).filter(|tokens| *tokens > 0);
            attributes.set("gen_ai.usage.cache_read.input_tokens", cached);
        }
        attributes.set("gen_ai.usage.cost", execution.cost(self.prices));
    }

    /// The evaluations, each with its label; `None` for one that failed.
    fn scores<'b>(
        &'b self,
        execution: &'b Execution,
    ) -> impl Iterator<Item = (&'b str, &'b ScoredEvaluation, Option<&'static str>)> {
        execution.evaluations.iter().map(|(name, evaluation)| {
            let mark = self.report.config.evaluators().find(|(known, _)| *known == name);
            let mark = mark.map_or(cobalt_core::report::DEFAULT_PASS_MARK, |(_, mark)| mark);
            let label = match evaluation.score {
                Some(score) => Some(if score >= mark { "pass" } else { "fail" }),
                None => evaluation.not_applicable.then_some("n/a"),
            };
            (name, evaluation, label)
        })
    }

    fn evaluation_events(&self, execution: &Execution, end: u64) -> Vec<Event> {
        let event = |(name, evaluation, label): (&str, &ScoredEvaluation, Option<&str>)| {
            let ScoredEvaluation { score, reason, error, .. } = evaluation;
            let mut attributes = Attributes::default();
            attributes.set("gen_ai.evaluation.name", name);
            attributes.set("gen_ai.evaluation.score.value", *score);
            attributes.set("gen_ai.evaluation.score.label", label);
            attributes.set("gen_ai.evaluation.explanation", reason.as_deref().or(error.as_deref()));
            attributes.set("error.type", evaluation.is_error().then_some(OTHER_ERROR));
            Event {
                time_unix_nano: end,
                name: "gen_ai.evaluation.result".to_owned(),
                attributes: attributes.into_vec(),
                ..Event::default()
            }
        };
        self.scores(execution).map(event).collect()
    }
}

fn error_type(status: Status) -> Option<&'static str> {
    match status {
        Status::Ok => None,
        Status::Timeout => Some("timeout"),
        Status::Error => Some(OTHER_ERROR),
    }
}

/// Why summary functions failed, if any did.
fn summary_errors(summary: &Summary) -> Option<String> {
    let errors = summary.summary_errors.iter();
    let errors: Vec<_> =
        errors.map(|(name, error)| format!("summary function `{name}` failed: {error}")).collect();
    (!errors.is_empty()).then(|| errors.join("; "))
}
