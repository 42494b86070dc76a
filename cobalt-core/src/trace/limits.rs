//! What of a trace is kept in files.

use serde_json::Value;

use super::span::{ModelSpan, Span, ToolSpan};
use super::spans::Trace;
use crate::item::Item;

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
    /// Cuts the contents. The end of a cut text says how long it was.
    #[must_use]
    pub fn limited(self, limits: ContentLimits) -> Self {
        let mut left = Left { text: limits.text, total: limits.text.saturating_mul(MAX_TEXTS) };
        let limit = |span: Span| if limits.content { left.limit(span) } else { without_content(span) };
        self.into_spans().map(limit).collect()
    }
}

fn without_content(span: Span) -> Span {
    let model = |model: Box<ModelSpan>| Box::new(ModelSpan { input: None, output: None, ..*model });
    let tool = |tool: Box<ToolSpan>| {
        let error = tool.error.map(|_| "failed".to_owned());
        Box::new(ToolSpan { arguments: None, result: None, error, ..*tool })
    };
    Span { attributes: Item::new(), model: span.model.map(model), tool: span.tool.map(tool), ..span }
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
        span.attributes.values_mut().for_each(|value| self.cut_value(value));
        span.error.iter_mut().for_each(|text| self.cut(text));
        span
    }

    fn cut(&mut self, text: &mut String) {
        let most = self.text.min(self.total);
        if text.len() > most {
            *text = shortened(text, most);
        }
        self.total = self.total.saturating_sub(text.len());
    }

    /// A value that is too long becomes its text, cut.
    fn cut_value(&mut self, value: &mut Value) {
        if let Value::String(text) = value {
            return self.cut(text);
        }
        let mut text = value.to_string();
        if text.len() > self.text.min(self.total) {
            self.cut(&mut text);
            *value = Value::String(text);
        } else {
            self.total = self.total.saturating_sub(text.len());
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
        trace().limited(ContentLimits { content, text })
    }

    #[test]
    fn texts_within_the_limit_stay_as_they_are() {
        assert_eq!(limited(true, 1_000), trace());
    }

    #[test]
    fn a_longer_text_is_cut_and_says_how_long_it_was() {
        let trace = limited(true, 21);
        let (span, tool) = trace.tool_calls().next().unwrap();
        assert_eq!(tool.result, Some(json!(format!("{}… (20 of 100 bytes)", "é".repeat(10)))));
        assert_eq!(tool.arguments, Some(json!(format!("{{\"path\":\"{}… (21 of 61 bytes)", "a".repeat(12)))));
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
        let text = |length: usize| Span { error: Some("x".repeat(length)), ..Span::default() };
        let trace: Trace = (0..20).map(|_| text(10)).collect();
        let kept: usize = trace
            .limited(ContentLimits { content: true, text: 10 })
            .spans()
            .iter()
            .filter(|span| span.error.as_deref() == Some("xxxxxxxxxx"))
            .count();
        assert_eq!(kept, 16);
    }
}
