//! The tables `[[webhooks]]`: who is told of the end of a run, and how.

mod merge;
mod table;
mod values;
mod webhook;

pub(super) use table::Hook;
#[cfg(feature = "schema")]
pub(super) use table::Table;
#[cfg(feature = "schema")]
pub(super) use values::{HookAddress, HookTimeout};
pub use webhook::{UnsetVariable, Webhook, WebhookOn};
