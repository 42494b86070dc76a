//! Assembles the trace of an execution from the spans and the requests that were seen of it. What was seen twice is there once.

use std::cmp::{Ordering, Reverse};
use std::collections::{HashMap, HashSet};
use std::time::Instant;

use serde_json::Value;

use super::own_tools::merge_own_tools;
use super::reported::{ReadSpan, ReportedSpan, parsed};
use super::span::{ModelSpan, Span, SpanKind, SpanStatus, ToolSpan};
use super::spans::Trace;
use crate::duration::milliseconds;
use crate::recordings::RequestedCall;

/// How long after the end of a client's span the gateway may still read the response, in milliseconds.
const SLACK_MS: f64 = 100.0;
/// How far apart a span and a request of the same call may be, in milliseconds.
const MAX_GAP_MS: f64 = 1_000.0;

/// A request that passed through the gateway, and its response.
#[derive(Clone, Debug)]
pub struct GatewayCall {
    /// When it was sent.
    pub started: Instant,
    /// Milliseconds until the end of the response.
    pub duration_ms: f64,
    /// The request and its response.
    pub model: ModelSpan,
    /// The calls of tools that the response requests.
    pub requested: Vec<RequestedCall>,
    /// The results of tools in the request, each with the id of its call, or else the tool's name.
    pub results: Vec<(String, Value)>,
    /// Why there is no answer.
    pub error: Option<String>,
}

/// What was seen of an execution.
#[derive(Debug)]
pub struct TraceSources {
    /// When the execution started.
    pub started: Instant,
    /// Spans.
    pub spans: Vec<ReportedSpan>,
    /// Requests through the gateway, in order.
    pub calls: Vec<GatewayCall>,
}

impl TraceSources {
    /// The trace.
    #[must_use]
    pub fn assemble(self) -> Trace {
        let Self { started, spans, calls } = self;
        let mut assembly = Assembly::new(spans);
        assembly.unwrap_outer_models();
        let timed: Vec<_> = calls.into_iter().map(|call| TimedCall::of(call, started)).collect();
        let places = assembly.match_calls(&timed);
        for (call, place) in timed.into_iter().zip(places) {
            assembly.add_call(call, place);
        }
        assembly.fail_unanswered();
        assembly.add_requested_tools();
        assembly.add_reported_results();
        assembly.finish()
    }
}

#[derive(Debug, Default)]
struct Assembly {
    spans: Vec<ReadSpan>,
    /// The places of spans, by their ids.
    places: HashMap<u64, usize>,
    /// The model spans that stand for a request of the gateway.
    matched: HashSet<u64>,
    /// The errors of requests in model spans without an answer.
    failed_calls: HashMap<u64, String>,
    next_id: u64,
}

impl Assembly {
    fn new(reported: Vec<ReportedSpan>) -> Self {
        let mut assembly = Self { next_id: 1, ..Self::default() };
        let mut spans: Vec<_> = reported.into_iter().map(ReportedSpan::read).collect();
        merge_own_tools(&mut spans);
        spans.into_iter().for_each(|span| assembly.push(span));
        assembly
    }

    fn push(&mut self, span: ReadSpan) {
        self.next_id = self.next_id.max(span.id.saturating_add(1));
        self.places.insert(span.id, self.spans.len());
        self.spans.push(span);
    }

    /// The places of the spans that contain a span, innermost first.
    fn ancestors(&self, span: &ReadSpan) -> impl Iterator<Item = usize> {
        let place = |id: Option<u64>| self.places.get(&id?).copied();
        std::iter::successors(place(span.parent), move |at| place(self.spans[*at].parent))
            .take(self.spans.len())
    }

