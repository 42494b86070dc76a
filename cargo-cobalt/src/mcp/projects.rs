//! The projects that the server serves: those of the assistant's roots, and the one that the server was started in.
#![expect(deprecated, reason = "roots are deprecated in the protocol, without a replacement")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cobalt::command::config::{Config, Flags, project_root};
use cobalt_core::reporters::escape_control;
use cobalt_core::wording;
use rmcp::RoleServer;
use rmcp::model::{
    InputRequest, InputRequiredResult, InputResponses, ListRootsRequest, ListRootsResult, ProtocolVersion,
    Root,
};
use rmcp::service::{Peer, RequestContext};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::{Mutex, watch};
use tokio::task::block_in_place;
use tokio::time::timeout;
use url::Url;
use walkdir::{DirEntry, WalkDir};

use crate::config::settings_of;
use crate::error::Error;

const MANIFEST: &str = "Cargo.toml";
/// How many levels below a root are searched for packages.
const SEARCH_DEPTH: usize = 2;
/// The maximum number of packages found below a root.
const MAX_PACKAGES: usize = 50;

/// A package, or a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Project {
    /// The name of its folder.
    pub name: String,
    /// Its folder, with symlinks resolved.
    pub root: PathBuf,
}

impl Project {
    /// The project around a folder.
    fn containing(folder: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Folder { path: folder.to_owned(), source };
        let root = project_root(&folder.canonicalize().map_err(failed)?);
        if !root.join(MANIFEST).is_file() {
            return Err(Error::NoProject(folder.to_owned()));
        }
        Ok(Self::from_root(root))
    }

    /// The project around a folder or, if there is none, those below it.
    fn containing_or_below(folder: &Path) -> Result<Vec<Self>, Error> {
        let nowhere = match Self::containing(folder) {
            Err(error @ Error::NoProject(_)) => error,
            around => return around.map(|project| vec![project]),
        };
        let below = packages_below(&folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
        if below.is_empty() { Err(nowhere) } else { Ok(below.into_iter().map(Self::from_root).collect()) }
    }

    fn from_root(root: PathBuf) -> Self {
        let name = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy().into_owned();
        Self { name, root }
    }

    /// Whether this is its name, or an absolute path in it.
    fn matches_name(&self, name: &str) -> bool {
        let is_around = || Self::containing(Path::new(name)).is_ok_and(|around| around == *self);
        self.name == name || (Path::new(name).is_absolute() && is_around())
    }

    /// Reads its current settings.
    pub fn settings(&self) -> Result<Config, Error> {
        settings_of(&self.root, &Flags::default())
    }
}

/// The package folders below a folder, without those inside another package.
fn packages_below(folder: &Path) -> Vec<PathBuf> {
    let is_looked_into = |entry: &DirEntry| {
        let name = entry.file_name().to_string_lossy();
        let is_in_package = || entry.path().parent().is_some_and(|parent| parent.join(MANIFEST).is_file());
        entry.file_type().is_dir() && !name.starts_with('.') && name != "node_modules" && !is_in_package()
    };
    let folders = WalkDir::new(folder).min_depth(1).max_depth(SEARCH_DEPTH).sort_by_file_name();
    let folders = folders.into_iter().filter_entry(is_looked_into).flatten().map(DirEntry::into_path);
    folders.filter(|folder| folder.join(MANIFEST).is_file()).take(MAX_PACKAGES).collect()
}

/// The projects of the assistant's roots.
#[derive(Debug, Default)]
pub struct RootProjects {
    pub projects: Vec<Arc<Project>>,
    /// Roots that were skipped, and why.
    pub left_out: Vec<String>,
}

impl RootProjects {
    pub fn add(&mut self, project: Project) {
        add(&mut self.projects, project);
    }
}

/// All projects.
#[derive(Debug)]
pub struct Projects {
    /// Those named on the command line, or that of the current folder.
    given: Vec<Arc<Project>>,
    of_roots: watch::Sender<RootProjects>,
}

impl Projects {
    /// The projects of the named folders, or that of the current folder.
    pub fn new(folders: &[PathBuf]) -> Result<Self, Error> {
        let mut given = Vec::new();
        for folder in folders {
            add(&mut given, Project::containing(folder)?);
        }
        if folders.is_empty() {
            let here = std::env::current_dir().map_err(Error::CurrentFolder)?;
            // If it is in none, the assistant's roots may be in one.
            given.extend(Project::containing(&here).ok().map(Arc::new));
        }
        Ok(Self { given, of_roots: watch::Sender::default() })
    }

