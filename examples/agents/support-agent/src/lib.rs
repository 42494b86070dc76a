//! The support agent of a tea shop, built on [rig]. It looks up orders and refunds them by the shop's rules.
//!
//! The agent knows nothing of its experiments: see `tests/evals.rs` for these.

pub mod shop;

use std::fmt;

use rig::prelude::*;
use rig::providers::openai::OpenAI;
use rig::rig_tool;
use rig::tool::ToolExecutionError;

/// The model that the agent asks.
const MODEL: &str = "gpt-5.4-mini";

/// The largest number of model calls for a message.
const MAX_TURNS: usize = 5;

/// The agent's instructions.
fn preamble() -> String {
    format!(
        "You answer customers of Leaf & Kettle, a tea shop. Today is {}.\n\
         - Look up an order before you say anything about it. If the customer gives no order number, ask for it.\n\
         - Delivered orders can be returned for a full refund until their `return_until` date, never later.\n\
         - If an item arrived damaged, refund the price of that item, whatever the date.\n\
         - Orders that are not delivered yet cannot be refunded. Do not refund an order twice.\n\
         - Do not refund more than £100: tell the customer that a colleague will email within one working day.\n\
         - Answer in one to three friendly sentences, with the date, amount or reference that matters.",
        shop::TODAY
    )
}

/// Looks up an order: its status, dates, items and prices.
#[rig_tool(params(order_id = "The order number, such as T-1001"))]
async fn find_order(order_id: String) -> Result<String, ToolExecutionError> {
    let order = shop::find(&order_id).map_err(ToolExecutionError::not_found)?;
    serde_json::to_string(order).map_err(ToolExecutionError::from_error)
}

/// Refunds an amount of a delivered order.
#[rig_tool(params(
    order_id = "The order number, such as T-1001",
    amount = "The amount in pounds",
    reason = "Why, in a few words"
))]
async fn refund(order_id: String, amount: f64, reason: String) -> Result<String, ToolExecutionError> {
    if reason.is_empty() {
        return Err(ToolExecutionError::invalid_args("a refund needs a reason"));
    }
    shop::refund(&order_id, amount).map_err(ToolExecutionError::refused)
}

/// The support agent. Build it once and share it: it keeps no conversation.
pub struct SupportAgent {
    agent: Agent,
}

impl fmt::Debug for SupportAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SupportAgent").finish_non_exhaustive()
    }
}

impl SupportAgent {
    /// An agent on OpenAI. It reads `OPENAI_API_KEY`, and `OPENAI_BASE_URL` if it is set.
    ///
    /// # Errors
    ///
    /// There is no key.
    pub fn from_env() -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let model = OpenAI::from_env()?.completion(MODEL);
        let agent = AgentBuilder::new(model)
            .name("support")
            .preamble(preamble())
            .tool(FindOrder)
            .tool(Refund)
            .default_max_turns(MAX_TURNS)
            .build();
        Ok(Self { agent })
    }

    /// Answers a customer's message.
    ///
    /// # Errors
    ///
    /// The model cannot be reached, or needs too many calls.
    pub async fn answer(&self, message: &str) -> Result<String, PromptError> {
        Ok(self.agent.prompt(message).await?.output().to_owned())
    }
}