    /// A span around one request belongs to the request; one around several is a step.
    fn unwrap_outer_models(&mut self) {
        let mut inner: HashMap<usize, Vec<usize>> = HashMap::new();
        for (place, span) in self.spans.iter().enumerate() {
            if span.span.kind == SpanKind::Model {
                // A tool or an agent of a model call makes calls of its own.
                let is_step =
                    |at: &usize| !matches!(self.spans[*at].span.kind, SpanKind::Tool | SpanKind::Agent);
                let around = self.ancestors(span).take_while(is_step);
                for outer in around.filter(|at| self.spans[*at].span.kind == SpanKind::Model) {
                    inner.entry(outer).or_default().push(place);
                }
            }
        }
        let innermost = inner.iter().map(|(outer, places)| {
            let places: Vec<_> = places.iter().copied().filter(|at| !inner.contains_key(at)).collect();
            (self.ancestors(&self.spans[*outer]).count(), *outer, places)
        });
        let mut innermost: Vec<_> = innermost.collect();
        // The nearest one knows most of the call.
        innermost.sort_by_key(|(depth, outer, _)| (Reverse(*depth), *outer));
        for (_, outer, places) in innermost {
            let outer = &mut self.spans[outer];
            outer.span.kind = if places.len() > 1 { SpanKind::Agent } else { SpanKind::Other };
            let (model, requested) = (outer.span.model.take(), std::mem::take(&mut outer.requested));
            let results = std::mem::take(&mut outer.results);
            if let [only] = places[..] {
                let inner = &mut self.spans[only];
                if let (Some(outer), Some(inner)) = (model, inner.span.model.as_mut()) {
                    inner.add_missing(*outer);
                }
                if inner.requested.is_empty() {
                    inner.requested = requested;
                }
                if inner.results.is_empty() {
                    inner.results = results;
                }
            }
        }
    }

    /// The place of each answered request's span. Each span is that of one request at most: the pairs that fit best come first.
    fn match_calls(&self, calls: &[TimedCall]) -> Vec<Option<usize>> {
        let mut pairs = Vec::new();
        for (number, call) in calls.iter().enumerate().filter(|(_, it)| it.call.error.is_none()) {
            for (place, span) in self.spans.iter().enumerate() {
                pairs.extend(Fit::of(&span.span, call).map(|fit| (fit, number, place)));
            }
        }
        pairs.sort_by(|(a, call_a, _), (b, call_b, _)| a.compare(b).then(call_a.cmp(call_b)));
        let mut places = vec![None; calls.len()];
        let mut taken = HashSet::new();
        for (_, number, place) in pairs {
            if places[number].is_none() && taken.insert(place) {
                places[number] = Some(place);
            }
        }
        places
    }

    /// Adds a request to the span at a place, or else as a span of its own. One without an answer belongs to the shortest open span
    /// around it.
    fn add_call(&mut self, TimedCall { call, start_ms, end_ms }: TimedCall, place: Option<usize>) {
        let GatewayCall { duration_ms, model, requested, results, error, .. } = call;
        let place = match &error {
            Some(_) => self.unmatched_around(&model, start_ms, end_ms),
            None => place.filter(|place| !self.matched.contains(&self.spans[*place].id)),
        };
        match (place, error) {
            // A client that repeats a request has one span for all attempts.
            (Some(place), Some(error)) if !self.spans[place].span.failed() => {
                self.failed_calls.insert(self.spans[place].id, error);
                if let Some(known) = &mut self.spans[place].span.model {
                    known.retries += 1;
                }
            }
            (Some(place), error) => {
                let ReadSpan { id, span, requested: known_calls, results: known_results, .. } =
                    &mut self.spans[place];
                self.matched.insert(*id);
                if let Some(known) = &mut span.model {
                    known.merge_response(model);
                }
                span.error = span.error.take().or(error);
                if known_calls.is_empty() {
                    *known_calls = requested;
                }
                known_results.extend(results);
            }
            (None, error) => {
                let id = self.next_id;
                self.matched.insert(id);
                let status = if error.is_some() { SpanStatus::Error } else { SpanStatus::Ok };
                let name = model.name().map_or_else(|| "request".to_owned(), |name| format!("chat {name}"));
                let span = Span {
                    name,
                    kind: SpanKind::Model,
                    start_ms,
                    duration_ms,
                    status,
                    error,
                    model: Some(Box::new(model)),
                    ..Span::default()
                };
                let parent = self.containing(start_ms, end_ms);
                self.push(ReadSpan { id, parent, span, requested, results, is_own: false });
            }
        }
    }

    /// Model spans whose requests all failed have failed, whether the client says so or not.
    fn fail_unanswered(&mut self) {
        for (id, error) in std::mem::take(&mut self.failed_calls) {
            if self.matched.contains(&id) {
                continue;
            }
            let Some(place) = self.places.get(&id) else { continue };
            let span = &mut self.spans[*place].span;
            span.status = SpanStatus::Error;
            span.error.get_or_insert(error);
            if let Some(model) = &mut span.model {
                model.retries -= 1;
            }
        }
    }