    /// Replaces the projects of the assistant's roots.
    fn set_roots(&self, of_roots: RootProjects) {
        self.of_roots.send_if_modified(|before| {
            let are_others = self.merged(before) != self.merged(&of_roots);
            *before = of_roots;
            are_others
        });
    }

    /// A receiver that is notified when the projects change.
    pub fn changes(&self) -> watch::Receiver<RootProjects> {
        self.of_roots.subscribe()
    }

    /// All projects, those of the command line first.
    pub fn all(&self) -> Vec<Arc<Project>> {
        self.merged(&self.of_roots.borrow())
    }

    fn merged(&self, of_roots: &RootProjects) -> Vec<Arc<Project>> {
        let mut all = self.given.clone();
        for project in &of_roots.projects {
            if !all.contains(project) {
                all.push(Arc::clone(project));
            }
        }
        all
    }

    /// Whether there is a project with this name or folder or, without a name, any project.
    fn contains(&self, name: Option<&str>) -> bool {
        self.all().iter().any(|project| name.is_none_or(|name| project.matches_name(name)))
    }

    /// The project with this name or folder or, without a name, the only project.
    pub fn select(&self, name: Option<&str>) -> Result<Arc<Project>, Error> {
        let all = self.all();
        let mut meant = all.iter().filter(|project| name.is_none_or(|name| project.matches_name(name)));
        match (meant.next(), meant.next()) {
            (Some(project), None) => Ok(Arc::clone(project)),
            (Some(_), Some(_)) => Err(Error::Arguments(ambiguous_message(name, &all))),
            (None, _) => Err(Error::Arguments(self.unknown_message(name, &all))),
        }
    }

    fn unknown_message(&self, name: Option<&str>, all: &[Arc<Project>]) -> String {
        let mut said = match name {
            Some(name) if !all.is_empty() => {
                let instead = wording::suggest_or_list(name, all.iter().map(|it| &*it.name));
                format!("no project `{name}` is served; {instead}")
            }
            _ => "no project is served: start `cargo cobalt mcp` in a project, or pass `--project DIR`"
                .to_owned(),
        };
        for reason in &self.of_roots.borrow().left_out {
            said += &format!("; skipped: {reason}");
        }
        said
    }
}

fn add(projects: &mut Vec<Arc<Project>>, project: Project) {
    if !projects.iter().any(|known| **known == project) {
        projects.push(Arc::new(project));
    }
}

fn ambiguous_message(name: Option<&str>, all: &[Arc<Project>]) -> String {
    let ask = match name {
        Some(name) => format!("several projects are named `{name}`: pass a folder as `project`"),
        None => "several projects are served: pass one as `project`".to_owned(),
    };
    let of_name = all.iter().filter(|project| name.is_none_or(|name| project.name == name));
    let listed: Vec<_> = of_name.map(|it| format!("{} ({})", it.name, it.root.display())).collect();
    format!("{ask}; available: {}", wording::join_quoted(listed.iter().map(String::as_str)))
}

/// How long an assistant may take to return its roots.
const ROOTS_TIMEOUT: Duration = Duration::from_secs(5);
/// The name of the request for roots among an assistant's input requests.
const NAME: &str = "roots";

/// The assistant's roots: the folders it works in.
///
/// Up to protocol version 2025-11-25 the server requests them at the start, when the assistant reports a change, and when a call
/// names an unknown project. Later versions have no requests to the assistant: a response lists the missing input, and the
/// assistant repeats its call with it.
#[derive(Debug)]
pub struct Roots {
    projects: Arc<Projects>,
    /// One request at a time, so the last response wins.
    asking: Mutex<()>,
    /// Whether the assistant's roots are still to come.
    are_awaited: watch::Sender<bool>,
}

impl Roots {
    pub fn new(projects: Arc<Projects>) -> Self {
        Self { projects, asking: Mutex::default(), are_awaited: watch::Sender::new(false) }
    }

