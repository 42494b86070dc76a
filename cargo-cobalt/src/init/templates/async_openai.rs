use std::sync::LazyLock;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionRequestSystemMessage, ChatCompletionRequestUserMessage,
    CreateChatCompletionRequest,
};

/// The agent's instructions.
const INSTRUCTIONS: &str = "\
You route messages to the support desk. Answer with one word: billing, technical, account \
or general.";

/// The client, built once and shared. It needs no key to be built, so it cannot panic.
static CLIENT: LazyLock<Client<OpenAIConfig>> = LazyLock::new(Client::new);

/// Returns the team for a support message.
pub async fn route(message: &str) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let request = CreateChatCompletionRequest {
        model: "gpt-5.4-mini".to_owned(),
        messages: vec![
            ChatCompletionRequestSystemMessage::from(INSTRUCTIONS).into(),
            ChatCompletionRequestUserMessage::from(message).into(),
        ],
        ..Default::default()
    };
    let response = CLIENT.chat().create(request).await?;
    let choice = response.choices.into_iter().next().ok_or("the model gave no answer")?;
    Ok(choice.message.content.unwrap_or_default().trim().to_lowercase())
}
