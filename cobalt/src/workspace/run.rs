//! The workspaces of a run: the originals, and a copy for each execution.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use cobalt_core::item::Item;
use cobalt_core::report::WorkspaceChanges;

use super::changes;
use super::dir::{DirSettings, WorkspaceDir};
use super::error::{WorkspaceError, io_error};
use super::settings::Workspace;
use super::source::ItemSource;
use super::temp_folder::TempFolder;
use crate::thread_pool;

/// The workspaces of a run.
#[derive(Debug)]
pub struct RunWorkspaces {
    workspace: Workspace,
    settings: Arc<DirSettings>,
    /// Made once and never given to an agent, so executions start from the same files although the source may change.
    originals: Mutex<HashMap<ItemSource, Original>>,
}

/// An original; `None` until its first execution starts.
type Original = Arc<Mutex<Option<Arc<OriginalFiles>>>>;

/// The files from which executions start.
#[derive(Debug)]
struct OriginalFiles {
    folder: TempFolder,
    /// See [`ItemSource::hash`].
    hash: Option<String>,
}

/// The workspace of one execution.
#[derive(Debug)]
pub struct ExecutionWorkspace {
    dir: WorkspaceDir,
    original: Arc<OriginalFiles>,
    /// Removed with it.
    _folder: TempFolder,
}

impl RunWorkspaces {
    /// Checks the settings.
    pub fn new(workspace: &Workspace) -> Result<Self, String> {
        Ok(Self {
            workspace: workspace.clone(),
            settings: Arc::new(DirSettings::of(workspace)?),
            originals: Mutex::default(),
        })
    }

    /// Checks that the files of an item are there. A repository is only fetched for an execution.
    pub fn check(&self, item: &Item) -> Result<(), String> {
        ItemSource::of(&self.workspace, item).map(drop)
    }

    /// A hash of the files that an item starts from; `None` if they cannot have changed, or cannot be read.
    pub fn source_hash(&self, item: &Item) -> Option<String> {
        ItemSource::of(&self.workspace, item).ok()?.hash(&self.settings.ignored).ok()?
    }

    /// A fresh copy for an execution of an item. The error says what failed.
    pub async fn start(self: &Arc<Self>, item: &Arc<Item>) -> Result<Arc<ExecutionWorkspace>, String> {
        let (run, item) = (Arc::clone(self), Arc::clone(item));
        let started = thread_pool::run(move || run.copy(&item)).await;
        let started = started.unwrap_or_else(|error| Err(error.to_string()));
        started.map(Arc::new).map_err(|problem| format!("failed to prepare the workspace: {problem}"))
    }

    fn copy(&self, item: &Item) -> Result<ExecutionWorkspace, String> {
        let source = ItemSource::of(&self.workspace, item)?;
        let original = self.original(&source).map_err(|error| error.to_string())?;
        let new = WorkspaceDir::new(original.folder.path().to_owned(), Arc::clone(&self.settings));
        let (folder, dir) = new.copy(true).map_err(|error| error.to_string())?;
        Ok(ExecutionWorkspace { dir, original, _folder: folder })
    }

    fn original(&self, source: &ItemSource) -> Result<Arc<OriginalFiles>, WorkspaceError> {
        let mut originals = self.originals.lock().unwrap_or_else(PoisonError::into_inner);
        let original = Arc::clone(originals.entry(source.clone()).or_default());
        drop(originals);
        // Others that need the same one wait here. After an error, the next one tries again.
        let mut original = original.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(original) = &*original {
            return Ok(Arc::clone(original));
        }
        let folder = TempFolder::new().map_err(io_error("create a folder in", &std::env::temp_dir()))?;
        source.copy_to(folder.path(), &self.settings.ignored)?;
        let hash = match source {
            ItemSource::Folder(_) => Some(changes::hash(folder.path(), &self.settings.ignored)?),
            ItemSource::Commit { .. } => None,
        };
        Ok(Arc::clone(original.insert(Arc::new(OriginalFiles { folder, hash }))))
    }
}

impl ExecutionWorkspace {
    pub fn dir(&self) -> &WorkspaceDir {
        &self.dir
    }

    /// What the agent changed.
    pub async fn changes(self: &Arc<Self>) -> Result<WorkspaceChanges, String> {
        let workspace = Arc::clone(self);
        let changes = thread_pool::run(move || {
            let OriginalFiles { folder, hash } = &*workspace.original;
            let changes = workspace.dir.changes_since(folder.path())?;
            Ok::<_, WorkspaceError>(WorkspaceChanges { source: hash.clone(), ..changes })
        })
        .await;
        let changes = match changes {
            Ok(changes) => changes.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        changes.map_err(|problem| format!("failed to compare the workspace with its original: {problem}"))
    }

    /// Removes the folder, after copying it to `kept` if that is given, without what is ignored.
    pub async fn end(self: Arc<Self>, kept: Option<&Path>) -> Result<(), String> {
        let kept = kept.map(Path::to_owned);
        let ended = thread_pool::run(move || kept.map_or(Ok(()), |kept| self.dir.copy_to(&kept)));
        match ended.await {
            Ok(ended) => ended.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}