    /// Expects roots from an assistant that has sent `initialize`, if it supports them.
    pub fn expect_from(&self, peer: &Peer<RoleServer>) {
        self.are_awaited.send_replace(supports_roots(peer));
    }

    /// Requests the roots, if the assistant supports them.
    pub async fn request(&self, peer: &Peer<RoleServer>) {
        if !supports_roots(peer) {
            return;
        }
        let _one_at_a_time = self.asking.lock().await;
        self.are_awaited.send_replace(true);
        match timeout(ROOTS_TIMEOUT, peer.list_roots()).await {
            Ok(Ok(told)) => self.store(told),
            Ok(Err(error)) => {
                eprintln!(
                    "warning: failed to get the assistant's roots: {}",
                    escape_control(&error.to_string())
                )
            }
            Err(_) => {
                eprintln!(
                    "warning: the assistant did not return its roots within {} s",
                    ROOTS_TIMEOUT.as_secs()
                )
            }
        }
        self.are_awaited.send_replace(false);
    }

    /// Makes the roots known if a request needs them for its project; they may be in `responses` to an earlier result. Returns
    /// the input to request first, if any.
    pub async fn required_input(
        &self,
        project: Option<&str>,
        responses: Option<&InputResponses>,
        context: &RequestContext<RoleServer>,
    ) -> Option<InputRequiredResult> {
        if let Some(responses) = responses {
            let told = responses.get(NAME).and_then(|told| serde_json::from_value(told.clone()).ok());
            told.into_iter().for_each(|told| self.store(told));
            return None;
        }
        self.wait().await;
        if self.projects.contains(project) {
            return None;
        }
        if context.protocol_version().is_none_or(|version| version < ProtocolVersion::V_2026_07_28) {
            self.request(&context.peer).await;
            return None;
        }
        context.client_capabilities()?.roots?;
        let request = InputRequest::ListRoots(ListRootsRequest::default());
        Some(InputRequiredResult::from_input_requests([(NAME.to_owned(), request)].into()))
    }

    /// Waits until the roots are known; only once for an assistant that does not return them.
    pub async fn wait(&self) {
        let mut are_awaited = self.are_awaited.subscribe();
        if timeout(ROOTS_TIMEOUT, are_awaited.wait_for(|awaited| !awaited)).await.is_err() {
            self.are_awaited.send_replace(false);
        }
    }

    fn store(&self, told: ListRootsResult) {
        // This walks folders, and some are large.
        let of_roots = block_in_place(|| resolve_roots(&told.roots));
        for reason in &of_roots.left_out {
            eprintln!("warning: skipped a root: {}", escape_control(reason));
        }
        self.projects.set_roots(of_roots);
    }
}

/// Finds the projects of the roots.
fn resolve_roots(roots: &[Root]) -> RootProjects {
    let mut of_roots = RootProjects::default();
    for root in roots {
        let projects = root_folder(root)
            .and_then(|folder| Project::containing_or_below(&folder).map_err(|error| error.to_string()));
        match projects {
            Ok(projects) => projects.into_iter().for_each(|project| of_roots.add(project)),
            Err(reason) => of_roots.left_out.push(reason),
        }
    }
    of_roots
}

/// Whether an assistant supports roots.
fn supports_roots(peer: &Peer<RoleServer>) -> bool {
    peer.peer_info().is_some_and(|info| info.capabilities.roots.is_some())
}

/// The folder of a root.
fn root_folder(root: &Root) -> Result<PathBuf, String> {
    let url = Url::parse(&root.uri).map_err(|error| format!("`{}` is not a valid URI: {error}", root.uri))?;
    let folder = if url.scheme() == "file" { url.to_file_path() } else { Err(()) };
    folder.map_err(|()| format!("`{}` is not a local folder such as `file:///home`", root.uri))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_uris_of_local_folders() {
        let folder = |uri: &str| root_folder(&Root::new(uri));
        assert_eq!(folder("file:///a%20folder/%C3%BC%23"), Ok(PathBuf::from("/a folder/ü#")));
        assert_eq!(folder("file://localhost/a/"), Ok(PathBuf::from("/a/")));
        for other in ["https://example.com/a", "file://elsewhere/a", "/a", "a", ""] {
            folder(other).unwrap_err();
        }
    }
}
