//! On what terms a data set is fetched, what comes of it, and whether that is what is expected.

use std::fmt;
use std::time::Duration;

use cobalt_core::hash::begins_hash;
use cobalt_core::item::Item;

use super::kept::Copy;
use crate::dataset::difference::Difference;
use crate::dataset::{ChangedDataset, Dataset, DatasetError};

/// What was fetched.
#[derive(Debug)]
pub struct Fetched {
    /// The items in the order of the source.
    pub(super) items: Vec<Item>,
    /// Which version it is, as the source names it.
    pub(super) version: Option<String>,
}

/// Refuses what can be the hash of no data set.
pub fn check_terms(label: &str, terms: &Terms) -> Result<(), DatasetError> {
    match terms.hash.as_ref().filter(|hash| !begins_hash(hash)) {
        None => Ok(()),
        Some(hash) => Err(DatasetError::ExpectedHash { dataset: label.to_owned(), hash: hash.clone() }),
    }
}

/// Whether the items are those that are expected.
pub fn fits(dataset: &Dataset, terms: &Terms) -> bool {
    let has_hash = |expected: &String| dataset.hash().starts_with(&expected.to_ascii_lowercase());
    terms.items.is_none_or(|items| items == dataset.len()) && terms.hash.as_ref().is_none_or(has_hash)
}

/// The error for items of a source that are not, with how they differ from those of the copy that there is.
pub fn changed(dataset: &Dataset, terms: &Terms, copy: Option<&Copy>) -> DatasetError {
    let difference = copy.map(|copy| (copy, Difference::between(&copy.dataset, dataset)));
    let difference = difference.filter(|(_, difference)| !difference.is_empty());
    let since = difference.map(|(copy, difference)| format!("{difference} since the copy of {copy}"));
    unexpected(dataset, terms, since.unwrap_or_default())
}

/// The error for items of a copy that are not, where nothing is to be fetched.
pub fn unexpected_copy(copy: &Copy, terms: &Terms) -> DatasetError {
    let advice =
        format!("it is the copy of {copy}, and is fetched again without `--offline` and COBALT_OFFLINE");
    unexpected(&copy.dataset, terms, advice)
}

fn unexpected(dataset: &Dataset, terms: &Terms, compared: String) -> DatasetError {
    DatasetError::Changed(Box::new(ChangedDataset {
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
/// How often a request is sent again after a failure that may pass.
pub const DEFAULT_RETRIES: u32 = 4;
/// The most bytes of a data set: 1 GiB.
pub const DEFAULT_MAX_BYTES: u64 = 1 << 30;

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

/// Why a source gave no items, without its name.
#[derive(Debug)]
pub enum FetchError {
    /// The server says so: with what status, and what it says, on one line.
    Refused { status: u16, message: String },
    /// Anything else: what is wrong, and what to do.
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
