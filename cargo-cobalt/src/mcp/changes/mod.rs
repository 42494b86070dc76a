//! Notifies an assistant when resources change, by comparing two snapshots of a project.
//!
//! In a session, an assistant subscribes to single resources, and is always notified when runs are added or removed. From
//! protocol version 2026-07-28 on, it opens any number of listen requests with filters. Only subscribed resources are watched.

mod listener;
mod snapshot;
mod watch;

use std::sync::Arc;

use rmcp::model::SubscriptionFilter;
use rmcp::service::{Peer, SubscriptionContext};
use rmcp::{ErrorData, RoleServer};
use tokio::sync::Mutex;

use super::projects::Projects;
use super::resources::to_error_data;
use listener::{Listener, Recipient};

/// The subscriptions of the connected assistant.
#[derive(Debug)]
pub struct ChangeNotifier {
    projects: Arc<Projects>,
    /// The session's listener, created on its first subscription.
    session: Mutex<Option<Listener>>,
}

impl ChangeNotifier {
    pub fn new(projects: &Arc<Projects>) -> Self {
        Self { projects: Arc::clone(projects), session: Mutex::default() }
    }

    /// Starts a session: from now on, its assistant is notified when the list of resources changes.
    pub async fn start_session(&self, peer: &Peer<RoleServer>) {
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

    /// Watches the list of resources. Returns whether it was not watched before.
    async fn watch_list(&self, peer: &Peer<RoleServer>) -> bool {
        let mut session = self.session.lock().await;
        let listener = session.get_or_insert_with(|| Listener::new(Recipient::Session(peer.clone())));
        if listener.is_subscribed_to_list() {
            return false;
        }
        listener.set_list_subscription(true);
        if let Err(error) = listener.update_watches(&self.projects).await {
            error.eprint();
        }
        true
    }

    /// Subscribes the session to a resource.
    pub async fn subscribe(&self, peer: &Peer<RoleServer>, uri: &str) -> Result<(), ErrorData> {
        let mut session = self.session.lock().await;
        let listener = session.get_or_insert_with(|| Listener::new(Recipient::Session(peer.clone())));
        listener.subscribe(&self.projects, uri).map_err(|error| to_error_data(&error, uri))?;
        let followed = listener.update_watches(&self.projects).await;
        followed.map_err(|error| {
            listener.unsubscribe(uri);
            to_error_data(&error, uri)
        })
    }

    /// Removes a subscription.
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), ErrorData> {
        let mut session = self.session.lock().await;
        let Some(listener) = session.as_mut() else { return Ok(()) };
        listener.unsubscribe(uri);
        listener.update_watches(&self.projects).await.map_err(|error| to_error_data(&error, uri))
    }

    /// The part of the requested filter that can be served.
    pub fn accept_filter(&self, requested: &SubscriptionFilter) -> SubscriptionFilter {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| listener::resolve_resource(&self.projects, uri).is_ok());
        }
        accepted
    }

    /// Sends notifications until the subscription is cancelled. It was acknowledged before the watch starts, so changes in
    /// between may be missed: everything is notified once at the start.
    pub async fn listen(&self, subscription: &SubscriptionContext) -> Result<(), ErrorData> {
        let mut projects = self.projects.changes();
        let mut listener = Listener::new(Recipient::Subscription(subscription.sink().clone()));
        let accepted = subscription.accepted();
        listener.set_list_subscription(accepted.resources_list_changed == Some(true));
        for uri in accepted.resource_subscriptions.iter().flatten() {
            listener.subscribe(&self.projects, uri).map_err(|error| to_error_data(&error, uri))?;
        }
        listener.update_watches(&self.projects).await.map_err(|error| to_error_data(&error, "cobalt://"))?;
        listener.notify_all().await;
        loop {
            tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                Ok(()) = projects.changed() => listener.projects_changed(&self.projects).await,
            }
        }
    }
}
