//! Datasets of LangSmith: the builder, and the part of the API that it uses.

use cobalt_core::redact::Secret;
use cobalt_core::wording;
use reqwest::Url;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::RemoteDataset;
use super::fetch_options::{FetchError, FetchedData};
use super::fetch_session::{ApiKey, FetchSession, Request};
use super::load::Source;
use super::platform::{PageCollector, Platform, build_item, check_name, join_path, retry_while_changing};
use crate::dataset::Dataset;
use crate::dataset::settings::{self, Account};

static LANGSMITH: Platform = Platform {
    id: settings::Platform::LangSmith,
    name: "LangSmith",
    base_url: "https://api.smith.langchain.com",
    base_url_variables: &["LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT"],
};
/// The tag of the current version of every dataset.
const LATEST: &str = "latest";

/// A dataset in LangSmith.
#[derive(Clone, Debug)]
pub struct LangSmith {
    name: String,
    /// A time or a tag.
    version: Option<String>,
    splits: Vec<String>,
    metadata: Option<Value>,
    filter: Option<String>,
    base_url: Option<String>,
    key: Option<Secret>,
    workspace: Option<String>,
}

impl Dataset {
    /// A dataset in [LangSmith](https://docs.langchain.com/langsmith/manage-datasets), by name.
    ///
    /// | item | LangSmith |
    /// |---|---|
    /// | `id` | `id` |
    /// | `input` | `inputs`, an object |
    /// | `expectedOutput` | `outputs`, an object; absent if null |
    /// | `metadata` | `metadata`, with the splits as `dataset_split`; absent if null |
    ///
    /// Items are in LangSmith's order, latest first, read page by page until an empty page, all as of one version.
    /// Attachments are skipped, as their URLs expire within minutes.
    ///
    /// The key comes from `LANGSMITH_API_KEY`, the server from `LANGSMITH_ENDPOINT`, else `https://api.smith.langchain.com`, the
    /// American one. A key for more than one workspace also needs a workspace ID, as in `LANGSMITH_WORKSPACE_ID`. The older
    /// names `LANGCHAIN_API_KEY` and `LANGCHAIN_ENDPOINT` are also read. The cached copy is identified by the requested data, the
    /// server and the workspace: after switching to a key for another workspace, fetch it again.
    ///
    /// ```no_run
    /// use cobalt::Dataset;
    ///
    /// let tests = Dataset::from_langsmith("support").version("prod").splits(["test"]).load()?.map(|mut item| {
    ///     item["input"] = item["input"]["question"].take();
    ///     item
    /// });
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    pub fn from_langsmith(name: impl Into<String>) -> RemoteDataset<LangSmith> {
        RemoteDataset::new(LangSmith {
            name: name.into(),
            version: None,
            splits: Vec::new(),
            metadata: None,
            filter: None,
            base_url: None,
            key: None,
            workspace: None,
        })
    }
}

impl RemoteDataset<LangSmith> {
    /// The examples as of a time, such as `2026-01-21T14:35:42Z`, or of the version with this tag; LangSmith calls this `as_of`.
    /// By default, the current examples. The recorded version is the time as given here; for a tag or the latest version, it is
    /// the time of that version's last change.
    pub fn version(mut self, time_or_tag: impl Into<String>) -> Self {
        self.source.version = Some(time_or_tag.into());
        self
    }

    /// Only the examples of these splits.
    ///
    /// ```no_run
    /// let tests = cobalt::Dataset::from_langsmith("support").splits(["test", "regression"]).load()?;
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    pub fn splits(mut self, splits: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.source.splits = splits.into_iter().map(Into::into).collect();
        self
    }

    /// Only the examples whose metadata has these values.
    ///
    /// ```no_run
    /// use cobalt::{Dataset, item};
    ///
    /// let refunds = Dataset::from_langsmith("support").metadata(item! { "topic": "refunds" }).load()?;
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    pub fn metadata(mut self, fields: crate::Item) -> Self {
        self.source.metadata = Some(Value::Object(fields));
        self
    }

    /// Only the examples that match a filter in LangSmith's query language.
    ///
    /// ```no_run
    /// let dataset = cobalt::Dataset::from_langsmith("support")
    ///     .filter(r#"and(exists(metadata, "topic"), not(has(metadata, '{"topic": "small talk"}')))"#)
    ///     .load()?;
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    pub fn filter(mut self, query: impl Into<String>) -> Self {
        self.source.filter = Some(query.into());
        self
    }

    /// The URL of the API, such as `https://eu.api.smith.langchain.com` or `https://langsmith.example.com/api/v1`; overrides
    /// the configuration and the environment.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.source.base_url = Some(url.into());
        self
    }

    /// The key, `lsv2_…`; overrides the configuration and the environment. Keys in source code can be read by others: prefer
    /// the environment.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.source.key = Some(Secret(key.into()));
        self
    }

    /// The workspace ID; overrides the configuration and the environment.
    pub fn workspace(mut self, id: impl Into<String>) -> Self {
        self.source.workspace = Some(id.into());
        self
    }
}

