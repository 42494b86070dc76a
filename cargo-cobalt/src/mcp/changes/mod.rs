//! Notifies an assistant when resources change, by comparing two looks at a project.
//!
//! An assistant of a session names them one by one, and hears from its beginning on when runs come and go. From protocol version
//! 2026-07-28 on it listens, as often as it likes, to what it names. Nothing is watched that nobody wants to hear of.

mod listener;
mod state;
mod watch;

use std::sync::Arc;

use rmcp::model::SubscriptionFilter;
use rmcp::service::{Peer, SubscriptionContext};
use rmcp::{ErrorData, RoleServer};
use tokio::sync::Mutex;

use super::projects::Projects;
use super::resources::refused;
use listener::{Listener, Told};

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
