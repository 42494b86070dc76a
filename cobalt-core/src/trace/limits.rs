//! What of a trace is kept in files.

use std::borrow::Cow;

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
            *text = shortened(text, most).into_owned();
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

fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    let end = text.floor_char_boundary(most);
    if end == text.len() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}… ({} of {} bytes)", &text[..end], end, text.len()))
}
