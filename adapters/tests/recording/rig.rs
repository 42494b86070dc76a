//! An agent of rig, which calls tools by itself.

use ::rig::AgentBuilder;
use ::rig::http_client::ReqwestClient;
use ::rig::providers::openai::OpenAIConfig;
use ::rig::tool::{PortableTool, ToolExecutionError};
use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::matrix::{Agent, Api, Ask, SYSTEM};
use crate::reply::TURNS;

matrix!(Rig(Api::Chat));

#[tokio::test]
async fn a_conversation_over_the_responses_api_replays() {
    crate::matrix::conversation(Rig(Api::Responses)).await;
}

#[derive(Clone, Copy)]
struct Rig(Api);

struct Count(&'static str);

impl PortableTool for Count {
    const NAME: &'static str = "count";
    type Args = Value;
    type Output = String;
    type Error = ToolExecutionError;

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

impl Rig {
    fn builder(self, ask: &Ask) -> AgentBuilder {
        let config = OpenAIConfig::new(ask.key).with_base_url(&ask.base_url);
        // rig's default is one client for the process, but each test has a runtime of its own.
        let openai = config.connect(ReqwestClient::from(reqwest::Client::new()));
        let builder = match self.0 {
            Api::Chat => AgentBuilder::new(openai.chat("m")),
            Api::Responses => AgentBuilder::new(openai.responses("m")),
        };
        builder.preamble(SYSTEM)
    }
}

impl Agent for Rig {
    async fn converse(self, ask: Ask) -> Result<String, String> {
        let agent = self.builder(&ask).tool(Count(ask.count)).default_max_turns(TURNS).build();
        let response = agent.prompt(ask.question).await.map_err(|error| error.to_string())?;
        Ok(response.output().to_owned())
    }

    async fn stream(self, ask: Ask) -> Result<Vec<String>, String> {
        let mut events = self.builder(&ask).build().prompt(ask.question).stream();
        let mut texts = Vec::new();
        while let Some(event) = events.next().await {
            texts.push(format!("{:?}", event.map_err(|error| error.to_string())?));
        }
        Ok(texts)
    }
}
