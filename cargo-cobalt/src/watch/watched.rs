//! The folders that the system tells of, each by itself and not what lies deeper in it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use notify::event::ModifyKind;
use notify::{EventHandler, EventKind, RecommendedWatcher, RecursiveMode, Watcher, recommended_watcher};

use crate::error::CommandError;

#[derive(Debug, thiserror::Error)]
#[error("failed to watch for changes: {0}{hint}", hint = hint(.0))]
pub(crate) struct WatchError(#[from] pub(super) notify::Error);

impl CommandError for WatchError {}

/// What to do about a limit of the system.
fn hint(error: &notify::Error) -> &'static str {
    match error.kind {
        notify::ErrorKind::MaxFilesWatch => {
            "; raise the limit, on Linux `fs.inotify.max_user_watches` of sysctl"
        }
        _ => "",
    }
}

#[derive(Debug)]
pub(crate) struct Watched {
    watcher: RecommendedWatcher,
    folders: BTreeSet<PathBuf>,
}

impl Watched {
    /// No folder yet; what happens in those to come is told to the listener.
    pub(crate) fn telling(listener: impl EventHandler) -> Result<Self, WatchError> {
        Ok(Self { watcher: recommended_watcher(listener)?, folders: BTreeSet::new() })
    }

    /// Watches these folders and no others, and tells those that are new.
    pub(crate) fn follow(&mut self, folders: BTreeSet<PathBuf>) -> Result<Vec<PathBuf>, WatchError> {
        for gone in self.folders.difference(&folders) {
            // The system may have ended that by itself.
            let _ = self.watcher.unwatch(gone);
        }
        let mut new = Vec::new();
        for folder in folders.difference(&self.folders) {
            match self.watcher.watch(folder, RecursiveMode::NonRecursive) {
                Ok(()) => new.push(folder.clone()),
                // It is gone again.
                Err(_) if !folder.exists() => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.folders.retain(|folder| folders.contains(folder));
        self.folders.extend(new.iter().cloned());
        Ok(new)
    }

    /// Whether a folder is one of them.
    pub(crate) fn has(&self, folder: &Path) -> bool {
        self.folders.contains(folder)
    }

    /// A folder that is gone, or has another in its place, is to be watched anew, with all that lay in it.
    pub(crate) fn forget(&mut self, folder: &Path, kind: &EventKind) {
        if matches!(
            kind,
            EventKind::Remove(_) | EventKind::Create(_) | EventKind::Modify(ModifyKind::Name(_))
        ) {
            let watcher = &mut self.watcher;
            self.folders.retain(|watched| {
                let stays = !watched.starts_with(folder);
                if !stays {
                    let _ = watcher.unwatch(watched);
                }
                stays
            });
        }
    }
}

/// Whether this happens to what a file holds: to read it, as a build does, or to touch it, is no change.
pub(crate) fn is_change(kind: &EventKind) -> bool {
    !matches!(kind, EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_)))
}
