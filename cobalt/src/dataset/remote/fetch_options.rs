//! Options for fetching a dataset, the fetched data, and the check against the expectations.

use std::fmt;
use std::time::Duration;

use cobalt_core::hash::is_hash_prefix;
use cobalt_core::item::Item;

use super::cache::CachedCopy;
use crate::dataset::difference::DatasetDiff;
use crate::dataset::{Dataset, DatasetError, DatasetMismatch};

/// Fetched data.
#[derive(Debug)]
pub struct FetchedData {
    /// The items, in the source's order.
    pub(super) items: Vec<Item>,
    /// The version, as named by the source.
    pub(super) version: Option<String>,
}

/// Rejects an expected hash that is not a valid hash prefix.
pub fn check_options(label: &str, terms: &FetchOptions) -> Result<(), DatasetError> {
    match terms.hash.as_ref().filter(|hash| !is_hash_prefix(hash)) {
        None => Ok(()),
        Some(hash) => Err(DatasetError::ExpectedHash { dataset: label.to_owned(), hash: hash.clone() }),
    }
}

/// Whether the items match the expectations.
pub fn matches_expectations(dataset: &Dataset, terms: &FetchOptions) -> bool {
    let has_hash = |expected: &String| dataset.hash().starts_with(&expected.to_ascii_lowercase());
    terms.items.is_none_or(|items| items == dataset.len()) && terms.hash.as_ref().is_none_or(has_hash)
}

/// The error for fetched items that do not match, with the difference from the cached copy.
pub fn mismatch_error(dataset: &Dataset, terms: &FetchOptions, copy: Option<&CachedCopy>) -> DatasetError {
    let difference = copy.map(|copy| (copy, DatasetDiff::between(&copy.dataset, dataset)));
    let difference = difference.filter(|(_, difference)| !difference.is_empty());
    let since = difference.map(|(copy, difference)| format!("{difference} since the copy of {copy}"));
    build_mismatch(dataset, terms, since.unwrap_or_default())
}

/// The error for a cached copy that does not match, when offline.
pub fn cached_mismatch_error(copy: &CachedCopy, terms: &FetchOptions) -> DatasetError {
    let advice =
        format!("this is the copy of {copy}; run without `--offline` and COBALT_OFFLINE to fetch it again");
    build_mismatch(&copy.dataset, terms, advice)
}

fn build_mismatch(dataset: &Dataset, terms: &FetchOptions, compared: String) -> DatasetError {
    DatasetError::Mismatch(Box::new(DatasetMismatch {
        dataset: dataset.source().to_owned(),
        items: dataset.len(),
        hash: dataset.hash(),
        expected_items: terms.items,
        expected_hash: terms.hash.clone(),
        compared,
    }))
}

/// How long a server may be silent.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// How often a request is retried after a transient failure.
pub const DEFAULT_RETRIES: u32 = 4;
/// The maximum size of a dataset: 1 GiB.
pub const DEFAULT_MAX_BYTES: u64 = 1 << 30;

/// Options for fetching a dataset.
#[derive(Clone, Debug)]
pub(super) struct FetchOptions {
    /// How long a server may be silent, before and within its response.
    pub(super) timeout: Duration,
    /// How often a request is retried after a transient failure.
    pub(super) retries: u32,
    /// The maximum total size of all responses, in bytes.
    pub(super) max_bytes: u64,
    /// The age at which a copy is fetched again; no limit if `None`.
    pub(super) max_age: Option<Duration>,
    /// The expected number of items.
    pub(super) items: Option<usize>,
    /// The expected hash of the items, or a prefix.
    pub(super) hash: Option<String>,
}

impl Default for FetchOptions {
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

/// Why a fetch failed, without the name of the source.
#[derive(Debug)]
pub enum FetchError {
    /// The server refused: its status, and its message on one line.
    Refused { status: u16, message: String },
    /// Anything else: what is wrong, and how to fix it.
    Problem(String),
}

impl FetchError {
    pub(super) fn problem(text: impl Into<String>) -> Self {
        Self::Problem(text.into())
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { status, message } if message.is_empty() => write!(f, "status {status}"),
            Self::Refused { status, message } => write!(f, "status {status}: {message}"),
            Self::Problem(problem) => f.write_str(problem),
        }
    }
}
