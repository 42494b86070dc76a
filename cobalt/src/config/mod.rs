//! The configuration of a project: `cobalt.toml`, the variables `COBALT_*`, and the resolved settings.

mod baseline;
mod ci_shard;
mod datasets;
mod editor;
mod error;
mod evaluators;
mod file;
mod limits;
mod load;
mod locate;
mod models;
mod overrides;
mod platforms;
mod recordings;
mod remote;
mod remote_url;
mod reporter;
mod resolve;
mod resolved;
#[cfg(feature = "schema")]
mod schema;
mod settings;
mod shard_choice;
mod small_tables;
#[cfg(test)]
mod tests;
mod variables;
mod variants;
mod webhooks;

pub use ci_shard::AutoShardError;
pub use error::ConfigError;
pub use load::layout;
pub use locate::project_root;
pub use overrides::{Flags, MaxCost};
pub use remote::RemoteSettings;
pub use remote_url::{PushMode, RemoteUrl};
pub use reporter::{Reporter, ReporterKind};
pub use resolved::Config;
pub(crate) use resolved::ScoreSettings;
#[cfg(feature = "schema")]
pub use schema::schema;
#[cfg(not(feature = "remote"))]
pub(crate) use settings::dotted_key;
pub use settings::{KeepWorkspaces, OnInconclusive, Origin, RerunMode, Setting};
pub use shard_choice::{ShardChoice, ShardGroup};
pub use small_tables::{ARCHIVED_BASELINES, Changed, DashboardSettings};
pub use variables::{GIT_STATE, SET, SHARD_TOKEN, SOURCES, VARIANT, unknown_variable_warning};
pub(crate) use variables::{RECORD, REQUEST, RESUME};
pub use variants::{SettingChange, VariantSelection};
pub use webhooks::{UnsetVariable, Webhook, WebhookOn};
