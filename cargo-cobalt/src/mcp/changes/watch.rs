//! Watches a project's files for as long as somebody wants to hear of them.

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

/// How long nothing changes before a change is taken for complete.
const QUIET: Duration = Duration::from_millis(100);
/// How long is waited for that at most: so often a run that goes on is told of.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the system tells.
type Told = notify::Result<Event>;

/// What is watched of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// Its settings and runs, which lie in a few folders.
    Records,
    /// All of which experiments are made.
    Sources,
}

/// Goes on until it is dropped.
#[derive(Debug)]
pub struct Watch {
    _end: DropGuard,
}

impl Watch {
    /// What happens from its return on is told.
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

/// Does what reads files where nothing waits for it.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(Error::Server(error.into())))
}

/// What knows what to make of events.
trait Look: Send + 'static {
    /// What has changed by these events.
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
            // Some of the folders could not be watched: what happens in the others is still told.
            Err(error) => error.tell(),
        }
    }
}

/// Waits for something to happen, and then until nothing does for a moment; `None` at the end.
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
        // A folder may be made in one of them before that is watched.
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

/// Watches what experiments are made of.
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

    /// Watches the folders that there are by now, and tells those that are new. Where that of the project is gone, it may come
    /// again in the one around it.
    fn follow(&mut self) -> Result<Vec<PathBuf>, Error> {
        let mut folders = folders(&self.scope);
        folders.extend(nearest(&self.project.root));
        Ok(self.watched.follow(folders)?)
    }

    /// The files and folders among the paths of events that count.
    fn changed(&mut self, events: Vec<Told>) -> (Vec<PathBuf>, bool) {
        let (mut files, mut are_folders) = (Vec::new(), false);
        for event in events {
            let Ok(event) = event else {
                // There was more than the system could tell.
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

/// Where sources are. With an error in a manifest it is all of the folder, so that it is noticed when that is mended.
fn scope_of(project: &Project) -> Scope {
    let build = Build { manifest_path: Some(project.root.join(MANIFEST)), ..Build::default() };
    let scope = Scope::read(&Selection::default(), &build, &Flags::default());
    scope.unwrap_or_else(|_| Scope::around(&project.root))
}
