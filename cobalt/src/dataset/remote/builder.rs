//! A data set that is to be fetched, as a value.

use std::fmt;
use std::time::Duration;

use reqwest::Url;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::kept::Copy;
use super::load::load;
use super::platform::{Platform, below};
use super::session::{FoundKey, Lookup, Request, Session};
use crate::dataset::difference::Difference;
use crate::dataset::settings::{Account, FetchSettings};
use crate::dataset::{ChangedDataset, Dataset, DatasetError};
use crate::hash::begins_hash;
use crate::item::Item;
use crate::redact::Secret;

/// A data set that is to be fetched.
///
/// It stands wherever a data set can, as in `dataset = Dataset::from_url("…")`. To change its items first, [`load`] it.
///
/// [`load`]: RemoteDataset::load
#[derive(Clone, Debug)]
#[must_use = "a data set is only fetched when it is loaded or given to an experiment"]
pub struct RemoteDataset<S> {
    pub(super) source: S,
    pub(super) terms: Terms,
}

impl<S: Source> RemoteDataset<S> {
    pub(super) fn new(source: S) -> Self {
        Self { source, terms: Terms::default() }
    }

    /// How long the server may be silent, before its answer and within it; 60 s unless it is set. A long answer may take longer
    /// as a whole.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.terms.timeout = timeout;
        self
    }

    /// How often a request is sent again after a failure that may pass; 4 unless it is set. To a server that is silent it is sent
    /// twice at most.
    pub fn retries(mut self, retries: u32) -> Self {
        self.terms.retries = retries;
        self
    }

    /// How many bytes the data set may have, unpacked; 1 GiB unless it is set.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.terms.max_bytes = bytes;
        self
    }

    /// How old a copy may be before it is fetched again. Without it, a copy is used until `--refresh`.
    pub fn max_age(mut self, age: Duration) -> Self {
        self.terms.max_age = Some(age);
        self
    }

    /// How many items there must be; any other number is an error.
    pub fn expect_items(mut self, items: usize) -> Self {
        self.terms.items = Some(items);
        self
    }

    /// How the [hash](Dataset::hash) of the items must begin; at least 8 digits of it. Any other is an error.
    pub fn expect_hash(mut self, hash: impl Into<String>) -> Self {
        self.terms.hash = Some(hash.into());
        self
    }

    /// The items, by these settings: of the copy that is kept, or fetched.
    pub(crate) fn load_by(
        self,
        settings: &FetchSettings,
        variable: Lookup<'_>,
    ) -> Result<Dataset, DatasetError> {
        load(&self.source, &self.terms, settings, variable)
    }
}

/// What a data set can be fetched from. It knows what it asks for, and not whether that is asked or a copy is used.
pub trait Source: fmt::Debug + Send + Sync {
    /// How it is shown: `langfuse:support`, or an address without its query.
    fn label(&self) -> String;

    /// What is asked for, without secrets: copies are told apart by it.
    fn identity(&self, session: &Session<'_>) -> Vec<String>;

    /// Fetches all of it.
    fn fetch(&self, session: &Session<'_>) -> impl Future<Output = Result<Fetched, FetchError>>;
}

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

/// What is said in code of how a platform is asked.
#[derive(Clone, Debug, Default)]
pub struct Access {
    pub(super) base_url: Option<String>,
    pub(super) key: Option<Secret>,
}

/// A platform, its key at hand.
#[derive(Debug)]
pub struct Bearer<'a> {
    session: &'a Session<'a>,
    platform: &'static Platform,
    base_url: Url,
    /// What gives it.
    origin: String,
    key: FoundKey,
}

impl<'a> Bearer<'a> {
    /// `variable` holds the key where neither the code nor the configuration says one.
    pub fn new(
        platform: &'static Platform,
        variable: &str,
        access: &Access,
        session: &'a Session<'a>,
    ) -> Result<Self, FetchError> {
        let (base_url, origin) = platform.address(session, access.base_url.as_deref())?;
        let configured = |account: &'a Account| account.key.as_ref();
        let key = platform.key(session, access.key.as_ref(), ("api-key", configured), &[variable])?;
        Ok(Self { session, platform, base_url, origin, key })
    }

    /// The answer at a path, whose parts may hold any character.
    pub async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<T, FetchError> {
        self.ask(Request::get(below(&self.base_url, path, query))).await
    }

    /// The answer at a path to what is told in JSON.
    pub async fn post<T: DeserializeOwned>(&self, path: &[&str], body: Value) -> Result<T, FetchError> {
        self.ask(Request::post(below(&self.base_url, path, &[]), body)).await
    }

    /// What a refusal means, and what to do about it.
    pub fn explain(&self, error: FetchError) -> FetchError {
        self.platform.explain(error, (&self.base_url, &self.origin), &[&self.key])
    }

    async fn ask<T: DeserializeOwned>(&self, request: Request) -> Result<T, FetchError> {
        let request = request.secret("authorization", &format!("Bearer {}", self.key.secret.0))?;
        self.session.json(&request).await
    }
}
