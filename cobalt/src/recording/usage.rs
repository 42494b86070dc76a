//! The model and the tokens that a response reports, in the forms of OpenAI, Anthropic, Gemini and Cohere, whole or as a stream.

use cobalt_core::prices::Tokens;
use cobalt_core::recordings::StreamEvent;
use serde_json::Value;

/// What a response reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseUsage {
    pub model: Option<String>,
    pub tokens: Option<Tokens>,
    /// The identifier by which a later request may continue it.
    pub id: Option<String>,
}

impl ResponseUsage {
    /// Reads a response.
    pub fn of_json(value: &Value) -> Self {
        let mut usage = Self::default();
        usage.add(value);
        usage
    }

    /// Reads the events of a stream.
    pub fn of_events(events: &[StreamEvent]) -> Self {
        let mut usage = Self::default();
        for event in events {
            let data = event.text.lines().filter_map(|line| line.strip_prefix("data:"));
            for value in data.filter_map(|data| serde_json::from_str::<Value>(data.trim()).ok()) {
                usage.add(&value);
            }
        }
        usage
    }

    fn add(&mut self, value: &Value) {
        // Anthropic wraps the start of a stream in `message`, OpenAI's Responses API each state in `response`.
        for part in [Some(value), value.get("message"), value.get("response")].into_iter().flatten() {
            let text = |key: &str| part.get(key).and_then(Value::as_str).map(str::to_owned);
            self.model = text("model").or_else(|| text("modelVersion")).or(self.model.take());
            self.id = text("id").or(self.id.take());
            for usage in
                [part.get("usage"), part.get("usageMetadata"), part.get("meta")].into_iter().flatten()
            {
                self.add_tokens(usage);
            }
        }
    }

    /// Later values replace earlier ones: streams report running totals.
    fn add_tokens(&mut self, usage: &Value) {
        let usage = usage.get("billed_units").or_else(|| usage.get("tokens")).unwrap_or(usage);
        let number = |path: &str| usage.pointer(path).and_then(Value::as_f64).map(|number| number as u64);
        let first = |paths: &[&str]| paths.iter().find_map(|path| number(path));
        let input = first(&["/prompt_tokens", "/input_tokens", "/promptTokenCount", "/total_tokens"]);
        let output = first(&["/completion_tokens", "/output_tokens", "/candidatesTokenCount"]);
        if input.is_none() && output.is_none() {
            return;
        }
        let thoughts = number("/thoughtsTokenCount").unwrap_or(0);
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> (Option<String>, Option<Tokens>) {
        let usage = ResponseUsage::of_json(value);
        (usage.model, usage.tokens)
    }

    fn tokens(input: u64, output: u64, cached_input: u64) -> Option<Tokens> {
        Some(Tokens { input, output, cached_input })
    }

    #[test]
    fn usage_is_read_in_every_vendors_form() {
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
    fn a_stream_reports_running_totals() {
        let events = |texts: &[Value]| -> Vec<StreamEvent> {
            texts
                .iter()
                .map(|data| StreamEvent { at: 0, text: format!("event: x\ndata: {data}\n\n") })
                .collect()
        };
        let usage = ResponseUsage::of_events(&events(&[
            json!({ "type": "message_start", "message": { "id": "msg", "model": "claude", "usage": { "input_tokens": 10,
                "output_tokens": 1 } } }),
            json!({ "type": "message_delta", "usage": { "output_tokens": 20 } }),
        ]));
        assert_eq!(usage.tokens, tokens(10, 20, 0));
        assert_eq!(usage.id.as_deref(), Some("msg"));
        let usage = ResponseUsage::of_events(&events(&[
            json!({ "type": "response.created", "response": { "id": "resp", "model": "gpt", "usage": null } }),
            json!({ "type": "response.completed", "response": { "id": "resp", "usage": { "input_tokens": 3, "output_tokens": 4 } } }),
        ]));
        assert_eq!((usage.tokens, usage.id.as_deref()), (tokens(3, 4, 0), Some("resp")));
    }
}
