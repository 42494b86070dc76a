//! What the response of a model reports and answers, in the forms of OpenAI, Anthropic, Gemini, Cohere and Ollama, whole or as a stream.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::body::Body;
use super::conversation::{Answer, StreamedAnswer, answer};
use super::stream::{StreamKind, StreamSplitter, event_data};
use crate::prices::{Tokens, is_plausible, reported_count};

/// The fields of a response that are not read: vectors and echoed settings may be long.
const SKIPPED: [&str; 5] = ["data", "embeddings", "embedding", "tools", "instructions"];

/// What a response reports and answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelResponse {
    /// The model that answered.
    pub model: Option<String>,
    /// The tokens; `None` if they are not reported, or implausible.
    pub tokens: Option<Tokens>,
    /// The part of the output tokens that are hidden reasoning, if reported.
    pub reasoning: u64,
    /// The identifier by which a later request may continue it.
    pub id: Option<String>,
    /// Why the model stopped.
    pub finish_reason: Option<String>,
    /// The answer.
    pub answer: Vec<Answer>,
}

impl ModelResponse {
    /// Reads a response.
    #[must_use]
    pub fn of(response: &[u8]) -> Self {
        let mut read = Self::default();
        if let Ok(Reported(values)) = serde_json::from_slice::<Reported>(response) {
            values.iter().for_each(|value| read.add(value));
            read.answer = match &values[..] {
                [whole] => answer(whole),
                // Gemini's stream may be a list.
                parts => {
                    let mut streamed = StreamedAnswer::default();
                    parts.iter().for_each(|part| streamed.add(part));
                    streamed.finish()
                }
            };
        }
        read.if_plausible()
    }

    /// Without tokens that cannot be.
    fn if_plausible(mut self) -> Self {
        self.tokens = self.tokens.and_then(Tokens::if_plausible);
        self.reasoning = Some(self.reasoning).filter(|count| is_plausible(*count)).unwrap_or_default();
        self
    }

    /// Reads a recorded response, whose long texts may be missing.
    #[must_use]
    pub fn of_recorded(response: &Body) -> Self {
        match response {
            Body::Json(value) => Self::of(value.to_string().as_bytes()),
            Body::Events(events) => {
                let mut reader = StreamReader::new(StreamKind::Events);
                events.iter().for_each(|event| reader.add_event(&event.text));
                reader.finish()
            }
            _ => Self::default(),
        }
    }

