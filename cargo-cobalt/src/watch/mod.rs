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
use crate::project::CargoBuild;
use crate::run::{self, RunMode};
use crate::terminal::{eprint_wrapped, relative_path};
pub use scope::{FolderWatcher, WatchScope, folders, is_change, is_generated};
use scope::{WatchError, files};

/// Maximum number of changed files to name.
const MOST_NAMED: usize = 3;

pub fn watch(options: &RunOptions, flags: &Flags, color: Color) -> Result<ExitCode, Error> {
    interrupt::install_handler()?;
    // From here on changes are detected, also during a run.
    let mut changes = ChangeDetector::of(WatchScope::read(&options.selection, &options.build, flags)?)?;
    // All runs have one budget.
    let ledger = run::create_ledger()?;
    let flags = &Flags { ledger: Some(ledger.path().to_owned()), ..flags.clone() };
    let run = || {
        let source = CargoBuild::read(&options.build, color)?;
        let ran = run::run_once(options, &source, flags, RunMode::Watch)?;
        if ran.dashboard.is_some() {
            let hint =
                "No dashboard is running. To follow runs live, run `cargo cobalt serve` in another terminal.";
            eprint_wrapped(hint);
        }
        Ok(ran.code)
    };
    let mut outcome = run();
    if let Err(error) = outcome.as_ref()
        && is_usage_error(error)
    {
        return outcome;
    }
    loop {
        if let Err(error) = &outcome {
            error.eprint();
        }
        if interrupt::was_received() {
            return Err(Error::Interrupted);
        }
        changes.after_run();
        eprint_wrapped(&format!(
            "\nWatching {}; press Ctrl-C to stop",
            watched_folders(&changes.scope.roots)
        ));
        let changed = changes.wait()?;
        eprint_wrapped(&format!("\nChanged: {}; re-running what is affected", changed_files(&changed)));
        // With an error in a manifest or in the settings, keep the scope; the run reports the error.
        if let Ok(scope) = WatchScope::read(&options.selection, &options.build, flags) {
            changes.follow(scope)?;
        }
        outcome = run();
    }
}

/// Whether changing a file cannot fix the error.
fn is_usage_error(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Arguments | ErrorKind::NothingMatched)
}

/// The outermost watched folders, the current one first.
fn watched_folders(roots: &BTreeSet<PathBuf>) -> String {
    let is_outermost = |folder: &&PathBuf| !folder.ancestors().skip(1).any(|above| roots.contains(above));
    let (here, others): (Vec<_>, Vec<_>) =
        roots.iter().filter(is_outermost).map(|folder| relative_path(folder)).partition(String::is_empty);
    let here = here.iter().map(|_| "this folder".to_owned());
    here.chain(others.iter().map(|folder| format!("`{folder}`"))).collect::<Vec<_>>().join(", ")
}

/// Lists a few files and counts the rest.
fn changed_files(files: &[PathBuf]) -> String {
    if files.is_empty() {
        return "too many files to list".to_owned();
    }
    let names: Vec<_> =
        files.iter().take(MOST_NAMED).map(|file| format!("`{}`", relative_path(file))).collect();
    match files.len() - names.len() {
        0 => names.join(", "),
        others => format!("{} and {}", names.join(", "), count(others, "more file")),
    }
}

/// How long nothing must change before a change counts as complete.
const DEBOUNCE: Duration = Duration::from_millis(100);
/// Maximum wait for that.
const MAX_SETTLE: Duration = Duration::from_secs(2);
/// Polling interval for Ctrl-C.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Changes of watched files. Editors and git make many at once, so changes are debounced.
#[derive(Debug)]
pub struct ChangeDetector {
    pub scope: WatchScope,
    watched: FolderWatcher,
    events: Receiver<notify::Result<Event>>,
    /// The content of the lock file after the latest build.
    lock: Option<Vec<u8>>,
}

/// The changes collected from some events.
#[derive(Debug, Default)]
struct ChangeBatch {
    files: BTreeSet<PathBuf>,
    /// Those that were created.
    new: BTreeSet<PathBuf>,
    /// Whether folders may have been created or removed.
    folders: bool,
    /// Whether the system dropped events.
    lost: bool,
}

impl ChangeDetector {
    /// Starts watching.
    pub fn of(scope: WatchScope) -> Result<Self, Error> {
        let (sender, events) = channel();
        let watched = FolderWatcher::new(sender)?;
        let mut changes = Self { scope: scope.clone(), watched, events, lock: None };
        changes.follow(scope)?;
        Ok(changes)
    }

    /// Watches the folders that exist now and returns the new ones.
    pub fn follow(&mut self, scope: WatchScope) -> Result<Vec<PathBuf>, Error> {
        self.scope = scope;
        Ok(self.watched.follow(folders(&self.scope))?)
    }

    /// Called after a run: that its build wrote the lock file is not a change.
    pub fn after_run(&mut self) {
        self.lock = fs::read(&self.scope.lock).ok();
    }

    /// Whether a file with an event has changed.
    fn is_changed(&self, file: &Path) -> bool {
        self.scope.has_file(file) && (file != self.scope.lock || fs::read(file).ok() != self.lock)
    }

    /// Waits for changes of relevant files and returns these; empty if there were too many.
    pub fn wait(&mut self) -> Result<Vec<PathBuf>, Error> {
        loop {
            let mut gathered = self.collect_batch()?;
            // Files that were created and removed, such as an editor's temporary files, are not changes.
            let ChangeBatch { files: changed, new, .. } = &mut gathered;
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
    fn collect_batch(&mut self) -> Result<ChangeBatch, Error> {
        let mut gathered = ChangeBatch::default();
        let mut end = None;
        loop {
            if interrupt::was_received() {
                return Err(Error::Interrupted);
            }
            match self.events.recv_timeout(if end.is_some() { DEBOUNCE } else { POLL_INTERVAL }) {
                Ok(event) => {
                    end.get_or_insert_with(|| Instant::now() + MAX_SETTLE);
                    self.record_event(event, &mut gathered);
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

    fn record_event(&mut self, event: notify::Result<Event>, gathered: &mut ChangeBatch) {
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
        assert_eq!(watched_folders(&roots), "this folder, `/0/first`, `/~/last`");
    }

    #[test]
    fn a_few_files_are_named_and_the_others_counted() {
        let files: Vec<_> = ["a", "b", "c", "d"].map(PathBuf::from).into();
        assert_eq!(changed_files(&files[..2]), "`a`, `b`");
        assert_eq!(changed_files(&files), "`a`, `b`, `c` and 1 more file");
        assert_eq!(changed_files(&[]), "too many files to list");
    }
}
