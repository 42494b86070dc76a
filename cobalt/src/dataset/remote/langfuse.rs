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
use super::load::Source;
use super::platform::{Pages, Platform, below, check_name, item, while_unchanged};
use super::session::{FoundKey, Request, Session};
use super::terms::{FetchError, Fetched};
use crate::dataset::Dataset;
use crate::dataset::settings::{self, Key};

static LANGFUSE: Platform = Platform {
    id: settings::Platform::Langfuse,
    name: "Langfuse",
    base_url: "https://cloud.langfuse.com",
    base_url_variables: &["LANGFUSE_BASE_URL", "LANGFUSE_HOST"],
};
/// The most items of a page that the API gives.
const LARGEST_PAGE: u32 = 100;

/// A data set of Langfuse.
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
    /// A data set of [Langfuse](https://langfuse.com), by its name; one in a folder is named `folder/name`.
    ///
    /// | item | of Langfuse |
    /// |---|---|
    /// | `id` | `id` |
    /// | `input` | `input`, text or JSON as it is there, or null |
    /// | `expectedOutput` | `expectedOutput`; absent where it is null |
    /// | `metadata` | `metadata`; absent where it is null |
    ///
    /// They come in Langfuse's order, the latest first, on pages that are read as of one time. Archived items are left out;
    /// fewer items than Langfuse counts are an error.
    ///
    /// The keys are those of `LANGFUSE_PUBLIC_KEY` and `LANGFUSE_SECRET_KEY`, and the server that of `LANGFUSE_BASE_URL` (or
    /// `LANGFUSE_HOST`), else `https://cloud.langfuse.com`, which is the European one. Keys belong to one project of one
    /// server. A copy is told by the name of the data set and the server: after a change to the keys of another project,
    /// fetch it again.
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
            page_size: LARGEST_PAGE,
            base_url: None,
            public_key: None,
            secret_key: None,
        })
    }
}

impl RemoteDataset<Langfuse> {
    /// The items as they were at a time, given in UTC as in `2026-01-21T14:35:42Z`. Without it, they are as they are now, and
    /// the version of the data set is the time of the fetch, by the server's clock.
    ///
    /// Servers of before 2026 know no versions: an item of after the time is an error.
    pub fn version(mut self, time: impl Into<String>) -> Self {
        self.source.version = Some(time.into());
        self
    }

    /// How many items are asked for at once, from 1 to 100; 100 unless it is set. Langfuse's own servers give no answers of
    /// more than 5 MB, for which items may be too large.
    pub fn page_size(mut self, items: u32) -> Self {
        self.source.page_size = items.clamp(1, LARGEST_PAGE);
        self
    }

    /// Where the server is, as in `https://us.cloud.langfuse.com`; this comes before the configuration and the environment.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.source.base_url = Some(url.into());
        self
    }

    /// The public key, `pk-lf-…`; this comes before the configuration and the environment.
    pub fn public_key(mut self, key: impl Into<String>) -> Self {
        self.source.public_key = Some(Secret(key.into()));
        self
    }

    /// The secret key, `sk-lf-…`; this comes before the configuration and the environment. Keys in source files are read by
    /// others: leave it to the environment where you can.
    pub fn secret_key(mut self, key: impl Into<String>) -> Self {
        self.source.secret_key = Some(Secret(key.into()));
        self
    }
}

impl Source for Langfuse {
    fn label(&self) -> String {
        format!("langfuse:{}", self.name)
    }

    fn identity(&self, session: &Session<'_>) -> Vec<String> {
        let base_url = LANGFUSE.base_url(session, self.base_url.as_deref());
        let version = self.version.clone().unwrap_or_default();
        // Which project it is of; one that a variable holds is not needed where a copy is used.
        let configured = session.account(LANGFUSE.id).and_then(|account| account.public_key.as_ref());
        let project = match (&self.public_key, configured) {
            (Some(Secret(key)), _) | (None, Some(Key::Written(Secret(key)))) => key.clone(),
            (None, Some(Key::Variable(name))) => name.clone(),
            (None, None) => String::new(),
        };
        vec![self.label(), base_url, version, project]
    }

    async fn fetch(&self, session: &Session<'_>) -> Result<Fetched, FetchError> {
        check_name("data set", &self.name)?;
        let pinned = self.version.as_deref().map(time_of_version).transpose()?;
        let api = Api::new(self, session)?;
        while_unchanged(async || self.fetch_once(&api, pinned).await).await
    }
}

