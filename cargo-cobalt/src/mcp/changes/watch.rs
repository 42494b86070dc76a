//! Watches a project's files while there are subscriptions.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cobalt::command::config::Flags;
use notify::Event;
use tokio::sync::mpsc::{Sender, UnboundedReceiver, unbounded_channel};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::snapshot::{ProjectChanges, Snapshot, nearest_folder};
use crate::cli::{BuildOptions, Selection};
use crate::error::Error;
use crate::mcp::projects::Project;
use crate::project::MANIFEST;
use crate::watch::{FolderWatcher, WatchScope, folders, is_change};

/// Debounce time: a change is complete when nothing else changes for this long.
const DEBOUNCE: Duration = Duration::from_millis(100);
/// The longest debounce, and so the notification interval for a running experiment.
const MAX_DEBOUNCE: Duration = Duration::from_secs(1);

/// An event of the file system.
type FsEvent = notify::Result<Event>;

/// Which files of a project are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WatchedFiles {
    /// Its settings and runs, in a few folders.
    Records,
    /// The sources of its experiments.
    Sources,
}

/// A watch, which ends when it is dropped.
#[derive(Debug)]
pub struct Watch {
    _end: DropGuard,
}

impl Watch {
    /// Reports every change after it returns.
    pub async fn start(
        project: Arc<Project>,
        extent: WatchedFiles,
        tell: Sender<ProjectChanges>,
    ) -> Result<Self, Error> {
        let (sender, events) = unbounded_channel();
        let listener = move |event: FsEvent| {
            if event.as_ref().map_or(true, |event| is_change(&event.kind)) {
                // Nobody listens any more.
                let _ = sender.send(event);
            }
        };
        let watched = FolderWatcher::new(listener)?;
        let end = CancellationToken::new();
        match extent {
            WatchedFiles::Records => {
                let records = run_blocking(move || RecordWatcher::of(project, watched)).await?;
                tokio::spawn(watch_events(records, events, tell, end.clone()));
            }
            WatchedFiles::Sources => {
                let sources = run_blocking(move || SourceWatcher::of(project, watched)).await?;
                tokio::spawn(watch_events(sources, events, tell, end.clone()));
            }
        }
        Ok(Self { _end: end.drop_guard() })
    }
}

/// Runs blocking file access on a separate thread.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(Error::Server(error.into())))
}

/// Turns file system events into changes.
trait ChangeDetector: Send + 'static {
    /// What changed, given these events.
    fn detect(&mut self, events: Vec<FsEvent>) -> Result<Option<ProjectChanges>, Error>;
}

async fn watch_events(
    mut looking: impl ChangeDetector,
    mut events: UnboundedReceiver<FsEvent>,
    tell: Sender<ProjectChanges>,
    end: CancellationToken,
) {
    while let Some(events) = debounce(&mut events, &end).await {
        let looked = run_blocking(move || {
            let news = looking.detect(events);
            Ok((looking, news))
        });
        let news = match looked.await {
            Ok((still_looking, news)) => {
                looking = still_looking;
                news
            }
            Err(error) => return error.eprint(),
        };
        match news {
            Ok(Some(news)) => {
                if tell.send(news).await.is_err() {
                    return;
                }
            }
            Ok(None) => {}
            // Some folders could not be watched; changes in the others are still reported.
            Err(error) => error.eprint(),
        }
    }
}

/// Waits for an event, then collects events until it is quiet; `None` at the end.
async fn debounce(events: &mut UnboundedReceiver<FsEvent>, end: &CancellationToken) -> Option<Vec<FsEvent>> {
    let first = tokio::select! {
        event = events.recv() => event?,
        () = end.cancelled() => return None,
    };
    let mut gathered = vec![first];
    let latest = Instant::now() + MAX_DEBOUNCE;
    while Instant::now() < latest {
        match timeout_at(latest.min(Instant::now() + DEBOUNCE), events.recv()).await {
            Ok(Some(event)) => gathered.push(event),
            Ok(None) | Err(_) => break,
        }
    }
    Some(gathered)
}

/// Watches settings and runs.
#[derive(Debug)]
struct RecordWatcher {
    project: Arc<Project>,
    watched: FolderWatcher,
    state: Snapshot,
}

impl RecordWatcher {
    fn of(project: Arc<Project>, watched: FolderWatcher) -> Result<Self, Error> {
        let mut records = Self { project, watched, state: Snapshot::empty() };
        records.scan()?;
        Ok(records)
    }

    fn scan(&mut self) -> Result<ProjectChanges, Error> {
        let mut state = Snapshot::locate(&self.state, &self.project);
        // A folder may be created in one of them before it is watched.
        while !self.watched.follow(state.folders(&self.project))?.is_empty() {}
        let news = state.scan(&self.state, &self.project);
        self.state = state;
        Ok(news)
    }
}

impl ChangeDetector for RecordWatcher {
    fn detect(&mut self, events: Vec<FsEvent>) -> Result<Option<ProjectChanges>, Error> {
        for event in events.into_iter().flatten() {
            for path in &event.paths {
                self.watched.forget(path, &event.kind);
            }
        }
        Ok(Some(self.scan()?).filter(ProjectChanges::has_changes))
    }
}

/// Watches the sources of experiments.
#[derive(Debug)]
struct SourceWatcher {
    project: Arc<Project>,
    watched: FolderWatcher,
    scope: WatchScope,
}

impl SourceWatcher {
    fn of(project: Arc<Project>, watched: FolderWatcher) -> Result<Self, Error> {
        let scope = scope_of(&project);
        let mut sources = Self { project, watched, scope };
        sources.follow()?;
        Ok(sources)
    }

    /// Watches the existing folders, and returns those that are new. If the project's folder is gone, watches its parent, as it
    /// may be recreated.
    fn follow(&mut self) -> Result<Vec<PathBuf>, Error> {
        let mut folders = folders(&self.scope);
        folders.extend(nearest_folder(&self.project.root));
        Ok(self.watched.follow(folders)?)
    }

    /// The source files in the events, and whether a folder changed.
    fn changed(&mut self, events: Vec<FsEvent>) -> (Vec<PathBuf>, bool) {
        let (mut files, mut are_folders) = (Vec::new(), false);
        for event in events {
            let Ok(event) = event else {
                // Events were lost.
                are_folders = true;
                continue;
            };
            are_folders |= event.need_rescan();
            for path in event.paths {
                if path.is_dir() || self.watched.has(&path) {
                    self.watched.forget(&path, &event.kind);
                    are_folders = true;
                } else if self.scope.has_source(&path) {
                    files.push(path);
                }
            }
        }
        (files, are_folders)
    }
}

impl ChangeDetector for SourceWatcher {
    fn detect(&mut self, events: Vec<FsEvent>) -> Result<Option<ProjectChanges>, Error> {
        let (files, are_folders) = self.changed(events);
        if files.iter().any(|file| file.ends_with(MANIFEST)) {
            self.scope = scope_of(&self.project);
        }
        let new = self.follow()?;
        let is_changed = !files.is_empty() || (are_folders && !new.is_empty());
        Ok(is_changed.then(|| ProjectChanges::of_experiments(&self.project)))
    }
}

/// The folders of the sources. If a manifest has an error, the whole folder, to notice when it is fixed.
fn scope_of(project: &Project) -> WatchScope {
    let build = BuildOptions { manifest_path: Some(project.root.join(MANIFEST)), ..BuildOptions::default() };
    let scope = WatchScope::read(&Selection::default(), &build, &Flags::default());
    scope.unwrap_or_else(|_| WatchScope::whole_project(&project.root))
}
