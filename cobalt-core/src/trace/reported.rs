//! Spans as their sources report them, and what they mean: the names of OpenTelemetry's conventions for generative AI, of OpenInference, of
//! Langfuse, and of agent crates that use names of their own.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use super::span::{ModelSpan, Span, SpanKind, SpanStatus, SpanTokens, ToolSpan};
use crate::item::{Item, usage::invalid_cost_message};
use crate::prices::{is_local_server, reported_count};
use crate::recordings::{RequestedCall, call_in, content_text, message_text, results_in};

/// A span before its fields are interpreted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportedSpan {
    /// Unique among the spans of an execution.
    pub id: u64,
    /// The id of the span that contains it.
    pub parent: Option<u64>,
    /// The name.
    pub name: String,
    /// Milliseconds from the start of the execution.
    pub start_ms: f64,
    /// The duration in milliseconds.
    pub duration_ms: f64,
    /// Whether it has not ended.
    pub is_open: bool,
    /// Whether its fields were recorded on the span of the execution, without a span of their own.
    pub is_on_execution: bool,
    /// Its fields. Those of events in it are among them, if they describe it.
    pub fields: Item,
    /// Results of tools that events in it report, with the tools' names.
    pub results: Vec<(String, Value)>,
    /// Why it failed, if an event says so.
    pub error: Option<String>,
    /// The call, if it is one of a wrapped tool. Its fields are attributes.
    pub own_call: Option<Box<ToolSpan>>,
}

/// A span with its meaning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadSpan {
    /// The reported id.
    pub id: u64,
    /// The reported parent.
    pub parent: Option<u64>,
    /// The span, without ids.
    pub span: Span,
    /// The calls of tools that a model requests in it.
    pub requested: Vec<RequestedCall>,
    /// Results of tools in its input, each with the id of its call, or else the tool's name.
    pub results: Vec<(String, Value)>,
    /// Whether it is a call of a wrapped tool.
    pub is_own: bool,
}

