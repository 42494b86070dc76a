//! One client of async-openai for all items.
#![cfg(feature = "async-openai")]

mod common;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::middleware::ReqwestService;
use async_openai::middleware::retry::OpenAIRetryLayer;
use async_openai::types::chat::{
    ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessage, ChatCompletionRequestMessage,
    ChatCompletionRequestToolMessage, ChatCompletionRequestUserMessage, ChatCompletionTool,
    ChatCompletionTools, CreateChatCompletionRequest, FunctionObject,
};
use cobalt_clients::tower::AttributionLayer;
use common::reply::{TOOL_TURNS, TURNS};
use common::{Counts, ITEMS, Server, for_each_item, header_of_task, prompt};
use futures_util::StreamExt;
use tower::ServiceBuilder;

fn client(server: &Server) -> Client<OpenAIConfig> {
    let service = ServiceBuilder::new()
        .layer(AttributionLayer::with_source(header_of_task))
        .layer(OpenAIRetryLayer::default())
        .service(ReqwestService::new(reqwest::Client::new()));
    Client::with_config(OpenAIConfig::new().with_api_base(&server.url).with_api_key("key"))
        .with_http_service(service)
}

fn request(messages: Vec<ChatCompletionRequestMessage>) -> CreateChatCompletionRequest {
    let function = FunctionObject { name: "count".to_owned(), ..FunctionObject::default() };
    let tools = vec![ChatCompletionTools::Function(ChatCompletionTool { function })];
    CreateChatCompletionRequest { model: "m".to_owned(), messages, tools: Some(tools), ..Default::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_request_has_its_items_header() {
    let server = Server::start().await;
    let client = client(&server);
    for_each_item(|item| {
        let client = client.clone();
        async move {
            let mut messages = vec![ChatCompletionRequestUserMessage::from(prompt(item)).into()];
            for turn in 0..TURNS {
                let mut answer = client.chat().create(request(messages.clone())).await.unwrap();
                let tool_calls = answer.choices.remove(0).message.tool_calls;
                assert_eq!(tool_calls.is_some(), turn < TOOL_TURNS);
                for call in tool_calls.clone().into_iter().flatten() {
                    let ChatCompletionMessageToolCalls::Function(call) = call else { panic!() };
                    let assistant = ChatCompletionRequestAssistantMessage {
                        tool_calls: tool_calls.clone(),
                        ..Default::default()
                    };
                    let result =
                        ChatCompletionRequestToolMessage { content: "1".into(), tool_call_id: call.id };
                    messages.extend([assistant.into(), result.into()]);
                }
            }
        }
    })
    .await;
    assert_eq!(server.take_counts(), Counts::all_right(ITEMS * TURNS));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_streaming_request_has_its_items_header() {
    let server = Server::start().await;
    let client = client(&server);
    for_each_item(|item| {
        let client = client.clone();
        async move {
            let question = ChatCompletionRequestUserMessage::from(prompt(item)).into();
            let mut chunks = client.chat().create_stream(request(vec![question])).await.unwrap();
            while let Some(chunk) = chunks.next().await {
                chunk.unwrap();
            }
        }
    })
    .await;
    assert_eq!(server.take_counts(), Counts::all_right(ITEMS));
}
