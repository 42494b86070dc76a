//! What of a trace is kept in files.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::span::{ModelSpan, Span, SpanKind, ToolSpan};
use super::spans::Trace;
use crate::item::Item;
use crate::nesting::is_too_deep;

/// The maximum number of spans in a file's trace.
pub const MAX_SPANS: usize = 1_000;
/// The maximum length of names, in bytes.
const MAX_NAME: usize = 256;
/// The maximum number of attributes of a span.
const MAX_ATTRIBUTES: usize = 64;
/// Texts up to this length, in bytes, are never cut: the note on the cut would be longer.
const MIN_CUT: usize = 32;

/// How many texts of the maximum length a trace may have.
const MAX_TEXTS: usize = 16;

/// How much content of a trace is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentLimits {
    /// Whether messages, arguments, results and attributes are kept.
    pub content: bool,
    /// The maximum length of one text, in bytes. All texts of a trace may have 16 times as much.
    pub text: usize,
}

impl Default for ContentLimits {
    fn default() -> Self {
        Self { content: true, text: 4_096 }
    }
}

impl Trace {
    /// What is kept, and how many spans are dropped: contents are cut, and there are at most [`MAX_SPANS`]. The end of a cut text says how
    /// long it was.
    #[must_use]
    pub fn limited(self, limits: ContentLimits) -> (Self, usize) {
        let (spans, dropped) = self.truncated();
        let mut left = Left { text: limits.text, total: limits.text.saturating_mul(MAX_TEXTS) };
        let limit = |span: Span| {
            let span = with_short_names(span);
            if limits.content { left.limit(span) } else { without_content(span) }
        };
        (spans.into_spans().map(limit).collect(), dropped)
    }

    /// Drops spans of which there are too many: first steps, then tool calls, then model calls. A span whose parent is dropped moves up.
    fn truncated(self) -> (Self, usize) {
        let spans: Vec<Span> = self.into_spans().collect();
        let dropped = spans.len().saturating_sub(MAX_SPANS);
        if dropped == 0 {
            return (spans.into_iter().collect(), 0);
        }
        let rank = |kind| match kind {
            SpanKind::Model => 0,
            SpanKind::Tool => 1,
            SpanKind::Agent | SpanKind::Retrieval => 2,
            SpanKind::Other => 3,
        };
        let mut order: Vec<usize> = (0..spans.len()).collect();
        order.sort_by_key(|place| (rank(spans[*place].kind), *place));
        let kept: HashSet<usize> = order.into_iter().take(MAX_SPANS).collect();
        let places: HashMap<String, usize> =
            spans.iter().enumerate().map(|(place, span)| (span.id.clone(), place)).collect();
        let parents: Vec<Option<String>> = spans.iter().map(|span| span.parent.clone()).collect();
        let kept_parent = |span: &Span| {
            let place = |id: &Option<String>| places.get(id.as_deref()?).copied();
            let mut around =
                std::iter::successors(place(&span.parent), |at| place(&parents[*at])).take(spans.len());
            around.find(|at| kept.contains(at)).map(|at| spans[at].id.clone())
        };
        let moved: Vec<Option<String>> = spans.iter().map(kept_parent).collect();
        let is_kept = |(place, _): &(usize, (Span, Option<String>))| kept.contains(place);
        let all = spans.into_iter().zip(moved).enumerate().filter(is_kept);
        (all.map(|(_, (span, parent))| Span { parent, ..span }).collect(), dropped)
    }
}

impl Trace {
    /// The texts of the contents of all spans.
    #[doc(hidden)]
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.spans().iter().flat_map(|span| {
            let mut texts: Vec<&str> = span.error.as_deref().into_iter().collect();
            let mut values: Vec<&Value> = span.attributes.values().collect();
            if let Some(model) = &span.model {
                texts.extend([&model.input, &model.output].into_iter().flatten().map(String::as_str));
            }
            if let Some(tool) = &span.tool {
                texts.extend(tool.error.as_deref());
                values.extend([&tool.arguments, &tool.result].into_iter().flatten());
            }
            while let Some(value) = values.pop() {
                match value {
                    Value::String(text) => texts.push(text),
                    Value::Array(more) => values.extend(more),
                    Value::Object(more) => values.extend(more.values()),
                    Value::Null | Value::Bool(_) | Value::Number(_) => {}
                }
            }
            texts
        })
    }

    /// Whether contents are missing: a text was cut, or the messages of a model or the arguments of a tool were not kept.
    #[doc(hidden)]
    #[must_use]
    pub fn is_cut(&self) -> bool {
        let is_empty = |span: &Span| {
            span.model.as_ref().is_some_and(|model| model.input.is_none() && model.output.is_none())
                || span.tool.as_ref().is_some_and(|tool| tool.arguments.is_none() && tool.result.is_none())
        };
        self.spans().iter().any(is_empty) || self.texts().any(is_shortened)
    }
}

