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

    /// Sets the cost of model calls to servers on this machine to 0, unless it is reported or they have a price.
    pub fn price_local(&mut self, prices: &PriceTable) {
        for model in self.0.iter_mut().filter_map(|span| span.model.as_mut()) {
            let has_price = model.name().is_some_and(|name| prices.price(name).is_some());
            if model.is_local && !has_price {
                model.cost.get_or_insert(0.0);
            }
        }
    }

    /// Adds the cost of model calls whose price is known.
    pub fn price(&mut self, prices: &PriceTable) {
        for model in self.0.iter_mut().filter_map(|span| span.model.as_mut()) {
            let price = || prices.estimate(model.name()?, model.tokens?.if_plausible()?.to_price());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{SpanStatus, SpanTokens};

    fn span(id: &str, parent: Option<&str>, kind: SpanKind) -> Span {
        let parent = parent.map(str::to_owned);
        Span { id: id.to_owned(), parent, name: format!("step {id}"), kind, ..Span::default() }
    }

    fn model(id: &str, parent: Option<&str>, model: ModelSpan) -> Span {
        Span { model: Some(Box::new(model)), ..span(id, parent, SpanKind::Model) }
    }

    fn tool(id: &str, parent: Option<&str>, name: &str) -> Span {
        let tool = ToolSpan { name: name.to_owned(), ..ToolSpan::default() };
        Span { tool: Some(Box::new(tool)), ..span(id, parent, SpanKind::Tool) }
    }

    fn asked(name: &str, tokens: Option<u64>) -> ModelSpan {
        let tokens = tokens.map(|input| SpanTokens { input, ..SpanTokens::default() });
        ModelSpan { asked: Some(name.to_owned()), tokens, ..ModelSpan::default() }
    }

    fn ids<'a>(spans: impl Iterator<Item = &'a Span>) -> Vec<&'a str> {
        spans.map(|span| &*span.id).collect()
    }

    #[test]
    fn children_of_an_unknown_parent_are_at_the_top() {
        let agent = span("1", None, SpanKind::Agent);
        let trace: Trace = [agent.clone(), tool("2", Some("1"), "search"), tool("3", Some("9"), "read")]
            .into_iter()
            .collect();
        assert_eq!(ids(trace.children(None)), ["1", "3"]);
        assert_eq!(ids(trace.children(Some(&agent))), ["2"]);
    }

    #[test]
    fn spans_are_found_by_their_name_or_their_tools_and_in_order() {
        let trace: Trace = [tool("1", None, "search"), tool("2", None, "read")].into_iter().collect();
        assert_eq!(ids(trace.named("read")), ["2"]);
        assert_eq!(ids(trace.named("step 2")), ["2"]);
        assert!(trace.has_path(&["search", "step 2"]) && trace.has_path::<&str>(&[]));
        assert!(!trace.has_path(&["read", "search"]));
    }

    #[test]
    fn a_model_call_around_another_one_does_not_count_and_a_cycle_ends() {
        let call = |id, parent| model(id, parent, asked("m", Some(1)));
        let trace: Trace = [call("1", None), call("2", Some("1"))].into_iter().collect();
        assert_eq!(ids(trace.model_calls().map(|(span, _)| span)), ["2"]);
        let cycle: Trace = [call("1", Some("2")), call("2", Some("1"))].into_iter().collect();
        assert_eq!(cycle.model_calls().count(), 0);
    }

    #[test]
    fn a_failed_call_without_tokens_costs_nothing_and_one_without_a_name_still_counts() {
        let failed = Span { status: SpanStatus::Error, ..model("1", None, asked("m", None)) };
        let unnamed = model("2", None, ModelSpan { asked: None, ..asked("", Some(7)) });
        let trace: Trace = [failed, unnamed, model("3", None, ModelSpan::default())].into_iter().collect();
        assert_eq!(trace.usage(), [ModelCall::new("unknown").tokens(7, 0)]);
    }

    #[test]
    fn calls_are_priced_unless_they_report_their_cost() {
        let reported = ModelSpan { cost: Some(0.5), ..asked("gpt-4o", Some(1_000_000)) };
        let calls = [asked("gpt-4o", Some(1_000_000)), reported, asked("unheard-of", Some(1))];
        let mut trace: Trace = calls.into_iter().map(|call| model("1", None, call)).collect();
        trace.price(&PriceTable::default());
        let costs: Vec<_> = trace.model_calls().map(|(_, model)| model.cost).collect();
        assert_eq!(costs, [Some(2.5), Some(0.5), None]);
    }

    #[test]
    fn local_calls_are_free_without_a_price() {
        let local = |name: &str| ModelSpan { is_local: true, ..asked(name, Some(1_000_000)) };
        let reported = ModelSpan { cost: Some(0.5), ..local("llama") };
        let calls = [local("llama"), local("gpt-4o"), asked("llama", Some(1)), reported];
        let mut trace: Trace = calls.into_iter().map(|call| model("1", None, call)).collect();
        trace.price_local(&PriceTable::default());
        let costs: Vec<_> = trace.model_calls().map(|(_, model)| model.cost).collect();
        assert_eq!(costs, [Some(0.0), None, None, Some(0.5)]);
    }

    #[test]
    fn it_is_known_that_there_were_no_tool_calls_if_the_models_asked_for_none() {
        let finished =
            |reason: &str| ModelSpan { finish_reason: Some(reason.to_owned()), ..asked("m", None) };
        for (call, known) in [
            (finished("stop"), true),
            (finished("tool_calls"), false),
            (asked("m", None), false),
            (ModelSpan { output: Some("Yes".to_owned()), ..asked("m", None) }, true),
        ] {
            let trace: Trace = [model("1", None, call.clone())].into_iter().collect();
            assert_eq!(trace.reports_tool_calls(), known, "{call:?}");
        }
        let agent: Trace = [span("1", None, SpanKind::Agent)].into_iter().collect();
        assert!(agent.reports_tool_calls() && !Trace::default().reports_tool_calls());
    }
}
