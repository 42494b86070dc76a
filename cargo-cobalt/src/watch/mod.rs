//! `cargo cobalt watch`: re-runs what a change affects.
//!
//! What is affected is determined as in `run --changed`, after the change. This module only detects that something may have changed.

mod scope;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use cobalt::command::config::Flags;
use cobalt_core::wording::count;
use notify::Event;

use crate::cli::{Color, RunOptions};
use crate::error::{Error, ErrorKind};
use crate::interrupt;
use crate::run::{self, Repeats};
use crate::terminal::{eprint_folded, seen};
pub use scope::{Scope, Watched, folders, is_change, is_made};
use scope::{WatchError, files};

/// Maximum number of changed files to name.
const MOST_NAMED: usize = 3;

pub fn watch(options: &RunOptions, flags: &Flags, color: Color) -> Result<ExitCode, Error> {
    interrupt::pass_on()?;
    // From here on changes are detected, also during a run.
    let mut changes = Changes::of(Scope::read(&options.selection, &options.build, flags)?)?;
    let run = || {
        let ran = run::once(options, flags, color, Repeats::OnChange)?;
        if ran.dashboard.is_some() {
            let hint =
                "No dashboard is running. To follow runs live, run `cargo cobalt serve` in another terminal.";
            eprint_folded(hint);
        }
        Ok(ran.code)
    };
    let mut outcome = run();
    if let Err(error) = outcome.as_ref()
        && is_for_the_user_to_type(error)
    {
        return outcome;
    }
    loop {
        if let Err(error) = &outcome {
            error.tell();
        }
        if interrupt::was_heard() {
            return Err(Error::Interrupted);
        }
        changes.has_run();
        eprint_folded(&format!("\nWatching {}; press Ctrl-C to stop", places(&changes.scope.roots)));
        let changed = changes.wait()?;
        eprint_folded(&format!("\nChanged: {}; re-running what is affected", named(&changed)));
        // With an error in a manifest or in the settings, keep the scope; the run reports the error.
        if let Ok(scope) = Scope::read(&options.selection, &options.build, flags) {
            changes.follow(scope)?;
        }
        outcome = run();
    }
}

/// Whether changing a file cannot fix the error.
fn is_for_the_user_to_type(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Arguments | ErrorKind::NothingMatched)
}

/// The outermost watched folders, the current one first.
fn places(roots: &BTreeSet<PathBuf>) -> String {
    let is_outermost = |folder: &&PathBuf| !folder.ancestors().skip(1).any(|above| roots.contains(above));
    let (here, others): (Vec<_>, Vec<_>) =
        roots.iter().filter(is_outermost).map(|folder| seen(folder)).partition(String::is_empty);
    let here = here.iter().map(|_| "this folder".to_owned());
    here.chain(others.iter().map(|folder| format!("`{folder}`"))).collect::<Vec<_>>().join(", ")
}

/// Lists a few files and counts the rest.
fn named(files: &[PathBuf]) -> String {
    if files.is_empty() {
        return "too many files to list".to_owned();
    }
    let names: Vec<_> = files.iter().take(MOST_NAMED).map(|file| format!("`{}`", seen(file))).collect();
    match files.len() - names.len() {
        0 => names.join(", "),
        others => format!("{} and {}", names.join(", "), count(others, "more file")),
    }
}

/// How long nothing must change before a change counts as complete.
const QUIET: Duration = Duration::from_millis(100);
/// Maximum wait for that.
const PATIENCE: Duration = Duration::from_secs(2);
/// Polling interval for Ctrl-C.
const TICK: Duration = Duration::from_millis(100);

/// Changes of watched files. Editors and git make many at once, so changes are debounced.
#[derive(Debug)]
pub struct Changes {
    pub scope: Scope,
    watched: Watched,
    events: Receiver<notify::Result<Event>>,
    /// The content of the lock file after the latest build.
    lock: Option<Vec<u8>>,
}

/// The changes collected from some events.
#[derive(Debug, Default)]
struct Gathered {
    files: BTreeSet<PathBuf>,
    /// Those that were created.
    new: BTreeSet<PathBuf>,
    /// Whether folders may have been created or removed.
    folders: bool,
    /// Whether the system dropped events.
    lost: bool,
}

impl Changes {
    /// Starts watching.
    pub fn of(scope: Scope) -> Result<Self, Error> {
        let (sender, events) = channel();
        let watched = Watched::telling(sender)?;
        let mut changes = Self { scope: scope.clone(), watched, events, lock: None };
        changes.follow(scope)?;
        Ok(changes)
    }

    /// Watches the folders that exist now and returns the new ones.
    pub fn follow(&mut self, scope: Scope) -> Result<Vec<PathBuf>, Error> {
        self.scope = scope;
        Ok(self.watched.follow(folders(&self.scope))?)
    }

    /// Called after a run: that its build wrote the lock file is not a change.
    pub fn has_run(&mut self) {
        self.lock = fs::read(&self.scope.lock).ok();
    }

    /// Whether a file with an event has changed.
    fn is_changed(&self, file: &Path) -> bool {
        self.scope.has_file(file) && (file != self.scope.lock || fs::read(file).ok() != self.lock)
    }

    /// Waits for changes of relevant files and returns these; empty if there were too many.
    pub fn wait(&mut self) -> Result<Vec<PathBuf>, Error> {
        loop {
            let mut gathered = self.gather()?;
            // Files that were created and removed, such as an editor's temporary files, are not changes.
            let Gathered { files: changed, new, .. } = &mut gathered;
            changed.retain(|file| !new.contains(file) || file.exists());
            if gathered.folders || gathered.lost {
                // There are no events for files that existed before their folder was watched.
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

    /// Waits for an event, then until there are no more for a moment.
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
                    return Err(
                        WatchError(notify::Error::generic("the system stopped reporting changes")).into()
                    );
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_folder_comes_before_others_wherever_they_lie_and_folders_within_others_are_not_named() {
        let here = std::env::current_dir().unwrap();
        let roots = ["/0/first", "/~/last", "/~/last/within"].map(PathBuf::from);
        let roots = roots.into_iter().chain([here.join("member"), here]).collect();
        assert_eq!(places(&roots), "this folder, `/0/first`, `/~/last`");
    }

    #[test]
    fn a_few_files_are_named_and_the_others_counted() {
        let files: Vec<_> = ["a", "b", "c", "d"].map(PathBuf::from).into();
        assert_eq!(named(&files[..2]), "`a`, `b`");
        assert_eq!(named(&files), "`a`, `b`, `c` and 1 more file");
        assert_eq!(named(&[]), "too many files to list");
    }
}
