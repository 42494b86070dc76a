//! The scores of a trace, which has at least one span.

use std::collections::BTreeSet;
use std::time::Duration;

use cobalt_core::reporters::format_duration;
use cobalt_core::trace::{Span, SpanKind, Trace};
use cobalt_core::wording::{count, suggest_or_list, truncate};
use serde_json::Value;

use crate::evaluators::calls::from_trace;
use crate::evaluators::reasons::{format_list, format_times};
use crate::evaluators::{EvalError, Score};
use crate::metrics::longest_common_subsequence;

/// The error for an execution without spans.
pub const NO_SPANS: &str = "the execution has no trace, so there is nothing to check; spans of `tracing`, OpenTelemetry spans and requests \
     through the gateway become its trace, see `cobalt::trace`";

pub fn has_span(name: &str, kind: Option<SpanKind>, trace: &Trace) -> Score {
    let found = trace.named(name).filter(|span| is_of(kind, span)).count();
    let what = span_noun(kind);
    let reason = match found {
        0 => {
            let spans = trace.spans().iter().filter(|span| is_of(kind, span));
            let names: BTreeSet<_> = spans.map(display_name).collect();
            match names.is_empty() {
                true => format!("no {what} is named `{name}`; there are no {what}s"),
                false => format!("no {what} is named `{name}`; {}", suggest_or_list(name, names)),
            }
        }
        found => format!("found `{name}` {}", format_times(found)),
    };
    Score::from(found > 0).reason(reason).metadata("spans", found)
}

pub fn none_failed(kind: Option<SpanKind>, trace: &Trace) -> Score {
    let all = trace.spans().iter().filter(|span| is_of(kind, span)).count();
    let failed: Vec<_> = trace.failed().filter(|span| is_of(kind, span)).collect();
    let spans = count(all, &span_noun(kind));
    let reason = match &failed[..] {
        [] => format!("none of {spans} failed"),
        failed => {
            let failed: Vec<_> = failed.iter().map(|span| format_failed(span)).collect();
            format!("{} of {spans} failed: {}", failed.len(), format_list(&failed))
        }
    };
    Score::from(failed.is_empty()).reason(reason).metadata("spans", all).metadata("failed", failed.len())
}

/// 1 up to the limit, and beyond it the limit divided by the number of spans. Zero model or tool calls count only if the trace would show
/// them.
pub fn at_most(kind: SpanKind, limit: usize, trace: &Trace) -> Result<Score, EvalError> {
    let made = match kind {
        SpanKind::Model => Some(trace.model_calls().count())
            .filter(|calls| *calls > 0 || trace.of_kind(SpanKind::Agent).next().is_some()),
        SpanKind::Tool => from_trace::read(trace).map(|calls| calls.len()),
        kind => Some(trace.of_kind(kind).count()),
    };
    let Some(made) = made else {
        return Err(EvalError::new(format!(
            "the trace does not show whether the agent made {kind} calls: it needs spans of them, see `cobalt::trace`"
        )));
    };
    let score = if made <= limit { 1.0 } else { limit as f64 / made as f64 };
    let noun = match kind {
        SpanKind::Model | SpanKind::Tool => format!("{kind} call"),
        kind => span_noun(Some(kind)),
    };
    Ok(Score::new(score)
        .reason(format!("{}, at most {limit}", count(made, &noun)))
        .metadata("spans", made)
        .metadata("most", limit))
}

