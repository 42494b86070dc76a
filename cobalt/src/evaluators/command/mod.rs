//! `CommandEvaluator`: a program in any language scores, over its stdin and stdout.
//!
//! What goes over the pipes is in [`answer`]; a [`program::Program`] at work is a [`process::Process`], and those that are
//! kept wait in a [`pool::Pool`].

mod answer;
mod evaluator;
mod pool;
mod process;
mod program;
#[cfg(all(test, unix))]
mod tests;

pub use evaluator::CommandEvaluator;
pub(crate) use evaluator::CommandOptions;
pub(crate) use process::EndsAll;
