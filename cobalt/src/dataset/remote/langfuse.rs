//! Datasets of Langfuse: the builder, and the part of the API that it uses.

use std::time::{Duration, SystemTime};

use cobalt_core::item::Item;
use cobalt_core::redact::Secret;
use cobalt_core::timestamp::Timestamp;
use cobalt_core::wording;
use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;

use super::RemoteDataset;
use super::fetch_options::{FetchError, FetchedData};
use super::fetch_session::{ApiKey, FetchSession, Request};
use super::load::Source;
use super::platform::{PageCollector, Platform, build_item, check_name, join_path, retry_while_changing};
use crate::dataset::Dataset;
use crate::dataset::settings::{self, Key};

static LANGFUSE: Platform = Platform {
    id: settings::Platform::Langfuse,
    name: "Langfuse",
    base_url: "https://cloud.langfuse.com",
    base_url_variables: &["LANGFUSE_BASE_URL", "LANGFUSE_HOST"],
};
/// The maximum page size of the API.
const MAX_PAGE_SIZE: u32 = 100;

/// A dataset in Langfuse.
#[derive(Clone, Debug)]
pub struct Langfuse {
    name: String,
    version: Option<String>,
    page_size: u32,
    base_url: Option<String>,
    public_key: Option<Secret>,
    secret_key: Option<Secret>,
}

impl Dataset {
    /// A dataset in [Langfuse](https://langfuse.com), by name; in a folder, `folder/name`.
    ///
    /// | item | Langfuse |
    /// |---|---|
    /// | `id` | `id` |
    /// | `input` | `input`, text or JSON unchanged, or null |
    /// | `expectedOutput` | `expectedOutput`; absent if null |
    /// | `metadata` | `metadata`; absent if null |
    ///
    /// Items are in Langfuse's order, latest first; all pages are read as of one time. Archived items are skipped. If Langfuse
    /// returns fewer items than it counts, that is an error.
    ///
    /// The keys come from `LANGFUSE_PUBLIC_KEY` and `LANGFUSE_SECRET_KEY`, the server from `LANGFUSE_BASE_URL` (or
    /// `LANGFUSE_HOST`), else `https://cloud.langfuse.com`, the European one. Keys belong to one project on one server. The cached
    /// copy is identified by the name of the dataset and the server: after switching to the keys of another project, fetch it
    /// again.
    ///
    /// ```no_run
    /// use cobalt::Dataset;
    ///
    /// let newest = Dataset::from_langfuse("support/refunds").load()?;
    /// let pinned = Dataset::from_langfuse("support/refunds").version("2026-01-21T14:35:42Z").load()?;
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    pub fn from_langfuse(name: impl Into<String>) -> RemoteDataset<Langfuse> {
        RemoteDataset::new(Langfuse {
            name: name.into(),
            version: None,
            page_size: MAX_PAGE_SIZE,
            base_url: None,
            public_key: None,
            secret_key: None,
        })
    }
}

impl RemoteDataset<Langfuse> {
    /// The items as of a time in UTC, such as `2026-01-21T14:35:42Z`. By default, the current items; the version of the dataset
    /// is then the fetch time by the server's clock.
    ///
    /// Servers from before 2026 do not support versions: an item created after the time is an error.
    pub fn version(mut self, time: impl Into<String>) -> Self {
        self.source.version = Some(time.into());
        self
    }

    /// The number of items per request, from 1 to 100; default 100. Langfuse Cloud limits responses to 5 MB, so large items may
    /// need smaller pages.
    pub fn page_size(mut self, items: u32) -> Self {
        self.source.page_size = items.clamp(1, MAX_PAGE_SIZE);
        self
    }

    /// The URL of the server, such as `https://us.cloud.langfuse.com`; overrides the configuration and the environment.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.source.base_url = Some(url.into());
        self
    }

    /// The public key, `pk-lf-…`; overrides the configuration and the environment.
    pub fn public_key(mut self, key: impl Into<String>) -> Self {
        self.source.public_key = Some(Secret(key.into()));
        self
    }

    /// The secret key, `sk-lf-…`; overrides the configuration and the environment. Keys in source code can be read by others:
    /// prefer the environment.
    pub fn secret_key(mut self, key: impl Into<String>) -> Self {
        self.source.secret_key = Some(Secret(key.into()));
        self
    }
}

