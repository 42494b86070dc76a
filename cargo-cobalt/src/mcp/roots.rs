//! The assistant's roots: the folders that it works in, of which it is asked.
//!
//! Up to version 2025-11-25 of the protocol it is sent a request: once it is there, when it says that they have changed, and when
//! a project is asked for that is not known. Later versions have no requests to it: it is told what is missing instead of an
//! answer, and asks again with that.
#![expect(deprecated, reason = "roots are to go from the protocol, and there is nothing in their place")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cobalt::reporters::printable;
use rmcp::RoleServer;
use rmcp::model::{
    InputRequest, InputRequiredResult, InputResponses, ListRootsRequest, ListRootsResult, ProtocolVersion,
    Root,
};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::{Mutex, watch};
use tokio::task::block_in_place;
use tokio::time::timeout;
use url::Url;

use super::projects::{OfRoots, Project, Projects};

/// How long an assistant has to tell its roots.
const PATIENCE: Duration = Duration::from_secs(5);
/// What they are called among what an assistant is asked for.
const NAME: &str = "roots";

#[derive(Debug)]
pub(super) struct Roots {
    projects: Arc<Projects>,
    /// One question at a time, so that the last answer counts.
    asking: Mutex<()>,
    /// Whether the assistant will tell them, and has not yet.
    are_awaited: watch::Sender<bool>,
}

impl Roots {
    pub(super) fn new(projects: Arc<Projects>) -> Self {
        Self { projects, asking: Mutex::default(), are_awaited: watch::Sender::new(false) }
    }

    /// The assistant has said hello, and will be asked when it is there.
    pub(super) fn await_from(&self, peer: &Peer<RoleServer>) {
        self.are_awaited.send_replace(tells(peer));
    }

    /// Asks for them, where the assistant tells them.
    pub(super) async fn ask(&self, peer: &Peer<RoleServer>) {
        if !tells(peer) {
            return;
        }
        let _one_at_a_time = self.asking.lock().await;
        self.are_awaited.send_replace(true);
        match timeout(PATIENCE, peer.list_roots()).await {
            Ok(Ok(told)) => self.take(told),
            Ok(Err(error)) => {
                eprintln!("warning: the assistant tells no roots: {}", printable(&error.to_string()))
            }
            Err(_) => eprintln!("warning: the assistant has not told its roots in {} s", PATIENCE.as_secs()),
        }
        self.are_awaited.send_replace(false);
    }

    /// Sees that the project that a request is about is known, as far as roots can help; they may be in `responses` to what was
    /// asked for before. What has to be asked for first, if anything.
    pub(super) async fn needed(
        &self,
        project: Option<&str>,
        responses: Option<&InputResponses>,
        context: &RequestContext<RoleServer>,
    ) -> Option<InputRequiredResult> {
        if let Some(responses) = responses {
            let told = responses.get(NAME).and_then(|told| serde_json::from_value(told.clone()).ok());
            told.into_iter().for_each(|told| self.take(told));
            return None;
        }
        self.wait().await;
        if self.projects.knows(project) {
            return None;
        }
        if context.protocol_version().is_none_or(|version| version < ProtocolVersion::V_2026_07_28) {
            self.ask(&context.peer).await;
            return None;
        }
        context.client_capabilities()?.roots?;
        let request = InputRequest::ListRoots(ListRootsRequest::default());
        Some(InputRequiredResult::from_input_requests([(NAME.to_owned(), request)].into()))
    }

    /// Waits until they are told; not again for an assistant that does not.
    pub(super) async fn wait(&self) {
        let mut are_awaited = self.are_awaited.subscribe();
        if timeout(PATIENCE, are_awaited.wait_for(|awaited| !awaited)).await.is_err() {
            self.are_awaited.send_replace(false);
        }
    }

    fn take(&self, told: ListRootsResult) {
        // Folders are looked through, of which some are large.
        let of_roots = block_in_place(|| of_roots(&told.roots));
        for reason in &of_roots.left_out {
            eprintln!("warning: a root is left out: {}", printable(reason));
        }
        self.projects.set_roots(of_roots);
    }
}

/// What roots come to.
fn of_roots(roots: &[Root]) -> OfRoots {
    let mut of_roots = OfRoots::default();
    for root in roots {
        let projects = folder(root)
            .and_then(|folder| Project::around_or_below(&folder).map_err(|error| error.to_string()));
        match projects {
            Ok(projects) => projects.into_iter().for_each(|project| of_roots.add(project)),
            Err(reason) => of_roots.left_out.push(reason),
        }
    }
    of_roots
}

/// Whether an assistant tells its roots when it is asked.
fn tells(peer: &Peer<RoleServer>) -> bool {
    peer.peer_info().is_some_and(|info| info.capabilities.roots.is_some())
}

/// The folder that a root is.
fn folder(root: &Root) -> Result<PathBuf, String> {
    let url = Url::parse(&root.uri).map_err(|error| format!("`{}` is no address: {error}", root.uri))?;
    let folder = if url.scheme() == "file" { url.to_file_path() } else { Err(()) };
    folder.map_err(|()| format!("`{}` is no folder of this machine, as `file:///home` is", root.uri))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_addresses_of_folders_on_this_machine() {
        let folder = |uri: &str| folder(&Root::new(uri));
        assert_eq!(folder("file:///a%20folder/%C3%BC%23"), Ok(PathBuf::from("/a folder/ü#")));
        assert_eq!(folder("file://localhost/a/"), Ok(PathBuf::from("/a/")));
        for other in ["https://example.com/a", "file://elsewhere/a", "/a", "a", ""] {
            folder(other).unwrap_err();
        }
    }
}