    /// The place of the shortest model span around a request without an answer.
    fn unmatched_around(&self, model: &ModelSpan, start_ms: f64, end_ms: f64) -> Option<usize> {
        let is_candidate = |(_, ReadSpan { id, span, .. }): &(usize, &ReadSpan)| {
            span.kind == SpanKind::Model
                && !self.matched.contains(id)
                && is_around(span, start_ms, end_ms)
                && is_same_model(span, model)
        };
        let around = self.spans.iter().enumerate().filter(is_candidate);
        let (place, _) = around.min_by(|(_, a), (_, b)| {
            let opened_later = |it: &ReadSpan| it.span.start_ms > start_ms;
            let shorter = a.span.duration_ms.total_cmp(&b.span.duration_ms);
            opened_later(a).cmp(&opened_later(b)).then(shorter)
        })?;
        Some(place)
    }

    /// The id of the shortest span that contains an interval, other than a model call.
    fn containing(&self, start_ms: f64, end_ms: f64) -> Option<u64> {
        let contains =
            |span: &&ReadSpan| span.span.kind != SpanKind::Model && is_around(&span.span, start_ms, end_ms);
        let shortest = self
            .spans
            .iter()
            .filter(contains)
            .min_by(|a, b| a.span.duration_ms.total_cmp(&b.span.duration_ms));
        shortest.map(|span| span.id)
    }

    /// Completes the spans of tools by what models requested, and adds those for which nobody opened a span.
    fn add_requested_tools(&mut self) {
        let mut results: Vec<(f64, Vec<(String, Value)>)> = Vec::new();
        for span in self.spans.iter_mut().filter(|span| span.span.kind == SpanKind::Model) {
            results.push((span.span.start_ms, std::mem::take(&mut span.results)));
        }
        results.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut models: Vec<usize> =
            (0..self.spans.len()).filter(|at| !self.spans[*at].requested.is_empty()).collect();
        models.sort_by(|a, b| self.spans[*a].span.start_ms.total_cmp(&self.spans[*b].span.start_ms));
        let mut claimed = HashSet::new();
        for place in models {
            let ReadSpan { parent, span, requested, .. } = &mut self.spans[place];
            let (parent, asked_ms, end_ms, requested) =
                (*parent, span.start_ms, span.end_ms(), std::mem::take(requested));
            for call in requested {
                let result = results.iter().filter(|(at, _)| *at >= asked_ms).find_map(|(at, results)| {
                    let is_it = |(id, _): &&(String, Value)| {
                        call.id.as_ref().map_or(*id == call.name, |own| own == id)
                    };
                    Some((*at, parsed(&results.iter().find(is_it)?.1)))
                });
                match self.tool_span(&call, asked_ms, &claimed) {
                    Some(tool) => {
                        claimed.insert(tool);
                        if let Some(tool) = &mut self.spans[tool].span.tool {
                            tool.call_id = tool.call_id.take().or(call.id);
                            tool.arguments = tool.arguments.take().or(Some(call.arguments));
                            if tool.error.is_none() {
                                tool.result = tool.result.take().or(result.map(|(_, result)| result));
                            }
                        }
                    }
                    None => {
                        let id = self.next_id;
                        let until = result.as_ref().map_or(end_ms, |(at, _)| *at);
                        let tool = ToolSpan {
                            name: call.name.clone(),
                            call_id: call.id,
                            arguments: Some(call.arguments),
                            result: result.map(|(_, result)| result),
                            error: None,
                        };
                        let span = Span {
                            name: call.name,
                            kind: SpanKind::Tool,
                            start_ms: end_ms,
                            duration_ms: (until - end_ms).max(0.0),
                            tool: Some(Box::new(tool)),
                            ..Span::default()
                        };
                        claimed.insert(self.spans.len());
                        self.push(ReadSpan { id, parent, span, ..ReadSpan::default() });
                    }
                }
            }
        }
    }

    /// The place of the span of a requested call.
    fn tool_span(&self, call: &RequestedCall, asked_ms: f64, claimed: &HashSet<usize>) -> Option<usize> {
        let tools = || {
            let unclaimed = self.spans.iter().enumerate().filter(|(place, _)| !claimed.contains(place));
            unclaimed
                .filter_map(|(place, span)| Some((place, span.span.start_ms, span.span.tool.as_deref()?)))
        };
        let by_id = tools().find(|(_, _, tool)| tool.call_id.is_some() && tool.call_id == call.id);
        let by_name = || {
            let is_it = |(_, start, tool): &(usize, f64, &ToolSpan)| {
                (tool.call_id.is_none() || call.id.is_none()) && tool.name == call.name && *start >= asked_ms
            };
            tools().filter(is_it).min_by(|a, b| a.1.total_cmp(&b.1))
        };
        by_id.or_else(by_name).map(|(place, ..)| place)
    }