/// The share of the names whose spans started in this order.
pub fn path(names: &[&str], trace: &Trace) -> Score {
    // A tool's span has two names, of which one may be in the path.
    let name = |span: &'_ Span| names.iter().position(|name| is_named(span, name)).map(|index| names[index]);
    let started: Vec<&str> = trace.spans().iter().filter_map(name).collect();
    let matches = |wanted: usize, made: usize| names[wanted] == started[made];
    let followed = longest_common_subsequence(names.len(), started.len(), matches);
    let mut left = started.clone();
    let mut take = |name: &str| {
        let found = left.iter().position(|made| *made == name);
        found.map(|index| left.swap_remove(index)).is_some()
    };
    for (wanted, _) in &followed {
        take(names[*wanted]);
    }
    let (mut out_of_order, mut missing) = (Vec::new(), Vec::new());
    for (_, name) in
        names.iter().enumerate().filter(|(index, _)| followed.iter().all(|(wanted, _)| wanted != index))
    {
        let list = if take(name) { &mut out_of_order } else { &mut missing };
        list.push((*name).to_owned());
    }
    let mut reason = format!("{} of {} in order", followed.len(), count(names.len(), "span"));
    let mut score = Score::new(followed.len() as f64 / names.len() as f64)
        .metadata("expected", names.len())
        .metadata("matched", followed.len());
    for (title, key, names) in [("out of order", "outOfOrder", out_of_order), ("missing", "missing", missing)]
    {
        if !names.is_empty() {
            reason.push_str(&format!("; {title}: {}", format_list(&names)));
            score = score.metadata(key, names.into_iter().map(Value::from).collect::<Vec<_>>());
        }
    }
    score.reason(reason)
}

pub fn time_to_first_token(within: Duration, trace: &Trace) -> Result<Score, EvalError> {
    let Some(took) = trace.time_to_first_token_ms() else {
        return Err(EvalError::new(
            "no model call reports its time to the first token: only streamed responses have one, if they pass through the gateway or \
             their spans report it",
        ));
    };
    let within = within.as_secs_f64() * 1000.0;
    let score = if took <= within { 1.0 } else { within / took };
    Ok(Score::new(score)
        .reason(format!("first token after {}, at most {}", format_duration(took), format_duration(within)))
        .metadata("timeToFirstTokenMs", took)
        .metadata("mostMs", within))
}

fn is_of(kind: Option<SpanKind>, span: &Span) -> bool {
    kind.is_none_or(|kind| span.kind == kind)
}

fn span_noun(kind: Option<SpanKind>) -> String {
    kind.map_or_else(|| "span".to_owned(), |kind| format!("{kind} span"))
}

fn is_named(span: &Span, name: &str) -> bool {
    span.name == name || span.tool.as_ref().is_some_and(|tool| tool.name == name)
}

/// The name of the tool, or else of the span.
fn display_name(span: &Span) -> &str {
    span.tool.as_ref().map_or(&*span.name, |tool| &*tool.name)
}

