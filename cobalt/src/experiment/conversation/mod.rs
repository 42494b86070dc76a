//! Conversations: an agent that is called turn by turn, and the user who talks to it, scripted or simulated.

mod chat;
#[cfg(feature = "judge")]
mod mistakes;
mod run;
mod script;
mod settings;
#[cfg_attr(not(feature = "judge"), path = "user_disabled.rs")]
mod user;

pub use chat::{Chat, IntoReply, Reply};
pub use run::ConversationRun;
pub use script::user_fields;
pub use settings::{Conversation, SimulatedUser};