    /// Gives tools the results that events in the spans around them report.
    fn add_reported_results(&mut self) {
        for around in 0..self.spans.len() {
            if self.spans[around].span.kind == SpanKind::Model {
                continue;
            }
            for (name, result) in std::mem::take(&mut self.spans[around].results) {
                let id = self.spans[around].id;
                let is_it = |span: &&mut ReadSpan| {
                    (span.id == id || span.parent == Some(id))
                        && span.span.tool.as_ref().is_some_and(|tool| {
                            tool.name == name && tool.result.is_none() && tool.error.is_none()
                        })
                };
                if let Some(tool) = self.spans.iter_mut().find(is_it).and_then(|span| span.span.tool.as_mut())
                {
                    tool.result = Some(parsed(&result));
                }
            }
        }
    }

    /// Orders and numbers the spans.
    fn finish(mut self) -> Trace {
        let depth = |span: &ReadSpan| self.ancestors(span).count();
        let depths: Vec<usize> = self.spans.iter().map(depth).collect();
        let mut order: Vec<usize> = (0..self.spans.len()).collect();
        let key = |at: &usize| (self.spans[*at].span.start_ms, depths[*at], *at);
        order.sort_by(|a, b| {
            let (a, b) = (key(a), key(b));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2))
        });
        let numbers: HashMap<u64, usize> =
            order.iter().zip(1..).map(|(at, number)| (self.spans[*at].id, number)).collect();
        let parent = |span: &ReadSpan| numbers.get(&span.parent?).map(ToString::to_string);
        let parents: Vec<Option<String>> = order.iter().map(|at| parent(&self.spans[*at])).collect();
        let spans = order.iter().zip(parents).zip(1..).map(|((at, parent), number)| Span {
            id: number.to_string(),
            parent,
            ..std::mem::take(&mut self.spans[*at].span)
        });
        spans.collect()
    }
}

/// A request with its times, in milliseconds from the start of the execution.
struct TimedCall {
    call: GatewayCall,
    start_ms: f64,
    end_ms: f64,
}

impl TimedCall {
    fn of(call: GatewayCall, started: Instant) -> Self {
        let start_ms = milliseconds(call.started.saturating_duration_since(started));
        let end_ms = start_ms + call.duration_ms;
        Self { call, start_ms, end_ms }
    }
}

/// How the time of a client's span fits that of a request. On a loaded machine, a client may end its span long before or after the
/// gateway has read the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TimeFit {
    /// The request was sent while the span was open, and answered by its end.
    Around,
    /// The request was sent while the span was open.
    Sent,
    Overlapping,
    Apart,
}

/// How well a span fits a request.
#[derive(Clone, Copy, Debug)]
struct Fit {
    is_same_response: bool,
    time: TimeFit,
    /// How many of the tokens and the output differ, and how many are equal.
    different: u8,
    equal: u8,
    /// Whether the span opened a little later: it has a clock of its own, or is that of the next request.
    opened_later: bool,
    /// How far apart they start, and the duration of the span, in milliseconds.
    distance_ms: f64,
    duration_ms: f64,
}

impl Fit {
    /// `None` if they are different calls.
    fn of(span: &Span, TimedCall { call, start_ms, end_ms }: &TimedCall) -> Option<Self> {
        let (seen, known) = (&call.model, span.model.as_deref());
        if span.kind != SpanKind::Model || !is_same_model(span, seen) {
            return None;
        }
        let starts_within = (span.start_ms - 1.0..=span.end_ms()).contains(start_ms);
        let time = if is_around(span, *start_ms, *end_ms) {
            TimeFit::Around
        } else if starts_within {
            TimeFit::Sent
        } else if span.start_ms <= *end_ms && *start_ms <= span.end_ms() {
            TimeFit::Overlapping
        } else {
            TimeFit::Apart
        };
        let counts = |model: &ModelSpan| model.tokens.map(|tokens| (tokens.input, tokens.output));
        let tokens = known.and_then(counts).zip(counts(seen)).map(|(a, b)| a == b);
        let output = known.and_then(|known| known.output.as_ref()).zip(seen.output.as_ref());
        let compared = [tokens, output.map(|(a, b)| a == b)];
        let count = |wanted: bool| compared.iter().filter(|it| **it == Some(wanted)).count() as u8;
        let (equal, different) = (count(true), count(false));
        let id = known.and_then(|known| known.response_id.as_ref());
        let is_same_response = id.is_some() && id == seen.response_id.as_ref();
        let is_other_response = id.is_some() && seen.response_id.is_some() && !is_same_response;
        let is_unanswered =
            known.is_none_or(|it| it.tokens.is_none() && it.output.is_none() && it.response_id.is_none());
        let gap_ms = (span.start_ms - end_ms).max(start_ms - span.end_ms());
        let is_same = match time {
            TimeFit::Around => true,
            TimeFit::Sent => different == 0 || equal > 0,
            // Some servers give all responses the same id, others none.
            TimeFit::Overlapping => is_same_response || (equal > 0 && different == 0),
            // A client may end its span before it sends the request of a stream, or open it after the response.
            TimeFit::Apart => {
                let is_earlier = span.end_ms() < *start_ms && is_unanswered && !span.failed();
                let is_copy = equal == 2 && !is_other_response;
                is_same_response || (gap_ms <= MAX_GAP_MS && (is_earlier || is_copy))
            }
        };
        is_same.then_some(Self {
            is_same_response,
            time,
            different,
            equal,
            opened_later: span.start_ms > *start_ms,
            distance_ms: (span.start_ms - start_ms).abs(),
            duration_ms: span.duration_ms,
        })
    }

