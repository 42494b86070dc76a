//! Tool calls: reads them from the agent's result, and scores them.

mod call;
mod compare;
pub mod default_paths;
mod evaluator;
pub mod from_trace;
mod read;
mod score;
#[cfg(test)]
mod tests;

pub use call::{ToolCall, ToolCallError};
pub(crate) use default_paths::{has_calls, has_no_calls, reports_calls};
pub use evaluator::ToolCalls;
pub(crate) use evaluator::ToolCallsOptions;
