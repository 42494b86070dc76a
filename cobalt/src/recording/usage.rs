//! The model and the tokens that a response reports, in the forms of OpenAI, Anthropic, Gemini, Cohere and Ollama, whole or as a
//! stream.

use std::fmt;

use cobalt_core::prices::Tokens;
use cobalt_core::recordings::{Body, StreamKind, StreamSplitter, event_data};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The fields of a response that say something about it. All others are skipped: they may be long.
const FIELDS: [&str; 11] = [
    "id",
    "model",
    "modelVersion",
    "usage",
    "usageMetadata",
    "meta",
    "prompt_eval_count",
    "eval_count",
    "message",
    "response",
    "delta",
];

/// What a response reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseUsage {
    pub model: Option<String>,
    pub tokens: Option<Tokens>,
    /// The identifier by which a later request may continue it.
    pub id: Option<String>,
}

/// All tokens that a response reports; `None` if it reports none.
pub fn tokens_of(response: &[u8]) -> Option<u64> {
    ResponseUsage::of(response).tokens.map(Tokens::total)
}

impl ResponseUsage {
    /// Reads a response.
    pub fn of(response: &[u8]) -> Self {
        let mut usage = Self::default();
        if let Ok(reported) = serde_json::from_slice::<Reported>(response) {
            reported.0.iter().for_each(|value| usage.add(value));
        }
        usage
    }

    /// The identifier in a recorded response.
    pub fn id_of(response: &Body) -> Option<String> {
        match response {
            Body::Json(value) => value.get("id").and_then(Value::as_str).map(str::to_owned),
            Body::Events(events) => events.iter().find_map(|event| {
                let mut usage = Self::default();
                usage.add_event(&event.text);
                usage.id
            }),
            _ => None,
        }
    }

    /// Adds an event of a stream.
    fn add_event(&mut self, event: &str) {
        let data = event_data(event);
        let values = serde_json::Deserializer::from_str(&data).into_iter::<Reported>();
        for value in values.map_while(Result::ok).flat_map(|reported| reported.0) {
            self.add(&value);
        }
    }

    fn add(&mut self, value: &Value) {
        // Anthropic wraps the start of a stream in `message`, OpenAI's Responses API each state in `response`, Cohere the end of a
        // stream in `delta`.
        let wrapped = ["message", "response", "delta"].map(|field| value.get(field));
        for part in [Some(value)].into_iter().chain(wrapped).flatten() {
            let text = |key: &str| part.get(key).and_then(Value::as_str).map(str::to_owned);
            self.model = text("model").or_else(|| text("modelVersion")).or(self.model.take());
            self.id = text("id").or(self.id.take());
            for usage in
                [part.get("usage"), part.get("usageMetadata"), part.get("meta")].into_iter().flatten()
            {
                self.add_tokens(usage);
            }
            if part.get("eval_count").or_else(|| part.get("prompt_eval_count")).is_some() {
                self.add_tokens(part);
            }
        }
    }

    /// Later values replace earlier ones: streams report running totals.
    fn add_tokens(&mut self, usage: &Value) {
        let usage = usage.get("billed_units").or_else(|| usage.get("tokens")).unwrap_or(usage);
        let number = |path: &str| usage.pointer(path).and_then(Value::as_f64).map(|number| number as u64);
        let first = |paths: &[&str]| paths.iter().find_map(|path| number(path));
        let input = first(&[
            "/prompt_tokens",
            "/input_tokens",
            "/promptTokenCount",
            "/prompt_eval_count",
            "/total_tokens",
        ]);
        let output = first(&["/completion_tokens", "/output_tokens", "/candidatesTokenCount", "/eval_count"]);
        // Gemini counts thoughts apart, also if they leave no room for an answer.
        let thoughts = number("/thoughtsTokenCount").unwrap_or(0);
        let output = output.or((thoughts > 0).then_some(0));
        if input.is_none() && output.is_none() {
            return;
        }
        let cached = first(&[
            "/prompt_tokens_details/cached_tokens",
            "/input_tokens_details/cached_tokens",
            "/cache_read_input_tokens",
            "/cachedContentTokenCount",
        ]);
        // Anthropic counts cached input apart.
        let apart = ["/cache_read_input_tokens", "/cache_creation_input_tokens"];
        let apart: u64 = apart.iter().filter_map(|path| number(path)).sum();
        let before = self.tokens.unwrap_or_default();
        self.tokens = Some(Tokens {
            input: input.map_or(before.input, |input| input + apart),
            output: output.map_or(before.output, |output| output + thoughts),
            cached_input: cached.unwrap_or(before.cached_input),
        });
    }
}

/// Reads what a stream reports while it arrives.
#[derive(Debug)]
pub struct StreamUsage {
    splitter: StreamSplitter,
    usage: ResponseUsage,
}

impl StreamUsage {
    pub fn new(kind: StreamKind) -> Self {
        Self { splitter: StreamSplitter::new(kind), usage: ResponseUsage::default() }
    }

