//! Agents of rig, with follow-up requests after calls of tools.
#![cfg(feature = "rig")]

mod common;
#[path = "common/count_tool.rs"]
mod count_tool;
#[path = "tools/rig.rs"]
mod tools;

use cobalt_clients::rig::{Attributed, agent_builder_with_source};
use common::reply::TURNS;
use common::{Counts, ITEMS, Server, for_each_item, header_of_task, prompt};
use count_tool::Count;
use futures_util::StreamExt;
use rig::AgentBuilder;
use rig::agent::Agent;
use rig::completion::CompletionRequest;
use rig::http_client::{HttpClientExt, ReqwestClient};
use rig::providers::openai::{OpenAI, OpenAIConfig};
use serde_json::Value;

const REQUESTS: usize = ITEMS * TURNS;

fn client(server: &Server, http: impl HttpClientExt + 'static) -> OpenAI {
    OpenAIConfig::new("key").with_base_url(&server.url).connect(http)
}

/// Attributes only what `agent_builder` has noted.
fn attributed(server: &Server) -> OpenAI {
    client(server, Attributed::new(ReqwestClient::default()))
}

fn attributed_by_task(server: &Server) -> OpenAI {
    client(server, Attributed::with_source(ReqwestClient::default(), header_of_task))
}

fn build(builder: AgentBuilder) -> Agent {
    builder.tool(Count(|arguments: Value| arguments["item"].to_string())).default_max_turns(TURNS).build()
}

async fn ask(agent: Agent, item: usize) {
    assert_eq!(agent.prompt(prompt(item)).await.unwrap().output(), format!("done {item}"));
}

async fn ask_streaming(agent: Agent, item: usize) {
    let mut events = agent.prompt(prompt(item)).stream();
    while let Some(event) = events.next().await {
        event.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_items_share_an_agent() {
    let server = Server::start().await;
    let agent = build(agent_builder_with_source(attributed(&server).chat("m"), header_of_task));
    for_each_item(|item| ask(agent.clone(), item)).await;
    assert_eq!(server.take_counts(), Counts::all_right(REQUESTS));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_items_share_an_agent_that_streams() {
    let server = Server::start().await;
    let agent = build(agent_builder_with_source(attributed(&server).chat("m"), header_of_task));
    for_each_item(|item| ask_streaming(agent.clone(), item)).await;
    assert_eq!(server.take_counts(), Counts::all_right(REQUESTS));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_item_builds_an_agent_on_a_shared_client() {
    let server = Server::start().await;
    let client = attributed_by_task(&server);
    for_each_item(|item| ask(build(AgentBuilder::new(client.chat("m"))), item)).await;
    assert_eq!(server.take_counts(), Counts::all_right(REQUESTS));
    for_each_item(|item| ask_streaming(build(AgentBuilder::new(client.chat("m"))), item)).await;
    assert_eq!(server.take_counts(), Counts::all_right(REQUESTS));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn requests_without_an_agent_are_sent_from_their_task() {
    let server = Server::start().await;
    let model = attributed_by_task(&server).chat("m");
    for_each_item(|item| {
        let model = model.clone();
        async move {
            model.call(CompletionRequest::new(prompt(item))).await.unwrap();
        }
    })
    .await;
    assert_eq!(server.take_counts(), Counts::all_right(ITEMS));
}

/// The reason for `agent_builder`. If this fails, rig has changed, and the builder may no longer be necessary.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_shared_agent_of_another_builder_is_not_attributed() {
    let server = Server::start().await;
    let agent = build(AgentBuilder::new(attributed_by_task(&server).chat("m")));
    for_each_item(|item| ask(agent.clone(), item)).await;
    let counts = server.take_counts();
    assert!(counts.swapped > 0, "{counts:?}");

    let agent = build(AgentBuilder::new(attributed(&server).chat("m")));
    for_each_item(|item| ask(agent.clone(), item)).await;
    assert_eq!(server.take_counts(), Counts { missing: REQUESTS, ..Counts::default() });
}
