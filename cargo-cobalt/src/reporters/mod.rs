//! Reporters other than the terminal output: GitHub Actions, files and webhooks.

mod all;
mod annotations;
mod commands;
pub mod github;

pub use self::all::Reporters;
pub use self::commands::{END_GROUP, Guard, group};
