//! The API of Langfuse, as far as data sets need it.
//!
//! `GET /api/public/dataset-items` gives items page by page, as of a time where one is given: see
//! <https://langfuse.com/docs/api-and-data-platform/features/public-api> and
//! <https://langfuse.com/docs/evaluation/experiments/datasets>.

use std::time::{Duration, SystemTime};

use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;

use super::{LANGFUSE, Langfuse};
use crate::dataset::remote::error::FetchError;
use crate::dataset::remote::platform::{below, item};
use crate::dataset::remote::session::{FoundKey, Request, Session};
use crate::item::Item;
use crate::suggest;
use crate::timestamp::Timestamp;

/// How far the clocks of a server and of its database may be apart.
pub(super) const CLOCKS_APART: Duration = Duration::from_secs(60);

/// A project of a server.
pub(super) struct Api<'a> {
    session: &'a Session<'a>,
    base_url: Url,
    /// What gives it.
    origin: String,
    public: FoundKey,
    secret: FoundKey,
}

impl<'a> Api<'a> {
    pub(super) fn new(source: &Langfuse, session: &'a Session<'a>) -> Result<Self, FetchError> {
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
    pub(super) async fn page(
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
                let there = suggest::instead(name, page.data.iter().map(|dataset| &*dataset.name));
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
pub(super) struct Page<T> {
    pub(super) data: Vec<T>,
    pub(super) meta: Meta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Meta {
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
pub(super) struct Row {
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
    pub(super) fn check_time(&self, pinned: Option<SystemTime>) -> Result<(), FetchError> {
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
    pub(super) fn into_item(self) -> Option<Item> {
        let is_archived = self.status.as_deref() == Some("ARCHIVED");
        (!is_archived).then(|| item(self.id, self.input, self.expected_output, self.metadata))
    }
}
