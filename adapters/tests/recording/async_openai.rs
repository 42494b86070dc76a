//! A loop by hand over async-openai.

use ::async_openai::Client;
use ::async_openai::config::OpenAIConfig;
use ::async_openai::types::chat::{
    ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessage, ChatCompletionRequestMessage,
    ChatCompletionRequestSystemMessage, ChatCompletionRequestToolMessage, ChatCompletionRequestUserMessage,
    ChatCompletionTool, ChatCompletionTools, CreateChatCompletionRequest, FunctionObject,
};
use futures_util::StreamExt;

use crate::matrix::{Agent, Ask, SYSTEM};
use crate::reply::TURNS;

matrix!(AsyncOpenAi);

#[derive(Clone, Copy)]
struct AsyncOpenAi;

fn client(ask: &Ask) -> Client<OpenAIConfig> {
    Client::with_config(OpenAIConfig::new().with_api_base(&ask.base_url).with_api_key(ask.key))
}

fn request(messages: &[ChatCompletionRequestMessage]) -> CreateChatCompletionRequest {
    CreateChatCompletionRequest { model: "m".to_owned(), messages: messages.to_vec(), ..Default::default() }
}

fn messages(ask: &Ask) -> Vec<ChatCompletionRequestMessage> {
    vec![
        ChatCompletionRequestSystemMessage::from(SYSTEM).into(),
        ChatCompletionRequestUserMessage::from(ask.question.as_str()).into(),
    ]
}

impl Agent for AsyncOpenAi {
    async fn converse(self, ask: Ask) -> Result<String, String> {
        let (client, mut messages) = (client(&ask), messages(&ask));
        let function = FunctionObject { name: "count".to_owned(), ..Default::default() };
        let tools = vec![ChatCompletionTools::Function(ChatCompletionTool { function })];
        for _ in 0..TURNS {
            let request = CreateChatCompletionRequest { tools: Some(tools.clone()), ..request(&messages) };
            let mut answer = client.chat().create(request).await.map_err(|error| error.to_string())?;
            let message = answer.choices.remove(0).message;
            let Some(tool_calls) = message.tool_calls else {
                return message.content.ok_or("no text".to_owned());
            };
            let results: Vec<_> = tool_calls
                .iter()
                .map(|call| {
                    let ChatCompletionMessageToolCalls::Function(call) = call else { panic!("{call:?}") };
                    ChatCompletionRequestToolMessage {
                        content: ask.count.into(),
                        tool_call_id: call.id.clone(),
                    }
                })
                .collect();
            let asked =
                ChatCompletionRequestAssistantMessage { tool_calls: Some(tool_calls), ..Default::default() };
            messages.push(asked.into());
            messages.extend(results.into_iter().map(Into::into));
        }
        Err("no answer".to_owned())
    }

    async fn stream(self, ask: Ask) -> Result<Vec<String>, String> {
        let stream = client(&ask).chat().create_stream(request(&messages(&ask))).await;
        let mut chunks = stream.map_err(|error| error.to_string())?;
        let mut texts = Vec::new();
        while let Some(chunk) = chunks.next().await {
            texts.push(format!("{:?}", chunk.map_err(|error| error.to_string())?));
        }
        Ok(texts)
    }
}
