//! A subscriber to changes: its subscriptions, and the file watchers they need.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionSink};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::snapshot::ProjectChanges;
use super::watch::{Watch, WatchedFiles};
use crate::error::Error;
use crate::mcp::projects::{Project, Projects};
use crate::mcp::resources::{ResourceKind, ResourceUri};

/// Capacity of the queue of changes.
const MOST_WAITING: usize = 16;

/// Where notifications are sent.
#[derive(Clone, Debug)]
pub enum Recipient {
    /// The assistant of a session.
    Session(Peer<RoleServer>),
    /// A `subscriptions/listen` request that is still open.
    Subscription(SubscriptionSink),
}

impl Recipient {
    /// Notifies of these resources and, if `list`, of the list. Returns whether the receiver is still connected.
    async fn notify(&self, uris: BTreeSet<String>, list: bool) -> bool {
        for uri in uris {
            if !self.notify_updated(uri).await {
                return false;
            }
        }
        !list || self.notify_list_changed().await
    }

    /// Returns whether the receiver is still connected.
    async fn notify_updated(&self, uri: String) -> bool {
        match self {
            Self::Session(peer) => {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_ok()
            }
            Self::Subscription(sink) => sink.notify_resource_updated(uri).await.is_ok(),
        }
    }

    /// Returns whether the receiver is still connected.
    async fn notify_list_changed(&self) -> bool {
        match self {
            Self::Session(peer) => peer.notify_resource_list_changed().await.is_ok(),
            Self::Subscription(sink) => sink.notify_resource_list_changed().await.is_ok(),
        }
    }
}

/// What a listener is subscribed to.
#[derive(Debug, Default)]
struct Subscriptions {
    /// The resources by their URIs, as requested.
    resources: BTreeMap<String, Resource>,
    /// Whether it includes the list of resources.
    list: bool,
}

/// A resource of a project.
#[derive(Debug)]
pub struct Resource {
    project: Arc<Project>,
    place: ResourceKind,
}

/// Resolves a URI.
pub fn resolve_resource(projects: &Projects, uri: &str) -> Result<Resource, Error> {
    let ResourceUri { place, project } = ResourceUri::parse(uri)?;
    Ok(Resource { project: projects.select(project.as_deref())?, place })
}

/// Sends notifications until it is dropped.
#[derive(Debug)]
pub struct Listener {
    recipient: Recipient,
    subscriptions: Arc<Mutex<Subscriptions>>,
    news: Sender<ProjectChanges>,
    watches: BTreeMap<(PathBuf, WatchedFiles), Watch>,
}

impl Listener {
    pub fn new(recipient: Recipient) -> Self {
        let (news, heard) = channel(MOST_WAITING);
        let subscriptions = Arc::default();
        tokio::spawn(forward_changes(recipient.clone(), Arc::clone(&subscriptions), heard));
        Self { recipient, subscriptions, news, watches: BTreeMap::new() }
    }

    pub fn is_subscribed_to_list(&self) -> bool {
        lock(&self.subscriptions).list
    }

    pub fn set_list_subscription(&self, list: bool) {
        lock(&self.subscriptions).list = list;
    }

    pub fn subscribe(&self, projects: &Projects, uri: &str) -> Result<(), Error> {
        let resource = resolve_resource(projects, uri)?;
        lock(&self.subscriptions).resources.insert(uri.to_owned(), resource);
        Ok(())
    }

    pub fn unsubscribe(&self, uri: &str) {
        lock(&self.subscriptions).resources.remove(uri);
    }

    /// Starts and stops watches to match the subscriptions.
    pub async fn update_watches(&mut self, projects: &Projects) -> Result<(), Error> {
        let needed = self.required_watches(projects);
        self.watches.retain(|watch, _| needed.contains_key(watch));
        for ((root, extent), project) in needed {
            if !self.watches.contains_key(&(root.clone(), extent)) {
                let watch = Watch::start(project, extent, self.news.clone()).await?;
                self.watches.insert((root, extent), watch);
            }
        }
        Ok(())
    }

    fn required_watches(&self, projects: &Projects) -> BTreeMap<(PathBuf, WatchedFiles), Arc<Project>> {
        let wanted = lock(&self.subscriptions);
        let of_list = wanted.list.then(|| projects.all()).into_iter().flatten();
        let of_list = of_list.map(|project| (WatchedFiles::Records, project));
        let of_resources = wanted.resources.values().map(|Resource { project, place }| {
            let extent = if *place == ResourceKind::Experiments {
                WatchedFiles::Sources
            } else {
                WatchedFiles::Records
            };
            (extent, Arc::clone(project))
        });
        of_list.chain(of_resources).map(|(extent, it)| ((it.root.clone(), extent), it)).collect()
    }

    /// Handles a change of the projects, which also changes the list of resources.
    pub async fn projects_changed(&mut self, projects: &Projects) {
        if let Err(error) = self.update_watches(projects).await {
            error.eprint();
        }
        self.recipient.notify(BTreeSet::new(), self.is_subscribed_to_list()).await;
    }

    /// Notifies of every subscription: a resource may have changed before the watch started.
    pub async fn notify_all(&self) {
        let uris = lock(&self.subscriptions).resources.keys().cloned().collect();
        self.recipient.notify(uris, self.is_subscribed_to_list()).await;
    }
}

/// Forwards changes until the channel closes or the receiver disconnects.
async fn forward_changes(
    told: Recipient,
    wanted: Arc<Mutex<Subscriptions>>,
    mut heard: Receiver<ProjectChanges>,
) {
    while let Some(news) = heard.recv().await {
        let (uris, list) = {
            let wanted = lock(&wanted);
            let touched = wanted
                .resources
                .iter()
                .filter(|(_, resource)| resource.project == news.project && news.affects(&resource.place));
            (touched.map(|(uri, _)| uri.clone()).collect::<BTreeSet<_>>(), wanted.list && news.list)
        };
        if !told.notify(uris, list).await {
            return;
        }
    }
}

/// Ignores poisoning: each critical section makes a single change.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
