//! The configuration of a project: `cobalt.toml`, the variables `COBALT_*`, and the resolved settings.

mod baseline;
mod datasets;
mod error;
mod evaluators;
mod file;
mod find;
mod load;
mod merge;
mod merged;
mod models;
mod overrides;
mod platforms;
mod reporter;
#[cfg(feature = "schema")]
mod schema;
mod sections;
mod settings;
#[cfg(test)]
mod tests;
mod variables;
mod webhooks;

pub use error::ConfigError;
pub use find::project_root;
pub use load::layout;
pub use merged::Config;
pub use overrides::Flags;
pub use reporter::{Reporter, ReporterKind};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use sections::DashboardSettings;
#[cfg(not(feature = "remote"))]
pub(crate) use settings::dotted;
pub use settings::{OnInconclusive, Only, Origin, Setting};
pub(crate) use variables::{REQUEST, RESUME};
pub use variables::{SOURCES, unknown_variable};
pub use webhooks::{UnsetVariable, Webhook, WebhookOn};
