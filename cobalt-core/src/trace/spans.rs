//! A trace and its queries.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::span::{ModelSpan, Span, SpanKind, ToolSpan};
use crate::item::ModelCall;
use crate::prices::PriceTable;

/// Why models stop when they call no tool.
const ANSWERED: &[&str] =
    &["stop", "end_turn", "stop_sequence", "length", "max_tokens", "content_filter", "refusal"];

/// The spans of one execution, in the order in which they started.
///
/// ```
/// # use cobalt::trace::Trace;
/// fn asked_twice(trace: &Trace) -> bool {
///     let searches = trace.tool_calls().filter(|(_, tool)| tool.name == "search").count();
///     searches >= 2 && trace.failed().next().is_none()
/// }
/// # assert!(!asked_twice(&Trace::default()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Trace(Vec<Span>);

impl Trace {
    /// All spans.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.0
    }

    /// Whether there are no spans.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The span with this id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Span> {
        self.0.iter().find(|span| span.id == id)
    }

    /// The spans that are directly in this one; those at the top for `None`.
    pub fn children<'a>(&'a self, parent: Option<&'a Span>) -> impl Iterator<Item = &'a Span> {
        let id = parent.map(|span| &*span.id);
        // Only at the top it matters whether a parent is in the trace.
        let places = if id.is_none() { self.places() } else { HashMap::new() };
        self.0.iter().filter(move |span| match (id, span.parent.as_deref()) {
            (Some(id), parent) => parent == Some(id),
            (None, parent) => parent.is_none_or(|parent| !places.contains_key(parent)),
        })
    }

    /// The places of the spans, by their ids.
    fn places(&self) -> HashMap<&str, usize> {
        self.0.iter().enumerate().map(|(place, span)| (&*span.id, place)).collect()
    }

    /// The spans of a kind.
    pub fn of_kind(&self, kind: SpanKind) -> impl Iterator<Item = &Span> {
        self.0.iter().filter(move |span| span.kind == kind)
    }

    /// The spans with this name; a tool's span has also the name of its tool.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Span> {
        self.0
            .iter()
            .filter(move |span| span.name == name || span.tool.as_ref().is_some_and(|tool| tool.name == name))
    }

    /// The spans that failed.
    pub fn failed(&self) -> impl Iterator<Item = &Span> {
        self.0.iter().filter(|span| span.failed())
    }

    /// The model calls: spans that contain no other model call, unless it is one of a tool or an agent in them. What contains them may
    /// report their sum.
    pub fn model_calls(&self) -> impl Iterator<Item = (&Span, &ModelSpan)> {
        let places = self.places();
        let parent = |span: &Span| places.get(span.parent.as_deref()?).map(|place| &self.0[*place]);
        let models = || self.0.iter().filter(|span| span.kind == SpanKind::Model);
        let mut outer: HashSet<&str> = HashSet::new();
        for span in models() {
            let is_step = |span: &&Span| !matches!(span.kind, SpanKind::Tool | SpanKind::Agent);
            // A damaged file may have a cycle.
            let around = std::iter::successors(parent(span), |span| parent(span)).take(self.0.len());
            outer.extend(around.take_while(is_step).map(|span| &*span.id));
        }
        models()
            .filter(move |span| !outer.contains(&*span.id))
            .filter_map(|span| Some((span, span.model.as_deref()?)))
    }

    /// The tool calls.
    pub fn tool_calls(&self) -> impl Iterator<Item = (&Span, &ToolSpan)> {
        self.0.iter().filter_map(|span| Some((span, span.tool.as_deref()?)))
    }

    /// Whether the tool calls are known: there are spans of tools, or all model calls are known to request none.
    #[must_use]
    pub fn reports_tool_calls(&self) -> bool {
        if self.tool_calls().next().is_some() {
            return true;
        }
        let mut calls = self.model_calls().filter(|(span, _)| !span.failed()).peekable();
        // Agents open spans for their tools.
        let has_agent = self.of_kind(SpanKind::Agent).next().is_some();
        if calls.peek().is_none() {
            return has_agent;
        }
        calls.all(|(span, model)| match model.finish_reason.as_deref() {
            Some(reason) if reason.contains("tool") || reason.contains("function") => false,
            Some(reason) if ANSWERED.contains(&reason) => true,
            // Others, such as `completed`, say nothing of tools, but the response would show a call.
            _ => model.output.is_some() || has_agent || span.attributes.contains_key("gen_ai.agent.name"),
        })
    }

    /// Whether spans with these names started in this order, with any others between them.
    pub fn has_path<S: AsRef<str>>(&self, names: &[S]) -> bool {
        let mut spans = self.0.iter();
        names.iter().all(|name| {
            let name = name.as_ref();
            spans.any(|span| span.name == name || span.tool.as_ref().is_some_and(|tool| tool.name == name))
        })
    }

    /// Milliseconds from the start of the first streamed model call to its first token; `None` if no call reports it.
    #[must_use]
    pub fn time_to_first_token_ms(&self) -> Option<f64> {
        self.model_calls().find_map(|(_, model)| model.time_to_first_token_ms)
    }

    /// The usage of all model calls. Call it before [`price`](Self::price): costs that are known by then are those that the calls report.
    #[must_use]
    pub fn usage(&self) -> Vec<ModelCall> {
        let usage = |(span, model): (&Span, &ModelSpan)| {
            // A request that failed costs nothing, unless it reports tokens.
            if span.failed() && model.tokens.is_none() {
                return None;
            }
            if model.name().is_none() && model.tokens.is_none() && model.cost.is_none() {
                return None;
            }
            let call = ModelCall::new(model.name().unwrap_or("unknown"));
            let call = match model.tokens {
                Some(tokens) => call.tokens(tokens.input, tokens.output).cached_tokens(tokens.cached_input),
                None => call,
            };
            Some(match model.cost {
                Some(cost) => call.cost(cost),
                None => call,
            })
        };
        self.model_calls().filter_map(usage).collect()
    }

    /// Adds the cost of model calls whose price is known.
    pub fn price(&mut self, prices: &PriceTable) {
        for model in self.0.iter_mut().filter_map(|span| span.model.as_mut()) {
            let price = || prices.estimate(model.name()?, model.tokens?.to_price());
            model.cost = model.cost.or_else(price);
        }
    }

    pub(super) fn into_spans(self) -> impl Iterator<Item = Span> {
        self.0.into_iter()
    }

    /// Redacts all texts.
    pub fn redact(&mut self) {
        self.0.iter_mut().for_each(Span::redact);
    }
}

impl FromIterator<Span> for Trace {
    fn from_iter<I: IntoIterator<Item = Span>>(spans: I) -> Self {
        Self(spans.into_iter().collect())
    }
}

impl<'a> IntoIterator for &'a Trace {
    type Item = &'a Span;
    type IntoIter = std::slice::Iter<'a, Span>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