/// Whether a text has the end that [`shortened`] gives it.
fn is_shortened(text: &str) -> bool {
    let numbers = text.strip_suffix(" bytes)").and_then(|text| text.rsplit_once("… (")).map(|(_, end)| end);
    let numbers = numbers.and_then(|numbers| numbers.split_once(" of "));
    numbers.is_some_and(|(kept, all)| [kept, all].iter().all(|number| number.parse::<usize>().is_ok()))
}

/// Names come from agents, too.
fn with_short_names(mut span: Span) -> Span {
    shorten_name(&mut span.name);
    if let Some(model) = &mut span.model {
        let ModelSpan { provider, asked, answered, finish_reason, response_id, .. } = &mut **model;
        [provider, asked, answered, finish_reason, response_id].into_iter().flatten().for_each(shorten_name);
    }
    if let Some(tool) = &mut span.tool {
        shorten_name(&mut tool.name);
        tool.call_id.iter_mut().for_each(shorten_name);
    }
    span
}

fn shorten_name(name: &mut String) {
    if name.len() > MAX_NAME {
        *name = shortened(name, MAX_NAME);
    }
}

fn without_content(span: Span) -> Span {
    let failed = |error: Option<String>| error.map(|_| "failed".to_owned());
    let model = |model: Box<ModelSpan>| Box::new(ModelSpan { input: None, output: None, ..*model });
    let tool = |tool: Box<ToolSpan>| {
        Box::new(ToolSpan { arguments: None, result: None, error: failed(tool.error), ..*tool })
    };
    Span {
        attributes: Item::new(),
        error: failed(span.error),
        model: span.model.map(model),
        tool: span.tool.map(tool),
        ..span
    }
}

/// What may still be kept.
struct Left {
    text: usize,
    total: usize,
}

impl Left {
    fn limit(&mut self, mut span: Span) -> Span {
        if let Some(model) = &mut span.model {
            let ModelSpan { input, output, .. } = &mut **model;
            [output, input].into_iter().flatten().for_each(|text| self.cut(text));
        }
        if let Some(tool) = &mut span.tool {
            let ToolSpan { arguments, result, error, .. } = &mut **tool;
            [arguments, result].into_iter().flatten().for_each(|value| self.cut_value(value));
            error.iter_mut().for_each(|text| self.cut(text));
        }
        let attributes = std::mem::take(&mut span.attributes).into_iter();
        span.attributes =
            attributes.filter(|(name, _)| name.len() <= MAX_NAME).take(MAX_ATTRIBUTES).collect();
        span.attributes.values_mut().for_each(|value| self.cut_value(value));
        span.error.iter_mut().for_each(|text| self.cut(text));
        span
    }

    /// Cuts a text, unless that would not make it shorter.
    fn cut(&mut self, text: &mut String) {
        let most = self.text.min(self.total);
        if text.len() > most.max(MIN_CUT) {
            *text = shortened(text, most);
        }
        self.total = self.total.saturating_sub(text.len());
    }

    /// A value that is too long or too deep becomes its text, cut.
    fn cut_value(&mut self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => self.cut(text),
            Value::Array(_) | Value::Object(_) => {
                let mut text = value.to_string();
                if text.len() > self.text.min(self.total).max(MIN_CUT) || is_too_deep(value) {
                    self.cut(&mut text);
                    *value = Value::String(text);
                } else {
                    self.total = self.total.saturating_sub(text.len());
                }
            }
        }
    }
}

