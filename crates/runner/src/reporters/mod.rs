//! Reporters other than the terminal output: GitHub Actions, files, OpenTelemetry and webhooks.

mod annotations;
pub mod github;
mod registry;
mod workflow_commands;

pub use self::registry::Reporters;
pub use self::workflow_commands::{CommandGuard, END_GROUP, group};
