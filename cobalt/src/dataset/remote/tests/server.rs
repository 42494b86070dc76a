//! Shared by the tests of fetching: the server, its requests, and a session with a short back-off.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use cobalt_core::back_off::BackOff;
use cobalt_core::item::Item;
use reqwest::Url;
use tempfile::TempDir;
use tokio::runtime::Builder;

use crate::dataset::remote::RemoteDataset;
use crate::dataset::remote::fetch_options::{FetchError, FetchOptions, FetchedData};
use crate::dataset::remote::fetch_session::FetchSession;
use crate::dataset::remote::load::Source;
use crate::dataset::remote::load::load;
use crate::dataset::settings::{Account, FetchSettings, Platform};
use crate::dataset::{Dataset, DatasetError};
pub(super) use crate::http::test_server::{ReceivedRequest, ScriptedResponse, TestServer};

/// The path of a request without its query, as sent.
pub fn path(asked: &ReceivedRequest) -> &str {
    asked.path.split('?').next().unwrap_or_default()
}

/// The values of a parameter of a request's query, decoded.
pub fn parameters(asked: &ReceivedRequest, name: &str) -> Vec<String> {
    let url = Url::parse(&format!("http://test{}", asked.path)).unwrap();
    url.query_pairs().filter(|(key, _)| key == name).map(|(_, value)| value.into_owned()).collect()
}

/// The only value of a query parameter, if it is set.
pub fn parameter(asked: &ReceivedRequest, name: &str) -> Option<String> {
    let values = parameters(asked, name);
    assert!(values.len() < 2, "{name} is set more than once: {}", asked.path);
    values.into_iter().next()
}

/// A numeric query parameter.
pub fn number(asked: &ReceivedRequest, name: &str) -> Option<usize> {
    parameter(asked, name).map(|number| number.parse().unwrap())
}

/// The environment of a fetch: variables and settings.
#[derive(Debug, Default)]
pub struct FetchEnvironment {
    variables: BTreeMap<String, String>,
    settings: FetchSettings,
}

impl FetchEnvironment {
    pub fn with(variables: &[(&str, &str)]) -> Self {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Self { variables: variables.collect(), settings: FetchSettings::default() }
    }

    /// Sets the folder of cached copies.
    pub fn folder(mut self, folder: &Path) -> Self {
        self.settings.folder = folder.to_owned();
        self
    }

    pub fn account(mut self, platform: Platform, account: Account) -> Self {
        self.settings.accounts.insert(platform, account);
        self
    }

    /// Runs a function in a session with a short back-off.
    pub fn session<S: Source, T>(
        &self,
        remote: &RemoteDataset<S>,
        act: impl AsyncFnOnce(&FetchSession<'_>) -> T,
    ) -> T {
        let variable = |name: &str| self.variables.get(name).cloned();
        let back_off = BackOff { first: Duration::from_millis(1), max: Duration::from_millis(4) };
        let session = FetchSession::new(&remote.terms, &self.settings, &variable).with_back_off(back_off);
        Builder::new_current_thread().enable_all().build().unwrap().block_on(act(&session))
    }

    /// Fetches, regardless of a cached copy.
    pub fn fetch<S: Source>(&self, remote: &RemoteDataset<S>) -> Result<FetchedData, FetchError> {
        self.session(remote, async |session| remote.source.fetch(session).await)
    }
}

/// A fake source, and the folder of its cached copies.
#[derive(Debug)]
pub struct FakeSource {
    folder: TempDir,
    pub(super) items: Vec<Item>,
    pub(super) is_down: bool,
    pub(super) terms: FetchOptions,
    pub(super) settings: FetchSettings,
    /// How long a fetch takes.
    pub(super) takes: Duration,
    asked: AtomicUsize,
}

impl FakeSource {
    /// A source of items with these IDs, without a cached copy.
    pub fn with(ids: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings =
            FetchSettings { folder: folder.path().join(".cobalt/datasets"), ..FetchSettings::default() };
        Self {
            folder,
            items: ids.iter().map(|id| crate::item! { "id": *id }).collect(),
            is_down: false,
            terms: FetchOptions::default(),
            settings,
            takes: Duration::ZERO,
            asked: AtomicUsize::new(0),
        }
    }

    pub fn load(&self) -> Result<Dataset, DatasetError> {
        load(self, &self.terms, &self.settings, &|_| None)
    }

    pub fn loaded(&self) -> Vec<String> {
        self.load().unwrap().keys()
    }

    pub fn fails(&self) -> String {
        self.load().unwrap_err().to_string()
    }

    /// How often it was fetched.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    pub fn refresh(&mut self) {
        self.settings.refresh = Some(SystemTime::now() + Duration::from_millis(1));
        // Times are stored to the millisecond.
        std::thread::sleep(Duration::from_millis(3));
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join(".cobalt")
    }

    /// The names of the files in the folder, without the lock.
    pub fn files(&self) -> Vec<String> {
        let names = fs::read_dir(&self.settings.folder).unwrap().flatten();
        let mut names: Vec<_> = names.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.retain(|name| !name.ends_with(".lock"));
        names.sort();
        names
    }

    /// The file of the copy.
    pub fn file(&self) -> PathBuf {
        self.settings.folder.join(&self.files()[0])
    }

    /// Changes the text of the copy.
    pub fn edit(&self, change: impl FnOnce(String) -> String) {
        let text = fs::read_to_string(self.file()).unwrap();
        let changed = change(text.clone());
        assert_ne!(changed, text);
        fs::write(self.file(), changed).unwrap();
    }
}

impl Source for FakeSource {
    fn label(&self) -> String {
        "fake:support desk".to_owned()
    }

    fn identity(&self, _session: &FetchSession<'_>) -> Vec<String> {
        vec![self.label()]
    }

    async fn fetch(&self, _session: &FetchSession<'_>) -> Result<FetchedData, FetchError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(self.takes).await;
        match self.is_down {
            true => Err(FetchError::problem("connection refused")),
            false => Ok(FetchedData { items: self.items.clone(), version: Some("v7".to_owned()) }),
        }
    }
}
