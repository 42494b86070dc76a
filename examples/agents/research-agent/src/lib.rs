//! A research agent over a small library: a loop by hand over [async-openai](async_openai), with streamed answers.
//!
//! The agent knows nothing of its experiments: see `tests/evals.rs` for these.

pub mod library;

use anyhow::{Context as _, bail};
use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionMessageToolCall, ChatCompletionMessageToolCallChunk, ChatCompletionMessageToolCalls,
    ChatCompletionRequestAssistantMessage, ChatCompletionRequestMessage, ChatCompletionRequestSystemMessage,
    ChatCompletionRequestToolMessage, ChatCompletionRequestUserMessage, ChatCompletionStreamOptions,
    ChatCompletionTool, ChatCompletionTools, CreateChatCompletionRequest, FunctionObject,
};
use futures::StreamExt as _;
use serde_json::{Value, json};

/// The model that the agent asks.
pub const MODEL: &str = "gpt-5.4-nano";

/// The largest number of model calls for a question.
const MAX_TURNS: usize = 5;

const INSTRUCTIONS: &str = "\
You answer questions from a library of pages about bridges. Search first, then read each page that you need. \
Answer in one or two sentences, only with what the pages say, and cite each page by its ID in square brackets, such as \
[golden-gate]. If the library does not have the answer, say that you found nothing.";

/// The research agent. Build it once and share it: it keeps no conversation.
#[derive(Debug)]
pub struct ResearchAgent {
    client: Client<OpenAIConfig>,
}

/// What the model said in one turn.
#[derive(Debug, Default)]
struct Turn {
    text: String,
    calls: Vec<ChatCompletionMessageToolCall>,
}

impl ResearchAgent {
    /// An agent on OpenAI. It reads `OPENAI_API_KEY`, and `OPENAI_BASE_URL` if it is set.
    #[must_use]
    pub fn from_env() -> Self {
        Self { client: Client::new() }
    }

    /// Answers a question, with the sources. Text is passed to `on_text` as it arrives.
    ///
    /// # Errors
    ///
    /// The model cannot be reached, or needs too many calls.
    pub async fn answer(&self, question: &str, mut on_text: impl FnMut(&str)) -> anyhow::Result<String> {
        let mut messages: Vec<ChatCompletionRequestMessage> = vec![
            ChatCompletionRequestSystemMessage::from(INSTRUCTIONS).into(),
            ChatCompletionRequestUserMessage::from(question).into(),
        ];
        for _ in 0..MAX_TURNS {
            let turn = self.ask(messages.clone(), &mut on_text).await?;
            if turn.calls.is_empty() {
                return Ok(turn.text);
            }
            let calls = turn.calls.iter().cloned().map(ChatCompletionMessageToolCalls::Function);
            let message = ChatCompletionRequestAssistantMessage {
                content: (!turn.text.is_empty()).then(|| turn.text.clone().into()),
                tool_calls: Some(calls.collect()),
                ..Default::default()
            };
            messages.push(message.into());
            for call in turn.calls {
                let content = use_tool(&call.function.name, &call.function.arguments);
                messages.push(
                    ChatCompletionRequestToolMessage { content: content.into(), tool_call_id: call.id }
                        .into(),
                );
            }
        }
        bail!("no answer after {MAX_TURNS} model calls")
    }

    /// Asks the model once, and reads the stream of its answer.
    async fn ask(
        &self,
        messages: Vec<ChatCompletionRequestMessage>,
        on_text: &mut impl FnMut(&str),
    ) -> anyhow::Result<Turn> {
        let request = CreateChatCompletionRequest {
            model: MODEL.to_owned(),
            messages,
            tools: Some(tools()),
            stream_options: Some(ChatCompletionStreamOptions {
                include_usage: Some(true),
                include_obfuscation: Some(false),
            }),
            ..Default::default()
        };
        let mut stream =
            self.client.chat().create_stream(request).await.context("the model cannot be asked")?;
        let mut turn = Turn::default();
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.context("the model's answer broke off")?;
            let Some(choice) = chunk.choices.into_iter().next() else { continue };
            if let Some(text) = choice.delta.content {
                on_text(&text);
                turn.text.push_str(&text);
            }
            choice.delta.tool_calls.into_iter().flatten().for_each(|part| turn.add_call(part));
        }
        Ok(turn)
    }
}

impl Turn {
    /// Adds a part of a tool call: the first has the ID and the name, the others continue the arguments.
    fn add_call(&mut self, part: ChatCompletionMessageToolCallChunk) {
        let index = part.index as usize;
        if self.calls.len() <= index {
            self.calls.resize_with(index + 1, ChatCompletionMessageToolCall::default);
        }
        let call = &mut self.calls[index];
        if let Some(id) = part.id {
            call.id = id;
        }
        let Some(function) = part.function else { return };
        if let Some(name) = function.name {
            call.function.name = name;
        }
        call.function.arguments.push_str(&function.arguments.unwrap_or_default());
    }
}

fn tools() -> Vec<ChatCompletionTools> {
    vec![
        tool("search", "Searches the library. Returns up to three pages.", "query", "A few words"),
        tool("read", "Returns the text of a page.", "id", "The ID of a page, from the search"),
    ]
}

/// A tool with one text argument.
fn tool(name: &str, description: &str, argument: &str, meaning: &str) -> ChatCompletionTools {
    let parameters = json!({
        "type": "object",
        "properties": { argument: { "type": "string", "description": meaning } },
        "required": [argument],
        "additionalProperties": false,
    });
    ChatCompletionTools::Function(ChatCompletionTool {
        function: FunctionObject {
            name: name.to_owned(),
            description: Some(description.to_owned()),
            parameters: Some(parameters),
            strict: Some(true),
        },
    })
}

/// The result of a tool, or an error that the model can react to.
fn use_tool(name: &str, arguments: &str) -> String {
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let argument = |name: &str| arguments[name].as_str().unwrap_or_default();
    match name {
        "search" => json!(library::search(argument("query"))).to_string(),
        "read" => library::read(argument("id")).unwrap_or_else(|error| format!("error: {error}")),
        _ => format!("error: there is no tool `{name}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_streamed_calls_are_put_together() {
        let mut turn = Turn::default();
        for part in [
            json!({ "index": 0, "id": "c0", "type": "function", "function": { "name": "read", "arguments": "" } }),
            json!({ "index": 0, "function": { "arguments": "{\"id\": \"for" } }),
            json!({ "index": 1, "id": "c1", "type": "function", "function": { "name": "search", "arguments": "{" } }),
            json!({ "index": 0, "function": { "arguments": "th\"}" } }),
            json!({ "index": 1, "function": { "arguments": "}" } }),
        ] {
            turn.add_call(serde_json::from_value(part).unwrap());
        }
        let calls: Vec<_> = turn.calls.iter().map(|call| (&*call.id, &*call.function.arguments)).collect();
        assert_eq!(calls, [("c0", r#"{"id": "forth"}"#), ("c1", "{}")]);
    }

    #[test]
    fn a_failed_tool_tells_the_model_why() {
        assert_eq!(use_tool("read", r#"{"id": "rialto"}"#), "error: there is no page `rialto`");
        assert_eq!(use_tool("write", "{}"), "error: there is no tool `write`");
        assert!(use_tool("search", r#"{"query": "Tarn"}"#).contains("millau"));
    }
}
