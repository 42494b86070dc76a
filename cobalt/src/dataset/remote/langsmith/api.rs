//! The API of LangSmith, as far as data sets need it.
//!
//! Its shapes are those of the description behind <https://api.smith.langchain.com/redoc>: lists are arrays, asked for by
//! `offset` and `limit`.

use reqwest::Url;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{LANGSMITH, LATEST, LangSmith};
use crate::dataset::remote::error::FetchError;
use crate::dataset::remote::platform::below;
use crate::dataset::remote::session::{FoundKey, Request, Session};
use crate::dataset::settings::Account;
use crate::suggest;

/// The most entries of a list that are given at once.
const LARGEST_PAGE: usize = 100;

/// A workspace of a server.
#[derive(Debug)]
pub(super) struct Api<'a> {
    session: &'a Session<'a>,
    /// With the path of the first version of the API.
    base_url: Url,
    /// What gives it.
    origin: String,
    key: FoundKey,
    workspace: Option<String>,
}

/// An example.
#[derive(Debug, Deserialize)]
pub(super) struct Example {
    pub(super) id: String,
    #[serde(default)]
    pub(super) inputs: Value,
    #[serde(default)]
    pub(super) outputs: Value,
    #[serde(default)]
    pub(super) metadata: Value,
}

/// A data set, in the list of all.
#[derive(Debug, Deserialize)]
struct Listed {
    id: String,
    name: String,
}

/// A version of a data set.
#[derive(Debug, Deserialize)]
struct Version {
    /// The time of its last change.
    as_of: String,
    #[serde(default)]
    tags: Option<Vec<String>>,
}

impl<'a> Api<'a> {
    pub(super) fn new(source: &LangSmith, session: &'a Session<'a>) -> Result<Self, FetchError> {
        let variables = ["LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"];
        let configured = |account: &'a Account| account.key.as_ref();
        let (base_url, origin) = LANGSMITH.address(session, source.base_url.as_deref())?;
        Ok(Self {
            session,
            base_url: versioned(base_url),
            origin,
            key: LANGSMITH.key(session, source.key.as_ref(), ("api-key", configured), &variables)?,
            workspace: source.workspace(session),
        })
    }

    /// The identifier of the data set of this name.
    pub(super) async fn dataset(&self, name: &str) -> Result<String, FetchError> {
        let found: Vec<Listed> = self.get(&["datasets"], &[("name", name), ("limit", "1")]).await?;
        match found.into_iter().find(|dataset| dataset.name == name) {
            Some(dataset) => Ok(dataset.id),
            None => Err(self.no_dataset(name).await),
        }
    }

    async fn no_dataset(&self, name: &str) -> FetchError {
        match self.get::<Vec<Listed>>(&["datasets"], &[("limit", "100")]).await {
            Ok(all) if all.is_empty() => FetchError::problem(format!(
                "there is no data set `{name}`: the workspace has none that the key may read"
            )),
            Ok(all) => {
                let there = suggest::instead(name, all.iter().map(|dataset| &*dataset.name));
                FetchError::problem(format!("there is no data set `{name}`; {there}"))
            }
            Err(error) => error,
        }
    }

    /// The time of the version that has a tag; `None` where there is no latest one, as in servers that record none.
    pub(super) async fn version(&self, id: &str, tag: &str) -> Result<Option<String>, FetchError> {
        match self.get::<Version>(&["datasets", id, "version"], &[("tag", tag)]).await {
            Ok(version) => Ok(Some(version.as_of)),
            Err(FetchError::Refused { status: 404, .. }) if tag == LATEST => Ok(None),
            Err(FetchError::Refused { status: 404, .. }) => Err(self.no_version(id, tag).await),
            Err(error) => Err(error),
        }
    }

    async fn no_version(&self, id: &str, tag: &str) -> FetchError {
        let versions: Result<Vec<Version>, _> =
            self.get(&["datasets", id, "versions"], &[("limit", "100")]).await;
        let versions = match versions {
            Ok(versions) => versions,
            Err(error) => return error,
        };
        let tags: Vec<_> =
            versions.iter().flat_map(|version| version.tags.iter().flatten()).map(|tag| &**tag).collect();
        let there = match tags.is_empty() {
            true => "no version has a tag".to_owned(),
            false => suggest::instead(tag, tags),
        };
        FetchError::problem(format!(
            "no version has the tag `{tag}`; {there}; a time is given as in `2026-01-21T14:35:42Z`"
        ))
    }

    /// A page of examples, behind so many of them.
    pub(super) async fn examples(
        &self,
        query: &[(&str, String)],
        offset: usize,
    ) -> Result<Vec<Example>, FetchError> {
        let (offset, limit) = (offset.to_string(), LARGEST_PAGE.to_string());
        let mut query: Vec<_> = query.iter().map(|(name, value)| (*name, &**value)).collect();
        query.extend([("offset", &*offset), ("limit", &*limit)]);
        self.get(&["examples"], &query).await
    }

    /// What is at a path. A refusal is explained, but that there is nothing.
    async fn get<T: DeserializeOwned>(&self, path: &[&str], query: &[(&str, &str)]) -> Result<T, FetchError> {
        let url = below(&self.base_url, path, query);
        let mut request = Request::get(url.clone()).secret("x-api-key", &self.key.secret.0)?;
        if let Some(workspace) = &self.workspace {
            request = request.secret("x-tenant-id", workspace)?;
        }
        match self.session.json(&request).await {
            Err(error @ FetchError::Refused { status: 404, .. }) if path != ["datasets"] => Err(error),
            answer => answer.map_err(|error| self.explain(error, &url)),
        }
    }

    fn explain(&self, error: FetchError, url: &Url) -> FetchError {
        // A key for all workspaces is refused where none is named.
        let is_forbidden = matches!(error, FetchError::Refused { status: 403, .. });
        match (LANGSMITH.explain(error, (url, &self.origin), &[&self.key]), &self.workspace) {
            (FetchError::Problem(problem), None) if is_forbidden => FetchError::problem(format!(
                "{problem}; a key for more than one workspace needs LANGSMITH_WORKSPACE_ID"
            )),
            (explained, _) => explained,
        }
    }
}

/// An endpoint with the path of the API. The official clients are given it with and without, wholly or in part.
fn versioned(mut endpoint: Url) -> Url {
    let path = endpoint.path().trim_end_matches('/');
    let path = path.strip_suffix("/v1").unwrap_or(path);
    let path = format!("{}/api/v1", path.strip_suffix("/api").unwrap_or(path));
    endpoint.set_path(&path);
    endpoint
}

#[cfg(test)]
mod tests {
    use super::versioned;

    #[test]
    fn an_endpoint_may_have_the_path_of_the_api_or_a_part_of_it() {
        for path in ["", "/", "/v1", "/api", "/api/v1", "/api/v1/"] {
            let endpoint = format!("https://host.test/x{path}").parse().unwrap();
            assert_eq!(versioned(endpoint).as_str(), "https://host.test/x/api/v1");
        }
    }
}
