//! What the platforms have in common: where their settings come from, what their refusals mean, and the fields of their items.

use std::collections::HashSet;

use cobalt_core::item::Item;
use cobalt_core::redact::Secret;
use reqwest::Url;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::session::{FoundKey, Request, Session};
use super::terms::FetchError;
use crate::dataset::settings::{self, Account, Key};

/// How often a data set is fetched anew that changes while it is fetched.
const ROUNDS: u32 = 3;

/// A platform, as it is named and found.
#[derive(Debug)]
pub struct Platform {
    pub(super) id: settings::Platform,
    pub(super) name: &'static str,
    /// Where its API is unless something else is said.
    pub(super) base_url: &'static str,
    /// The variables that may say so, the first of which is the one to name.
    pub(super) base_url_variables: &'static [&'static str],
}

impl Platform {
    /// Where its API is: what is said in code, else in the configuration, else by a variable, else where it is by itself.
    pub fn base_url(&self, session: &Session<'_>, own: Option<&str>) -> String {
        self.found_base_url(session, own).0.trim_end_matches('/').to_owned()
    }

    /// The base URL, and what says it, or may.
    fn found_base_url(&self, session: &Session<'_>, own: Option<&str>) -> (String, String) {
        let code = || Some((own?.to_owned(), "`.base_url(…)`".to_owned()));
        let configured = || Some((session.account(self.id)?.base_url.clone()?, self.setting("base-url")));
        let variable = |name: &&str| Some((session.variable(name)?, (*name).to_owned()));
        code()
            .or_else(configured)
            .or_else(|| self.base_url_variables.iter().find_map(variable))
            .unwrap_or_else(|| (self.base_url.to_owned(), self.base_url_variables[0].to_owned()))
    }

    /// The same, ready to be asked, and what says it, or may. What is wrong with it is told without it: there may be a password
    /// in it.
    pub fn address(&self, session: &Session<'_>, own: Option<&str>) -> Result<(Url, String), FetchError> {
        let (written, origin) = self.found_base_url(session, own);
        let problem = |problem: &str| {
            FetchError::problem(format!(
                "the address of {} that {origin} gives {problem}: write one such as {}",
                self.name, self.base_url
            ))
        };
        let url = Url::parse(written.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = url.ok_or_else(|| problem("does not begin with `https://` and a host"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(problem("has a user or a password, which are not sent"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(problem("has a query or a fragment, which are not sent"));
        }
        Ok((url, origin))
    }

    /// A key: that of the code, else the configured one, else that of the first of these variables that is set. `setting` is
    /// what the configuration calls it.
    pub fn key<'a>(
        &self,
        session: &Session<'a>,
        own: Option<&Secret>,
        (setting, configured): (&str, impl Fn(&'a Account) -> Option<&'a Key>),
        variables: &[&str],
    ) -> Result<FoundKey, FetchError> {
        let configured = session.account(self.id).and_then(configured);
        session.key(own, configured, variables, &self.setting(setting))
    }

    /// A setting of the platform, as an error names it.
    fn setting(&self, name: &str) -> String {
        format!("`platforms.{}.{name}`", self.name.to_lowercase())
    }

    /// An error with what it means here, and what to do about it. `origin` is what gives the address.
    pub fn explain(&self, error: FetchError, (url, origin): (&Url, &str), keys: &[&FoundKey]) -> FetchError {
        let FetchError::Refused { status, .. } = &error else { return error };
        let (name, host) = (self.name, url.origin().ascii_serialization());
        let advice = match status {
            401 | 403 => {
                let keys = keys.iter().map(|key| key.origin.as_str()).collect::<Vec<_>>().join(" and ");
                format!(
                    "{name} at {host} does not accept {keys}: give one that may read this project, or by {origin} the \
                     region or server that it belongs to"
                )
            }
            300..=399 => format!(
                "{host} sends to another address, which gets no key: give that address itself by {origin}"
            ),
            404 => format!("{host} has no such path: is it the address of {name}'s API? {origin} gives it"),
            429 => format!("{name} allows no more requests for now: try again later"),
            500..=599 => format!("{name} has trouble of its own: try again later"),
            _ => return error,
        };
        FetchError::problem(format!("{error}; {advice}"))
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

/// The address of a path below another, whose parts may hold any character.
pub fn below(base_url: &Url, path: &[&str], query: &[(&str, &str)]) -> Url {
    let mut url = base_url.clone();
    // Only an address that is no base, such as `mailto:`, has no segments.
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
    url
}

/// Refuses what is no name: an empty one would ask for anything, and dots for another path.
pub fn check_name(of: &str, name: &str) -> Result<(), FetchError> {
    match name.trim() {
        "" => {
            Err(FetchError::problem(format!("the name of the {of} is empty: give the one that it has there")))
        }
        "." | ".." => Err(FetchError::problem(format!("`{name}` is no name of a {of}"))),
        _ => Ok(()),
    }
}

/// The items of a data set that comes page by page.
#[derive(Debug, Default)]
pub struct Pages {
    seen: HashSet<String>,
    pub(super) items: Vec<Item>,
}

impl Pages {
    /// Whether an item is there for the first time. One that comes again has moved from one page to another meanwhile, and
    /// others may have been missed for it.
    #[must_use]
    pub fn is_new(&mut self, id: &str) -> bool {
        self.seen.insert(id.to_owned())
    }

    /// How many items came, with those that are left out.
    pub fn given(&self) -> usize {
        self.seen.len()
    }
}

/// Fetches a data set, and anew where it was changed meanwhile, which is `None`.
pub async fn while_unchanged<T>(
    mut fetch: impl AsyncFnMut() -> Result<Option<T>, FetchError>,
) -> Result<T, FetchError> {
    for _ in 0..ROUNDS {
        if let Some(fetched) = fetch().await? {
            return Ok(fetched);
        }
    }
    Err(FetchError::problem(format!(
        "the data set was changed each of the {ROUNDS} times that it was fetched, or its pages overlap: fetch it when nobody \
         writes to it, or give a version; a server of your own may be too old to give pages in one order"
    )))
}

/// An item with the fields that all platforms have. What is null there was never set, and is left out, but for the input:
/// an item without one would be none.
pub fn item(id: impl Into<Option<String>>, input: Value, expected_output: Value, metadata: Value) -> Item {
    let id = id.into().map_or(Value::Null, Value::String);
    [("id", id), ("input", input), ("expectedOutput", expected_output), ("metadata", metadata)]
        .into_iter()
        .filter(|(name, value)| *name == "input" || !value.is_null())
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