impl Langfuse {
    /// All pages of one state of the data set; `None` where it was changed between two of them.
    async fn fetch_once(
        &self,
        api: &Api<'_>,
        pinned: Option<SystemTime>,
    ) -> Result<Option<Fetched>, FetchError> {
        let mut pages = Pages::default();
        let mut version = self.version.clone();
        let mut total = None;
        for number in 1.. {
            let (page, date) = api.page(self, number, version.as_deref()).await?;
            // The state of the first page is that of all: as of the end of the second in which it came.
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
        let (given, total) = (pages.given() as u64, total.unwrap_or_default());
        if given < total {
            return Err(FetchError::problem(format!(
                "Langfuse says that there are {total} items and gave {given}: try again later, or update the server"
            )));
        }
        Ok(Some(Fetched { items: pages.items, version }))
    }
}

/// The time that a version is given by.
fn time_of_version(version: &str) -> Result<SystemTime, FetchError> {
    let time = humantime::parse_rfc3339(version).map_err(|_| {
        FetchError::problem(format!(
            "the version is `{version}`, expected a time in UTC such as `2026-01-21T14:35:42Z`"
        ))
    })?;
    if time > SystemTime::now() + CLOCKS_APART {
        return Err(FetchError::problem(format!(
            "the version is `{version}`, which is yet to come: leave it out for the present state"
        )));
    }
    Ok(time)
}

/// How far the clocks of a server and of its database may be apart.
pub const CLOCKS_APART: Duration = Duration::from_secs(60);

/// A project of a server.
pub struct Api<'a> {
    session: &'a Session<'a>,
    base_url: Url,
    /// What gives it.
    origin: String,
    public: FoundKey,
    secret: FoundKey,
}

impl<'a> Api<'a> {
    pub fn new(source: &Langfuse, session: &'a Session<'a>) -> Result<Self, FetchError> {
        let (public, secret) = (source.public_key.as_ref(), source.secret_key.as_ref());
        let (base_url, origin) = LANGFUSE.address(session, source.base_url.as_deref())?;
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
        Request::get(below(&self.base_url, path, query)).basic(&self.public.secret.0, &self.secret.secret.0)
    }

    /// A page of items, and when it was given.
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
        match self.session.dated_json(&request).await {
            Err(FetchError::Refused { status: 404, message }) => {
                Err(self.not_found(&source.name, message, &request.url).await)
            }
            answer => answer.map_err(|error| self.explain(error, &request.url)),
        }
    }

    /// What is said of a data set that is not there: which ones are.
    async fn not_found(&self, name: &str, message: String, url: &Url) -> FetchError {
        let list = async || {
            let request =
                self.request(&["api", "public", "v2", "datasets"], &[("page", "1"), ("limit", "100")])?;
            self.session.json::<Page<Named>>(&request).await
        };
        match list().await {
            Ok(page) if page.data.is_empty() => {
                FetchError::problem(format!("there is no data set `{name}`: the project has none"))
            }
            Ok(page) => {
                let there = wording::instead(name, page.data.iter().map(|dataset| &*dataset.name));
                FetchError::problem(format!("there is no data set `{name}`; {there}"))
            }
            // Then it is no Langfuse that answers there, or one of which no more is known.
            Err(_) => self.explain(FetchError::Refused { status: 404, message }, url),
        }
    }

    fn explain(&self, error: FetchError, url: &Url) -> FetchError {
        LANGFUSE.explain(error, (url, &self.origin), &[&self.public, &self.secret])
    }
}

/// A page of anything.
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

/// A data set in the list of all.
#[derive(Deserialize)]
struct Named {
    name: String,
}

/// An item as Langfuse has it.
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
    /// Whether the item can have been there at the time that was asked for. A server that knows no versions gives them all.
    pub fn check_time(&self, pinned: Option<SystemTime>) -> Result<(), FetchError> {
        let created = self.created_at.as_deref().and_then(|time| humantime::parse_rfc3339(time).ok());
        let (Some(pinned), Some(created)) = (pinned, created) else { return Ok(()) };
        if created <= pinned + CLOCKS_APART {
            return Ok(());
        }
        Err(FetchError::problem(format!(
            "item `{}` was made at {}, after the version that was asked for: the server knows no versions; update it, or \
             fetch without one",
            self.id,
            Timestamp::from(created)
        )))
    }

    /// The item, unless it is archived, which older servers give too.
    pub fn into_item(self) -> Option<Item> {
        let is_archived = self.status.as_deref() == Some("ARCHIVED");
        (!is_archived).then(|| item(self.id, self.input, self.expected_output, self.metadata))
    }
}
