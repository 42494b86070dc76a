//! What the configuration says of data sets that are fetched: where copies are kept, when they are used, and by which accounts
//! platforms are asked.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use cobalt_core::redact::Secret;

/// What the configuration says of data sets that are fetched.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FetchSettings {
    /// The folder of the copies.
    pub(crate) folder: PathBuf,
    /// Whether copies are used however old they are, and nothing is fetched.
    pub(crate) offline: bool,
    /// Copies that are older than this are fetched again.
    pub(crate) refresh: Option<SystemTime>,
    /// Whether runs are taken up again: copies are then used however old they are, unless a refresh is asked for.
    pub(crate) is_resumed: bool,
    /// How each platform is asked, as far as it is said.
    pub(crate) accounts: BTreeMap<Platform, Account>,
}

/// Where teams keep their data sets.
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

/// How a platform is asked; what is not said follows from the environment, else from the platform.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Account {
    /// Where its API is.
    pub(crate) base_url: Option<String>,
    /// The key, or the secret one of two.
    pub(crate) key: Option<Key>,
    /// The public one of two, as Langfuse has them.
    pub(crate) public_key: Option<Key>,
    /// The workspace, where a key is for several, as with LangSmith.
    pub(crate) workspace: Option<String>,
}

/// Where a key is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Key {
    /// Here.
    Written(Secret),
    /// In the variable of this name.
    Variable(String),
}