impl Source for LangSmith {
    fn label(&self) -> String {
        format!("langsmith:{}", self.name)
    }

    fn identity(&self, session: &FetchSession<'_>) -> Vec<String> {
        let mut identity = vec![
            self.label(),
            LANGSMITH.base_url(session, self.base_url.as_deref()),
            self.workspace(session).unwrap_or_default(),
            self.version.clone().unwrap_or_default(),
            self.metadata.as_ref().map(ToString::to_string).unwrap_or_default(),
            self.filter.clone().unwrap_or_default(),
        ];
        identity.extend(self.splits.iter().cloned());
        identity
    }

    async fn fetch(&self, session: &FetchSession<'_>) -> Result<FetchedData, FetchError> {
        check_name("dataset", &self.name)?;
        let api = Api::new(self, session)?;
        let id = api.dataset(&self.name).await?;
        retry_while_changing(async || self.fetch_once(&api, &id).await).await
    }
}

impl LangSmith {
    /// The workspace: from the code, else from the configuration, else from the environment variable.
    fn workspace(&self, session: &FetchSession<'_>) -> Option<String> {
        let configured = || session.account(LANGSMITH.id)?.workspace.clone();
        let variable = || session.variable("LANGSMITH_WORKSPACE_ID");
        self.workspace.clone().or_else(configured).or_else(variable)
    }

    /// All pages of one version of a dataset; `None` if they overlap, for example because the dataset changed meanwhile.
    async fn fetch_once(&self, api: &Api<'_>, id: &str) -> Result<Option<FetchedData>, FetchError> {
        let version = match self.version.as_deref() {
            Some(time) if is_time(time) => Some(time.to_owned()),
            tag => api.version(id, tag.unwrap_or(LATEST)).await?,
        };
        let query = self.query(id, version.as_deref().unwrap_or(LATEST));
        let mut pages = PageCollector::default();
        loop {
            let page = api.examples(&query, pages.items.len()).await?;
            // A short page need not be the last: a server may return fewer than requested.
            if page.is_empty() {
                return Ok(Some(FetchedData { items: pages.items, version }));
            }
            for example in page {
                if !pages.is_new(&example.id) {
                    return Ok(None);
                }
                pages.items.push(build_item(example.id, example.inputs, example.outputs, example.metadata));
            }
        }
    }

    /// The query for every page.
    fn query(&self, id: &str, version: &str) -> Vec<(&'static str, String)> {
        let mut query = vec![("dataset", id.to_owned()), ("as_of", version.to_owned())];
        query.extend(self.splits.iter().map(|split| ("splits", split.clone())));
        query.extend(self.metadata.iter().map(|metadata| ("metadata", metadata.to_string())));
        query.extend(self.filter.iter().map(|filter| ("filter", filter.clone())));
        query
    }
}

/// Whether a version is a time rather than a tag: it starts with a date and a `T`.
fn is_time(version: &str) -> bool {
    let form = "0000-00-00T";
    version.len() > form.len()
        && form.chars().zip(version.chars()).all(|(form, letter)| match form {
            '0' => letter.is_ascii_digit(),
            form => form == letter,
        })
}

/// The maximum page size of the API.
const MAX_PAGE_SIZE: usize = 100;

/// The API of a server, for one workspace.
#[derive(Debug)]
pub struct Api<'a> {
    session: &'a FetchSession<'a>,
    /// With the path `/api/v1`.
    base_url: Url,
    /// The setting that provides the URL.
    origin: String,
    key: ApiKey,
    workspace: Option<String>,
}

/// An example.
#[derive(Debug, Deserialize)]
pub struct Example {
    pub(super) id: String,
    #[serde(default)]
    pub(super) inputs: Value,
    #[serde(default)]
    pub(super) outputs: Value,
    #[serde(default)]
    pub(super) metadata: Value,
}

/// A dataset in the list.
#[derive(Debug, Deserialize)]
struct DatasetEntry {
    id: String,
    name: String,
}

/// A version of a dataset.
#[derive(Debug, Deserialize)]
struct Version {
    /// The time of its last change.
    as_of: String,
    #[serde(default)]
    tags: Option<Vec<String>>,
}

impl<'a> Api<'a> {
    pub fn new(source: &LangSmith, session: &'a FetchSession<'a>) -> Result<Self, FetchError> {
        let variables = ["LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"];
        let configured = |account: &'a Account| account.key.as_ref();
        let (base_url, origin) = LANGSMITH.parsed_base_url(session, source.base_url.as_deref())?;
        Ok(Self {
            session,
            base_url: with_api_path(base_url),
            origin,
            key: LANGSMITH.key(session, source.key.as_ref(), ("api-key", configured), &variables)?,
            workspace: source.workspace(session),
        })
    }

    /// The ID of the dataset with this name.
    pub async fn dataset(&self, name: &str) -> Result<String, FetchError> {
        let found: Vec<DatasetEntry> = self.get(&["datasets"], &[("name", name), ("limit", "1")]).await?;
        match found.into_iter().find(|dataset| dataset.name == name) {
            Some(dataset) => Ok(dataset.id),
            None => Err(self.missing_dataset_error(name).await),
        }
    }

