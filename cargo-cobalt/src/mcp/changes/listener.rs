//! A subscriber to changes: its subscriptions, and the file watchers they need.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionSink};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::state::News;
use super::watch::{Extent, Watch};
use crate::error::Error;
use crate::mcp::projects::{Project, Projects};
use crate::mcp::resources::{Address, Place};

/// Capacity of the queue of changes.
const MOST_WAITING: usize = 16;

/// Where notifications are sent.
#[derive(Clone, Debug)]
pub enum Told {
    /// The assistant of a session.
    Session(Peer<RoleServer>),
    /// A `subscriptions/listen` request that is still open.
    Listening(SubscriptionSink),
}

impl Told {
    /// Notifies of these resources and, if `list`, of the list. Returns whether the receiver is still connected.
    async fn all(&self, uris: BTreeSet<String>, list: bool) -> bool {
        for uri in uris {
            if !self.updated(uri).await {
                return false;
            }
        }
        !list || self.list_changed().await
    }

    /// Returns whether the receiver is still connected.
    async fn updated(&self, uri: String) -> bool {
        match self {
            Self::Session(peer) => {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_ok()
            }
            Self::Listening(sink) => sink.notify_resource_updated(uri).await.is_ok(),
        }
    }

    /// Returns whether the receiver is still connected.
    async fn list_changed(&self) -> bool {
        match self {
            Self::Session(peer) => peer.notify_resource_list_changed().await.is_ok(),
            Self::Listening(sink) => sink.notify_resource_list_changed().await.is_ok(),
        }
    }
}

/// What a listener is subscribed to.
#[derive(Debug, Default)]
struct Wanted {
    /// The resources by their URIs, as requested.
    resources: BTreeMap<String, Resource>,
    /// Whether it includes the list of resources.
    list: bool,
}

/// A resource of a project.
#[derive(Debug)]
pub struct Resource {
    project: Arc<Project>,
    place: Place,
}

/// Resolves a URI.
pub fn resource(projects: &Projects, uri: &str) -> Result<Resource, Error> {
    let Address { place, project } = Address::read(uri)?;
    Ok(Resource { project: projects.choose(project.as_deref())?, place })
}

/// Sends notifications until it is dropped.
#[derive(Debug)]
pub struct Listener {
    told: Told,
    wanted: Arc<Mutex<Wanted>>,
    news: Sender<News>,
    watches: BTreeMap<(PathBuf, Extent), Watch>,
}

impl Listener {
    pub fn telling(told: Told) -> Self {
        let (news, heard) = channel(MOST_WAITING);
        let wanted = Arc::default();
        tokio::spawn(tell(told.clone(), Arc::clone(&wanted), heard));
        Self { told, wanted, news, watches: BTreeMap::new() }
    }

    pub fn wants_list(&self) -> bool {
        held(&self.wanted).list
    }

    pub fn want_list(&self, list: bool) {
        held(&self.wanted).list = list;
    }

    pub fn want(&self, projects: &Projects, uri: &str) -> Result<(), Error> {
        let resource = resource(projects, uri)?;
        held(&self.wanted).resources.insert(uri.to_owned(), resource);
        Ok(())
    }

    pub fn leave(&self, uri: &str) {
        held(&self.wanted).resources.remove(uri);
    }

    /// Starts and stops watches to match the subscriptions.
    pub async fn follow(&mut self, projects: &Projects) -> Result<(), Error> {
        let needed = self.needed(projects);
        self.watches.retain(|watch, _| needed.contains_key(watch));
        for ((root, extent), project) in needed {
            if !self.watches.contains_key(&(root.clone(), extent)) {
                let watch = Watch::start(project, extent, self.news.clone()).await?;
                self.watches.insert((root, extent), watch);
            }
        }
        Ok(())
    }

    fn needed(&self, projects: &Projects) -> BTreeMap<(PathBuf, Extent), Arc<Project>> {
        let wanted = held(&self.wanted);
        let of_list = wanted.list.then(|| projects.all()).into_iter().flatten();
        let of_list = of_list.map(|project| (Extent::Records, project));
        let of_resources = wanted.resources.values().map(|Resource { project, place }| {
            let extent = if *place == Place::Experiments { Extent::Sources } else { Extent::Records };
            (extent, Arc::clone(project))
        });
        of_list.chain(of_resources).map(|(extent, it)| ((it.root.clone(), extent), it)).collect()
    }

    /// Handles a change of the projects, which also changes the list of resources.
    pub async fn projects_changed(&mut self, projects: &Projects) {
        if let Err(error) = self.follow(projects).await {
            error.tell();
        }
        self.told.all(BTreeSet::new(), self.wants_list()).await;
    }

    /// Notifies of every subscription: a resource may have changed before the watch started.
    pub async fn tell_all(&self) {
        let uris = held(&self.wanted).resources.keys().cloned().collect();
        self.told.all(uris, self.wants_list()).await;
    }
}

/// Forwards changes until the channel closes or the receiver disconnects.
async fn tell(told: Told, wanted: Arc<Mutex<Wanted>>, mut heard: Receiver<News>) {
    while let Some(news) = heard.recv().await {
        let (uris, list) = {
            let wanted = held(&wanted);
            let touched = wanted
                .resources
                .iter()
                .filter(|(_, resource)| resource.project == news.project && news.touch(&resource.place));
            (touched.map(|(uri, _)| uri.clone()).collect::<BTreeSet<_>>(), wanted.list && news.list)
        };
        if !told.all(uris, list).await {
            return;
        }
    }
}

/// Ignores poisoning: each critical section makes a single change.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
