//! A loop by hand over async-openai.

use ::async_openai::Client;
use ::async_openai::config::OpenAIConfig;
use ::async_openai::types::chat::{
    ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessage, ChatCompletionRequestMessage,
    ChatCompletionRequestSystemMessage, ChatCompletionRequestToolMessage, ChatCompletionRequestUserMessage,
    ChatCompletionTool, ChatCompletionTools, CreateChatCompletionRequest, FunctionObject,
};

use crate::matrix::{Agent, SYSTEM, Task, events};
use crate::reply::TURNS;

matrix!(AsyncOpenAi);

#[derive(Clone, Copy)]
struct AsyncOpenAi;

fn client(task: &Task) -> Client<OpenAIConfig> {
    Client::with_config(OpenAIConfig::new().with_api_base(&task.base_url).with_api_key(task.key))
}

fn request(messages: &[ChatCompletionRequestMessage]) -> CreateChatCompletionRequest {
    CreateChatCompletionRequest { model: "m".to_owned(), messages: messages.to_vec(), ..Default::default() }
}

fn messages(task: &Task) -> Vec<ChatCompletionRequestMessage> {
    vec![
        ChatCompletionRequestSystemMessage::from(SYSTEM).into(),
        ChatCompletionRequestUserMessage::from(task.question.as_str()).into(),
    ]
}

impl Agent for AsyncOpenAi {
    async fn converse(self, task: Task) -> Result<String, String> {
        let (client, mut messages) = (client(&task), messages(&task));
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
                        content: task.count.into(),
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

    async fn stream(self, task: Task) -> Result<Vec<String>, String> {
        let stream = client(&task).chat().create_stream(request(&messages(&task))).await;
        events(stream.map_err(|error| error.to_string())?).await
    }
}
