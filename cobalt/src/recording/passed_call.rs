//! The requests of a trial as spans of its trace.

use std::time::Instant;

use cobalt_core::prices::is_local_server;
use cobalt_core::recordings::{
    Answer, Body, Interaction, ModelResponse, RecordedRequest, RecordingFolder, RequestedCall, StreamKind,
    StreamReader, last_message, tool_results,
};
use cobalt_core::trace::{GatewayCall, ModelSpan, SpanTokens};
use serde_json::Value;

/// A request to a model that was sent, and its response.
pub struct SentCall<'a> {
    pub started: Instant,
    pub duration_ms: f64,
    pub provider: &'a str,
    pub request: &'a RecordedRequest,
    /// The request's body with its long texts.
    pub body: &'a [u8],
    pub status: u16,
    pub response: ModelResponse,
    /// Milliseconds until the first token of a stream.
    pub time_to_first_token_ms: Option<f64>,
    pub retries: u32,
}

impl SentCall<'_> {
    /// The call for the trace; `None` if it is no request to a model.
    pub fn into_call(self) -> Option<GatewayCall> {
        let asked = self.request.body.as_ref()?;
        let parsed = asked.has_blob().then(|| serde_json::from_slice(self.body).ok()).flatten();
        let asked = parsed.as_ref().or_else(|| asked.json())?;
        let parts = CallParts {
            started: self.started,
            duration_ms: self.duration_ms,
            provider: self.provider,
            path: &self.request.path,
            url: self.request.url.as_deref(),
            status: self.status,
        };
        let mut call = parts.call(asked, self.response)?;
        call.model.time_to_first_token_ms = self.time_to_first_token_ms;
        call.model.retries = self.retries;
        Some(call)
    }
}

/// A call that was answered from a recording; `None` if it is no request to a model. `bytes` are those of the response.
pub fn replayed_call(
    started: Instant,
    interaction: &Interaction,
    folder: &RecordingFolder,
    bytes: &[u8],
) -> Option<GatewayCall> {
    let Interaction { request, response, latency_ms, .. } = interaction;
    let asked = request.body.as_ref()?;
    // Without its long texts, a request is still one.
    let restored = asked.has_blob().then(|| asked.restored(&|hash| folder.read_blob(hash)).ok()).flatten();
    let asked = restored.as_ref().unwrap_or(asked).json()?;
    let (read, time_to_first_token_ms) = match &response.body {
        Some(Body::Events(events)) => {
            let mut reader = StreamReader::new(StreamKind::Events);
            let mut first = None;
            for event in events {
                reader.add_event(&event.text);
                first = first.or_else(|| reader.has_begun().then_some(event.at as f64));
            }
            (reader.finish(), first)
        }
        _ => (ModelResponse::of(bytes), None),
    };
    let provider = request.path.split('/').next().unwrap_or_default();
    let duration_ms = cobalt_core::duration::milliseconds(started.elapsed());
    let (path, url) = (&*request.path, request.url.as_deref());
    let parts = CallParts { started, duration_ms, provider, path, url, status: response.status };
    let mut call = parts.call(asked, read)?;
    call.model = ModelSpan {
        replayed: true,
        recorded_latency_ms: Some(*latency_ms),
        time_to_first_token_ms,
        ..call.model
    };
    Some(call)
}

struct CallParts<'a> {
    started: Instant,
    duration_ms: f64,
    provider: &'a str,
    path: &'a str,
    url: Option<&'a str>,
    status: u16,
}

