//! Tells an assistant when resources have changed: those that it named, and the list of them.
//!
//! An assistant of a session names them one by one, and hears from its beginning on when runs come and go. From protocol version
//! 2026-07-28 on it listens, as often as it likes, to what it names. Nothing is watched that nobody wants to hear of.

mod listener;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cobalt::command::config::Setting;
use cobalt::command::paths::workspace_root;
use cobalt::command::store::{Layout, ResultFileName};
use rmcp::model::SubscriptionFilter;
use rmcp::service::{Peer, SubscriptionContext};
use rmcp::{ErrorData, RoleServer};
use tokio::sync::Mutex;

use super::projects::{Project, Projects};
use super::resources::refused;
use crate::index::{Stamp, result_files};
use crate::runs::journals;
use listener::{Listener, News, Told};

/// Who hears of changes.
#[derive(Debug)]
pub struct Changes {
    projects: Arc<Projects>,
    /// The assistant of a session, as soon as it wants to hear of anything.
    session: Mutex<Option<Listener>>,
}

impl Changes {
    pub fn of(projects: &Arc<Projects>) -> Self {
        Self { projects: Arc::clone(projects), session: Mutex::default() }
    }

    /// A session has begun: from now on, as long as the server runs, its assistant hears when the list of resources changes.
    pub async fn begin(&self, peer: &Peer<RoleServer>) {
        let mut projects = self.projects.changes();
        if !self.watch_list(peer).await {
            return;
        }
        while projects.changed().await.is_ok() {
            if let Some(listener) = self.session.lock().await.as_mut() {
                listener.projects_changed(&self.projects).await;
            }
        }
    }

    /// Whether the list was not watched before.
    async fn watch_list(&self, peer: &Peer<RoleServer>) -> bool {
        let mut session = self.session.lock().await;
        let listener = session.get_or_insert_with(|| Listener::telling(Told::Session(peer.clone())));
        if listener.wants_list() {
            return false;
        }
        listener.want_list(true);
        if let Err(error) = listener.follow(&self.projects).await {
            error.tell();
        }
        true
    }

    /// The assistant of a session wants to hear when a resource changes.
    pub async fn subscribe(&self, peer: &Peer<RoleServer>, uri: &str) -> Result<(), ErrorData> {
        let mut session = self.session.lock().await;
        let listener = session.get_or_insert_with(|| Listener::telling(Told::Session(peer.clone())));
        listener.want(&self.projects, uri).map_err(|error| refused(&error, uri))?;
        let followed = listener.follow(&self.projects).await;
        followed.map_err(|error| {
            listener.leave(uri);
            refused(&error, uri)
        })
    }

    /// It does not want to any more.
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), ErrorData> {
        let mut session = self.session.lock().await;
        let Some(listener) = session.as_mut() else { return Ok(()) };
        listener.leave(uri);
        listener.follow(&self.projects).await.map_err(|error| refused(&error, uri))
    }

    /// What can be listened to of what is asked for.
    pub fn accepted(&self, requested: &SubscriptionFilter) -> SubscriptionFilter {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| listener::resource(&self.projects, uri).is_ok());
        }
        accepted
    }

    /// Tells what is listened to, until that is cancelled. By then it is acknowledged: what has changed between that and the
    /// beginning of the watch is not known, so that all is told once.
    pub async fn listen(&self, subscription: &SubscriptionContext) -> Result<(), ErrorData> {
        let mut projects = self.projects.changes();
        let mut listener = Listener::telling(Told::Listening(subscription.sink().clone()));
        let accepted = subscription.accepted();
        listener.want_list(accepted.resources_list_changed == Some(true));
        for uri in accepted.resource_subscriptions.iter().flatten() {
            listener.want(&self.projects, uri).map_err(|error| refused(&error, uri))?;
        }
        listener.follow(&self.projects).await.map_err(|error| refused(&error, "cobalt://"))?;
        listener.tell_all().await;
        loop {
            tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                Ok(()) = projects.changed() => listener.projects_changed(&self.projects).await,
            }
        }
    }
}

