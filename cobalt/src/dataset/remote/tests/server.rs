//! What tests of fetching have in common: the server, what it was asked, and a fetch that hardly waits.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use reqwest::Url;
use tokio::runtime::Builder;

pub(super) use crate::http::test_server::{Answer, Asked, TestServer};

use crate::back_off::BackOff;
use crate::dataset::remote::RemoteDataset;
use crate::dataset::remote::error::FetchError;
use crate::dataset::remote::session::Session;
use crate::dataset::remote::source::{Fetched, Source};
use crate::dataset::settings::{Account, FetchSettings, Platform};

/// The path of a request without its query, as it went over the wire.
pub(super) fn path(asked: &Asked) -> &str {
    asked.path.split('?').next().unwrap_or_default()
}

/// The values of a parameter of a request's query, decoded.
pub(super) fn parameters(asked: &Asked, name: &str) -> Vec<String> {
    let url = Url::parse(&format!("http://test{}", asked.path)).unwrap();
    url.query_pairs().filter(|(key, _)| key == name).map(|(_, value)| value.into_owned()).collect()
}

/// The one value of a parameter of a request's query, if it is there.
pub(super) fn parameter(asked: &Asked, name: &str) -> Option<String> {
    let values = parameters(asked, name);
    assert!(values.len() < 2, "{name} is asked for more than once: {}", asked.path);
    values.into_iter().next()
}

/// A parameter that is a number.
pub(super) fn number(asked: &Asked, name: &str) -> Option<usize> {
    parameter(asked, name).map(|number| number.parse().unwrap())
}

/// Where a fetch finds its keys: environment variables, and what is configured.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    variables: BTreeMap<String, String>,
    settings: FetchSettings,
}

impl Surroundings {
    pub(super) fn with(variables: &[(&str, &str)]) -> Self {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Self { variables: variables.collect(), settings: FetchSettings::default() }
    }

    /// With a folder for copies.
    pub(super) fn folder(mut self, folder: &Path) -> Self {
        self.settings.folder = folder.to_owned();
        self
    }

    pub(super) fn account(mut self, platform: Platform, account: Account) -> Self {
        self.settings.accounts.insert(platform, account);
        self
    }

    /// Does something in a session that hardly waits between attempts.
    pub(super) fn session<S: Source, T>(
        &self,
        remote: &RemoteDataset<S>,
        act: impl AsyncFnOnce(&Session<'_>) -> T,
    ) -> T {
        let variable = |name: &str| self.variables.get(name).cloned();
        let back_off = BackOff { first: Duration::from_millis(1), most: Duration::from_millis(4) };
        let session = Session::new(&remote.terms, &self.settings, &variable).with_back_off(back_off);
        Builder::new_current_thread().enable_all().build().unwrap().block_on(act(&session))
    }

    /// Fetches, whether there is a copy or not.
    pub(super) fn fetch<S: Source>(&self, remote: &RemoteDataset<S>) -> Result<Fetched, FetchError> {
        self.session(remote, async |session| remote.source.fetch(session).await)
    }
}
