//! What shows a call beside the screen: to GitHub, in files, and by webhooks.

mod all;
mod annotations;
mod commands;
pub(crate) mod github;

pub(crate) use self::all::Reporters;
pub(crate) use self::commands::{END_GROUP, Guard, group};