#[derive(Debug)]
pub struct State {
    /// All settings as they are shown, or why they cannot be read.
    settings: String,
    /// Where runs are kept; absent as long as the settings could not be read.
    layout: Option<Layout>,
    /// The result files by their names.
    results: BTreeMap<String, Stamp>,
    /// The journals of runs that have not ended by the ids of their runs.
    journals: BTreeMap<String, Stamp>,
}

impl State {
    /// Nothing was seen yet.
    pub fn unseen() -> Self {
        Self { settings: String::new(), layout: None, results: BTreeMap::new(), journals: BTreeMap::new() }
    }

    /// The settings as they are now, which say where files are. With an error in them, files stay where they were.
    pub fn located(before: &Self, project: &Project) -> Self {
        let (settings, layout) = match project.settings() {
            Ok(config) => (shown(config.settings()), Some(config.layout().clone())),
            Err(error) => (error.to_string(), before.layout.clone()),
        };
        Self { settings, layout, ..Self::unseen() }
    }

    /// The folders in which something happens when it changes. Where one is not there yet, that in which it will be made.
    pub fn folders(&self, project: &Project) -> BTreeSet<PathBuf> {
        let mut folders = vec![project.root.clone(), workspace_root(&project.root)];
        if let Some(layout) = &self.layout {
            folders.extend([layout.results().to_owned(), layout.journals()]);
        }
        folders.iter().filter_map(|folder| nearest(folder)).collect()
    }

    /// Looks at the files, and tells what is not as it was `before`.
    pub fn look(&mut self, before: &Self, project: &Arc<Project>) -> News {
        if let Some(layout) = &self.layout {
            // Where a folder cannot be listed, that is told to whoever asks for runs.
            self.results = result_files(layout.results()).unwrap_or_default();
            let journals = journals(&layout.journals()).into_iter();
            self.journals = journals.filter_map(|(id, path)| Some((id, stamp(&path)?))).collect();
        }
        let results = differences(&before.results, &self.results);
        let runs =
            results.iter().map(|file| id_of(file)).chain(differences(&before.journals, &self.journals));
        News {
            project: Arc::clone(project),
            settings: before.settings != self.settings,
            experiments: false,
            results: !results.is_empty(),
            list: before.ended() != self.ended() || !before.journals.keys().eq(self.journals.keys()),
            runs: runs.map(str::to_owned).collect(),
            known: self
                .ended()
                .into_iter()
                .chain(self.journals.keys().map(String::as_str))
                .map(str::to_owned)
                .collect(),
        }
    }

    /// The ids of the runs that have a result file.
    fn ended(&self) -> BTreeSet<&str> {
        self.results.keys().map(|file| id_of(file)).collect()
    }
}

fn shown(settings: &[Setting]) -> String {
    serde_json::to_string(settings).unwrap_or_else(|error| error.to_string())
}

/// The id of the run in a result file; where its name tells none, that name.
fn id_of(file: &str) -> &str {
    ResultFileName::parse(file).map_or(file, |parsed| parsed.id)
}

/// The nearest folder to a path that is there.
pub fn nearest(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|folder| folder.is_dir()).map(Path::to_owned)
}

/// A run may have ended at this moment, by which its journal goes.
fn stamp(path: &Path) -> Option<Stamp> {
    Some(Stamp::of(&fs::metadata(path).ok()?))
}

/// The names of what came, went or has changed.
fn differences<'a>(
    before: &'a BTreeMap<String, Stamp>,
    now: &'a BTreeMap<String, Stamp>,
) -> BTreeSet<&'a str> {
    let names = before.keys().chain(now.keys());
    names.filter(|name| before.get(*name) != now.get(*name)).map(String::as_str).collect()
}
