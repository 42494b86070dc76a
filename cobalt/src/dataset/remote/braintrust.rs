//! Datasets of Braintrust: the builder, the API, and its rows.

use std::collections::HashSet;

use cobalt_core::item::Item;
use cobalt_core::redact::Secret;
use cobalt_core::wording;
use serde::Deserialize;
use serde_json::{Value, json};

use super::RemoteDataset;
use super::fetch_options::{FetchError, FetchedData};
use super::fetch_session::FetchSession;
use super::load::Source;
use super::platform::{Platform, PlatformAccess, PlatformApi, build_item, check_name};
use crate::dataset::{Dataset, settings};

static BRAINTRUST: Platform = Platform {
    id: settings::Platform::Braintrust,
    name: "Braintrust",
    base_url: "https://api.braintrust.dev",
    base_url_variables: &["BRAINTRUST_API_URL"],
};
/// The environment variables of the key and the organization, as in Braintrust's own libraries.
const KEY: &str = "BRAINTRUST_API_KEY";
const ORGANIZATION: &str = "BRAINTRUST_ORG_NAME";

/// A dataset in Braintrust.
#[derive(Clone, Debug)]
pub struct Braintrust {
    project: String,
    name: String,
    organization: Option<String>,
    pinned: Option<VersionSelector>,
    access: PlatformAccess,
}

/// The requested version of a dataset.
#[derive(Clone, Debug)]
enum VersionSelector {
    /// As of the transaction with this ID.
    Version(String),
    /// The snapshot with this name.
    Snapshot(String),
    /// The version assigned to this environment.
    Environment(String),
}

impl Dataset {
    /// A dataset in [Braintrust](https://www.braintrust.dev), by the names of its project and itself.
    ///
    /// ```no_run
    /// use cobalt::Dataset;
    ///
    /// let dataset = Dataset::from_braintrust("Support", "refunds").load()?;
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    ///
    /// Each row becomes an item:
    ///
    /// | item | Braintrust |
    /// |---|---|
    /// | `id` | `id` |
    /// | `input` | `input`, JSON or text, unchanged |
    /// | `expectedOutput` | `expected`, or `output` (its former name) in old rows |
    /// | `metadata` | `metadata`, unchanged |
    /// | `tags` | `tags`, if there are any |
    ///
    /// Fields missing in a row are absent. Items are in Braintrust's order: most recently changed first.
    ///
    /// All pages are read as of one transaction: the latest, unless you request a [`version`], a [`snapshot`] or an
    /// [`environment`]. Runs record its ID. If rows were deleted since that transaction, or the API does not return the latest
    /// one, for example because of rate limits, then the current rows are read, and no version is recorded.
    ///
    /// The cached copy is identified by the names, the version and the URL, not by the account of the key. With a key for another
    /// account, set another `COBALT_DIR`, or fetch again with `--refresh`.
    ///
    /// The key comes from [`api_key`], else from the configuration, else from `BRAINTRUST_API_KEY`; the URL likewise, with
    /// `BRAINTRUST_API_URL`. Organizations in the EU need `https://api-eu.braintrust.dev`.
    ///
    /// [`version`]: RemoteDataset::<Braintrust>::version
    /// [`snapshot`]: RemoteDataset::<Braintrust>::snapshot
    /// [`environment`]: RemoteDataset::<Braintrust>::environment
    /// [`api_key`]: RemoteDataset::<Braintrust>::api_key
    pub fn from_braintrust(project: impl Into<String>, name: impl Into<String>) -> RemoteDataset<Braintrust> {
        RemoteDataset::new(Braintrust {
            project: project.into(),
            name: name.into(),
            organization: None,
            pinned: None,
            access: PlatformAccess::default(),
        })
    }
}

impl RemoteDataset<Braintrust> {
    /// The dataset as of a transaction, by its ID. Of `version`, `snapshot` and `environment`, the last call wins.
    ///
    /// ```no_run
    /// # use cobalt::Dataset;
    /// let dataset = Dataset::from_braintrust("Support", "refunds").version("1000192656880881099").load()?;
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    pub fn version(mut self, transaction: impl Into<String>) -> Self {
        self.source.pinned = Some(VersionSelector::Version(transaction.into()));
        self
    }

    /// The snapshot with this name.
    ///
    /// ```no_run
    /// # use cobalt::Dataset;
    /// let dataset = Dataset::from_braintrust("Support", "refunds").snapshot("before the move").load()?;
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    pub fn snapshot(mut self, name: impl Into<String>) -> Self {
        self.source.pinned = Some(VersionSelector::Snapshot(name.into()));
        self
    }