    /// The better one is less.
    fn compare(&self, other: &Self) -> Ordering {
        let rank = |fit: &Self| {
            let is_sure = fit.is_same_response && fit.time != TimeFit::Apart;
            (!is_sure, fit.time, fit.different, Reverse(fit.equal), fit.opened_later)
        };
        let by_duration = self.duration_ms.total_cmp(&other.duration_ms);
        rank(self).cmp(&rank(other)).then(by_duration).then(self.distance_ms.total_cmp(&other.distance_ms))
    }
}

/// Whether the names of the models fit, as far as they are known.
fn is_same_model(span: &Span, seen: &ModelSpan) -> bool {
    let names = |model: &ModelSpan| [model.asked.clone(), model.answered.clone()];
    let known = span.model.as_deref().map(names).unwrap_or_default();
    let asked = names(seen);
    known.iter().all(Option::is_none)
        || known.iter().flatten().any(|name| asked.iter().flatten().any(|it| it == name))
}

/// Whether a request was sent while a span was open, and answered by its end.
fn is_around(span: &Span, start_ms: f64, end_ms: f64) -> bool {
    (span.start_ms - 1.0..=span.end_ms()).contains(&start_ms) && end_ms <= span.end_ms() + SLACK_MS
}

impl ModelSpan {
    /// Adds what is missing from a span around it.
    fn add_missing(&mut self, outer: Self) {
        let Self { provider, asked, answered, tokens, cost, time_to_first_token_ms, finish_reason, .. } =
            outer;
        self.provider = self.provider.take().or(provider);
        self.asked = self.asked.take().or(asked);
        self.answered = self.answered.take().or(answered);
        self.tokens = self.tokens.or(tokens);
        self.cost = self.cost.or(cost);
        self.is_local |= outer.is_local;
        self.time_to_first_token_ms = self.time_to_first_token_ms.or(time_to_first_token_ms);
        self.finish_reason = self.finish_reason.take().or(finish_reason);
        self.response_id = self.response_id.take().or(outer.response_id);
        self.input = self.input.take().or(outer.input);
        self.output = self.output.take().or(outer.output);
    }