/// A failed span with its error.
fn format_failed(span: &Span) -> String {
    const LONGEST: usize = 80;
    let error = span.error.as_deref().or_else(|| span.tool.as_ref()?.error.as_deref());
    match error {
        Some(error) => format!("{} ({})", display_name(span), truncate(error.trim(), LONGEST)),
        None => display_name(span).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn trace(spans: Value) -> Trace {
        serde_json::from_value(spans).unwrap()
    }

    fn research() -> Trace {
        trace(json!([
            { "id": "a", "name": "research", "kind": "agent" },
            { "id": "b", "parent": "a", "name": "chat", "kind": "model", "model": { "timeToFirstTokenMs": 400, "replayed": true } },
            { "id": "c", "parent": "b", "name": "POST", "kind": "model", "model": {} },
            { "id": "d", "parent": "a", "name": "execute_tool", "kind": "tool", "status": "error", "tool": { "name": "search", "error": "no network" } },
            { "id": "e", "parent": "a", "name": "execute_tool", "kind": "tool", "tool": { "name": "search" } },
            { "id": "f", "parent": "a", "name": "chat", "kind": "model", "status": "open", "model": { "timeToFirstTokenMs": 900 } },
        ]))
    }

    fn shown(score: &Score) -> (f64, &str) {
        (score.value(), score.why().unwrap())
    }

    #[test]
    fn a_span_is_found_by_its_name_or_that_of_its_tool_and_by_its_kind() {
        let has = |name, kind| has_span(name, kind, &research());
        assert_eq!(shown(&has("search", None)), (1.0, "found `search` twice"));
        assert_eq!(shown(&has("research", Some(SpanKind::Agent))), (1.0, "found `research` once"));
        assert_eq!(
            shown(&has("serch", Some(SpanKind::Tool))),
            (0.0, "no tool span is named `serch`; did you mean `search`? available: `search`")
        );
        assert_eq!(
            shown(&has("chat", Some(SpanKind::Retrieval))),
            (0.0, "no retrieval span is named `chat`; there are no retrieval spans")
        );
    }

    #[test]
    fn a_failed_span_is_named_with_its_error() {
        assert_eq!(shown(&none_failed(None, &research())), (0.0, "1 of 6 spans failed: search (no network)"));
        assert_eq!(
            shown(&none_failed(Some(SpanKind::Model), &research())),
            (1.0, "none of 3 model spans failed")
        );
    }

    #[test]
    fn calls_over_the_limit_lower_the_score_and_a_model_call_within_another_counts_once() {
        let most = |kind, limit| at_most(kind, limit, &research()).unwrap();
        assert_eq!(shown(&most(SpanKind::Model, 2)), (1.0, "2 model calls, at most 2"));
        assert_eq!(shown(&most(SpanKind::Tool, 1)), (0.5, "2 tool calls, at most 1"));
        assert_eq!(shown(&most(SpanKind::Tool, 0)).0, 0.0);
        assert_eq!(shown(&most(SpanKind::Agent, 1)), (1.0, "1 agent span, at most 1"));
        assert_eq!(shown(&most(SpanKind::Retrieval, 0)), (1.0, "0 retrieval spans, at most 0"));
    }

    #[test]
    fn calls_that_a_trace_would_not_show_are_an_error_and_no_score() {
        let own = trace(json!([{ "id": "a", "name": "parse" }]));
        for kind in [SpanKind::Model, SpanKind::Tool] {
            let error = at_most(kind, 3, &own).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("the trace does not show whether the agent made {kind} calls")),
                "{error}"
            );
        }
        let agent = trace(json!([{ "id": "a", "kind": "agent" }]));
        assert_eq!(at_most(SpanKind::Model, 3, &agent).unwrap().value(), 1.0);
        let asks = trace(json!([{ "id": "a", "kind": "model", "model": { "finishReason": "tool_calls" } }]));
        assert!(at_most(SpanKind::Tool, 3, &asks).is_err(), "the calls are not in the trace");
        assert_eq!(at_most(SpanKind::Model, 3, &asks).unwrap().value(), 1.0);
    }

    #[test]
    fn a_path_is_followed_in_order_with_others_in_between() {
        let followed = |names: &[&str]| path(names, &research());
        assert_eq!(shown(&followed(&["research", "search", "chat"])), (1.0, "3 of 3 spans in order"));
        assert_eq!(shown(&followed(&["search", "search"])).0, 1.0);
        assert_eq!(
            shown(&followed(&["search", "research", "answer", "chat"])),
            (0.5, "2 of 4 spans in order; out of order: search; missing: answer")
        );
        assert_eq!(shown(&followed(&["book"])), (0.0, "0 of 1 span in order; missing: book"));
        assert_eq!(followed(&["search", "book"]).all_metadata()["missing"], json!(["book"]));
    }

    #[test]
    fn the_first_token_is_that_of_the_first_streamed_call_as_recorded() {
        let within =
            |milliseconds| time_to_first_token(Duration::from_millis(milliseconds), &research()).unwrap();
        // The outer of two nested calls is no call of its own.
        assert_eq!(shown(&within(900)), (1.0, "first token after 900 ms, at most 900 ms"));
        assert_eq!(shown(&within(450)), (0.5, "first token after 900 ms, at most 450 ms"));
        let whole = trace(json!([{ "id": "a", "kind": "model", "model": {} }]));
        let error = time_to_first_token(Duration::from_secs(1), &whole).unwrap_err().to_string();
        assert!(error.starts_with("no model call reports its time to the first token"), "{error}");
    }
}
