//! The workspaces of a run: the originals, and a copy for each execution.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use cobalt_core::item::Item;
use cobalt_core::report::WorkspaceChanges;

use super::dir::{DirSettings, WorkspaceCopy, WorkspaceDir};
use super::error::WorkspaceError;
use super::settings::Workspace;
use super::source::ItemSource;
use super::temp_folder::{self, TempFolder};
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
    copy: WorkspaceCopy,
    original: Arc<OriginalFiles>,
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
        let copy = new.copy(true).map_err(|error| error.to_string())?;
        Ok(ExecutionWorkspace { copy, original })
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
        let folder = TempFolder::new()?;
        source.copy_to(folder.path(), &self.settings.ignored)?;
        let hash = source.hash_of(folder.path(), &self.settings.ignored)?;
        Ok(Arc::clone(original.insert(Arc::new(OriginalFiles { folder, hash }))))
    }
}

impl ExecutionWorkspace {
    pub fn dir(&self) -> &WorkspaceDir {
        &self.copy.dir
    }

    /// Ends the programs that the agent started, and everything that these started.
    pub async fn end_processes(&self) {
        let processes = self.dir().processes().clone();
        // Not in the thread pool, which may be waiting for these programs.
        let _ = tokio::task::spawn_blocking(move || processes.end()).await;
    }

    /// What the agent changed.
    pub async fn changes(self: &Arc<Self>) -> Result<WorkspaceChanges, String> {
        let workspace = Arc::clone(self);
        let changes = thread_pool::run(move || {
            let OriginalFiles { folder, hash } = &*workspace.original;
            let changes = workspace.copy.dir.changes_since(folder.path())?;
            Ok::<_, WorkspaceError>(WorkspaceChanges { source: hash.clone(), ..changes })
        })
        .await;
        let changes = match changes {
            Ok(changes) => changes.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        changes.map_err(|problem| format!("failed to compare the workspace with its original: {problem}"))
    }

    /// Removes what an earlier attempt at the same trial kept in this folder, if anything.
    pub fn remove_kept(&self, folder: &Path) -> Result<(), String> {
        match temp_folder::remove(folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(format!("failed to remove `{}`: {error}", folder.display()))
            }
            _ => Ok(()),
        }
    }

    /// Removes the folder, after copying it to `kept` if that is given, without what is ignored.
    pub async fn end(self: Arc<Self>, kept: Option<&Path>) -> Result<(), String> {
        let kept = kept.map(Path::to_owned);
        let ended = thread_pool::run(move || kept.map_or(Ok(()), |kept| self.copy.dir.copy_to(&kept)));
        match ended.await {
            Ok(ended) => ended.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::item;

    #[tokio::test]
    async fn what_an_earlier_attempt_kept_is_removed() {
        let run = Arc::new(RunWorkspaces::new(&Workspace::folder("src/workspace")).unwrap());
        let workspace = run.start(&Arc::new(item! { "id": "a" })).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("a-1");
        fs::create_dir_all(kept.join("old")).unwrap();
        assert_eq!(workspace.remove_kept(&kept), Ok(()));
        assert!(!kept.exists());
        assert_eq!(workspace.remove_kept(&kept), Ok(()), "nothing was kept");
    }
}
