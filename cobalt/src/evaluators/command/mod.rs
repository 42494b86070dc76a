//! `CommandEvaluator`: scores with a program in any language, over stdin and stdout.
//!
//! [`protocol`] has the protocol. A running [`program::CommandConfig`] is a [`process::Process`]; idle ones wait in a [`pool::Pool`].

mod evaluator;
mod pool;
mod process;
mod program;
mod protocol;
#[cfg(all(test, unix))]
mod tests;

pub use evaluator::CommandEvaluator;
pub(crate) use evaluator::CommandOptions;
#[cfg(feature = "workspace")]
pub use evaluator::not_empty;
#[cfg(feature = "workspace")]
pub use process::{EXIT_GRACE, OutputTail, POLL_INTERVAL, describe_exit};
#[cfg(feature = "workspace")]
pub use program::CommandConfig;