impl Source for Langfuse {
    fn label(&self) -> String {
        format!("langfuse:{}", self.name)
    }

    fn identity(&self, session: &FetchSession<'_>) -> Vec<String> {
        let base_url = LANGFUSE.base_url(session, self.base_url.as_deref());
        let version = self.version.clone().unwrap_or_default();
        // Identifies the project. The value of a variable is not needed to use a cached copy.
        let configured = session.account(LANGFUSE.id).and_then(|account| account.public_key.as_ref());
        let project = match (&self.public_key, configured) {
            (Some(Secret(key)), _) | (None, Some(Key::Written(Secret(key)))) => key.clone(),
            (None, Some(Key::Variable(name))) => name.clone(),
            (None, None) => String::new(),
        };
        vec![self.label(), base_url, version, project]
    }

    async fn fetch(&self, session: &FetchSession<'_>) -> Result<FetchedData, FetchError> {
        check_name("dataset", &self.name)?;
        let pinned = self.version.as_deref().map(parse_version).transpose()?;
        let api = Api::new(self, session)?;
        retry_while_changing(async || self.fetch_once(&api, pinned).await).await
    }
}

impl Langfuse {
    /// All pages of one version of the dataset; `None` if it changed between two pages.
    async fn fetch_once(
        &self,
        api: &Api<'_>,
        pinned: Option<SystemTime>,
    ) -> Result<Option<FetchedData>, FetchError> {
        let mut pages = PageCollector::default();
        let mut version = self.version.clone();
        let mut total = None;
        for number in 1.. {
            let (page, date) = api.page(self, number, version.as_deref()).await?;
            // All pages use the state of the first page: as of the end of the second in which it was returned.
            let now = || date.map_or_else(SystemTime::now, |second| second + Duration::from_secs(1));
            version.get_or_insert_with(|| Timestamp::from(now()).to_string());
            if *total.get_or_insert(page.meta.total_items) != page.meta.total_items {
                return Ok(None);
            }
            let is_last = number >= page.meta.total_pages || page.data.is_empty();
            for row in page.data {
                row.check_time(pinned)?;
                if !pages.is_new(&row.id) {
                    return Ok(None);
                }
                pages.items.extend(row.into_item());
            }
            if is_last {
                break;
            }
        }
        let (given, total) = (pages.returned() as u64, total.unwrap_or_default());
        if given < total {
            return Err(FetchError::problem(format!(
                "Langfuse reports {total} items but returned {given}; try again later, or update the server"
            )));
        }
        Ok(Some(FetchedData { items: pages.items, version }))
    }
}

/// Parses a version, which is a time.
fn parse_version(version: &str) -> Result<SystemTime, FetchError> {
    let time = humantime::parse_rfc3339(version).map_err(|_| {
        FetchError::problem(format!(
            "invalid version `{version}`: expected a time in UTC such as `2026-01-21T14:35:42Z`"
        ))
    })?;
    if time > SystemTime::now() + MAX_CLOCK_SKEW {
        return Err(FetchError::problem(format!(
            "the version `{version}` is in the future; remove it to get the current items"
        )));
    }
    Ok(time)
}

/// The maximum difference between the clocks of a server and of its database.
pub const MAX_CLOCK_SKEW: Duration = Duration::from_secs(60);

/// The API of a server, for one project.
pub struct Api<'a> {
    session: &'a FetchSession<'a>,
    base_url: Url,
    /// The setting that provides the URL.
    origin: String,
    public: ApiKey,
    secret: ApiKey,
}