    /// The identifier in a recorded response.
    #[must_use]
    pub fn id_of(response: &Body) -> Option<String> {
        match response {
            Body::Json(value) => value.get("id").and_then(Value::as_str).map(str::to_owned),
            Body::Events(events) => events.iter().find_map(|event| {
                let mut reader = StreamReader::new(StreamKind::Events);
                reader.add_event(&event.text);
                reader.response.id
            }),
            _ => None,
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
            self.finish_reason = finish_reason(part).or(self.finish_reason.take());
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

    /// Later values replace earlier ones: streams report running totals. Implausible counts stay until the end, which makes the tokens
    /// unknown.
    fn add_tokens(&mut self, usage: &Value) {
        let usage = usage.get("billed_units").or_else(|| usage.get("tokens")).unwrap_or(usage);
        let number = |path: &str| usage.pointer(path).and_then(reported_count);
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
        let apart = apart.iter().filter_map(|path| number(path)).fold(0, u64::saturating_add);
        let reasoning = first(&[
            "/completion_tokens_details/reasoning_tokens",
            "/output_tokens_details/reasoning_tokens",
            "/thoughtsTokenCount",
        ]);
        self.reasoning = reasoning.unwrap_or(self.reasoning);
        let before = self.tokens.unwrap_or_default();
        self.tokens = Some(Tokens {
            input: input.map_or(before.input, |input| input.saturating_add(apart)),
            output: output.map_or(before.output, |output| output.saturating_add(thoughts)),
            cached_input: cached.unwrap_or(before.cached_input),
        });
    }
}

/// Why the model stopped, in each provider's form.
fn finish_reason(part: &Value) -> Option<String> {
    let in_list = |list: &str, field: &str| part[list].as_array()?.iter().find_map(|one| one[field].as_str());
    let own = ["stop_reason", "finish_reason", "done_reason"].iter().find_map(|field| part[*field].as_str());
    own.or_else(|| in_list("choices", "finish_reason"))
        .or_else(|| in_list("candidates", "finishReason"))
        // The Responses API has only a status.
        .or_else(|| part["incomplete_details"]["reason"].as_str())
        .map(str::to_owned)
}

/// Reads a stream while it arrives.
#[derive(Debug)]
pub struct StreamReader {
    splitter: StreamSplitter,
    response: ModelResponse,
    answer: StreamedAnswer,
}

impl StreamReader {
    /// For a stream of this kind.
    #[must_use]
    pub fn new(kind: StreamKind) -> Self {
        Self {
            splitter: StreamSplitter::new(kind),
            response: ModelResponse::default(),
            answer: StreamedAnswer::default(),
        }
    }

    /// Adds a part of the stream.
    pub fn push(&mut self, part: &[u8]) {
        let Self { splitter, response, answer } = self;
        splitter.push(part, |event| read_event(&String::from_utf8_lossy(event), response, answer));
    }

    /// Whether the answer has begun.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.answer.has_begun()
    }

    /// Adds an event.
    pub fn add_event(&mut self, event: &str) {
        read_event(event, &mut self.response, &mut self.answer);
    }

    /// What the stream has reported and answered.
    #[must_use]
    pub fn finish(mut self) -> ModelResponse {
        let rest = std::mem::replace(&mut self.splitter, StreamSplitter::new(StreamKind::Events)).rest();
        self.add_event(&String::from_utf8_lossy(&rest));
        ModelResponse { answer: self.answer.finish(), ..self.response }.if_plausible()
    }
}

fn read_event(event: &str, response: &mut ModelResponse, answer: &mut StreamedAnswer) {
    let data = event_data(event);
    let values = serde_json::Deserializer::from_str(&data).into_iter::<Reported>();
    for value in values.map_while(Result::ok).flat_map(|reported| reported.0) {
        response.add(&value);
        answer.add(&value);
    }
}

/// An object without the [`SKIPPED`] fields, or a list of them.
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
            if SKIPPED.contains(&&*name) {
                map.next_value::<IgnoredAny>()?;
            } else {
                fields.insert(name, map.next_value()?);
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
        let usage = ModelResponse::of(value.to_string().as_bytes());
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

    #[test]
    fn implausible_tokens_are_unknown() {
        for odd in [json!(u64::MAX), json!(-3), json!(0.5), json!(1e300)] {
            for usage in [
                json!({ "prompt_tokens": odd, "completion_tokens": 1 }),
                json!({ "prompt_tokens": 1, "completion_tokens": odd }),
                json!({ "input_tokens": 1, "cache_read_input_tokens": odd, "output_tokens": 1 }),
                json!({ "input_tokens": odd, "cache_creation_input_tokens": odd, "output_tokens": 1 }),
                json!({ "promptTokenCount": 1, "candidatesTokenCount": odd, "thoughtsTokenCount": odd }),
                json!({ "billed_units": { "input_tokens": odd } }),
            ] {
                assert_eq!(read(&json!({ "model": "m", "usage": usage })).1, None, "{usage}");
            }
            let lines = format!(
                "{}\n{}",
                json!({ "type": "message_start", "message": { "usage": { "input_tokens": odd, "output_tokens": 1 } } }),
                json!({ "type": "message_delta", "usage": { "output_tokens": 20 } })
            );
            assert_eq!(of_stream(StreamKind::Lines, &lines).tokens, None, "{odd}");
        }
    }

    fn of_stream(kind: StreamKind, text: &str) -> ModelResponse {
        let mut usage = StreamReader::new(kind);
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
