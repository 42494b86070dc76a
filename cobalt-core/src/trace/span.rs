//! One span of a trace.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::item::Item;
use crate::prices::{Tokens, is_plausible};
use crate::redact::{redact, redact_fields, redact_texts};
use crate::serde_skip::is_zero;

/// The attribute of a tool's span with the fault that was injected.
pub const FAULT_ATTRIBUTE: &str = "fault";

/// One step of an agent, with its start and duration: a model call, a tool call, or what contains them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Span {
    /// Unique in its trace.
    pub id: String,
    /// The id of the span that contains it; absent at the top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The name.
    pub name: String,
    /// The kind.
    pub kind: SpanKind,
    /// Milliseconds from the start of the execution.
    pub start_ms: f64,
    /// The duration in milliseconds.
    pub duration_ms: f64,
    /// How it ended.
    pub status: SpanStatus,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it reports beyond the fields of its kind.
    #[serde(skip_serializing_if = "Item::is_empty")]
    pub attributes: Item,
    /// The model call, for spans of that kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Box<ModelSpan>>,
    /// The tool call, for spans of that kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Box<ToolSpan>>,
}

/// What a span stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SpanKind {
    /// A request to a model.
    Model,
    /// A call of a tool.
    Tool,
    /// An agent, or a step of it with model calls of its own.
    Agent,
    /// A search for documents.
    Retrieval,
    /// Anything else.
    #[default]
    #[serde(other)]
    Other,
}

impl SpanKind {
    /// The name used in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Tool => "tool",
            Self::Agent => "agent",
            Self::Retrieval => "retrieval",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for SpanKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a span ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SpanStatus {
    /// Without an error.
    #[default]
    Ok,
    /// With an error.
    Error,
    /// It was still open when the execution ended.
    Open,
}

/// A request to a model, and its response.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ModelSpan {
    /// The provider, such as `openai`.
    #[serde(rename = "vendor", skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The requested model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// The model that answered, as the response names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<String>,
    /// The tokens, if reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<SpanTokens>,
    /// The cost in USD, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Whether its server is on this machine, so that it costs nothing unless it has a price.
    #[serde(skip)]
    pub is_local: bool,
    /// Milliseconds from the request to the first token of a streamed response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_to_first_token_ms: Option<f64>,
    /// Why the model stopped, such as `stop` or `tool_calls`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// How many times the request was sent again.
    #[serde(skip_serializing_if = "is_zero")]
    pub retries: u32,
    /// Whether the response was replayed from a recording. Its duration is then that of the replay.
    #[serde(skip_serializing_if = "is_zero")]
    pub replayed: bool,
    /// The duration in milliseconds when it was recorded, if the response was replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_latency_ms: Option<f64>,
    /// The response's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// The last message of the request, with its role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The response: its text, and the tools that it calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

impl ModelSpan {
    /// The model that answered, or else the requested one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.answered.as_deref().or(self.asked.as_deref())
    }
}

/// The tokens of a model call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SpanTokens {
    /// All input tokens, including those from the provider's cache.
    pub input: u64,
    /// All output tokens, including reasoning.
    pub output: u64,
    /// Input tokens that were read from the provider's cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cached_input: u64,
    /// Output tokens of hidden reasoning.
    #[serde(skip_serializing_if = "is_zero")]
    pub reasoning: u64,
}

impl SpanTokens {
    /// Input and output tokens.
    #[must_use]
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// The tokens of one call, if all counts are plausible.
    #[must_use]
    pub fn if_plausible(self) -> Option<Self> {
        let Self { input, output, cached_input, reasoning } = self;
        [input, output, cached_input, reasoning].into_iter().all(is_plausible).then_some(self)
    }

    /// The tokens that prices are for.
    #[must_use]
    pub fn to_price(self) -> Tokens {
        Tokens { input: self.input, output: self.output, cached_input: self.cached_input.min(self.input) }
    }
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ToolSpan {
    /// The tool.
    pub name: String,
    /// The model's id of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The arguments; absent if they are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// The result; absent if it is unknown, or if the call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why the call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Span {
    /// Whether it failed.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.status == SpanStatus::Error
    }

    /// Milliseconds from the start of the execution to its end.
    #[must_use]
    pub fn end_ms(&self) -> f64 {
        self.start_ms + self.duration_ms
    }

    /// Redacts all texts.
    pub(super) fn redact(&mut self) {
        redact(&mut self.name);
        self.error.iter_mut().for_each(redact);
        redact_fields(&mut self.attributes);
        if let Some(model) = &mut self.model {
            let ModelSpan { provider, asked, answered, finish_reason, response_id, input, output, .. } =
                &mut **model;
            let texts = [provider, asked, answered, finish_reason, response_id, input, output];
            texts.into_iter().flatten().for_each(redact);
        }
        if let Some(tool) = &mut self.tool {
            let ToolSpan { name, call_id, arguments, result, error } = &mut **tool;
            redact(name);
            call_id.iter_mut().for_each(redact);
            [arguments, result].into_iter().flatten().for_each(redact_texts);
            error.iter_mut().for_each(redact);
        }
    }
}
