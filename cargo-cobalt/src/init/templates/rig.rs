use std::sync::LazyLock;

use rig::prelude::*;
use rig::providers::openai::OpenAI;

/// The agent's instructions.
const PREAMBLE: &str = "\
You route messages to the support desk. Answer with one word: billing, technical, account \
or general.";

/// The agent, built once and shared. Without a key it is an error, which every item reports: a
/// static that panics would hide the reason from all items but one.
static AGENT: LazyLock<Result<Agent, String>> = LazyLock::new(|| {
    let openai = OpenAI::from_env().map_err(|error| error.to_string())?;
    Ok(AgentBuilder::new(openai.completion("gpt-5.4-mini")).preamble(PREAMBLE).build())
});

/// Returns the team for a support message.
pub async fn route(message: &str) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let agent = AGENT.as_ref().map_err(String::as_str)?;
    Ok(agent.prompt(message).await?.output().trim().to_lowercase())
}
