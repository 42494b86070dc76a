//! A webhook: whom to tell of the end of a run, when, and for how long to try.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::redact::Secret;

/// How long an answer may take, unless something is set.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a request is sent again, unless something is set.
pub(super) const DEFAULT_RETRIES: u32 = 3;
/// How long all webhooks together may hold up the end of a run.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Whom `cargo cobalt run` and `merge` tell of the end of a run, see [`webhooks`](crate::webhooks). Its debug form shows no secret.
#[derive(Clone, Debug)]
pub struct Webhook {
    pub(super) url: Source,
    pub(super) secret: Option<Source>,
    pub(super) on: WebhookOn,
    pub(super) timeout: Duration,
    pub(super) retries: u32,
}

/// Where a text comes from that is, or may be, a secret.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// From the file.
    Written(Secret),
    /// From a variable, which may not be set.
    Variable { name: String, value: Option<Secret> },
}

/// After which runs a webhook is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WebhookOn {
    /// After every run.
    #[default]
    Always,
    /// After a run in which something failed.
    Failed,
    /// After a run in which an experiment is worse than its baseline, beyond noise, or misses a threshold against it.
    Regressed,
}

/// A variable that a webhook needs, and that is not set, or empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the variable `{0}` is not set")]
pub struct UnsetVariable(pub String);

impl Webhook {
    /// How long all webhooks together may hold up the end of a run, whatever is set: 60 s.
    pub const LONGEST_WAIT: Duration = LONGEST_WAIT;

    /// The address, which may hold a secret. One from a variable may be anything.
    ///
    /// # Errors
    ///
    /// The variable that holds it is not set.
    pub fn url(&self) -> Result<&str, UnsetVariable> {
        self.url.get()
    }

    /// The key by which requests are signed, if they are.
    ///
    /// # Errors
    ///
    /// The variable that holds it is not set. Nothing is to be sent then, as the receiver would take it for a forgery.
    pub fn secret(&self) -> Result<Option<&str>, UnsetVariable> {
        self.secret.as_ref().map(Source::get).transpose()
    }

    /// After which runs it is told.
    #[must_use]
    pub fn on(&self) -> WebhookOn {
        self.on
    }

    /// How long an answer may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// How often a request is sent again after a failure that may pass.
    #[must_use]
    pub fn retries(&self) -> u32 {
        self.retries
    }
}

impl Source {
    fn get(&self) -> Result<&str, UnsetVariable> {
        match self {
            Self::Written(Secret(text)) | Self::Variable { value: Some(Secret(text)), .. } => Ok(text),
            Self::Variable { name, value: None } => Err(UnsetVariable(name.clone())),
        }
    }
}