    /// Adds a part of the stream.
    pub fn push(&mut self, part: &[u8]) {
        self.splitter.push(part, |event| self.usage.add_event(&String::from_utf8_lossy(event)));
    }

    /// What the stream has reported.
    pub fn finish(mut self) -> ResponseUsage {
        self.usage.add_event(&String::from_utf8_lossy(&self.splitter.rest()));
        self.usage
    }
}

/// An object with only the [`FIELDS`], or a list of them.
struct Reported(Vec<Value>);

impl<'de> Deserialize<'de> for Reported {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReportedVisitor)
    }
}

struct ReportedVisitor;

impl<'de> Visitor<'de> for ReportedVisitor {
    type Value = Reported;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list of objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Reported, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if FIELDS.contains(&&*name) {
                let value = map.next_value()?;
                fields.insert(name, value);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Reported(vec![Value::Object(fields)]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Reported, A::Error> {
        let mut all = Vec::new();
        while let Some(Reported(values)) = list.next_element()? {
            all.extend(values);
        }
        Ok(Reported(all))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> (Option<String>, Option<Tokens>) {
        let usage = ResponseUsage::of(value.to_string().as_bytes());
        (usage.model, usage.tokens)
    }

    fn tokens(input: u64, output: u64, cached_input: u64) -> Option<Tokens> {
        Some(Tokens { input, output, cached_input })
    }

    #[test]
    fn usage_is_read_in_every_providers_form() {
        for (response, model, expected) in [
            (
                json!({ "model": "gpt", "usage": { "prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12,
                    "prompt_tokens_details": { "cached_tokens": 4 } } }),
                Some("gpt"),
                tokens(10, 2, 4),
            ),
            (
                json!({ "model": "claude", "usage": { "input_tokens": 10, "cache_read_input_tokens": 4,
                    "cache_creation_input_tokens": 1, "output_tokens": 2 } }),
                Some("claude"),
                tokens(15, 2, 4),
            ),
            (
                json!({ "modelVersion": "gemini", "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 2,
                    "thoughtsTokenCount": 3 } }),
                Some("gemini"),
                tokens(10, 5, 0),
            ),
            (
                json!({ "usageMetadata": { "promptTokenCount": 10, "thoughtsTokenCount": 1000 } }),
                None,
                tokens(10, 1000, 0),
            ),
            (
                json!({ "type": "message-end", "delta": { "usage": { "tokens": { "input_tokens": 7, "output_tokens": 1 } } } }),
                None,
                tokens(7, 1, 0),
            ),
            (json!({ "meta": { "billed_units": { "input_tokens": 7 } } }), None, tokens(7, 0, 0)),
            (
                json!({ "usage": { "tokens": { "input_tokens": 7, "output_tokens": 1 } } }),
                None,
                tokens(7, 1, 0),
            ),
            (json!({ "data": [] }), None, None),
        ] {
            assert_eq!(read(&response), (model.map(str::to_owned), expected), "{response}");
        }
    }

    fn of_stream(kind: StreamKind, text: &str) -> ResponseUsage {
        let mut usage = StreamUsage::new(kind);
        text.as_bytes().chunks(7).for_each(|part| usage.push(part));
        usage.finish()
    }

    #[test]
    fn a_stream_reports_running_totals() {
        let of_events = |values: &[Value]| {
            let events: String = values.iter().map(|data| format!("event: x\ndata: {data}\n\n")).collect();
            of_stream(StreamKind::Events, &events)
        };
        let usage = of_events(&[
            json!({ "type": "message_start", "message": { "id": "msg", "model": "claude", "usage": { "input_tokens": 10,
                "output_tokens": 1 } } }),
            json!({ "type": "message_delta", "usage": { "output_tokens": 20 } }),
        ]);
        assert_eq!(usage.tokens, tokens(10, 20, 0));
        assert_eq!(usage.id.as_deref(), Some("msg"));
        let usage = of_events(&[
            json!({ "type": "response.created", "response": { "id": "resp", "model": "gpt", "usage": null } }),
            json!({ "type": "response.completed", "response": { "id": "resp", "usage": { "input_tokens": 3, "output_tokens": 4 } } }),
        ]);
        assert_eq!((usage.tokens, usage.id.as_deref()), (tokens(3, 4, 0), Some("resp")));
    }

    #[test]
    fn the_lines_and_the_list_of_a_stream_report_it_too() {
        let lines = "{\"model\":\"llama\",\"message\":{\"content\":\"Hi\"},\"done\":false}\n\
                     {\"model\":\"llama\",\"done\":true,\"prompt_eval_count\":5,\"eval_count\":2}";
        let usage = of_stream(StreamKind::Lines, lines);
        assert_eq!((usage.model.as_deref(), usage.tokens), (Some("llama"), tokens(5, 2, 0)));
        let part = |output: u64| json!({ "modelVersion": "gemini", "usageMetadata": { "promptTokenCount": 4, "candidatesTokenCount": output } });
        assert_eq!(read(&json!([part(1), part(3)])), (Some("gemini".to_owned()), tokens(4, 3, 0)));
    }
}
