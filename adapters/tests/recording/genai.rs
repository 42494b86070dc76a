//! A loop by hand over genai, whose resolver says where requests go.

use ::genai::adapter::AdapterKind;
use ::genai::chat::{ChatMessage, ChatOptions, ChatRequest, Tool, ToolResponse};
use ::genai::otel::CAPTURE_CONTENT_ENV;
use ::genai::resolver::{AuthData, Endpoint};
use ::genai::{Client, ModelIden, ServiceTarget};
use serde_json::json;

use crate::many;
use crate::matrix::{Agent, Api, SYSTEM, Task, events};
use crate::reply::TURNS;
use crate::traces::{self, SpanDetail};

matrix!(GenAi(Api::Chat), responses: GenAi(Api::Responses));

/// Runs this test again, as a process with the variable that records contents.
#[tokio::test]
async fn with_contents_recorded_spans_alone_tell_everything() {
    if ::genai::otel::capture_content() {
        traces::trace(WithContents(GenAi(Api::Chat))).await;
        traces::trace(WithContents(GenAi(Api::Responses))).await;
        many::genai(SpanDetail::Contents).await;
        return;
    }
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", "genai::with_contents_recorded_spans_alone_tell_everything"]);
    let finished = again.env(CAPTURE_CONTENT_ENV, "true").output().unwrap();
    let text = String::from_utf8_lossy(&finished.stdout);
    assert!(finished.status.success() && text.contains("1 passed"), "{text}");
}

#[derive(Clone, Copy)]
pub struct GenAi(pub Api);

/// With contents in spans.
#[derive(Clone, Copy)]
struct WithContents(GenAi);

pub fn client(task: &Task) -> Client {
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

pub async fn converse(client: &Client, agent: GenAi, task: Task) -> Result<String, String> {
    let schema = json!({ "type": "object", "properties": { "item": { "type": "integer" } } });
    let mut request = request(&task).with_tools([Tool::new("count").with_schema(schema)]);
    for _ in 0..TURNS {
        let answer = client.exec_chat(agent.model(), request.clone(), None).await;
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

impl Agent for GenAi {
    const SPANS: SpanDetail = SpanDetail::Models;

    async fn converse(self, task: Task) -> Result<String, String> {
        converse(&client(&task), self, task).await
    }

    async fn stream(self, task: Task) -> Result<Vec<String>, String> {
        let options = ChatOptions::default().with_capture_content(true).with_capture_usage(true);
        let stream = client(&task).exec_chat_stream(self.model(), request(&task), Some(&options)).await;
        events(stream.map_err(|error| error.to_string())?.stream).await
    }
}

impl Agent for WithContents {
    const SPANS: SpanDetail = SpanDetail::Contents;

    async fn converse(self, task: Task) -> Result<String, String> {
        self.0.converse(task).await
    }

    async fn stream(self, task: Task) -> Result<Vec<String>, String> {
        self.0.stream(task).await
    }
}
