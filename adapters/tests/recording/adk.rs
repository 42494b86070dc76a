//! An agent of adk-rust, with its runner.

use std::collections::HashMap;
use std::sync::Arc;

use adk_agent::LlmAgentBuilder;
use adk_core::{Content, Part, Tool, ToolContext};
use adk_model::openai::{OpenAIClient, OpenAIConfig};
use adk_runner::Runner;
use adk_session::{CreateRequest, InMemorySessionService, SessionService};
use async_trait::async_trait;
use futures_util::TryStreamExt;
use serde_json::{Value, json};

use crate::matrix::{Agent, SYSTEM, Task};
use crate::traces::{self, SpanDetail};

/// Only the traces: this crate streams each answer, and asks each time in another way.
#[tokio::test]
async fn a_conversation_has_each_call_once_in_its_trace() {
    traces::trace(Adk).await;
}

#[derive(Clone, Copy)]
struct Adk;

struct Count(&'static str);

#[async_trait]
impl Tool for Count {
    fn name(&self) -> &'static str {
        "count"
    }

    fn description(&self) -> &'static str {
        "Counts"
    }

    fn parameters_schema(&self) -> Option<Value> {
        Some(
            json!({ "type": "object", "properties": { "item": { "type": "integer" } }, "required": ["item"] }),
        )
    }

    async fn execute(&self, _: Arc<dyn ToolContext>, _: Value) -> adk_core::Result<Value> {
        Ok(json!(self.0))
    }
}

impl Agent for Adk {
    const SPANS: SpanDetail = SpanDetail::Contents;

    async fn converse(self, task: Task) -> Result<String, String> {
        answer(&task).await.map_err(|error| error.to_string())
    }

    async fn stream(self, _: Task) -> Result<Vec<String>, String> {
        Err("every conversation of this crate is streamed".to_owned())
    }
}

async fn answer(task: &Task) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let model = OpenAIClient::new(OpenAIConfig::compatible(task.key, &task.base_url, "m"))?;
    let agent = LlmAgentBuilder::new("counter")
        .instruction(SYSTEM)
        .model(Arc::new(model))
        .tool(Arc::new(Count(task.count)))
        .build()?;
    let sessions = Arc::new(InMemorySessionService::new());
    let request = CreateRequest {
        app_name: "app".to_owned(),
        user_id: "user".to_owned(),
        session_id: Some("session".to_owned()),
        state: HashMap::new(),
    };
    sessions.create(request).await?;
    let runner =
        Runner::builder().app_name("app").agent(Arc::new(agent)).session_service(sessions).build()?;
    let question = Content::new("user").with_text(&task.question);
    let events: Vec<_> = runner.run_str("user", "session", question).await?.try_collect().await?;
    let parts =
        events.into_iter().filter_map(|event| event.llm_response.content).flat_map(|content| content.parts);
    let texts = parts.filter_map(|part| match part {
        Part::Text { text } => Some(text),
        _ => None,
    });
    Ok(texts.collect())
}