    /// The version assigned to an environment, such as `production`.
    ///
    /// ```no_run
    /// # use cobalt::Dataset;
    /// let dataset = Dataset::from_braintrust("Support", "refunds").environment("production").load()?;
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    pub fn environment(mut self, slug: impl Into<String>) -> Self {
        self.source.pinned = Some(VersionSelector::Environment(slug.into()));
        self
    }

    /// The organization, if the key belongs to several; default: the configured one, else `BRAINTRUST_ORG_NAME`.
    pub fn organization(mut self, name: impl Into<String>) -> Self {
        self.source.organization = Some(name.into());
        self
    }

    /// The URL of the API: `https://api-eu.braintrust.dev`, or your own data plane.
    ///
    /// ```no_run
    /// # use cobalt::Dataset;
    /// let dataset = Dataset::from_braintrust("Support", "refunds").base_url("https://api-eu.braintrust.dev").load()?;
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

impl Braintrust {
    fn organization(&self, session: &FetchSession<'_>) -> Option<String> {
        let configured = || session.account(BRAINTRUST.id)?.workspace.clone();
        self.organization.clone().or_else(configured).or_else(|| session.variable(ORGANIZATION))
    }

    async fn fetch_with(
        &self,
        api: &PlatformApi<'_>,
        organization: Option<&str>,
    ) -> Result<FetchedData, FetchError> {
        let found = resolve_dataset(api, organization, &self.project, &self.name).await?;
        match &self.pinned {
            None => found.fetch_latest().await,
            Some(VersionSelector::Version(version)) => found.fetch_at(version.clone()).await,
            Some(VersionSelector::Snapshot(name)) => found.fetch_at(found.snapshot(name).await?).await,
            Some(VersionSelector::Environment(slug)) => found.fetch_at(found.environment(slug).await?).await,
        }
    }
}

impl Source for Braintrust {
    fn label(&self) -> String {
        format!("braintrust:{}/{}", self.project, self.name)
    }

    fn identity(&self, session: &FetchSession<'_>) -> Vec<String> {
        let pinned = match &self.pinned {
            None => String::new(),
            Some(VersionSelector::Version(version)) => format!("version {version}"),
            Some(VersionSelector::Snapshot(name)) => format!("snapshot {name}"),
            Some(VersionSelector::Environment(slug)) => format!("environment {slug}"),
        };
        vec![
            "braintrust".to_owned(),
            BRAINTRUST.base_url(session, self.access.base_url.as_deref()),
            self.organization(session).unwrap_or_default(),
            self.project.clone(),
            self.name.clone(),
            pinned,
        ]
    }

    async fn fetch(&self, session: &FetchSession<'_>) -> Result<FetchedData, FetchError> {
        check_name("project", &self.project)?;
        check_name("dataset", &self.name)?;
        if let Some(VersionSelector::Snapshot(name) | VersionSelector::Environment(name)) = &self.pinned {
            check_name("snapshot or environment", name)?;
        }
        let api = PlatformApi::new(&BRAINTRUST, KEY, &self.access, session)?;
        self.fetch_with(&api, self.organization(session).as_deref()).await.map_err(|error| api.explain(error))
    }
}

/// The number of rows per request; the API allows at most 1,000.
const PAGE_SIZE: usize = 500;

/// The response to every request that lists objects.
#[derive(Debug, Deserialize)]
struct Objects<T> {
    objects: Vec<T>,
}

/// A project, dataset or snapshot.
#[derive(Debug, Deserialize)]
struct Object {
    id: String,
    name: String,
    #[serde(default)]
    deleted_at: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Snapshot {
    /// Servers that ignore the filter by dataset return the snapshots of all datasets.
    dataset_id: String,
    name: String,
    xact_id: String,
}

#[derive(Debug, Deserialize)]
struct Environment {
    object_version: String,
}

/// The response to a query for one row; may be empty if there is nothing to count.
#[derive(Debug, Deserialize)]
struct QueryResponse {
    data: Vec<LatestVersion>,
}

/// The latest version, if known.
#[derive(Debug, Deserialize)]
struct LatestVersion {
    /// The latest transaction of an existing row.
    #[serde(default)]
    version: Option<Transaction>,
    /// The number of rows.
    count: usize,
}

/// A transaction ID: a number, usually as a string.
#[derive(Debug, Deserialize)]
#[serde(from = "Value")]
struct Transaction(String);

impl From<Value> for Transaction {
    fn from(id: Value) -> Self {
        match id {
            Value::String(id) => Self(id),
            id => Self(id.to_string()),
        }
    }
}

#[derive(Debug, Deserialize)]
struct Page {
    events: Vec<Row>,
    #[serde(default)]
    cursor: Option<String>,
}

/// A dataset that exists.
#[derive(Debug)]
pub struct ResolvedDataset<'a> {
    api: &'a PlatformApi<'a>,
    organization: Option<&'a str>,
    id: String,
}

/// Looks up a dataset by name, without creating anything.
pub async fn resolve_dataset<'a>(
    api: &'a PlatformApi<'a>,
    organization: Option<&'a str>,
    project: &str,
    name: &str,
) -> Result<ResolvedDataset<'a>, FetchError> {
    let query = with_organization(organization, &[("project_name", project), ("dataset_name", name)]);
    let mut found = list(api, "dataset", &query).await?;
    found.retain(|dataset| dataset.name == name);
    match found.as_slice() {
        [dataset] => Ok(ResolvedDataset { api, organization, id: dataset.id.clone() }),
        [] => Err(missing_dataset_error(api, organization, project, name).await),
        many => Err(FetchError::problem(format!(
            "the key can read {} datasets with this name, in projects of the same name; select the organization with \
            `.organization(…)` or {}",
            many.len(),
            ORGANIZATION,
        ))),
    }
}