/// The beginning of a longer text, with how much it is.
fn shortened(text: &str, most: usize) -> String {
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}… ({end} of {} bytes)", &text[..end], text.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::item::into_item;

    fn trace() -> Trace {
        let tool = ToolSpan {
            name: "read".to_owned(),
            arguments: Some(json!({ "path": "a".repeat(50) })),
            result: Some(json!("é".repeat(50))),
            ..ToolSpan::default()
        };
        let model = ModelSpan { output: Some("short".to_owned()), ..ModelSpan::default() };
        let attributes = into_item(json!({ "step": 3 })).unwrap();
        let spans = [
            Span { tool: Some(Box::new(tool)), attributes, ..Span::default() },
            Span { model: Some(Box::new(model)), ..Span::default() },
        ];
        spans.into_iter().collect()
    }

    fn limited(content: bool, text: usize) -> Trace {
        trace().limited(ContentLimits { content, text }).0
    }

    #[test]
    fn texts_within_the_limit_stay_as_they_are() {
        assert_eq!(limited(true, 1_000), trace());
    }

    #[test]
    fn a_longer_text_is_cut_and_says_how_long_it_was() {
        let trace = limited(true, 41);
        let (span, tool) = trace.tool_calls().next().unwrap();
        assert_eq!(tool.result, Some(json!(format!("{}… (40 of 100 bytes)", "é".repeat(20)))));
        assert_eq!(tool.arguments, Some(json!(format!("{{\"path\":\"{}… (41 of 61 bytes)", "a".repeat(32)))));
        assert_eq!(span.attributes["step"], 3);
    }

    #[test]
    fn without_contents_only_figures_and_names_are_kept() {
        let trace = limited(false, 1_000);
        let (span, tool) = trace.tool_calls().next().unwrap();
        assert_eq!(*tool, ToolSpan { name: "read".to_owned(), ..ToolSpan::default() });
        assert!(span.attributes.is_empty());
        assert_eq!(trace.spans()[1].model.as_ref().unwrap().output, None);
    }

    #[test]
    fn all_texts_together_have_a_limit() {
        let text = || Span { error: Some("x".repeat(40)), ..Span::default() };
        let trace: Trace = (0..20).map(|_| text()).collect();
        let (trace, _) = trace.limited(ContentLimits { content: true, text: 40 });
        let kept = trace.spans().iter().filter(|span| span.error.as_deref() == Some(&"x".repeat(40))).count();
        assert_eq!(kept, 16);
        assert_eq!(trace.spans()[19].error.as_deref(), Some("… (0 of 40 bytes)"));
    }

    #[test]
    fn what_is_short_stays_as_it_is_when_the_limit_is_reached() {
        let attributes =
            into_item(json!({ "step": 3, "ok": true, "name": "short", "x".repeat(300): 1 })).unwrap();
        let span =
            || Span { attributes: attributes.clone(), error: Some("x".repeat(100)), ..Span::default() };
        let (trace, _) =
            (0..9).map(|_| span()).collect::<Trace>().limited(ContentLimits { content: true, text: 1 });
        let kept = into_item(json!({ "step": 3, "ok": true, "name": "short" })).unwrap();
        assert!(trace.spans().iter().all(|span| span.attributes == kept), "{trace:?}");
    }

    #[test]
    fn a_value_that_is_too_deep_for_files_becomes_text() {
        let deep = (0..120).fold(json!(1), |inner, _| json!([inner]));
        let tool = ToolSpan { arguments: Some(deep), ..ToolSpan::default() };
        let trace = Trace::from_iter([Span { tool: Some(Box::new(tool)), ..Span::default() }]);
        let (trace, _) = trace.limited(ContentLimits::default());
        let (_, tool) = trace.tool_calls().next().unwrap();
        assert!(tool.arguments.as_ref().unwrap().is_string());
    }

    #[test]
    fn too_many_spans_drop_steps_before_calls() {
        let step = |id: usize| Span { id: id.to_string(), ..Span::default() };
        let mut spans: Vec<_> = (0..MAX_SPANS).map(step).collect();
        let (kind, parent) = (SpanKind::Model, Some((MAX_SPANS - 1).to_string()));
        spans.push(Span { kind, parent, model: Some(Box::default()), ..step(MAX_SPANS) });
        let (trace, dropped) = spans.into_iter().collect::<Trace>().limited(ContentLimits::default());
        assert_eq!((trace.spans().len(), dropped), (MAX_SPANS, 1));
        assert_eq!(trace.model_calls().count(), 1);
        assert_eq!(trace.spans()[MAX_SPANS - 1].parent, None, "its parent was dropped");
    }

    #[test]
    fn names_have_a_limit() {
        let span = Span { name: "n".repeat(1_000), ..Span::default() };
        let (trace, _) = Trace::from_iter([span]).limited(ContentLimits::default());
        assert!(trace.spans()[0].name.len() < 300);
    }
}
