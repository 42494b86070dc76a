//! `TraceCheck`: scores the spans of an agent.

mod evaluator;
mod score;

pub use evaluator::TraceCheck;
pub(crate) use evaluator::TraceCheckOptions;
#[cfg(feature = "judge")]
pub use score::NO_SPANS;
