//! The settings of a project: `cobalt.toml`, the variables `COBALT_*`, and what comes of them.
#![doc = include_str!("../../docs/configuration.md")]

mod baseline;
mod dashboard;
mod datasets;
mod error;
mod evaluators;
mod find;
mod flags;
mod merge;
mod merged;
mod model;
mod models;
mod only;
mod platforms;
mod prices;
mod read;
mod redaction;
mod reporter;
#[cfg(feature = "schema")]
mod schema;
mod settings;
mod storage;
#[cfg(test)]
mod tests;
mod variables;
mod webhooks;

pub use baseline::OnInconclusive;
pub use dashboard::DashboardSettings;
pub use error::ConfigError;
pub use find::project_root;
pub use flags::Flags;
pub use merged::Config;
pub use only::Only;
#[cfg(not(feature = "remote"))]
pub(crate) use read::dotted;
pub use reporter::{Reporter, ReporterKind};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use settings::{Origin, Setting};
pub(crate) use variables::{REQUEST, RESUME};
pub use variables::{SOURCES, unknown_variable};
pub use webhooks::{UnsetVariable, Webhook, WebhookOn};