/// The error for a missing dataset, which lists the existing ones.
async fn missing_dataset_error(
    api: &PlatformApi<'_>,
    organization: Option<&str>,
    project: &str,
    name: &str,
) -> FetchError {
    match list(api, "dataset", &with_organization(organization, &[("project_name", project)])).await {
        Ok(datasets) if !datasets.is_empty() => {
            let names = datasets.iter().map(|dataset| dataset.name.as_str());
            let instead = wording::suggest_or_list(name, names);
            return FetchError::problem(format!("no such dataset in the project; {instead}"));
        }
        Ok(_) => {}
        Err(error) => return error,
    }
    match list(api, "project", &with_organization(organization, &[])).await {
        Ok(projects) if projects.iter().any(|found| found.name == project) => {
            FetchError::problem("the project has no datasets; add one, or correct the names")
        }
        Ok(projects) if !projects.is_empty() => {
            let names = projects.iter().map(|project| project.name.as_str());
            FetchError::problem(format!("no such project; {}", wording::suggest_or_list(project, names)))
        }
        Ok(_) => FetchError::problem(
            "the key can read no projects; check that it belongs to the right organization",
        ),
        Err(error) => error,
    }
}

/// Lists objects of a kind, except deleted ones.
async fn list(api: &PlatformApi<'_>, kind: &str, query: &[(&str, &str)]) -> Result<Vec<Object>, FetchError> {
    let Objects { mut objects } = api.get::<Objects<Object>>(&["v1", kind], query).await?;
    objects.retain(|object| object.deleted_at.is_none());
    Ok(objects)
}

/// A query, limited to the organization if one is set.
fn with_organization<'q>(
    organization: Option<&'q str>,
    query: &[(&'q str, &'q str)],
) -> Vec<(&'q str, &'q str)> {
    query.iter().copied().chain(organization.map(|name| ("org_name", name))).collect()
}