    async fn missing_dataset_error(&self, name: &str) -> FetchError {
        match self.get::<Vec<DatasetEntry>>(&["datasets"], &[("limit", "100")]).await {
            Ok(all) if all.is_empty() => FetchError::problem(format!(
                "no dataset `{name}`: the key can read no datasets in the workspace"
            )),
            Ok(all) => {
                let there = wording::suggest_or_list(name, all.iter().map(|dataset| &*dataset.name));
                FetchError::problem(format!("no dataset `{name}`; {there}"))
            }
            Err(error) => error,
        }
    }

    /// The time of the version with a tag; `None` if there is no latest version, as on servers that record none.
    pub async fn version(&self, id: &str, tag: &str) -> Result<Option<String>, FetchError> {
        match self.get::<Version>(&["datasets", id, "version"], &[("tag", tag)]).await {
            Ok(version) => Ok(Some(version.as_of)),
            Err(FetchError::Refused { status: 404, .. }) if tag == LATEST => Ok(None),
            Err(FetchError::Refused { status: 404, .. }) => Err(self.missing_version_error(id, tag).await),
            Err(error) => Err(error),
        }
    }

    async fn missing_version_error(&self, id: &str, tag: &str) -> FetchError {
        let versions: Result<Vec<Version>, _> =
            self.get(&["datasets", id, "versions"], &[("limit", "100")]).await;
        let versions = match versions {
            Ok(versions) => versions,
            Err(error) => return error,
        };
        let tags: Vec<_> =
            versions.iter().flat_map(|version| version.tags.iter().flatten()).map(|tag| &**tag).collect();
        let there = match tags.is_empty() {
            true => "no version is tagged".to_owned(),
            false => wording::suggest_or_list(tag, tags),
        };
        FetchError::problem(format!(
            "no version is tagged `{tag}`; {there}; write a time like `2026-01-21T14:35:42Z`"
        ))
    }

    /// A page of examples, from an offset.
    pub async fn examples(
        &self,
        query: &[(&str, String)],
        offset: usize,
    ) -> Result<Vec<Example>, FetchError> {
        let (offset, limit) = (offset.to_string(), MAX_PAGE_SIZE.to_string());
        let mut query: Vec<_> = query.iter().map(|(name, value)| (*name, &**value)).collect();
        query.extend([("offset", &*offset), ("limit", &*limit)]);
        self.get(&["examples"], &query).await
    }

    /// Fetches a path. Errors are explained, except 404.
    async fn get<T: DeserializeOwned>(&self, path: &[&str], query: &[(&str, &str)]) -> Result<T, FetchError> {
        let url = join_path(&self.base_url, path, query);
        let mut request = Request::get(url.clone()).secret_header("x-api-key", &self.key.secret.0)?;
        if let Some(workspace) = &self.workspace {
            request = request.secret_header("x-tenant-id", workspace)?;
        }
        match self.session.json(&request).await {
            Err(error @ FetchError::Refused { status: 404, .. }) if path != ["datasets"] => Err(error),
            answer => answer.map_err(|error| self.explain(error, &url)),
        }
    }

    fn explain(&self, error: FetchError, url: &Url) -> FetchError {
        // A key for several workspaces is rejected if none is named.
        let is_forbidden = matches!(error, FetchError::Refused { status: 403, .. });
        match (LANGSMITH.explain(error, (url, &self.origin), &[&self.key]), &self.workspace) {
            (FetchError::Problem(problem), None) if is_forbidden => FetchError::problem(format!(
                "{problem}; a key for more than one workspace needs LANGSMITH_WORKSPACE_ID"
            )),
            (explained, _) => explained,
        }
    }
}

/// Adds the path of the API to an endpoint. The official clients accept endpoints with and without it, or with a part of it.
fn with_api_path(mut endpoint: Url) -> Url {
    let path = endpoint.path().trim_end_matches('/');
    let path = path.strip_suffix("/v1").unwrap_or(path);
    let path = format!("{}/api/v1", path.strip_suffix("/api").unwrap_or(path));
    endpoint.set_path(&path);
    endpoint
}

#[cfg(test)]
mod tests {
    use super::{is_time, with_api_path};

    #[test]
    fn a_time_is_told_from_a_tag() {
        for time in ["2026-01-21T14:35:42Z", "2026-01-21T14:35:42.123456+00:00"] {
            assert!(is_time(time), "{time}");
        }
        for tag in ["prod", "2026-01", "2026-01-21", "release-2026-01-21T1", ""] {
            assert!(!is_time(tag), "{tag}");
        }
    }

    #[test]
    fn an_endpoint_may_have_the_path_of_the_api_or_a_part_of_it() {
        for path in ["", "/", "/v1", "/api", "/api/v1", "/api/v1/"] {
            let endpoint = format!("https://host.test/x{path}").parse().unwrap();
            assert_eq!(with_api_path(endpoint).as_str(), "https://host.test/x/api/v1");
        }
    }
}
