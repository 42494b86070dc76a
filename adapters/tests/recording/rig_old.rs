//! rig 0.40: its agent, and a loop by hand, in which the provider records each call on the span around it.

use ::rig_old::completion::message::{AssistantContent, Message};
use ::rig_old::completion::{CompletionModel, Prompt, ToolDefinition};
use ::rig_old::prelude::*;
use ::rig_old::providers::openai::{self, CompletionsClient};
use ::rig_old::tool::{Tool, ToolError};
use serde_json::{Value, json};

use crate::matrix::{Agent, SYSTEM, Task};
use crate::reply::TURNS;
use crate::traces::{self, SpanDetail};

#[tokio::test]
async fn a_conversation_of_an_agent_has_each_call_once_in_its_trace() {
    traces::trace(OldRig).await;
}

#[tokio::test]
async fn calls_that_are_recorded_on_the_span_of_the_item_stay_separate() {
    traces::trace(ByHand).await;
}

#[derive(Clone, Copy)]
struct OldRig;

#[derive(Clone, Copy)]
struct ByHand;

struct Count(&'static str);

impl Tool for Count {
    const NAME: &'static str = "count";
    type Args = Value;
    type Output = String;
    type Error = ToolError;

    fn description(&self) -> String {
        "Counts".to_owned()
    }

    fn parameters(&self) -> Value {
        json!({ "type": "object", "properties": { "item": { "type": "integer" } }, "required": ["item"] })
    }

    async fn call(&self, _: Self::Args) -> Result<String, Self::Error> {
        Ok(self.0.to_owned())
    }
}

fn client(task: &Task) -> CompletionsClient {
    let builder = openai::Client::builder().api_key(task.key).base_url(&task.base_url);
    builder.http_client(reqwest::Client::new()).build().unwrap().completions_api()
}

impl Agent for OldRig {
    const SPANS: SpanDetail = SpanDetail::Contents;

    async fn converse(self, task: Task) -> Result<String, String> {
        let agent = client(&task).agent("m").preamble(SYSTEM).tool(Count(task.count));
        let agent = agent.default_max_turns(TURNS).build();
        agent.prompt(task.question).await.map_err(|error| error.to_string())
    }

    async fn stream(self, _: Task) -> Result<Vec<String>, String> {
        Err("not streamed".to_owned())
    }
}

impl Agent for ByHand {
    const SPANS: SpanDetail = SpanDetail::Models;

    async fn converse(self, task: Task) -> Result<String, String> {
        let model = client(&task).completion_model("m");
        let tool = Count(task.count);
        let tool = ToolDefinition {
            name: "count".to_owned(),
            description: tool.description(),
            parameters: tool.parameters(),
        };
        let mut messages = vec![Message::user(task.question)];
        for _ in 0..TURNS {
            let last = messages.pop().unwrap();
            let request = model.completion_request(last.clone()).preamble(SYSTEM.to_owned());
            let request = request.messages(messages.clone()).tool(tool.clone());
            let answer = request.send().await.map_err(|error| error.to_string())?;
            messages.push(last);
            match answer.choice.first() {
                AssistantContent::ToolCall(call) => {
                    messages.push(Message::Assistant { id: None, content: answer.choice });
                    messages.push(Message::tool_result(call.id, task.count));
                }
                AssistantContent::Text(text) => return Ok(text.text),
                other => return Err(format!("{other:?}")),
            }
        }
        Err("no answer".to_owned())
    }

    async fn stream(self, _: Task) -> Result<Vec<String>, String> {
        Err("not streamed".to_owned())
    }
}
