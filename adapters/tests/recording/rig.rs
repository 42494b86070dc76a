//! An agent of rig, which calls tools by itself.

use ::rig::AgentBuilder;
use ::rig::http_client::ReqwestClient;
use ::rig::providers::openai::OpenAIConfig;
use serde_json::Value;

use crate::count_tool::Count;
use crate::matrix::{Agent, Api, SYSTEM, Task, events};
use crate::reply::TURNS;
use crate::traces::{self, SpanDetail};

matrix!(Rig(Api::Chat), responses: Rig(Api::Responses));

#[tokio::test]
async fn with_contents_recorded_spans_alone_tell_everything() {
    traces::trace(WithContents(Rig(Api::Chat))).await;
    traces::trace(WithContents(Rig(Api::Responses))).await;
}

#[derive(Clone, Copy)]
pub struct Rig(pub Api);

/// With contents in spans.
#[derive(Clone, Copy)]
struct WithContents(Rig);

impl Rig {
    fn builder(self, task: &Task) -> AgentBuilder {
        let config = OpenAIConfig::new(task.key).with_base_url(&task.base_url);
        // rig's default is one client for the process, but each test has a runtime of its own.
        let openai = config.connect(ReqwestClient::from(reqwest::Client::new()));
        let builder = match self.0 {
            Api::Chat => AgentBuilder::new(openai.chat("m")),
            Api::Responses => AgentBuilder::new(openai.responses("m")),
        };
        builder.preamble(SYSTEM)
    }
}

/// The tool of the agents, which always has the same result.
fn counting(result: &'static str) -> Count<impl Fn(Value) -> String> {
    Count(move |_| result.to_owned())
}

/// An agent whose spans have contents.
pub fn shared_agent(rig: Rig, task: &Task) -> ::rig::Agent {
    let builder = rig.builder(task).record_content_telemetry(true);
    builder.tool(counting(task.count)).default_max_turns(TURNS).build()
}

/// An answer with the help of the tool.
async fn answer(builder: AgentBuilder, task: Task) -> Result<String, String> {
    let agent = builder.tool(counting(task.count)).default_max_turns(TURNS).build();
    let response = agent.prompt(task.question).await.map_err(|error| error.to_string())?;
    Ok(response.output().to_owned())
}

impl Agent for Rig {
    const SPANS: SpanDetail = SpanDetail::Tools;

    async fn converse(self, task: Task) -> Result<String, String> {
        answer(self.builder(&task), task).await
    }

    async fn stream(self, task: Task) -> Result<Vec<String>, String> {
        events(self.builder(&task).build().prompt(task.question).stream()).await
    }
}

impl Agent for WithContents {
    const SPANS: SpanDetail = SpanDetail::Contents;

    async fn converse(self, task: Task) -> Result<String, String> {
        answer(self.0.builder(&task).record_content_telemetry(true), task).await
    }

    async fn stream(self, task: Task) -> Result<Vec<String>, String> {
        self.0.stream(task).await
    }
}
