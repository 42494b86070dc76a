//! What shows a call beside the screen: to GitHub, in files, and by webhooks.

mod all;
mod annotations;
mod commands;
pub mod github;

pub use self::all::Reporters;
pub use self::commands::{END_GROUP, Guard, group};