impl<'a> Api<'a> {
    pub fn new(source: &Langfuse, session: &'a FetchSession<'a>) -> Result<Self, FetchError> {
        let (public, secret) = (source.public_key.as_ref(), source.secret_key.as_ref());
        let (base_url, origin) = LANGFUSE.parsed_base_url(session, source.base_url.as_deref())?;
        Ok(Self {
            session,
            base_url,
            origin,
            public: LANGFUSE.key(
                session,
                public,
                ("public-key", |account| account.public_key.as_ref()),
                &["LANGFUSE_PUBLIC_KEY"],
            )?,
            secret: LANGFUSE.key(
                session,
                secret,
                ("secret-key", |account| account.key.as_ref()),
                &["LANGFUSE_SECRET_KEY"],
            )?,
        })
    }

    fn request(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Request, FetchError> {
        Request::get(join_path(&self.base_url, path, query))
            .basic(&self.public.secret.0, &self.secret.secret.0)
    }

    /// A page of items, and the server's time.
    pub async fn page(
        &self,
        source: &Langfuse,
        number: u64,
        version: Option<&str>,
    ) -> Result<(Page<Row>, Option<SystemTime>), FetchError> {
        let (page, limit) = (number.to_string(), source.page_size.to_string());
        let mut query = vec![("datasetName", &*source.name), ("page", &*page), ("limit", &*limit)];
        query.extend(version.map(|version| ("version", version)));
        let request = self.request(&["api", "public", "dataset-items"], &query)?;
        match self.session.json_with_date(&request).await {
            Err(FetchError::Refused { status: 404, message }) => {
                Err(self.not_found(&source.name, message, &request.url).await)
            }
            answer => answer.map_err(|error| self.explain(error, &request.url)),
        }
    }

    /// The error for a missing dataset, which lists the existing ones.
    async fn not_found(&self, name: &str, message: String, url: &Url) -> FetchError {
        let list = async || {
            let request =
                self.request(&["api", "public", "v2", "datasets"], &[("page", "1"), ("limit", "100")])?;
            self.session.json::<Page<DatasetName>>(&request).await
        };
        match list().await {
            Ok(page) if page.data.is_empty() => {
                FetchError::problem(format!("no dataset `{name}`: the project has no datasets"))
            }
            Ok(page) => {
                let there = wording::suggest_or_list(name, page.data.iter().map(|dataset| &*dataset.name));
                FetchError::problem(format!("no dataset `{name}`; {there}"))
            }
            // The server is not Langfuse, or gives no further information.
            Err(_) => self.explain(FetchError::Refused { status: 404, message }, url),
        }
    }

    fn explain(&self, error: FetchError, url: &Url) -> FetchError {
        LANGFUSE.explain(error, (url, &self.origin), &[&self.public, &self.secret])
    }
}

/// A page of a list.
#[derive(Deserialize)]
pub struct Page<T> {
    pub(super) data: Vec<T>,
    pub(super) meta: Meta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Meta {
    pub(super) total_items: u64,
    pub(super) total_pages: u64,
}

/// A dataset in the list.
#[derive(Deserialize)]
struct DatasetName {
    name: String,
}

/// An item in Langfuse's format.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    pub(super) id: String,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    expected_output: Value,
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    created_at: Option<String>,
}

impl Row {
    /// Checks that the item existed at the requested time. A server without versions returns all items.
    pub fn check_time(&self, pinned: Option<SystemTime>) -> Result<(), FetchError> {
        let created = self.created_at.as_deref().and_then(|time| humantime::parse_rfc3339(time).ok());
        let (Some(pinned), Some(created)) = (pinned, created) else { return Ok(()) };
        if created <= pinned + MAX_CLOCK_SKEW {
            return Ok(());
        }
        Err(FetchError::problem(format!(
            "item `{}` was created at {}, after the requested version: the server does not support versions; update it, \
            or fetch without a version",
            self.id,
            Timestamp::from(created)
        )))
    }

    /// The item, unless it is archived; older servers also return archived items.
    pub fn into_item(self) -> Option<Item> {
        let is_archived = self.status.as_deref() == Some("ARCHIVED");
        (!is_archived).then(|| build_item(self.id, self.input, self.expected_output, self.metadata))
    }
}
