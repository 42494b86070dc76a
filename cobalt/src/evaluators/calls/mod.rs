//! Tool calls: reads them from the agent's result, and scores them.

mod call;
mod compare;
mod evaluator;
pub mod places;
mod read;
mod score;
#[cfg(test)]
mod tests;

pub use call::{ToolCall, ToolCallError};
pub use evaluator::ToolCalls;
pub(crate) use evaluator::ToolCallsOptions;
pub(crate) use places::{has_calls, has_no_calls, reports_calls};