    /// Adds what the gateway saw of the same call. It knows the response itself, the span only what its crate reads of it.
    fn merge_response(&mut self, seen: Self) {
        self.tokens = seen.tokens.or(self.tokens);
        self.time_to_first_token_ms = seen.time_to_first_token_ms.or(self.time_to_first_token_ms);
        self.finish_reason = seen.finish_reason.clone().or(self.finish_reason.take());
        self.is_local |= seen.is_local;
        self.retries += seen.retries;
        self.replayed = seen.replayed;
        self.recorded_latency_ms = seen.recorded_latency_ms;
        self.add_missing(seen);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::item::into_item;
    use crate::trace::SpanTokens;

    fn span(
        id: u64,
        parent: Option<u64>,
        (start_ms, duration_ms): (f64, f64),
        name: &str,
        fields: Value,
    ) -> ReportedSpan {
        let fields = into_item(fields).unwrap();
        ReportedSpan {
            id,
            parent,
            name: name.to_owned(),
            start_ms,
            duration_ms,
            fields,
            ..ReportedSpan::default()
        }
    }

    fn chat(id: u64, parent: Option<u64>, times: (f64, f64), response: &str) -> ReportedSpan {
        let fields = json!({ "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.response.id": response,
            "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 2 });
        span(id, parent, times, "chat", fields)
    }

    fn call(started: Instant, (start_ms, duration_ms): (u64, f64), response: &str) -> GatewayCall {
        GatewayCall {
            started: started + Duration::from_millis(start_ms),
            duration_ms,
            model: ModelSpan {
                asked: Some("m".to_owned()),
                response_id: Some(response.to_owned()),
                tokens: Some(SpanTokens { input: 11, output: 2, ..SpanTokens::default() }),
                time_to_first_token_ms: Some(3.0),
                ..ModelSpan::default()
            },
            requested: Vec::new(),
            results: Vec::new(),
            error: None,
        }
    }

    fn assemble(spans: Vec<ReportedSpan>, calls: impl FnOnce(Instant) -> Vec<GatewayCall>) -> Trace {
        let started = Instant::now();
        TraceSources { started, spans, calls: calls(started) }.assemble()
    }

    /// Each span as `id parent name`.
    fn outline(trace: &Trace) -> Vec<String> {
        let line =
            |span: &Span| format!("{} {} {}", span.id, span.parent.as_deref().unwrap_or("-"), span.name);
        trace.into_iter().map(line).collect()
    }

    fn input_tokens(trace: &Trace) -> Vec<u64> {
        trace.model_calls().map(|(_, model)| model.tokens.unwrap().input).collect()
    }

    #[test]
    fn a_call_seen_by_its_span_and_by_the_gateway_is_there_once() {
        let agent = || {
            span(
                1,
                None,
                (0.0, 100.0),
                "invoke_agent",
                json!({ "gen_ai.operation.name": "invoke_agent",
            "gen_ai.usage.input_tokens": 20 }),
            )
        };
        let spans =
            || vec![agent(), chat(2, Some(1), (10.0, 20.0), "a"), chat(3, Some(1), (50.0, 20.0), "b")];
        for ids in [["a", "b"], ["x", "y"], ["same", "same"]] {
            let trace =
                assemble(spans(), |at| vec![call(at, (12, 15.0), ids[0]), call(at, (52, 15.0), ids[1])]);
            assert_eq!(outline(&trace), ["1 - invoke_agent", "2 1 chat", "3 1 chat"], "{ids:?}");
            assert_eq!(input_tokens(&trace), [11, 11], "the gateway knows them better");
            assert_eq!(trace.time_to_first_token_ms(), Some(3.0));
        }
    }

    #[test]
    fn calls_side_by_side_are_matched_by_their_responses() {
        let spans = vec![chat(1, None, (0.0, 100.0), "a"), chat(2, None, (0.0, 100.0), "b")];
        let trace = assemble(spans, |at| {
            let mut calls = vec![call(at, (1, 50.0), "b"), call(at, (1, 60.0), "a")];
            calls[0].model.retries = 2;
            calls
        });
        let retries: Vec<_> = trace
            .model_calls()
            .map(|(_, model)| (model.response_id.as_deref().unwrap(), model.retries))
            .collect();
        assert_eq!(retries, [("a", 0), ("b", 2)]);
    }

    /// A client's span of a stream, with what it has read.
    fn stream(id: u64, times: (f64, f64), tokens: Option<(u64, u64)>) -> ReportedSpan {
        let mut fields = json!({ "gen_ai.operation.name": "chat", "gen_ai.request.model": "m" });
        if let Some((input, output)) = tokens {
            fields["gen_ai.usage.input_tokens"] = json!(input);
            fields["gen_ai.usage.output_tokens"] = json!(output);
        }
        span(id, None, times, "chat", fields)
    }

    /// A streamed request without an id, with its tokens.
    fn streamed(at: Instant, times: (u64, f64), (input, output): (u64, u64)) -> GatewayCall {
        let mut call = call(at, times, "");
        call.model.response_id = None;
        call.model.tokens = Some(SpanTokens { input, output, ..SpanTokens::default() });
        call
    }

    #[test]
    fn late_and_early_spans_are_the_same_call() {
        let read = Some((11, 2));
        for (times, tokens) in [
            ((0.0, 2_000.0), read),
            ((490.0, 300.0), read),
            ((490.0, 300.0), None),
            ((490.0, 20.0), read),
            ((700.0, 100.0), read),
            ((700.0, 900.0), read),
            ((1_550.0, 20.0), None),
        ] {
            let trace =
                assemble(vec![stream(1, times, tokens)], |at| vec![streamed(at, (500, 1_000.0), (11, 2))]);
            let is_later = times.0 > 1_500.0;
            assert_eq!(trace.model_calls().count(), 1 + usize::from(is_later), "{times:?} {tokens:?}");
        }
        // The request is sent when the stream is read first.
        let trace =
            assemble(vec![stream(1, (0.0, 5.0), None)], |at| vec![streamed(at, (50, 100.0), (11, 2))]);
        assert_eq!(input_tokens(&trace), [11]);
    }

    #[test]
    fn streams_in_parallel_are_counted_once_each() {
        let spans = vec![
            stream(1, (0.0, 500.0), Some((11, 2))),
            stream(2, (0.0, 700.0), Some((12, 3))),
            stream(3, (1.0, 300.0), Some((13, 4))),
        ];
        let trace = assemble(spans, |at| {
            vec![
                streamed(at, (10, 640.0), (11, 2)),
                streamed(at, (12, 630.0), (12, 3)),
                streamed(at, (14, 650.0), (13, 4)),
            ]
        });
        let mut tokens = input_tokens(&trace);
        tokens.sort_unstable();
        assert_eq!(tokens, [11, 12, 13]);
    }

    #[test]
    fn separate_equal_calls_stay_separate() {
        let equal = Some((11, 2));
        for spans in 1..=3_u64 {
            for calls in 1..=3 {
                let opened = (1..=spans).map(|id| stream(id, (0.0, 100.0), equal)).collect();
                let trace =
                    assemble(opened, |at| (0..calls).map(|_| streamed(at, (5, 400.0), (11, 2))).collect());
                let expected = usize::try_from(spans).unwrap().max(calls);
                assert_eq!(input_tokens(&trace), vec![11; expected], "{spans} {calls}");
            }
        }
        let trace = assemble(vec![stream(1, (0.0, 100.0), Some((5, 5)))], |at| {
            vec![streamed(at, (50, 400.0), (11, 2))]
        });
        assert_eq!(input_tokens(&trace), [5, 11], "other tokens are those of another call");
        let trace =
            assemble(vec![stream(1, (0.0, 100.0), equal)], |at| vec![streamed(at, (5_000, 100.0), (11, 2))]);
        assert_eq!(input_tokens(&trace), [11, 11], "a repeated question");
    }

    #[test]
    fn a_call_without_a_span_is_one_of_the_trace_in_the_step_around_it() {
        let spans = vec![
            span(1, None, (0.0, 100.0), "plan", json!({})),
            span(2, None, (200.0, 50.0), "answer", json!({})),
        ];
        let trace = assemble(spans, |at| vec![call(at, (10, 15.0), "a"), call(at, (210, 15.0), "b")]);
        assert_eq!(outline(&trace), ["1 - plan", "2 1 chat m", "3 - answer", "4 3 chat m"]);
    }

    #[test]
    fn short_calls_in_spans_after_each_other_belong_to_their_own() {
        let spans = vec![chat(1, None, (10.0, 0.5), "same"), chat(2, None, (10.6, 0.2), "same")];
        let trace = assemble(spans, |at| {
            let call = |start_us, tokens| {
                let mut call = call(at, (0, 0.1), "same");
                call.started = at + Duration::from_micros(start_us);
                call.model.tokens = Some(SpanTokens { input: tokens, ..SpanTokens::default() });
                call
            };
            vec![call(10_100, 1), call(10_650, 2)]
        });
        assert_eq!(input_tokens(&trace), [1, 2]);
    }

    #[test]
    fn short_calls_after_each_other_are_not_in_each_other() {
        let calls = |at| vec![call(at, (10, 0.3), "a"), call(at, (20, 0.2), "b"), call(at, (30, 0.1), "c")];
        let trace = assemble(Vec::new(), calls);
        assert_eq!(outline(&trace), ["1 - chat m", "2 - chat m", "3 - chat m"]);
        assert_eq!(input_tokens(&trace), [11, 11, 11]);
        let steps = vec![
            span(1, None, (9.0, 2.0), "plan", json!({})),
            span(2, None, (19.0, 2.0), "answer", json!({})),
        ];
        assert_eq!(
            outline(&assemble(steps, calls)),
            ["1 - plan", "2 1 chat m", "3 - answer", "4 3 chat m", "5 - chat m"]
        );
    }

    #[test]
    fn further_requests_in_a_span_of_one_are_beside_it() {
        let trace = assemble(vec![chat(1, None, (0.0, 100.0), "b")], |at| {
            vec![call(at, (1, 5.0), "a"), call(at, (10, 5.0), "b")]
        });
        assert_eq!(input_tokens(&trace), [11, 11]);
    }

    #[test]
    fn repeated_requests_in_one_span_are_its_retries_and_without_an_answer_it_failed() {
        let failed = |at, start| GatewayCall { error: Some("busy".to_owned()), ..call(at, (start, 5.0), "") };
        let trace = assemble(vec![chat(1, None, (0.0, 100.0), "a")], |at| {
            vec![failed(at, 1), call(at, (10, 5.0), "a")]
        });
        let (span, model) = trace.model_calls().next().unwrap();
        assert_eq!((span.failed(), model.retries), (false, 1));
        let open = span_without_answer();
        let trace = assemble(vec![open], |at| vec![failed(at, 1), failed(at, 10)]);
        let (span, model) = trace.model_calls().next().unwrap();
        assert_eq!((span.error.as_deref(), model.retries), (Some("busy"), 1));
        assert!(trace.usage().is_empty(), "a request without an answer costs nothing");
    }

    fn span_without_answer() -> ReportedSpan {
        span(
            1,
            None,
            (0.0, 100.0),
            "chat",
            json!({ "gen_ai.operation.name": "chat", "gen_ai.request.model": "m" }),
        )
    }

    #[test]
    fn a_span_around_one_model_call_gives_it_its_content() {
        let response = json!({ "parts": [{ "name": "now", "args": {}, "id": "c" }] }).to_string();
        let outer =
            json!({ "gcp.vertex.agent.llm_request": "{}", "gcp.vertex.agent.llm_response": response });
        let spans = vec![
            span(1, None, (0.0, 50.0), "call_llm", outer),
            span(
                2,
                Some(1),
                (1.0, 40.0),
                "gen_ai.generate",
                json!({ "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 5 }),
            ),
            span(3, None, (60.0, 5.0), "", json!({ "otel.name": "execute_tool now", "tool.name": "now" })),
        ];
        let trace = assemble(spans, |_| Vec::new());
        assert_eq!(outline(&trace), ["1 - call_llm", "2 1 gen_ai.generate", "3 - execute_tool now"]);
        let (_, model) = trace.model_calls().next().unwrap();
        assert_eq!(model.output.as_deref(), Some("→ now({})"));
        let tools: Vec<_> = trace.tool_calls().map(|(_, tool)| tool.arguments.clone()).collect();
        assert_eq!(tools, [Some(json!({}))], "the requested call is that of the span");
    }

    #[test]
    fn tools_without_spans_come_from_what_models_request() {
        let requested = |id: &str| RequestedCall {
            id: Some(id.to_owned()),
            name: "weather".to_owned(),
            arguments: json!({ "city": id }),
        };
        let trace = assemble(Vec::new(), |at| {
            let mut calls = vec![call(at, (10, 10.0), "a"), call(at, (50, 10.0), "b")];
            calls[0].requested = vec![requested("York"), requested("Bath")];
            calls[1].results =
                vec![("Bath".to_owned(), json!("{\"sky\":\"rain\"}")), ("York".to_owned(), json!("sun"))];
            calls
        });
        let tools: Vec<_> =
            trace.tool_calls().map(|(span, tool)| (span.duration_ms, tool.result.clone())).collect();
        assert_eq!(tools, [(30.0, Some(json!("sun"))), (30.0, Some(json!({ "sky": "rain" })))]);
        assert!(trace.reports_tool_calls());
    }

    #[test]
    fn a_model_call_whose_tool_asks_a_model_is_a_call_of_its_own() {
        let tool = json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "delegate" });
        let spans = vec![
            chat(1, None, (0.0, 100.0), "outer"),
            span(2, Some(1), (10.0, 50.0), "execute_tool", tool),
            chat(3, Some(2), (20.0, 10.0), "inner"),
        ];
        let trace = assemble(spans, |_| Vec::new());
        assert_eq!(input_tokens(&trace), [10, 10]);
    }

    #[test]
    fn of_spans_in_each_other_the_nearest_completes_the_call() {
        let named = |model: &str| json!({ "gen_ai.operation.name": "chat", "gen_ai.request.model": model });
        let spans = vec![
            span(1, None, (0.0, 100.0), "chat", named("outer")),
            span(2, Some(1), (1.0, 90.0), "chat", named("nearest")),
            span(3, Some(2), (2.0, 80.0), "chat", json!({ "gen_ai.operation.name": "chat" })),
        ];
        let trace = assemble(spans, |_| Vec::new());
        let asked: Vec<_> = trace.model_calls().map(|(_, model)| model.asked.as_deref()).collect();
        assert_eq!(asked, [Some("nearest")]);
    }
}
