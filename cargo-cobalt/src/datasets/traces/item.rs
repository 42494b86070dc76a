//! A recorded trace, and the item that it becomes.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, UNIX_EPOCH};

use cobalt_core::item::Item;
use cobalt_core::recordings::content_text;
use cobalt_core::report::Timestamp;
use cobalt_core::trace::{ReportedSpan, SpanKind};
use cobalt_otlp::ExportedSpan;
use serde_json::{Value, json};

/// A trace in a file.
#[derive(Debug)]
pub struct RecordedTrace {
    pub id: u128,
    /// Its spans, outermost first, then by start.
    spans: Vec<ExportedSpan>,
}

/// What an agent was asked and what it answered.
#[derive(Debug, PartialEq)]
pub struct Exchange {
    pub input: Value,
    pub output: Option<Value>,
}

impl RecordedTrace {
    pub fn new(id: u128, mut spans: Vec<ExportedSpan>) -> Self {
        // An exporter that repeats a request sends spans again.
        let mut known = HashSet::new();
        spans.retain(|span| known.insert(span.span.id));
        let depths = depths(&spans);
        spans.sort_by_key(|span| (depths[&span.span.id], span.start_nanos));
        Self { id, spans }
    }

    pub fn spans(&self) -> &[ExportedSpan] {
        &self.spans
    }

    pub fn start_nanos(&self) -> u64 {
        self.spans.iter().map(|span| span.start_nanos).min().unwrap_or(0)
    }

    /// The id as it is shown.
    pub fn name(&self) -> String {
        format!("{:032x}", self.id)
    }

    /// Whether any span failed.
    pub fn has_failed(&self) -> bool {
        self.spans.iter().any(|span| span.span.clone().read().span.failed())
    }

    /// The input of the outermost span that has one, and the output of the outermost span that has one. Tools and searches do not count:
    /// theirs are not those of the agent. `None` without an input.
    pub fn exchange(&self) -> Option<Exchange> {
        let steps = || {
            let is_step = |span: &ReportedSpan| {
                !matches!(span.clone().read().span.kind, SpanKind::Tool | SpanKind::Retrieval)
            };
            self.spans.iter().filter(move |span| is_step(&span.span))
        };
        let input = steps().find_map(|span| asked(span.span.input()?))?;
        let outputs = steps().filter_map(|span| Some((span, answered(span.span.output()?)?)));
        let depths = depths(&self.spans);
        // Of several steps, the last one has the answer.
        let last =
            |(span, _): &(&ExportedSpan, Value)| (std::cmp::Reverse(depths[&span.span.id]), span.end_nanos);
        let output = outputs.max_by_key(last).map(|(_, output)| output);
        Some(Exchange { input, output })
    }

    /// The item: `input`, and `metadata` with the trace's id, its start and the output, unless that is the expected one.
    pub fn item(&self, Exchange { input, output }: Exchange, output_as_expected: bool) -> Item {
        let start = UNIX_EPOCH + Duration::from_nanos(self.start_nanos());
        let mut metadata = json!({ "traceId": self.name(), "startedAt": Timestamp::from(start) });
        let mut item = Item::from_iter([("input".to_owned(), input)]);
        match output {
            Some(output) if output_as_expected => drop(item.insert("expectedOutput".to_owned(), output)),
            Some(output) => metadata["output"] = output,
            None => {}
        }
        item.insert("metadata".to_owned(), metadata);
        item
    }
}

/// How many spans contain each span, by its id. A parent in another process may be missing.
fn depths(spans: &[ExportedSpan]) -> HashMap<u64, usize> {
    let parents: HashMap<u64, Option<u64>> =
        spans.iter().map(|span| (span.span.id, span.span.parent)).collect();
    let depth = |id: u64| {
        let parent =
            |id: &u64| parents.get(id).copied().flatten().filter(|parent| parents.contains_key(parent));
        // A damaged file may have a cycle.
        std::iter::successors(parent(&id), parent).take(spans.len()).count()
    };
    spans.iter().map(|span| (span.span.id, depth(span.span.id))).collect()
}

/// What was asked: the text of a user's only message, or else the conversation without instructions, or else the content itself.
fn asked(input: Value) -> Option<Value> {
    let Some(messages) = conversation(&input) else { return Some(input).filter(|input| !is_empty(input)) };
    let is_instruction = |message: &&Value| matches!(message["role"].as_str(), Some("system" | "developer"));
    let mut messages: Vec<_> =
        messages.iter().filter(|message| !is_instruction(message)).map(simplified).collect();
    match &mut messages[..] {
        [] => None,
        [only] if only["role"] == "user" => Some(only["content"].take()),
        _ => Some(messages.into()),
    }
    .filter(|input| !is_empty(input))
}

/// What was answered: the text of the last message, or else the content itself.
fn answered(output: Value) -> Option<Value> {
    let output = match conversation(&output) {
        Some(messages) => content_text(content(messages.last()?)).into(),
        None if output["role"].is_string() => content_text(content(&output)).into(),
        None => output,
    };
    Some(output).filter(|output| !is_empty(output))
}

/// The messages, if it is a list of these.
fn conversation(value: &Value) -> Option<&[Value]> {
    let messages = value.as_array().filter(|list| !list.is_empty())?;
    messages.iter().all(|message| message["role"].is_string()).then_some(messages)
}

fn content(message: &Value) -> &Value {
    ["content", "parts"].into_iter().find_map(|field| message.get(field)).unwrap_or(message)
}

/// A message with its text, for all providers alike.
fn simplified(message: &Value) -> Value {
    json!({ "role": message["role"], "content": content_text(content(message)) })
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