/// Declares meanings of fields, each with the names that fields of it may have, the preferred first.
macro_rules! meanings {
    ($($(#[$doc:meta])* $meaning:ident: [$($name:literal),+ $(,)?];)+) => {
        /// What a field means.
        #[derive(Clone, Copy)]
        enum Meaning { $($(#[$doc])* $meaning),+ }

        /// The names, by meaning.
        const NAMES: [&[&str]; [$(Meaning::$meaning),+].len()] = [$(&[$($name),+]),+];
    };
}

meanings! {
    Operation: ["gen_ai.operation.name"];
    Kind: ["openinference.span.kind", "traceloop.span.kind", "langfuse.observation.type", "langfuse.type"];
    Provider: ["gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system"];
    Asked: [
        "gen_ai.request.model",
        "llm.model_name",
        "embedding.model_name",
        "langfuse.observation.model.name",
        "langfuse.model",
    ];
    Answered: ["gen_ai.response.model"];
    ResponseId: ["gen_ai.response.id"];
    InputTokens: [
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "llm.token_count.prompt",
        "llm.usage.prompt_tokens",
    ];
    OutputTokens: [
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
        "llm.usage.completion_tokens",
    ];
    CachedTokens: [
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.cache_read_tokens",
        "gen_ai.usage.cached_tokens",
        "gen_ai.usage.input_tokens.cached",
        "llm.token_count.prompt_details.cache_read",
    ];
    ReasoningTokens: [
        "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.usage.reasoning_tokens",
        "gen_ai.usage.thinking_tokens",
        "llm.token_count.completion_details.reasoning",
    ];
    /// Token counts in one field of JSON.
    Usage: ["langfuse.usage", "langfuse.observation.usage_details"];
    Cost: ["gen_ai.usage.cost", "llm.cost.total", "llm.usage.cost"];
    /// In seconds.
    TimeToFirstToken: ["gen_ai.response.time_to_first_chunk", "gen_ai.server.time_to_first_token"];
    FinishReason: ["gen_ai.response.finish_reasons", "llm.finish_reason"];
    InputMessages: [
        "gen_ai.input.messages",
        "gcp.vertex.agent.llm_request",
        "gen_ai.prompt",
        "langfuse.input",
        "langfuse.observation.input",
        "traceloop.entity.input",
        "input.value",
    ];
    OutputMessages: [
        "gen_ai.output.messages",
        "gcp.vertex.agent.llm_response",
        "gen_ai.completion",
        "langfuse.output",
        "langfuse.observation.output",
        "traceloop.entity.output",
        "output.value",
    ];
    ToolName: ["gen_ai.tool.name", "tool.name", "tool_call.function.name"];
    CallId: ["gen_ai.tool.call.id", "tool_call.id", "tool.id"];
    Arguments: [
        "gen_ai.tool.call.arguments",
        "tool.args",
        "tool_call.function.arguments",
        "tool.parameters",
        "langfuse.input",
        "traceloop.entity.input",
        "input.value",
    ];
    Result: [
        "gen_ai.tool.call.result",
        "tool.result",
        "langfuse.output",
        "traceloop.entity.output",
        "output.value",
    ];
    StatusCode: ["otel.status_code", "status_code"];
    Outcome: ["gen_ai.tool.call.outcome"];
    Error: [
        "otel.status_message",
        "otel.status_description",
        "exception.message",
        "error.message",
        "langfuse.status_message",
        "gen_ai.tool.error.type",
        "error.type",
        "exception.type",
    ];
    SpanName: ["otel.name"];
}

/// The meanings of each known name, with its rank among the names of the meaning.
static MEANINGS: LazyLock<HashMap<&str, Vec<(usize, usize)>>> = LazyLock::new(|| {
    let mut meanings = HashMap::<_, Vec<_>>::new();
    for (meaning, names) in NAMES.iter().enumerate() {
        for (rank, name) in names.iter().enumerate() {
            meanings.entry(*name).or_default().push((meaning, rank));
        }
    }
    meanings
});

/// Fields that are the same in many spans, or say nothing about what an agent did.
const IGNORED: &[&str] = &[
    "otel.",
    "code.",
    "thread.",
    "busy_ns",
    "idle_ns",
    "server.",
    "gcp.vertex.agent.",
    "gen_ai.system_instructions",
    "gen_ai.tool.definitions",
    "gen_ai.tool.type",
    "gen_ai.conversation.id",
    "gen_ai.usage.",
    "gen_ai.request.stream",
    "rig.completion_parent",
    "llm.input_messages.",
    "llm.output_messages.",
    "llm.tools.",
    "llm.token_count.",
    "input.mime_type",
    "output.mime_type",
    "tool_name",
];

impl ReportedSpan {
    /// Whether this is worth keeping although its level is low: it is about models, tools or agents.
    #[must_use]
    pub fn is_known_field(name: &str) -> bool {
        ["gen_ai.", "langfuse.", "tool.", "openinference.", "llm."]
            .iter()
            .any(|prefix| name.starts_with(prefix))
    }

    /// Its input as reported: messages, arguments or other content.
    #[must_use]
    pub fn input(&self) -> Option<Value> {
        Fields::new(&self.fields).parsed(Meaning::InputMessages).map(messages)
    }

    /// Its output as reported: messages, a result or other content.
    #[must_use]
    pub fn output(&self) -> Option<Value> {
        Fields::new(&self.fields).parsed(Meaning::OutputMessages)
    }

    /// Interprets the fields.
    #[must_use]
    pub fn read(self) -> ReadSpan {
        if self.own_call.is_some() {
            return self.read_own();
        }
        let fields = &Fields::new(&self.fields);
        let name = fields.text(Meaning::SpanName).unwrap_or(&self.name);
        let kind = kind(fields, name, &self.name);
        let (error, status) = self.outcome(fields);
        let (requested, mut results) = match kind {
            SpanKind::Model => (requested_calls(fields), tool_results(fields)),
            _ => Default::default(),
        };
        results.extend(self.results.iter().cloned());
        let model = (kind == SpanKind::Model).then(|| Box::new(model(fields)));
        let tool = (kind == SpanKind::Tool).then(|| Box::new(tool(fields, name, error.as_deref(), status)));
        let name = match name.trim() {
            "" => tool.as_ref().map_or(kind.name(), |tool| &tool.name),
            name => name,
        };
        let is_attribute = |field: &str| !IGNORED.iter().any(|start| field.starts_with(start));
        let attributes = fields.others.iter().filter(|(field, _)| is_attribute(field));
        let mut attributes: Item =
            attributes.map(|(field, value)| ((*field).clone(), (*value).clone())).collect();
        if matches!(kind, SpanKind::Agent | SpanKind::Retrieval | SpanKind::Other) {
            for (field, keys) in [("input", Meaning::InputMessages), ("output", Meaning::OutputMessages)] {
                if let Some(content) = fields.content(keys) {
                    attributes.insert(field.to_owned(), content.into());
                }
            }
        }
        let span = Span {
            name: name.to_owned(),
            kind,
            start_ms: self.start_ms,
            duration_ms: self.duration_ms,
            status,
            error,
            attributes,
            model,
            tool,
            ..Span::default()
        };
        ReadSpan { id: self.id, parent: self.parent, span, requested, results, is_own: false }
    }

    /// A call of a wrapped tool, which needs no interpretation.
    fn read_own(self) -> ReadSpan {
        let Self {
            id, parent, name, start_ms, duration_ms, is_open, fields: attributes, own_call: tool, ..
        } = self;
        let error = tool.as_ref().and_then(|tool| tool.error.clone());
        let status = match error {
            Some(_) => SpanStatus::Error,
            None if is_open => SpanStatus::Open,
            None => SpanStatus::Ok,
        };
        let kind = SpanKind::Tool;
        let span =
            Span { name, kind, start_ms, duration_ms, status, error, attributes, tool, ..Span::default() };
        ReadSpan { id, parent, span, is_own: true, ..ReadSpan::default() }
    }

    fn outcome(&self, fields: &Fields<'_>) -> (Option<String>, SpanStatus) {
        let failed = |code: &str| code.eq_ignore_ascii_case("error") || code == "2";
        let has_failed = self.error.is_some()
            || fields.text(Meaning::StatusCode).is_some_and(failed)
            || fields.text(Meaning::Outcome).is_some_and(|outcome| outcome != "success")
            || fields.first(Meaning::Error).is_some();
        let error = || self.error.clone().or_else(|| fields.text(Meaning::Error).map(str::to_owned));
        match has_failed {
            true => (error(), SpanStatus::Error),
            false if self.is_open => (None, SpanStatus::Open),
            false => (None, SpanStatus::Ok),
        }
    }
}

/// The fields of a span, by their meanings.
struct Fields<'a> {
    all: &'a Item,
    /// The field that is set and whose name is preferred, by meaning, with the rank of the name.
    found: [Option<(usize, &'a Value)>; NAMES.len()],
    /// Those without a meaning.
    others: Vec<(&'a String, &'a Value)>,
}

impl<'a> Fields<'a> {
    fn new(all: &'a Item) -> Self {
        let mut fields = Self { all, found: [None; NAMES.len()], others: Vec::new() };
        for (name, value) in all {
            let Some(meanings) = MEANINGS.get(&**name) else {
                fields.others.push((name, value));
                continue;
            };
            if value.is_null() || value.as_str() == Some("") {
                continue;
            }
            for (meaning, rank) in meanings {
                let found = &mut fields.found[*meaning];
                if found.is_none_or(|(known, _)| rank < &known) {
                    *found = Some((*rank, value));
                }
            }
        }
        fields
    }

    fn first(&self, meaning: Meaning) -> Option<&'a Value> {
        self.found[meaning as usize].map(|(_, value)| value)
    }

    fn text(&self, meaning: Meaning) -> Option<&'a str> {
        self.first(meaning)?.as_str()
    }

    /// A number, which some sources write as text.
    fn number(&self, meaning: Meaning) -> Option<f64> {
        let value = self.first(meaning)?;
        value
            .as_f64()
            .or_else(|| value.as_str()?.trim().parse().ok())
            .filter(|number: &f64| number.is_finite())
    }

    /// A count of tokens, which may be implausible.
    fn count(&self, meaning: Meaning) -> Option<u64> {
        reported_count(&self.number(meaning)?.into())
    }

    /// A value, which most sources write as JSON text.
    fn parsed(&self, meaning: Meaning) -> Option<Value> {
        Some(parsed(self.first(meaning)?))
    }

    /// The last message, or other content, as text.
    fn content(&self, meaning: Meaning) -> Option<String> {
        let value = messages(self.parsed(meaning)?);
        let text = match &value {
            Value::Array(messages) => messages.last().map(message_text)?,
            Value::Object(message) if message.contains_key("role") => message_text(&value),
            other => content_text(other),
        };
        Some(text).filter(|text| !text.is_empty())
    }
}

/// JSON in text, or else the value itself.
pub(super) fn parsed(value: &Value) -> Value {
    let is_json = |text: &&str| text.trim_start().starts_with(['{', '[', '"']);
    let parsed = value.as_str().filter(is_json).and_then(|text| serde_json::from_str(text).ok());
    parsed.unwrap_or_else(|| value.clone())
}

/// The messages in a request, or the value itself.
fn messages(value: Value) -> Value {
    match value {
        Value::Object(mut request) => {
            let list = ["contents", "messages"]
                .into_iter()
                .find(|field| request.get(*field).is_some_and(Value::is_array));
            match list.and_then(|field| request.remove(field)) {
                Some(messages) => messages,
                None => Value::Object(request),
            }
        }
        other => other,
    }
}

fn kind(fields: &Fields<'_>, name: &str, own_name: &str) -> SpanKind {
    if let Some(kind) = fields.text(Meaning::Kind) {
        match kind.to_ascii_lowercase().as_str() {
            "llm" | "embedding" | "generation" => return SpanKind::Model,
            "tool" => return SpanKind::Tool,
            "agent" | "workflow" => return SpanKind::Agent,
            "retriever" | "reranker" | "retrieval" => return SpanKind::Retrieval,
            _ => {}
        }
    }
    if let Some(operation) = fields.text(Meaning::Operation) {
        match operation {
            "chat" | "text_completion" | "generate_content" | "embeddings" => return SpanKind::Model,
            "execute_tool" => return SpanKind::Tool,
            "invoke_agent" | "create_agent" | "invoke_workflow" => return SpanKind::Agent,
            "retrieval" => return SpanKind::Retrieval,
            _ => {}
        }
    }
    let has = |meaning| fields.first(meaning).is_some();
    if has(Meaning::ToolName)
        || name.starts_with("execute_tool ")
        || (own_name == "tool" && name.starts_with("tool."))
    {
        return SpanKind::Tool;
    }
    if (has(Meaning::Asked) || has(Meaning::Answered))
        || fields.all.keys().any(|field| field == "gcp.vertex.agent.llm_request")
    {
        return SpanKind::Model;
    }
    let is_agent = ["gen_ai.agent.name", "agent.name"].iter().any(|field| fields.all.contains_key(*field));
    let starts = ["invoke_agent", "agent.run", "agent.query", "agent.execute"];
    if is_agent || starts.iter().any(|start| name.starts_with(start)) {
        return SpanKind::Agent;
    }
    SpanKind::Other
}

fn model(fields: &Fields<'_>) -> ModelSpan {
    let text = |meaning| fields.text(meaning).map(str::to_owned);
    ModelSpan {
        provider: text(Meaning::Provider).map(|provider| provider.to_ascii_lowercase()),
        asked: text(Meaning::Asked),
        answered: text(Meaning::Answered),
        tokens: tokens(fields),
        cost: fields.number(Meaning::Cost).filter(|cost| invalid_cost_message(*cost).is_none()),
        is_local: fields.all.get("server.address").and_then(Value::as_str).is_some_and(is_local_server),
        time_to_first_token_ms: fields
            .number(Meaning::TimeToFirstToken)
            .map(|seconds| (seconds * 1e6).round() / 1e3),
        finish_reason: finish_reason(fields),
        response_id: text(Meaning::ResponseId),
        input: fields.content(Meaning::InputMessages),
        output: answer(fields),
        ..ModelSpan::default()
    }
}

/// The tokens; `None` if they are not reported, or implausible.
fn tokens(fields: &Fields<'_>) -> Option<SpanTokens> {
    reported_tokens(fields)?.if_plausible()
}

fn reported_tokens(fields: &Fields<'_>) -> Option<SpanTokens> {
    let (input, output) = (fields.count(Meaning::InputTokens), fields.count(Meaning::OutputTokens));
    if input.is_none() && output.is_none() {
        return usage_tokens(&fields.parsed(Meaning::Usage)?);
    }
    let cached_input = fields.count(Meaning::CachedTokens).unwrap_or(0);
    Some(SpanTokens {
        input: with_cached(input.unwrap_or(0), cached_input),
        output: output.unwrap_or(0),
        cached_input,
        reasoning: fields.count(Meaning::ReasoningTokens).unwrap_or(0),
    })
}

/// The input with what was read from the cache. The conventions count it in; where it exceeds the input, it was counted apart.
fn with_cached(input: u64, cached_input: u64) -> u64 {
    if cached_input > input { input.saturating_add(cached_input) } else { input }
}

/// Token counts in one value.
fn usage_tokens(usage: &Value) -> Option<SpanTokens> {
    let count = |paths: &[&str]| paths.iter().find_map(|path| reported_count(usage.pointer(path)?));
    let input = count(&["/input", "/prompt_tokens", "/input_tokens"]);
    let output = count(&["/output", "/completion_tokens", "/output_tokens"]);
    if input.is_none() && output.is_none() {
        return None;
    }
    let cached_input = count(&[
        "/details/prompt_tokens_details/cached_tokens",
        "/details/input_tokens_details/cached_tokens",
        "/input_cached_tokens",
    ]);
    let reasoning = count(&[
        "/details/completion_tokens_details/reasoning_tokens",
        "/details/output_tokens_details/reasoning_tokens",
        "/output_reasoning_tokens",
    ]);
    Some(SpanTokens {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cached_input: cached_input.unwrap_or(0),
        reasoning: reasoning.unwrap_or(0),
    })
}

fn finish_reason(fields: &Fields<'_>) -> Option<String> {
    let of_messages = || {
        let messages = parsed(fields.all.get("gen_ai.output.messages")?);
        Some(messages.get(0)?.get("finish_reason")?.clone())
    };
    let reason = match fields.parsed(Meaning::FinishReason).or_else(of_messages)? {
        Value::Array(reasons) => reasons.into_iter().next()?,
        reason => reason,
    };
    reason.as_str().filter(|reason| *reason != "unknown").map(str::to_owned)
}

/// The answer: its text, and the tools that it calls.
fn answer(fields: &Fields<'_>) -> Option<String> {
    // Parts of a stream are joined as they are.
    let mut text = String::new();
    for part in parts(fields) {
        let part = requested_call(&part).map_or_else(|| content_text(&part), |call| format!("→ {call}"));
        let separate = part.starts_with("→ ") && !text.is_empty();
        text += if separate { " " } else { "" };
        text += &part;
    }
    Some(text).filter(|text| !text.is_empty())
}

/// The parts of the answer.
fn parts(fields: &Fields<'_>) -> Vec<Value> {
    let Some(output) = fields.parsed(Meaning::OutputMessages) else { return Vec::new() };
    let list = match output {
        Value::Array(messages) => messages,
        message => vec![message],
    };
    list.into_iter().flat_map(parts_of_message).collect()
}

/// The parts of a message, or of a response with one: those of its content, then the calls that OpenAI's messages and swiftide's have
/// beside it.
fn parts_of_message(mut message: Value) -> Vec<Value> {
    if let Some(of_response) = message.pointer_mut("/choices/0/message") {
        message = of_response.take();
    }
    let calls = message.get_mut("tool_calls").map(|calls| match calls.take() {
        Value::Array(calls) => calls,
        _ => Vec::new(),
    });
    let field = |is_it: fn(&Value) -> bool| {
        ["parts", "content", "message"].into_iter().find(|field| message.get(field).is_some_and(is_it))
    };
    let (list, text) = (field(Value::is_array), field(Value::is_string));
    match (list.map(|field| message[field].take()), calls) {
        (Some(Value::Array(parts)), calls) => parts.into_iter().chain(calls.into_iter().flatten()).collect(),
        (_, Some(calls)) => text.map(|field| message[field].take()).into_iter().chain(calls).collect(),
        _ => vec![message],
    }
}

fn requested_calls(fields: &Fields<'_>) -> Vec<RequestedCall> {
    parts(fields).iter().filter_map(requested_call).collect()
}

/// The call of a tool in a part of an answer. Those of Gemini, OpenAI's chat completions and swiftide have no type of their own.
fn requested_call(part: &Value) -> Option<RequestedCall> {
    call_in(part).or_else(|| {
        let function = part.get("function").unwrap_or(part);
        let arguments = ["args", "arguments"].iter().find_map(|field| function.get(field))?;
        Some(RequestedCall::new(&part["id"], function.get("name")?, arguments))
    })
}

fn tool_results(fields: &Fields<'_>) -> Vec<(String, Value)> {
    let Some(Value::Array(messages)) = fields.parsed(Meaning::InputMessages).map(messages) else {
        return Vec::new();
    };
    messages.iter().flat_map(results_in).collect()
}

fn tool(fields: &Fields<'_>, name: &str, error: Option<&str>, status: SpanStatus) -> ToolSpan {
    let named = || name.strip_prefix("execute_tool ").or_else(|| name.strip_prefix("tool.")).unwrap_or(name);
    let result = fields.parsed(Meaning::Result);
    let failed = status == SpanStatus::Error;
    let reason = || result.as_ref().map(content_text).filter(|text| !text.is_empty());
    ToolSpan {
        name: fields.text(Meaning::ToolName).unwrap_or_else(named).to_owned(),
        call_id: fields.text(Meaning::CallId).map(str::to_owned),
        arguments: fields.parsed(Meaning::Arguments),
        error: failed.then(|| reason().or(error.map(str::to_owned)).unwrap_or_else(|| "failed".to_owned())),
        result: result.filter(|_| !failed),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::item::into_item;

    fn read(name: &str, fields: Value) -> ReadSpan {
        let fields = into_item(fields).unwrap();
        ReportedSpan { name: name.to_owned(), fields, ..ReportedSpan::default() }.read()
    }

    fn model(fields: Value) -> ModelSpan {
        *read("chat", fields).span.model.unwrap()
    }

    #[test]
    fn the_kind_follows_from_the_conventions() {
        for (name, fields, expected) in [
            ("chat", json!({ "gen_ai.operation.name": "chat" }), SpanKind::Model),
            ("x", json!({ "gen_ai.operation.name": "embeddings" }), SpanKind::Model),
            ("execute_tool", json!({ "gen_ai.operation.name": "execute_tool" }), SpanKind::Tool),
            ("x", json!({ "gen_ai.operation.name": "invoke_agent" }), SpanKind::Agent),
            ("x", json!({ "gen_ai.operation.name": "retrieval" }), SpanKind::Retrieval),
            ("gen_ai.generate", json!({ "gen_ai.request.model": "m" }), SpanKind::Model),
            ("call_llm", json!({ "gcp.vertex.agent.llm_request": "{}" }), SpanKind::Model),
            ("", json!({ "otel.name": "execute_tool now", "tool.name": "now" }), SpanKind::Tool),
            ("agent.execute", json!({ "agent.name": "desk" }), SpanKind::Agent),
            ("agent.run", json!({}), SpanKind::Agent),
            ("agent.query_once", json!({}), SpanKind::Agent),
            ("chat_completion", json!({ "langfuse.type": "GENERATION" }), SpanKind::Model),
            ("tool", json!({ "otel.name": "tool.search" }), SpanKind::Tool),
            ("x", json!({ "openinference.span.kind": "LLM" }), SpanKind::Model),
            ("x", json!({ "openinference.span.kind": "RETRIEVER" }), SpanKind::Retrieval),
            ("x", json!({ "openinference.span.kind": "CHAIN" }), SpanKind::Other),
            ("x", json!({ "traceloop.span.kind": "workflow" }), SpanKind::Agent),
            ("request", json!({ "http.method": "GET" }), SpanKind::Other),
        ] {
            assert_eq!(read(name, fields.clone()).span.kind, expected, "{name} {fields}");
        }
    }

    #[test]
    fn tokens_are_read_by_all_their_names() {
        let expected = SpanTokens { input: 154, output: 8, cached_input: 38, reasoning: 2 };
        for fields in [
            json!({ "gen_ai.usage.input_tokens": 154, "gen_ai.usage.output_tokens": 8,
                "gen_ai.usage.cache_read.input_tokens": 38, "gen_ai.usage.reasoning.output_tokens": 2 }),
            json!({ "gen_ai.usage.input_tokens": "154", "gen_ai.usage.output_tokens": "8",
                "gen_ai.usage.cache_read_tokens": "38", "gen_ai.usage.thinking_tokens": "2", "gen_ai.usage.total_tokens": "162" }),
            json!({ "gen_ai.usage.prompt_tokens": 154, "gen_ai.usage.completion_tokens": 8,
                "gen_ai.usage.cached_tokens": 38, "gen_ai.usage.reasoning_tokens": 2 }),
            json!({ "llm.token_count.prompt": 154, "llm.token_count.completion": 8,
                "llm.token_count.prompt_details.cache_read": 38, "llm.token_count.completion_details.reasoning": 2 }),
            json!({ "langfuse.usage": json!({ "prompt_tokens": 154, "completion_tokens": 8, "total_tokens": 162,
                "details": { "prompt_tokens_details": { "cached_tokens": 38 },
                    "completion_tokens_details": { "reasoning_tokens": 2 } } }).to_string() }),
        ] {
            let mut fields = fields;
            fields["gen_ai.operation.name"] = json!("chat");
            assert_eq!(model(fields.clone()).tokens, Some(expected), "{fields}");
        }
        let apart = json!({ "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 10, "gen_ai.usage.cached_tokens": 90 });
        assert_eq!(model(apart).tokens.unwrap().input, 100, "counted apart");
        assert_eq!(model(json!({ "gen_ai.operation.name": "chat" })).tokens, None);
    }

    #[test]
    fn the_messages_of_the_conventions_become_text_and_calls() {
        let call = json!({ "type": "tool_call", "id": "call_2", "name": "weather", "arguments": { "city": "York" } });
        let input = json!([
            { "role": "user", "parts": [{ "type": "text", "content": "Weather?" }] },
            { "role": "assistant", "parts": [call] },
            { "role": "tool", "parts": [{ "type": "tool_call_response", "id": "call_2", "result": "18 °C" }] },
        ]);
        let output = json!([{ "role": "assistant", "parts": [{ "type": "text", "content": "Let me see." }, call],
            "finish_reason": "tool_calls" }]);
        let span = read(
            "genai.chat",
            json!({ "gen_ai.operation.name": "chat", "otel.name": "chat gpt-4o", "gen_ai.provider.name": "OpenAI",
                "gen_ai.request.model": "gpt-4o", "gen_ai.response.model": "gpt-4o-2025", "gen_ai.response.id": "r1",
                "gen_ai.response.time_to_first_chunk": 0.25, "gen_ai.request.temperature": 0.5,
                "gen_ai.input.messages": input.to_string(), "gen_ai.output.messages": output.to_string() }),
        );
        let model = span.span.model.unwrap();
        assert_eq!(span.span.name, "chat gpt-4o");
        assert_eq!(model.provider.as_deref(), Some("openai"));
        assert_eq!(
            (model.asked.as_deref(), model.answered.as_deref()),
            (Some("gpt-4o"), Some("gpt-4o-2025"))
        );
        assert_eq!(model.time_to_first_token_ms, Some(250.0));
        assert_eq!(model.finish_reason.as_deref(), Some("tool_calls"));
        assert_eq!(model.input.as_deref(), Some("tool: 18 °C"));
        assert_eq!(model.output.as_deref(), Some("Let me see. → weather({\"city\":\"York\"})"));
        assert_eq!(span.requested[0].name, "weather");
        assert_eq!(span.results, [("call_2".to_owned(), json!("18 °C"))]);
        assert_eq!(span.span.attributes, into_item(json!({ "gen_ai.request.temperature": 0.5 })).unwrap());
    }

    #[test]
    fn the_parts_of_a_streamed_answer_are_joined() {
        let response = json!({ "role": "model", "parts": [{ "text": "Here " }, { "text": "you are" },
            { "name": "convert", "args": { "amount": 1 }, "id": "c" }] });
        let span = read(
            "call_llm",
            json!({ "gcp.vertex.agent.llm_request": "{\"contents\":[]}", "gcp.vertex.agent.llm_response": response.to_string() }),
        );
        assert_eq!(
            span.span.model.unwrap().output.as_deref(),
            Some("Here you are → convert({\"amount\":1})")
        );
        assert_eq!(span.requested[0].id.as_deref(), Some("c"));
    }

    #[test]
    fn calls_beside_the_content_of_an_answer_are_parts_of_it() {
        let (id, arguments) = ("c", r#"{"city":"York"}"#);
        let call = json!({ "id": id, "type": "function", "function": { "name": "weather", "arguments": arguments } });
        let message = json!({ "role": "assistant", "content": "Let me see.", "tool_calls": [call] });
        let of_swiftide = json!([{ "id": id, "name": "weather", "args": arguments }]);
        for output in [
            message.clone(),
            json!({ "id": "r", "choices": [{ "message": message }] }),
            json!({ "id": "r", "message": "Let me see.", "tool_calls": of_swiftide, "usage": null }),
        ] {
            let fields = json!({ "langfuse.type": "GENERATION", "langfuse.output": output.to_string() });
            let span = read("complete", fields);
            let text = span.span.model.unwrap().output;
            assert_eq!(text.as_deref(), Some("Let me see. → weather({\"city\":\"York\"})"), "{output}");
            let expected = RequestedCall {
                id: Some(id.to_owned()),
                name: "weather".to_owned(),
                arguments: json!({ "city": "York" }),
            };
            assert_eq!(span.requested, [expected], "{output}");
        }
        let answered = json!({ "message": "18 °C", "tool_calls": null }).to_string();
        let span = read("complete", json!({ "langfuse.type": "GENERATION", "langfuse.output": answered }));
        assert_eq!(span.span.model.unwrap().output.as_deref(), Some("18 °C"));
    }

    #[test]
    fn a_tool_that_failed_has_an_error_and_no_result() {
        let fields = json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "now", "gen_ai.tool.call.id": "c",
            "gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": "no clock", "gen_ai.tool.call.outcome": "error" });
        let span = read("execute_tool", fields).span;
        assert!(span.failed());
        let expected = ToolSpan {
            name: "now".to_owned(),
            call_id: Some("c".to_owned()),
            arguments: Some(json!({})),
            result: None,
            error: Some("no clock".to_owned()),
        };
        assert_eq!(*span.tool.unwrap(), expected);
    }

    #[test]
    fn the_name_of_a_tool_comes_from_its_span_if_it_has_no_field() {
        let tool = |fields| read("tool", fields).span.tool.unwrap();
        let fields = json!({ "otel.name": "tool.search", "langfuse.input": "{\"q\":\"rust\"}", "langfuse.output": "found" });
        let searched = tool(fields);
        assert_eq!(
            (&*searched.name, searched.arguments, searched.result),
            ("search", Some(json!({ "q": "rust" })), Some(json!("found")))
        );
    }

    #[test]
    fn a_status_of_the_conventions_is_an_error() {
        for fields in [
            json!({ "otel.status_code": "ERROR", "otel.status_message": "busy" }),
            json!({ "otel.status_code": "error", "error.type": "busy" }),
            json!({ "exception.message": "busy" }),
        ] {
            let span = read("step", fields.clone()).span;
            assert_eq!((span.status, span.error.as_deref()), (SpanStatus::Error, Some("busy")), "{fields}");
        }
        assert_eq!(read("step", json!({ "otel.status_code": "OK" })).span.status, SpanStatus::Ok);
    }
}
