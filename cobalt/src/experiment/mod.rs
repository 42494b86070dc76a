//! What users declare: an experiment, its agent, and the agent's input and output.
//!
//! Nothing here runs anything: `Experiment::run` and the harness pass an experiment to the session.

mod agent;
mod conversation;
mod definition;
mod into_output;
mod record;
mod summary;
mod variants;

pub(crate) use agent::AgentFn;
pub use agent::{Agent, AgentError, Context, item, variant};
pub use conversation::{Chat, Conversation, IntoReply, Reply, SimulatedUser};
pub(crate) use conversation::{ConversationRun, user_fields};
pub(crate) use definition::{Declaration, ProgressCallback, ResolvedDefinition};
pub use definition::{Experiment, Prepared};
pub use into_output::{IntoOutput, Json};
pub use record::Record;
#[cfg(test)]
pub(crate) use record::Recorder;
pub(crate) use record::Records;
pub use summary::OutputOf;
pub use summary::{FnSummary, IntoSummary, SummaryItem, SummaryOutput};
pub use variants::Variants;
pub(crate) use variants::{ResolvedVariant, Variant};
