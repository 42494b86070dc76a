//! What a user declares: an experiment, the agent that it calls, and what the agent gets and gives.
//!
//! Nothing here runs anything: `Experiment::run` and the harness hand an experiment to the session.

mod agent;
mod definition;
mod into_output;
mod record;

pub(crate) use agent::AgentFn;
pub use agent::{Agent, AgentError, Context, item};
pub(crate) use definition::{Declaration, Definition, Progress};
pub use definition::{Experiment, Prepared};
pub use into_output::{IntoOutput, Json};
pub use record::Record;
pub(crate) use record::Recorded;
#[cfg(test)]
pub(crate) use record::Recorder;
