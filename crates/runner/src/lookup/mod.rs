//! Finds runs by name on this machine and, if a remote store is configured, in the store.
//!
//! Runs of this machine come first, and the store is asked only for what they do not have. For a branch, the runs of both places
//! count: the latest may be another's.

use std::cell::OnceCell;
use std::collections::HashMap;

use cobalt::command::config::Config;
use cobalt::command::log;

use crate::cli::{RunName, RunSelector, is_run_id};
use crate::error::{CommandError, Error};
use crate::index::IndexedRun;
use crate::remote::{Remote, RemoteEntry, RemoteError};
use crate::runs::{KnownRuns, ResolvedName, ResolvedRun, UnknownRun};
use crate::terminal::eprint_wrapped;

/// The runs of this machine and of the remote store. The store is read when it is first needed.
#[derive(Debug)]
pub struct RunLookup<'a> {
    settings: &'a Config,
    local: KnownRuns,
    /// `None` if no store is configured; the message if it cannot be read.
    team: OnceCell<Result<Option<TeamRuns>, String>>,
}

/// The runs of both places.
#[derive(Debug)]
struct TeamRuns {
    remote: Remote,
    known: KnownRuns,
    /// The runs that only the store has, by ID.
    entries: HashMap<String, RemoteEntry>,
}

/// The store is needed and cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UnreadableStore(String);

impl CommandError for UnreadableStore {}

impl<'a> RunLookup<'a> {
    /// Reads the runs of this machine.
    pub fn open(settings: &'a Config) -> Result<Self, Error> {
        let local = KnownRuns::open(settings.layout())?;
        Ok(Self { settings, local, team: OnceCell::new() })
    }

    /// The runs of this machine and, if the store was needed, those of the store.
    pub fn known(&self) -> &KnownRuns {
        match self.team.get() {
            Some(Ok(Some(team))) => &team.known,
            _ => &self.local,
        }
    }

    /// Resolves several names together, as [`KnownRuns::resolve`] does, and fetches the runs.
    pub fn resolve(&self, names: &[RunName]) -> Result<Vec<ResolvedRun>, Error> {
        let asked: Vec<_> = names.iter().map(ToString::to_string).collect();
        log::debug!(names = asked.join(","), "looks for runs on this machine");
        let resolved = self.local.resolve_with(names, |name| self.find(name));
        let runs = match resolved {
            Err(error) if may_be_elsewhere(&error) => match self.team()? {
                // All names together, so that they count the same runs.
                Some(team) => team.known.resolve(names)?,
                None => return Err(error),
            },
            resolved => resolved?,
        };
        self.fetch(runs)
    }

    /// What a name refers to on its own. The runs may have to be [fetched](Self::fetch).
    pub fn find(&self, name: &RunName) -> Result<ResolvedName, Error> {
        if matches!(name.meaning, RunSelector::Branch { .. } | RunSelector::Target { .. }) {
            return self.find_in_both(name);
        }
        match self.local.find(name) {
            Err(error) if may_be_elsewhere(&error) => match self.team()? {
                Some(team) => team.known.find(name),
                None => Err(error),
            },
            // The store may have a run with this ID, which is found before another with this name.
            Ok(found) if is_run_id(name.as_str()) && !found.has(name.as_str()) => self.find_in_both(name),
            found => found,
        }
    }

    /// The same, and for a git revision a run of each experiment of either place, so that none lacks what only the store has.
    pub fn find_for_each(&self, name: &RunName) -> Result<ResolvedName, Error> {
        let is_revision = name.meaning == RunSelector::Lookup && self.local.commit(name.as_str()).is_some();
        if is_revision { self.find_in_both(name) } else { self.find(name) }
    }

    /// Finds a name in the runs of both places. If the store cannot be read, those of this machine suffice, with a warning.
    fn find_in_both(&self, name: &RunName) -> Result<ResolvedName, Error> {
        match self.team() {
            Ok(Some(team)) => team.known.find(name),
            Ok(None) => self.local.find(name),
            Err(unreadable) => match self.local.find(name) {
                Ok(found) => {
                    eprint_wrapped(&format!("warning: {unreadable}; using only the runs of this machine"));
                    Ok(found)
                }
                Err(error) if may_be_elsewhere(&error) => Err(unreadable),
                Err(error) => Err(error),
            },
        }
    }

    /// The commit of a name, if the name was resolved as a git revision.
    pub fn commit_of(&self, name: &RunName, runs: &[ResolvedRun]) -> Option<String> {
        self.known().commit_of(name, runs)
    }

    /// The runs with the paths of their files, which are fetched if only the store has them.
    pub fn fetch(&self, runs: Vec<ResolvedRun>) -> Result<Vec<ResolvedRun>, Error> {
        let Some(Ok(Some(TeamRuns { remote, entries, known }))) = self.team.get() else { return Ok(runs) };
        let is_remote = |run: &ResolvedRun| run.path.parent() == Some(&known.results);
        let wanted: Vec<_> =
            runs.iter().filter(|run| is_remote(run)).filter_map(|run| entries.get(&run.id)).collect();
        for entry in &wanted {
            log::debug!(
                run = entry.run.id,
                experiment = entry.run.name,
                "fetches the run from the remote store"
            );
        }
        let mut paths = HashMap::new();
        for (entry, path) in wanted.iter().zip(remote.fetch_all(&wanted, self.settings.layout())) {
            paths.insert(entry.run.id.clone(), path?);
        }
        let with_path = |run: ResolvedRun| match paths.remove(&run.id) {
            Some(path) => ResolvedRun { path, ..run },
            None => run,
        };
        Ok(runs.into_iter().map(with_path).collect())
    }

    /// The runs of both places; `None` if no store is configured.
    fn team(&self) -> Result<Option<&TeamRuns>, Error> {
        let team = self.team.get_or_init(|| self.read_team().map_err(|error| error.to_string()));
        team.as_ref().map(Option::as_ref).map_err(|message| UnreadableStore(message.clone()).into())
    }

    fn read_team(&self) -> Result<Option<TeamRuns>, RemoteError> {
        if self.settings.remote().url.is_none() {
            return Ok(None);
        }
        log::debug!("reads the index of the remote store");
        let layout = self.settings.layout();
        let remote = Remote::open(self.settings)?;
        let mut entries: HashMap<_, _> =
            remote.sync(layout)?.entries()?.into_iter().map(|entry| (entry.run.id.clone(), entry)).collect();
        for run in &self.local.complete {
            entries.remove(&run.id);
        }
        for (id, _) in self.local.partial("") {
            // A complete run of the store is more than a partial one of this machine.
            if entries.get(&id).is_some_and(|entry| entry.run.partial) {
                entries.remove(&id);
            }
        }
        let runs = entries.values().map(|entry| entry.run.clone());
        let (other_partial, theirs): (Vec<_>, Vec<_>) = runs.partition(|run| run.partial);
        let mut complete: Vec<IndexedRun> = theirs.into_iter().chain(self.local.complete.clone()).collect();
        complete
            .sort_by(|one, other| other.timestamp.cmp(&one.timestamp).then_with(|| one.id.cmp(&other.id)));
        let known = KnownRuns { other_partial, ..KnownRuns::of(complete, layout, &self.local.folder) };
        Ok(Some(TeamRuns { remote, known, entries }))
    }
}

fn may_be_elsewhere(error: &Error) -> bool {
    error.downcast::<UnknownRun>().is_some_and(UnknownRun::may_be_elsewhere)
}
