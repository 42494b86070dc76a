//! A source that gives what it is told to, and counts how often it is asked.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::dataset::remote::error::FetchError;
use crate::dataset::remote::load::load;
use crate::dataset::remote::session::Session;
use crate::dataset::remote::source::{Fetched, Source};
use crate::dataset::remote::terms::Terms;
use crate::dataset::settings::FetchSettings;
use crate::dataset::{Dataset, DatasetError};
use crate::item;
use crate::item::Item;

/// A source, and the folder in which copies of it are kept.
#[derive(Debug)]
pub(super) struct Fake {
    folder: TempDir,
    pub(super) items: Vec<Item>,
    pub(super) is_down: bool,
    pub(super) terms: Terms,
    pub(super) settings: FetchSettings,
    /// How long an answer takes.
    pub(super) takes: Duration,
    asked: AtomicUsize,
}

impl Fake {
    /// One that has items with these ids, and no copy.
    pub(super) fn with(ids: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings =
            FetchSettings { folder: folder.path().join(".cobalt/datasets"), ..FetchSettings::default() };
        Self {
            folder,
            items: ids.iter().map(|id| item! { "id": *id }).collect(),
            is_down: false,
            terms: Terms::default(),
            settings,
            takes: Duration::ZERO,
            asked: AtomicUsize::new(0),
        }
    }

    pub(super) fn load(&self) -> Result<Dataset, DatasetError> {
        load(self, &self.terms, &self.settings, &|_| None)
    }

    pub(super) fn loaded(&self) -> Vec<String> {
        self.load().unwrap().keys()
    }

    pub(super) fn fails(&self) -> String {
        self.load().unwrap_err().to_string()
    }

    /// How often it was asked.
    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    pub(super) fn refresh(&mut self) {
        self.settings.refresh = Some(SystemTime::now() + Duration::from_millis(1));
        // A time is written to the millisecond.
        std::thread::sleep(Duration::from_millis(3));
    }

    pub(super) fn root(&self) -> PathBuf {
        self.folder.path().join(".cobalt")
    }

    /// The names of the files beside the copy's lock.
    pub(super) fn files(&self) -> Vec<String> {
        let names = fs::read_dir(&self.settings.folder).unwrap().flatten();
        let mut names: Vec<_> = names.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.retain(|name| !name.ends_with(".lock"));
        names.sort();
        names
    }

    /// The file of the copy.
    pub(super) fn file(&self) -> PathBuf {
        self.settings.folder.join(&self.files()[0])
    }

    /// Changes the text of the copy.
    pub(super) fn edit(&self, change: impl FnOnce(String) -> String) {
        let text = fs::read_to_string(self.file()).unwrap();
        let changed = change(text.clone());
        assert_ne!(changed, text);
        fs::write(self.file(), changed).unwrap();
    }
}

impl Source for Fake {
    fn label(&self) -> String {
        "fake:support desk".to_owned()
    }

    fn identity(&self, _session: &Session<'_>) -> Vec<String> {
        vec![self.label()]
    }

    async fn fetch(&self, _session: &Session<'_>) -> Result<Fetched, FetchError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(self.takes).await;
        match self.is_down {
            true => Err(FetchError::problem("connection refused")),
            false => Ok(Fetched { items: self.items.clone(), version: Some("v7".to_owned()) }),
        }
    }
}
