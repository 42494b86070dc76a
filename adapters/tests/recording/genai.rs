//! A loop by hand over genai, whose resolver says where requests go.

use ::genai::adapter::AdapterKind;
use ::genai::chat::{ChatMessage, ChatOptions, ChatRequest, Tool, ToolResponse};
use ::genai::resolver::{AuthData, Endpoint};
use ::genai::{Client, ModelIden, ServiceTarget};
use futures_util::StreamExt;
use serde_json::json;

use crate::matrix::{Agent, Api, Ask, SYSTEM};
use crate::reply::TURNS;

matrix!(GenAi(Api::Chat));

#[tokio::test]
async fn a_conversation_over_the_responses_api_replays() {
    crate::matrix::conversation(GenAi(Api::Responses)).await;
}

#[derive(Clone, Copy)]
struct GenAi(Api);

fn client(ask: &Ask) -> Client {
    let (endpoint, auth) =
        (Endpoint::from_owned(format!("{}/", ask.base_url)), AuthData::from_single(ask.key));
    let resolve = |target: ServiceTarget| Ok(ServiceTarget { endpoint, auth, ..target });
    Client::builder().with_service_target_resolver_fn(resolve).build().unwrap()
}

impl GenAi {
    fn model(self) -> ModelIden {
        let adapter = match self.0 {
            Api::Chat => AdapterKind::OpenAI,
            Api::Responses => AdapterKind::OpenAIResp,
        };
        ModelIden::new(adapter, "m")
    }
}

fn request(ask: &Ask) -> ChatRequest {
    ChatRequest::from_system(SYSTEM).append_message(ChatMessage::user(ask.question.as_str()))
}

impl Agent for GenAi {
    async fn converse(self, ask: Ask) -> Result<String, String> {
        let schema = json!({ "type": "object", "properties": { "item": { "type": "integer" } } });
        let (client, mut request) =
            (client(&ask), request(&ask).with_tools([Tool::new("count").with_schema(schema)]));
        for _ in 0..TURNS {
            let answer = client.exec_chat(self.model(), request.clone(), None).await;
            let answer = answer.map_err(|error| error.to_string())?;
            let text = answer.first_text().map(str::to_owned);
            let calls = answer.into_tool_calls();
            if calls.is_empty() {
                return text.ok_or_else(|| "no text".to_owned());
            }
            let results: Vec<_> =
                calls.iter().map(|call| ToolResponse::from_tool_call(call, ask.count)).collect();
            request = request.append_message(calls).append_message(results);
        }
        Err("no answer".to_owned())
    }

    async fn stream(self, ask: Ask) -> Result<Vec<String>, String> {
        let options = ChatOptions::default().with_capture_content(true).with_capture_usage(true);
        let stream = client(&ask).exec_chat_stream(self.model(), request(&ask), Some(&options)).await;
        let mut events = stream.map_err(|error| error.to_string())?.stream;
        let mut texts = Vec::new();
        while let Some(event) = events.next().await {
            texts.push(format!("{:?}", event.map_err(|error| error.to_string())?));
        }
        Ok(texts)
    }
}
