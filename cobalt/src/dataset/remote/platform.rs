//! Shared by the platforms: settings, explanations of errors, and the fields of items.

use std::collections::HashSet;

use cobalt_core::item::Item;
use cobalt_core::redact::Secret;
use reqwest::Url;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::fetch_options::FetchError;
use super::fetch_session::{ApiKey, FetchSession, Request};
use crate::dataset::settings::{self, Account, Key};

/// How often a dataset is fetched if it changes during the fetch.
const MAX_ATTEMPTS: u32 = 3;

/// A platform: its name and URL.
#[derive(Debug)]
pub struct Platform {
    pub(super) id: settings::Platform,
    pub(super) name: &'static str,
    /// The default URL of its API.
    pub(super) base_url: &'static str,
    /// The environment variables for the URL; messages name the first.
    pub(super) base_url_variables: &'static [&'static str],
}

impl Platform {
    /// The URL of its API: from the code, else from the configuration, else from a variable, else the default.
    pub fn base_url(&self, session: &FetchSession<'_>, own: Option<&str>) -> String {
        self.base_url_with_origin(session, own).0.trim_end_matches('/').to_owned()
    }

    /// The base URL, and the setting that provides or would provide it.
    fn base_url_with_origin(&self, session: &FetchSession<'_>, own: Option<&str>) -> (String, String) {
        let code = || Some((own?.to_owned(), "`.base_url(…)`".to_owned()));
        let configured = || Some((session.account(self.id)?.base_url.clone()?, self.setting("base-url")));
        let variable = |name: &&str| Some((session.variable(name)?, (*name).to_owned()));
        code()
            .or_else(configured)
            .or_else(|| self.base_url_variables.iter().find_map(variable))
            .unwrap_or_else(|| (self.base_url.to_owned(), self.base_url_variables[0].to_owned()))
    }

