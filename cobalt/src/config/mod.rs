//! The settings of a project: `cobalt.toml`, the variables `COBALT_*`, and what comes of them.

mod baseline;
mod datasets;
mod error;
mod evaluators;
mod file;
mod find;
mod merge;
mod merged;
mod models;
mod platforms;
mod reporter;
#[cfg(feature = "schema")]
mod schema;
mod settings;
#[cfg(test)]
mod tests;
mod variables;
mod webhooks;

pub use baseline::OnInconclusive;
pub use error::ConfigError;
#[cfg(not(feature = "remote"))]
pub(crate) use file::dotted;
pub use find::{Flags, project_root};
pub use merged::Config;
pub use reporter::{Reporter, ReporterKind};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use settings::{DashboardSettings, Only, Origin, Setting};
pub(crate) use variables::{REQUEST, RESUME};
pub use variables::{SOURCES, unknown_variable};
pub use webhooks::{UnsetVariable, Webhook, WebhookOn};
