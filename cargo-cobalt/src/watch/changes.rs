//! Changes of files, as the system tells of them: gathered until there are no more for a moment, as editors and git make many
//! at once.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::Event;

use super::folders::{files, folders};
use super::scope::Scope;
use super::watched::{WatchError, Watched, is_change};
use crate::error::Error;
use crate::interrupt;

/// How long nothing changes before a change is taken for complete.
const QUIET: Duration = Duration::from_millis(100);
/// How long is waited for that at most.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often it is looked whether Ctrl-C was pressed.
const TICK: Duration = Duration::from_millis(100);

/// The files that are watched.
#[derive(Debug)]
pub(super) struct Changes {
    pub(super) scope: Scope,
    watched: Watched,
    events: Receiver<notify::Result<Event>>,
    /// The lock file as the latest build has left it.
    lock: Option<Vec<u8>>,
}

/// What has come of some events.
#[derive(Debug, Default)]
struct Gathered {
    files: BTreeSet<PathBuf>,
    /// Those of them that were not there before.
    new: BTreeSet<PathBuf>,
    /// Whether folders may have come or gone.
    folders: bool,
    /// Whether there was more than the system could tell.
    lost: bool,
}

impl Changes {
    /// Changes from now on.
    pub(super) fn of(scope: Scope) -> Result<Self, Error> {
        let (sender, events) = channel();
        let watched = Watched::telling(sender)?;
        let mut changes = Self { scope: scope.clone(), watched, events, lock: None };
        changes.follow(scope)?;
        Ok(changes)
    }

    /// Watches the folders that there are by now, and tells those that are new.
    pub(super) fn follow(&mut self, scope: Scope) -> Result<Vec<PathBuf>, Error> {
        self.scope = scope;
        Ok(self.watched.follow(folders(&self.scope))?)
    }

    /// A run has come to its end. That its build has written the lock file is no change.
    pub(super) fn has_run(&mut self) {
        self.lock = fs::read(&self.scope.lock).ok();
    }

    /// Whether a file that the system told of has changed.
    fn is_changed(&self, file: &Path) -> bool {
        self.scope.has_file(file) && (file != self.scope.lock || fs::read(file).ok() != self.lock)
    }

    /// Waits for a change of files that count, and names them; none where there were too many.
    pub(super) fn wait(&mut self) -> Result<Vec<PathBuf>, Error> {
        loop {
            let mut gathered = self.gather()?;
            // What came and went, as the file that an editor then gives another's name, is no change.
            let Gathered { files: changed, new, .. } = &mut gathered;
            changed.retain(|file| !new.contains(file) || file.exists());
            if gathered.folders || gathered.lost {
                // Nothing told of the files that came with a folder.
                for folder in self.follow(self.scope.clone())? {
                    gathered.files.extend(files(&folder, &self.scope));
                }
            }
            if gathered.lost {
                return Ok(Vec::new());
            }
            if !gathered.files.is_empty() {
                return Ok(gathered.files.into_iter().collect());
            }
        }
    }

    /// Waits for something to happen, and then until nothing does for a moment.
    fn gather(&mut self) -> Result<Gathered, Error> {
        let mut gathered = Gathered::default();
        let mut end = None;
        loop {
            if interrupt::was_heard() {
                return Err(Error::Interrupted);
            }
            match self.events.recv_timeout(if end.is_some() { QUIET } else { TICK }) {
                Ok(event) => {
                    end.get_or_insert_with(|| Instant::now() + PATIENCE);
                    self.take(event, &mut gathered);
                }
                Err(RecvTimeoutError::Timeout) if end.is_none() => {}
                Err(RecvTimeoutError::Timeout) => return Ok(gathered),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(WatchError(notify::Error::generic(
                        "the system has stopped to tell of changes",
                    ))
                    .into());
                }
            }
            if end.is_some_and(|end| Instant::now() > end) {
                return Ok(gathered);
            }
        }
    }

    fn take(&mut self, event: notify::Result<Event>, gathered: &mut Gathered) {
        let Ok(event) = event else {
            gathered.lost = true;
            return;
        };
        gathered.lost |= event.need_rescan();
        if !is_change(&event.kind) {
            return;
        }
        for path in event.paths {
            if path.is_dir() || self.watched.has(&path) {
                gathered.folders = true;
                self.watched.forget(&path, &event.kind);
            } else if self.is_changed(&path) && gathered.files.insert(path.clone()) && event.kind.is_create()
            {
                gathered.new.insert(path);
            }
        }
    }
}