    /// The base URL, parsed, and its setting. Errors do not repeat the URL, as it may contain a password.
    pub fn parsed_base_url(
        &self,
        session: &FetchSession<'_>,
        own: Option<&str>,
    ) -> Result<(Url, String), FetchError> {
        let (written, origin) = self.base_url_with_origin(session, own);
        let problem = |problem: &str| {
            FetchError::problem(format!(
                "the URL of {} from {origin} {problem}; use one such as {}",
                self.name, self.base_url
            ))
        };
        let url = Url::parse(written.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = url.ok_or_else(|| problem("does not start with `https://` and a host"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(problem("contains a user or a password, which are not sent"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(problem("contains a query or a fragment, which are not sent"));
        }
        Ok((url, origin))
    }

    /// A key: from the code, else from the configuration, else from the first of these variables that is set. `setting` is its
    /// name in the configuration.
    pub fn key<'a>(
        &self,
        session: &FetchSession<'a>,
        own: Option<&Secret>,
        (setting, configured): (&str, impl Fn(&'a Account) -> Option<&'a Key>),
        variables: &[&str],
    ) -> Result<ApiKey, FetchError> {
        let configured = session.account(self.id).and_then(configured);
        session.key(own, configured, variables, &self.setting(setting))
    }

    /// A setting of the platform, for messages.
    fn setting(&self, name: &str) -> String {
        format!("`platforms.{}.{name}`", self.name.to_lowercase())
    }

    /// Explains an error and says what to do. `origin` is the setting that provides the URL.
    pub fn explain(&self, error: FetchError, (url, origin): (&Url, &str), keys: &[&ApiKey]) -> FetchError {
        let FetchError::Refused { status, .. } = &error else { return error };
        let (name, host) = (self.name, url.origin().ascii_serialization());
        let advice = match status {
            401 | 403 => {
                let keys = keys.iter().map(|key| key.origin.as_str()).collect::<Vec<_>>().join(" and ");
                format!(
                    "{name} at {host} rejected {keys}; use a key that can read this project, or set {origin} to the URL \
                    of the key's region or server"
                )
            }
            300..=399 => format!(
                "{host} redirects to another host, to which the key is not sent; set {origin} to that URL"
            ),
            404 => format!("{host} has no such path; check that {origin} is the URL of {name}'s API"),
            429 => format!("{name} is rate limiting requests; try again later"),
            500..=599 => format!("{name} has a server error; try again later"),
            _ => return error,
        };
        FetchError::problem(format!("{error}; {advice}"))
    }
}

/// Settings for a platform that are made in code.
#[derive(Clone, Debug, Default)]
pub struct PlatformAccess {
    pub(super) base_url: Option<String>,
    pub(super) key: Option<Secret>,
}

/// The API of a platform, with bearer authentication.
#[derive(Debug)]
pub struct PlatformApi<'a> {
    session: &'a FetchSession<'a>,
    platform: &'static Platform,
    base_url: Url,
    /// The setting that provides the URL.
    origin: String,
    key: ApiKey,
}

impl<'a> PlatformApi<'a> {
    /// `variable` holds the key if neither the code nor the configuration sets one.
    pub fn new(
        platform: &'static Platform,
        variable: &str,
        access: &PlatformAccess,
        session: &'a FetchSession<'a>,
    ) -> Result<Self, FetchError> {
        let (base_url, origin) = platform.parsed_base_url(session, access.base_url.as_deref())?;
        let configured = |account: &'a Account| account.key.as_ref();
        let key = platform.key(session, access.key.as_ref(), ("api-key", configured), &[variable])?;
        Ok(Self { session, platform, base_url, origin, key })
    }

    /// Sends GET to a path, whose segments may contain any character.
    pub async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<T, FetchError> {
        self.send(Request::get(join_path(&self.base_url, path, query))).await
    }

    /// Sends POST with a JSON body to a path.
    pub async fn post<T: DeserializeOwned>(&self, path: &[&str], body: Value) -> Result<T, FetchError> {
        self.send(Request::post(join_path(&self.base_url, path, &[]), body)).await
    }

    /// Explains an error and says what to do.
    pub fn explain(&self, error: FetchError) -> FetchError {
        self.platform.explain(error, (&self.base_url, &self.origin), &[&self.key])
    }

    async fn send<T: DeserializeOwned>(&self, request: Request) -> Result<T, FetchError> {
        let request = request.secret_header("authorization", &format!("Bearer {}", self.key.secret.0))?;
        self.session.json(&request).await
    }
}

/// The URL of a path below another, whose segments may contain any character.
pub fn join_path(base_url: &Url, path: &[&str], query: &[(&str, &str)]) -> Url {
    let mut url = base_url.clone();
    // Only a URL that cannot be a base, such as `mailto:`, has no segments.
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
    url
}

/// Rejects invalid names: an empty one would match anything, and dots would change the path.
pub fn check_name(of: &str, name: &str) -> Result<(), FetchError> {
    match name.trim() {
        "" => {
            Err(FetchError::problem(format!("the name of the {of} is empty; use its name on the platform")))
        }
        "." | ".." => Err(FetchError::problem(format!("`{name}` is not a valid {of} name"))),
        _ => Ok(()),
    }
}

/// The items of a dataset that is read page by page.
#[derive(Debug, Default)]
pub struct PageCollector {
    seen: HashSet<String>,
    pub(super) items: Vec<Item>,
}

impl PageCollector {
    /// Whether an item is new. A repeated item has moved to another page during the fetch, and others may have been missed.
    #[must_use]
    pub fn is_new(&mut self, id: &str) -> bool {
        self.seen.insert(id.to_owned())
    }

    /// The number of items returned, including skipped ones.
    pub fn returned(&self) -> usize {
        self.seen.len()
    }
}

/// Fetches a dataset, and again if it changed meanwhile, which is `None`.
pub async fn retry_while_changing<T>(
    mut fetch: impl AsyncFnMut() -> Result<Option<T>, FetchError>,
) -> Result<T, FetchError> {
    for _ in 0..MAX_ATTEMPTS {
        if let Some(fetched) = fetch().await? {
            return Ok(fetched);
        }
    }
    Err(FetchError::problem(format!(
        "the dataset changed during each of {MAX_ATTEMPTS} attempts to fetch it, or its pages overlap; fetch it when nobody writes to \
        it, or request a version (an old self-hosted server may not return pages in a fixed order)"
    )))
}

/// An item with the fields that all platforms share. Null fields are left out, except for the input, without which it would
/// not be an item.
pub fn build_item(
    id: impl Into<Option<String>>,
    input: Value,
    expected_output: Value,
    metadata: Value,
) -> Item {
    let id = id.into().map_or(Value::Null, Value::String);
    [("id", id), ("input", input), ("expectedOutput", expected_output), ("metadata", metadata)]
        .into_iter()
        .filter(|(name, value)| *name == "input" || !value.is_null())
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
