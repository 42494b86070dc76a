//! What agents do: the calls of tools that they made, read from what they gave, and the evaluators of these calls.

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
