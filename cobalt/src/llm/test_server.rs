//! Responses of models, for tests over HTTP.

use serde_json::json;

pub(crate) use crate::http::test_server::{ReceivedRequest, ScriptedResponse, TestServer};

impl ScriptedResponse {
    /// A chat completion with this text, 40 input tokens and 10 output tokens.
    pub(crate) fn chat(text: &str) -> Self {
        let message = json!({"role": "assistant", "content": text});
        Self::json(
            200,
            &json!({
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 40, "completion_tokens": 10, "total_tokens": 50},
            }),
        )
    }

    /// The embeddings of one request, with 8 tokens.
    pub(crate) fn embeddings(vectors: &[Vec<f32>]) -> Self {
        let rows = vectors.iter().enumerate().map(|(index, row)| json!({"index": index, "embedding": row}));
        Self::json(
            200,
            &json!({"data": rows.collect::<Vec<_>>(), "usage": {"prompt_tokens": 8, "total_tokens": 8}}),
        )
    }

    /// An error in the format of OpenAI and most others.
    pub(crate) fn error(status: u16, message: &str) -> Self {
        Self::json(status, &json!({"error": {"message": message}}))
    }
}
