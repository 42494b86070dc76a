//! What a user declares: an experiment, the agent that it calls, and what the agent gets and gives.
//!
//! Nothing here runs anything: `Experiment::run` and the harness hand an experiment to the session.

mod agent;
mod builder;
mod context;
mod definition;
mod into_output;
mod record;

pub use crate::item::{ModelCall, Output, TokenCount};
pub(crate) use agent::AgentFn;
pub use agent::{Agent, AgentError, item};
pub(crate) use builder::{Declaration, Progress};
pub use builder::{Experiment, Prepared};
pub use context::Context;
pub(crate) use definition::Definition;
pub use into_output::{IntoOutput, Json};
pub use record::Record;
pub(crate) use record::Recorded;
#[cfg(test)]
pub(crate) use record::Recorder;
