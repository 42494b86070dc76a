//! Settings for fetched datasets: the folder of cached copies, when they are used, and the accounts of the platforms.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use cobalt_core::redact::Secret;

/// Settings for fetched datasets.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FetchSettings {
    /// The folder of cached copies.
    pub(crate) folder: PathBuf,
    /// Whether copies of any age are used and nothing is fetched.
    pub(crate) offline: bool,
    /// Copies older than this are fetched again.
    pub(crate) refresh: Option<SystemTime>,
    /// Whether runs are resumed: copies of any age are then used, unless a refresh is requested.
    pub(crate) is_resumed: bool,
    /// The configured account of each platform.
    pub(crate) accounts: BTreeMap<Platform, Account>,
}

/// Platforms that host datasets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Platform {
    /// <https://langfuse.com>.
    Langfuse,
    /// <https://smith.langchain.com>.
    LangSmith,
    /// <https://www.braintrust.dev>.
    Braintrust,
    /// <https://getbasalt.ai>.
    Basalt,
}

/// An account of a platform. Missing values come from the environment, else from the platform's defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Account {
    /// The URL of its API.
    pub(crate) base_url: Option<String>,
    /// The key; for Langfuse the secret key.
    pub(crate) key: Option<Key>,
    /// The public key, for Langfuse.
    pub(crate) public_key: Option<Key>,
    /// The workspace, if a key has access to several, as with LangSmith.
    pub(crate) workspace: Option<String>,
}

/// A key, or where it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Key {
    /// The key itself.
    Written(Secret),
    /// The environment variable that holds it.
    Variable(String),
}
