//! One who hears of changes: of what, and what is watched for it.

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

/// How many news may wait to be told.
const MOST_WAITING: usize = 16;

/// Whom news are told.
#[derive(Clone, Debug)]
pub enum Told {
    /// The assistant of a session.
    Session(Peer<RoleServer>),
    /// An assistant by a request that goes on.
    Listening(SubscriptionSink),
}

impl Told {
    /// Whether it still hears, once it was told these resources, and the list if that is to be told.
    async fn all(&self, uris: BTreeSet<String>, list: bool) -> bool {
        for uri in uris {
            if !self.updated(uri).await {
                return false;
            }
        }
        !list || self.list_changed().await
    }

    /// Whether it still hears.
    async fn updated(&self, uri: String) -> bool {
        match self {
            Self::Session(peer) => {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_ok()
            }
            Self::Listening(sink) => sink.notify_resource_updated(uri).await.is_ok(),
        }
    }

    /// Whether it still hears.
    async fn list_changed(&self) -> bool {
        match self {
            Self::Session(peer) => peer.notify_resource_list_changed().await.is_ok(),
            Self::Listening(sink) => sink.notify_resource_list_changed().await.is_ok(),
        }
    }
}

/// Of what somebody wants to hear.
#[derive(Debug, Default)]
struct Wanted {
    /// The resources, by their URIs as they were asked for.
    resources: BTreeMap<String, Resource>,
    /// Whether it is of the list of resources, too.
    list: bool,
}

/// A resource of a project.
#[derive(Debug)]
pub struct Resource {
    project: Arc<Project>,
    place: Place,
}

/// What a URI names.
pub fn resource(projects: &Projects, uri: &str) -> Result<Resource, Error> {
    let Address { place, project } = Address::read(uri)?;
    Ok(Resource { project: projects.choose(project.as_deref())?, place })
}

/// Hears until it is dropped.
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

    /// Watches what is needed for what is wanted by now, and no more.
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

    /// The projects are others than before, and so is the list of resources.
    pub async fn projects_changed(&mut self, projects: &Projects) {
        if let Err(error) = self.follow(projects).await {
            error.tell();
        }
        self.told.all(BTreeSet::new(), self.wants_list()).await;
    }

    /// Tells all that is wanted: it may have changed before it was watched.
    pub async fn tell_all(&self) {
        let uris = held(&self.wanted).resources.keys().cloned().collect();
        self.told.all(uris, self.wants_list()).await;
    }
}

/// Tells news as long as there may be any, and somebody hears them.
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

/// What a thread that has panicked leaves is whole: nothing is done to it in between.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