impl CallParts<'_> {
    fn call(self, asked: &Value, response: ModelResponse) -> Option<GatewayCall> {
        let model = asked["model"]
            .as_str()
            .map(str::to_owned)
            .or_else(|| model_in_path(self.path).map(str::to_owned));
        // A list of models or a health check is no call.
        if model.is_none() && response.tokens.is_none() && response.model.is_none() {
            return None;
        }
        let ModelResponse { model: answered, tokens, reasoning, id, finish_reason, answer } = response;
        let error = answer.iter().find_map(|part| match part {
            Answer::Error(error) => Some(error.clone()),
            _ => None,
        });
        let failed = self.status >= 400;
        let error = error.or_else(|| failed.then(|| format!("status {}", self.status)));
        let texts: Vec<_> = answer.iter().map(ToString::to_string).collect();
        let requested = answer.into_iter().filter_map(|part| match part {
            Answer::ToolCall(call) => Some(call),
            _ => None,
        });
        let requested: Vec<RequestedCall> = requested.collect();
        let tokens = tokens.map(|tokens| SpanTokens {
            input: tokens.input,
            output: tokens.output,
            cached_input: tokens.cached_input,
            reasoning,
        });
        let model = ModelSpan {
            provider: Some(self.provider.to_owned()),
            asked: model,
            answered,
            tokens,
            is_local: self.url.is_some_and(is_local_server),
            finish_reason,
            response_id: id,
            input: last_message(asked),
            output: Some(texts.join(" ")).filter(|text| !text.is_empty() && error.is_none()),
            ..ModelSpan::default()
        };
        let results = tool_results(asked);
        let (started, duration_ms) = (self.started, self.duration_ms);
        Some(GatewayCall { started, duration_ms, model, requested, results, error })
    }
}

/// The model in a path such as `gemini/v1beta/models/gemini-2.5-flash:generateContent`.
pub fn model_in_path(path: &str) -> Option<&str> {
    let (_, rest) = path.split_once("/models/")?;
    let (model, method) = rest.split_once(':')?;
    method.to_ascii_lowercase().contains("content").then_some(model)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sent(path: &str, body: &Value, status: u16, response: &Value) -> Option<GatewayCall> {
        let bytes = body.to_string();
        let request = RecordedRequest {
            method: "POST".to_owned(),
            path: path.to_owned(),
            url: None,
            body: Body::of_request(bytes.as_bytes()),
        };
        let call = SentCall {
            started: Instant::now(),
            duration_ms: 1.0,
            provider: "openai",
            request: &request,
            body: bytes.as_bytes(),
            status,
            response: ModelResponse::of(response.to_string().as_bytes()),
            time_to_first_token_ms: None,
            retries: 1,
        };
        call.into_call()
    }

    #[test]
    fn a_response_becomes_a_call_with_the_tools_that_it_requests() {
        let question = json!({ "model": "m", "messages": [{ "role": "user", "content": "Weather?" }] });
        let call = json!({ "id": "c", "function": { "name": "weather", "arguments": "{}" } });
        let answer = json!({ "id": "r", "model": "m-1", "choices": [{ "message": { "tool_calls": [call] },
            "finish_reason": "tool_calls" }], "usage": { "prompt_tokens": 5, "completion_tokens": 2 } });
        let call = sent("openai/chat/completions", &question, 200, &answer).unwrap();
        let expected = ModelSpan {
            provider: Some("openai".to_owned()),
            asked: Some("m".to_owned()),
            answered: Some("m-1".to_owned()),
            tokens: Some(SpanTokens { input: 5, output: 2, ..SpanTokens::default() }),
            finish_reason: Some("tool_calls".to_owned()),
            retries: 1,
            response_id: Some("r".to_owned()),
            input: Some("user: Weather?".to_owned()),
            output: Some("→ weather({})".to_owned()),
            ..ModelSpan::default()
        };
        assert_eq!((call.model, call.error), (expected, None));
        assert_eq!(call.requested[0].name, "weather");
    }

    #[test]
    fn an_error_of_the_provider_is_that_of_the_call() {
        let question = json!({ "model": "m", "messages": [] });
        let busy =
            sent("openai/chat/completions", &question, 503, &json!({ "error": { "message": "busy" } }));
        assert_eq!(busy.unwrap().error.as_deref(), Some("busy"));
        let silent = sent("openai/chat/completions", &question, 500, &json!({}));
        assert_eq!(silent.unwrap().error.as_deref(), Some("status 500"));
    }

    #[test]
    fn what_names_no_model_is_no_call_and_gemini_names_it_in_the_path() {
        assert!(sent("openai/files", &json!({ "purpose": "batch" }), 200, &json!({ "id": "f" })).is_none());
        let path = "gemini/v1beta/models/gemini-2.5-flash:streamGenerateContent";
        let call = sent(path, &json!({ "contents": [] }), 200, &json!({})).unwrap();
        assert_eq!(call.model.asked.as_deref(), Some("gemini-2.5-flash"));
    }
}
