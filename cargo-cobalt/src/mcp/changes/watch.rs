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

use super::state::{News, State, nearest};
use crate::cli::{Build, Selection};
use crate::error::Error;
use crate::mcp::projects::Project;
use crate::project::MANIFEST;
use crate::watch::{Scope, Watched, folders, is_change};

/// Debounce time: a change is complete when nothing else changes for this long.
const QUIET: Duration = Duration::from_millis(100);
/// The longest debounce, and so the notification interval for a running experiment.
const PATIENCE: Duration = Duration::from_secs(1);

/// An event of the file system.
type Told = notify::Result<Event>;

/// Which files of a project are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
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
    pub async fn start(project: Arc<Project>, extent: Extent, tell: Sender<News>) -> Result<Self, Error> {
        let (sender, events) = unbounded_channel();
        let listener = move |event: Told| {
            if event.as_ref().map_or(true, |event| is_change(&event.kind)) {
                // Nobody listens any more.
                let _ = sender.send(event);
            }
        };
        let watched = Watched::telling(listener)?;
        let end = CancellationToken::new();
        match extent {
            Extent::Records => {
                let records = aside(move || Records::of(project, watched)).await?;
                tokio::spawn(follow(records, events, tell, end.clone()));
            }
            Extent::Sources => {
                let sources = aside(move || Sources::of(project, watched)).await?;
                tokio::spawn(follow(sources, events, tell, end.clone()));
            }
        }
        Ok(Self { _end: end.drop_guard() })
    }
}

/// Runs blocking file access on a separate thread.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(Error::Server(error.into())))
}

/// Turns file system events into changes.
trait Look: Send + 'static {
    /// What changed, given these events.
    fn look(&mut self, events: Vec<Told>) -> Result<Option<News>, Error>;
}

async fn follow(
    mut looking: impl Look,
    mut events: UnboundedReceiver<Told>,
    tell: Sender<News>,
    end: CancellationToken,
) {
    while let Some(events) = gather(&mut events, &end).await {
        let looked = aside(move || {
            let news = looking.look(events);
            Ok((looking, news))
        });
        let news = match looked.await {
            Ok((still_looking, news)) => {
                looking = still_looking;
                news
            }
            Err(error) => return error.tell(),
        };
        match news {
            Ok(Some(news)) => {
                if tell.send(news).await.is_err() {
                    return;
                }
            }
            Ok(None) => {}
            // Some folders could not be watched; changes in the others are still reported.
            Err(error) => error.tell(),
        }
    }
}

/// Waits for an event, then collects events until it is quiet; `None` at the end.
async fn gather(events: &mut UnboundedReceiver<Told>, end: &CancellationToken) -> Option<Vec<Told>> {
    let first = tokio::select! {
        event = events.recv() => event?,
        () = end.cancelled() => return None,
    };
    let mut gathered = vec![first];
    let latest = Instant::now() + PATIENCE;
    while Instant::now() < latest {
        match timeout_at(latest.min(Instant::now() + QUIET), events.recv()).await {
            Ok(Some(event)) => gathered.push(event),
            Ok(None) | Err(_) => break,
        }
    }
    Some(gathered)
}

/// Watches settings and runs.
#[derive(Debug)]
struct Records {
    project: Arc<Project>,
    watched: Watched,
    state: State,
}

impl Records {
    fn of(project: Arc<Project>, watched: Watched) -> Result<Self, Error> {
        let mut records = Self { project, watched, state: State::unseen() };
        records.news()?;
        Ok(records)
    }

    fn news(&mut self) -> Result<News, Error> {
        let mut state = State::located(&self.state, &self.project);
        // A folder may be created in one of them before it is watched.
        while !self.watched.follow(state.folders(&self.project))?.is_empty() {}
        let news = state.look(&self.state, &self.project);
        self.state = state;
        Ok(news)
    }
}

impl Look for Records {
    fn look(&mut self, events: Vec<Told>) -> Result<Option<News>, Error> {
        for event in events.into_iter().flatten() {
            for path in &event.paths {
                self.watched.forget(path, &event.kind);
            }
        }
        Ok(Some(self.news()?).filter(News::is_some))
    }
}

/// Watches the sources of experiments.
#[derive(Debug)]
struct Sources {
    project: Arc<Project>,
    watched: Watched,
    scope: Scope,
}

impl Sources {
    fn of(project: Arc<Project>, watched: Watched) -> Result<Self, Error> {
        let scope = scope_of(&project);
        let mut sources = Self { project, watched, scope };
        sources.follow()?;
        Ok(sources)
    }

    /// Watches the existing folders, and returns those that are new. If the project's folder is gone, watches its parent, as it
    /// may be recreated.
    fn follow(&mut self) -> Result<Vec<PathBuf>, Error> {
        let mut folders = folders(&self.scope);
        folders.extend(nearest(&self.project.root));
        Ok(self.watched.follow(folders)?)
    }

    /// The source files in the events, and whether a folder changed.
    fn changed(&mut self, events: Vec<Told>) -> (Vec<PathBuf>, bool) {
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

impl Look for Sources {
    fn look(&mut self, events: Vec<Told>) -> Result<Option<News>, Error> {
        let (files, are_folders) = self.changed(events);
        if files.iter().any(|file| file.ends_with(MANIFEST)) {
            self.scope = scope_of(&self.project);
        }
        let new = self.follow()?;
        let is_changed = !files.is_empty() || (are_folders && !new.is_empty());
        Ok(is_changed.then(|| News::of_experiments(&self.project)))
    }
}

/// The folders of the sources. If a manifest has an error, the whole folder, to notice when it is fixed.
fn scope_of(project: &Project) -> Scope {
    let build = Build { manifest_path: Some(project.root.join(MANIFEST)), ..Build::default() };
    let scope = Scope::read(&Selection::default(), &build, &Flags::default());
    scope.unwrap_or_else(|_| Scope::around(&project.root))
}
