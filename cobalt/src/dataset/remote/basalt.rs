//! Datasets in Basalt.
//!
//! The shapes are those of <https://docs.getbasalt.ai/v1/api-reference>: one response contains all rows. There are no versions.

use cobalt_core::item::Item;
use cobalt_core::redact::Secret;
use cobalt_core::wording::{self, escape_control};
use serde::Deserialize;
use serde_json::Value;

use super::RemoteDataset;
use super::fetch_options::{FetchError, FetchedData};
use super::fetch_session::FetchSession;
use super::load::Source;
use super::platform::{self, Platform, PlatformAccess, PlatformApi, check_name};
use crate::dataset::{Dataset, settings};
use crate::http::error_body;

static BASALT: Platform = Platform {
    id: settings::Platform::Basalt,
    name: "Basalt",
    base_url: "https://api.getbasalt.ai",
    base_url_variables: &["BASALT_PUBLIC_API_URL"],
};
/// The environment variable of the key, as in Basalt's own libraries.
const KEY: &str = "BASALT_API_KEY";

/// A dataset in Basalt.
#[derive(Clone, Debug)]
pub struct Basalt {
    slug: String,
    access: PlatformAccess,
}

impl Dataset {
    /// A dataset in [Basalt](https://www.getbasalt.ai), by its slug.
    ///
    /// ```no_run
    /// use cobalt::Dataset;
    ///
    /// let dataset = Dataset::from_basalt("customer-support").load()?;
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    ///
    /// Each row becomes an item:
    ///
    /// | item | Basalt |
    /// |---|---|
    /// | `id` | `name`, if the row has one |
    /// | `input` | `values`, an object by column names |
    /// | `expectedOutput` | `idealOutput` |
    /// | `metadata` | `metadata`, unchanged |
    ///
    /// Fields missing in a row are absent. If your agent takes only one of the columns, change the items after loading them:
    ///
    /// ```no_run
    /// # use cobalt::Dataset;
    /// let dataset = Dataset::from_basalt("customer-support").load()?.map(|mut item| {
    ///     item["input"] = item["input"]["question"].take();
    ///     item
    /// });
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    ///
    /// One response contains all rows. If Basalt warns about omitted columns, the warning is printed to stderr on each fetch.
    ///
    /// The cached copy is identified by the name and the URL, not by the account of the key. With a key for another account, set
    /// another `COBALT_DIR`, or fetch again with `--refresh`.
    ///
    /// Basalt has no dataset versions: use [`expect_hash`](RemoteDataset::expect_hash) to detect changes.
    ///
    /// The key comes from [`api_key`](RemoteDataset::<Basalt>::api_key), else from the configuration, else from
    /// `BASALT_API_KEY`; the URL likewise, with `BASALT_PUBLIC_API_URL`.
    pub fn from_basalt(slug: impl Into<String>) -> RemoteDataset<Basalt> {
        RemoteDataset::new(Basalt { slug: slug.into(), access: PlatformAccess::default() })
    }
}

impl RemoteDataset<Basalt> {
    /// The URL of the API; default `https://api.getbasalt.ai`.
    ///
    /// ```no_run
    /// # use cobalt::Dataset;
    /// let dataset = Dataset::from_basalt("customer-support").base_url("http://localhost:3001").load()?;
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.source.access.base_url = Some(url.into());
        self
    }

    /// The key; it is only sent to the host of the API.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.source.access.key = Some(Secret(key.into()));
        self
    }
}

impl Source for Basalt {
    fn label(&self) -> String {
        format!("basalt:{}", self.slug)
    }

    fn identity(&self, session: &FetchSession<'_>) -> Vec<String> {
        vec![
            "basalt".to_owned(),
            BASALT.base_url(session, self.access.base_url.as_deref()),
            self.slug.clone(),
        ]
    }

    async fn fetch(&self, session: &FetchSession<'_>) -> Result<FetchedData, FetchError> {
        check_name("dataset", &self.slug)?;
        let api = PlatformApi::new(&BASALT, KEY, &self.access, session)?;
        let mut answer = fetch_dataset(&api, &self.slug).await.map_err(|error| api.explain(error))?;
        if let Some(warning) = answer.warning.take() {
            let warning = session.redact(&error_body::one_line(&warning));
            eprintln!("note: {}: Basalt says: {}", escape_control(&self.label()), escape_control(&warning));
        }
        // The server's message may repeat the key.
        let rows = answer
            .rows()
            .map_err(|problem| FetchError::Problem(session.redact(&error_body::one_line(&problem))))?;
        Ok(FetchedData { items: rows.into_iter().map(Item::from).collect(), version: None })
    }
}

async fn fetch_dataset(api: &PlatformApi<'_>, slug: &str) -> Result<DatasetResponse, FetchError> {
    match api.get::<DatasetResponse>(&["datasets", slug], &[]).await {
        Err(FetchError::Refused { status: 404, .. }) => Err(missing_dataset_error(api, slug).await),
        answer => answer,
    }
}

/// The response to a request for a dataset.
#[derive(Debug, Deserialize)]
struct DatasetResponse {
    #[serde(default)]
    dataset: Option<Rows>,
    /// A warning about values that were omitted because the dataset lacks their columns.
    #[serde(default)]
    warning: Option<String>,
    /// An error, which may come with a success status.
    #[serde(default)]
    error: Value,
}

#[derive(Debug, Deserialize)]
struct Rows {
    rows: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    values: Value,
    #[serde(default)]
    ideal_output: Value,
    #[serde(default)]
    metadata: Value,
}

impl DatasetResponse {
    fn rows(self) -> Result<Vec<Row>, String> {
        match (self.dataset, self.error) {
            (_, Value::String(error)) => Err(format!("Basalt says: {error}")),
            (Some(Rows { rows }), _) => Ok(rows),
            (None, _) => {
                Err("the response has no `dataset`; check that this is the URL of Basalt's API".to_owned())
            }
        }
    }
}

impl From<Row> for Item {
    fn from(row: Row) -> Item {
        let Row { name, values, ideal_output, metadata } = row;
        platform::build_item(name, values, ideal_output, metadata)
    }
}

#[derive(Debug, Deserialize)]
struct Datasets {
    datasets: Vec<DatasetEntry>,
}

#[derive(Debug, Deserialize)]
struct DatasetEntry {
    slug: String,
}

/// The error for a missing dataset, which lists the existing ones.
async fn missing_dataset_error(api: &PlatformApi<'_>, slug: &str) -> FetchError {
    match api.get::<Datasets>(&["datasets"], &[]).await {
        Ok(Datasets { datasets }) if !datasets.is_empty() => {
            let slugs = datasets.iter().map(|dataset| dataset.slug.as_str());
            FetchError::problem(format!("no such dataset; {}", wording::suggest_or_list(slug, slugs)))
        }
        Ok(_) => FetchError::problem("no such dataset; the key can read no datasets"),
        Err(error) => error,
    }
}