impl ResolvedDataset<'_> {
    /// The transaction of a snapshot.
    pub async fn snapshot(&self, name: &str) -> Result<String, FetchError> {
        // The list is limited in length, so filter by name first.
        let named = self.snapshots(&[("dataset_snapshot_name", name)]).await?;
        if let Some(snapshot) = named.into_iter().find(|snapshot| snapshot.name == name) {
            return Ok(snapshot.xact_id);
        }
        let objects = self.snapshots(&[]).await?;
        Err(FetchError::problem(match objects.as_slice() {
            [] => "the dataset has no snapshots; create one in Braintrust, or request a version".to_owned(),
            objects => {
                let names = objects.iter().map(|snapshot| snapshot.name.as_str());
                format!("the dataset has no snapshot `{name}`; {}", wording::suggest_or_list(name, names))
            }
        }))
    }

    async fn snapshots(&self, query: &[(&str, &str)]) -> Result<Vec<Snapshot>, FetchError> {
        let query = [&[("dataset_id", &*self.id)], query].concat();
        let query = with_organization(self.organization, &query);
        let Objects { mut objects }: Objects<Snapshot> =
            self.api.get(&["v1", "dataset_snapshot"], &query).await?;
        objects.retain(|snapshot| snapshot.dataset_id == self.id);
        Ok(objects)
    }

    /// The transaction assigned to an environment.
    pub async fn environment(&self, slug: &str) -> Result<String, FetchError> {
        let path = ["environment-object", "dataset", &self.id, slug];
        match self.api.get::<Environment>(&path, &with_organization(self.organization, &[])).await {
            Ok(environment) => Ok(environment.object_version),
            Err(FetchError::Refused { status: 404, .. }) => Err(FetchError::problem(format!(
                "the environment `{slug}` has no snapshot of the dataset; assign one in Braintrust"
            ))),
            Err(error) => Err(error),
        }
    }

    /// The rows as of a transaction.
    pub async fn fetch_at(&self, version: String) -> Result<FetchedData, FetchError> {
        Ok(FetchedData { items: self.rows(Some(&version)).await?, version: Some(version) })
    }

    /// The current rows.
    pub async fn fetch_latest(&self) -> Result<FetchedData, FetchError> {
        let Some(LatestVersion { version, count }) = self.latest_version().await? else {
            return Ok(FetchedData { items: self.rows(None).await?, version: None });
        };
        if let Some(version) = version.filter(|_| count > 0) {
            let items = self.rows(Some(&version.0)).await?;
            if items.len() == count {
                return Ok(FetchedData { items, version: Some(version.0) });
            }
            // The latest transaction of an existing row may be older than the deletion of another row, which then still existed.
        }
        let items = self.rows(None).await?;
        if items.len() < count {
            return Err(FetchError::problem(format!(
                "Braintrust reports {count} rows but returned {}; if no rows are being deleted right now, request a version, \
                a snapshot or an environment",
                items.len()
            )));
        }
        Ok(FetchedData { items, version: None })
    }

    /// The latest version, if available; the rows can be read without it. An old self-hosted data plane may not support the query
    /// language, and a busy one rejects such queries first.
    async fn latest_version(&self) -> Result<Option<LatestVersion>, FetchError> {
        let id = self.id.replace('\'', "''");
        let query = format!("SELECT max(_xact_id) AS version, count(*) AS count FROM dataset('{id}')");
        match self.api.post(&["btql"], json!({ "query": query, "fmt": "json" })).await {
            Ok(QueryResponse { data }) => Ok(data.into_iter().next()),
            Err(FetchError::Refused { status, .. }) if !matches!(status, 401 | 403) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The rows as of a version, or the current ones. Pages go back in history from the latest transaction, so the first row with
    /// an ID is the valid one.
    async fn rows(&self, version: Option<&str>) -> Result<Vec<Item>, FetchError> {
        let (mut seen, mut items, mut cursor) = (HashSet::new(), Vec::new(), None);
        let mut cursors = HashSet::new();
        loop {
            let mut body = json!({ "limit": PAGE_SIZE });
            for (name, value) in [("version", version), ("cursor", cursor.as_deref())] {
                if let Some(value) = value {
                    body[name] = value.into();
                }
            }
            let page: Page = self.api.post(&["v1", "dataset", &self.id, "fetch"], body).await?;
            let is_empty = page.events.is_empty();
            for row in page.events {
                if seen.insert(row.id.clone()) && row.deleted != Some(true) {
                    items.push(row.into());
                }
            }
            match page.cursor.filter(|next| !next.is_empty()) {
                None => return Ok(items),
                Some(next) if is_empty && cursors.contains(&next) => return Ok(items),
                Some(next) if !cursors.insert(next.clone()) => {
                    return Err(FetchError::problem(
                        "Braintrust keeps returning the same pages; try again later",
                    ));
                }
                next => cursor = next,
            }
        }
    }
}

/// A row. Only the fields of the item are read, not who changed it, when, or comments.
#[derive(Debug, Deserialize)]
pub(super) struct Row {
    pub(super) id: String,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    expected: Value,
    /// The former name of `expected`.
    #[serde(default)]
    output: Value,
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    tags: Option<Vec<String>>,
    /// Whether the row marks the deletion of the row with this ID.
    #[serde(default, rename = "_object_delete")]
    pub(super) deleted: Option<bool>,
}

impl From<Row> for Item {
    fn from(row: Row) -> Item {
        let Row { id, input, expected, output, metadata, tags, deleted: _ } = row;
        let expected = if expected.is_null() { output } else { expected };
        let mut item = build_item(id, input, expected, metadata);
        if let Some(tags) = tags.filter(|tags| !tags.is_empty()) {
            item.insert("tags".to_owned(), tags.into());
        }
        item
    }
}
