//! What is said of fetching, whatever the source: for how long, how much, how often, and what is expected.

use std::time::Duration;

/// How long a server may be silent.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// How often a request is sent again after a failure that may pass.
pub(super) const DEFAULT_RETRIES: u32 = 4;
/// The most bytes of a data set: 1 GiB.
pub(super) const DEFAULT_MAX_BYTES: u64 = 1 << 30;

/// What is said of fetching.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    /// How long a server may be silent, before its answer and within it.
    pub(super) timeout: Duration,
    /// How often a request is sent again after a failure that may pass.
    pub(super) retries: u32,
    /// How many bytes all answers may have together.
    pub(super) max_bytes: u64,
    /// How old a copy may be; of any age without it.
    pub(super) max_age: Option<Duration>,
    /// How many items there must be.
    pub(super) items: Option<usize>,
    /// How the hash of the items must begin.
    pub(super) hash: Option<String>,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            timeout: DEFAULT_TIMEOUT,
            retries: DEFAULT_RETRIES,
            max_bytes: DEFAULT_MAX_BYTES,
            max_age: None,
            items: None,
            hash: None,
        }
    }
}
