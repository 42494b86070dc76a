//! A loop by hand over genai, whose resolver says where requests go.

use ::genai::adapter::AdapterKind;
use ::genai::chat::{ChatMessage, ChatOptions, ChatRequest, Tool, ToolResponse};
use ::genai::resolver::{AuthData, Endpoint};
use ::genai::{Client, ModelIden, ServiceTarget};
use serde_json::json;

use crate::matrix::{Agent, Api, SYSTEM, Task, events};
use crate::reply::TURNS;

matrix!(GenAi(Api::Chat), responses: GenAi(Api::Responses));

#[derive(Clone, Copy)]
struct GenAi(Api);

fn client(task: &Task) -> Client {
    let (endpoint, auth) =
        (Endpoint::from_owned(format!("{}/", task.base_url)), AuthData::from_single(task.key));
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

fn request(task: &Task) -> ChatRequest {
    ChatRequest::from_system(SYSTEM).append_message(ChatMessage::user(task.question.as_str()))
}

impl Agent for GenAi {
    async fn converse(self, task: Task) -> Result<String, String> {
        let schema = json!({ "type": "object", "properties": { "item": { "type": "integer" } } });
        let (client, mut request) =
            (client(&task), request(&task).with_tools([Tool::new("count").with_schema(schema)]));
        for _ in 0..TURNS {
            let answer = client.exec_chat(self.model(), request.clone(), None).await;
            let answer = answer.map_err(|error| error.to_string())?;
            let text = answer.first_text().map(str::to_owned);
            let calls = answer.into_tool_calls();
            if calls.is_empty() {
                return text.ok_or_else(|| "no text".to_owned());
            }
            let results: Vec<_> =
                calls.iter().map(|call| ToolResponse::from_tool_call(call, task.count)).collect();
            request = request.append_message(calls).append_message(results);
        }
        Err("no answer".to_owned())
    }

    async fn stream(self, task: Task) -> Result<Vec<String>, String> {
        let options = ChatOptions::default().with_capture_content(true).with_capture_usage(true);
        let stream = client(&task).exec_chat_stream(self.model(), request(&task), Some(&options)).await;
        events(stream.map_err(|error| error.to_string())?.stream).await
    }
}
