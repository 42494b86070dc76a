//! `cargo cobalt clean`: lists and deletes old runs, cached model responses and cached datasets, and old runs of the remote store.
//!
//! It only touches files with known names in the folders of the store, never through symbolic links.

mod candidates;
mod remote_runs;
mod selected;

use std::fs::{self, File, TryLockError};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use cobalt::command::config::{Config, Flags};
use cobalt_core::report::Timestamp;
use cobalt_core::reporters::Style;
use cobalt_core::store::{InterruptedJournal, Layout};
use cobalt_core::wording::count;
use indicatif::BinaryBytes;

use crate::cli::Clean;
use crate::config::settings;
use crate::error::{CommandError, Error};
use crate::index::{Index, RunFilter};
use crate::terminal::{Align, eprint_wrapped, paint, print, relative_path, table};
pub use candidates::{CleanupEntry, CleanupPlan, FileKind, is_linked};
use candidates::{RetainedRuns, RetentionPolicy};
pub use selected::files_of_runs;

pub fn clean(arguments: &Clean, flags: &Flags) -> Result<ExitCode, Error> {
    if arguments.keep.is_some() && (arguments.cache || arguments.datasets) && !arguments.results {
        return Err(Error::Arguments("`--keep` applies to runs; add `--results`".to_owned()));
    }
    let settings = settings(flags)?;
    if arguments.remote.is_some() {
        return remote_runs::clean(arguments, &settings);
    }
    let is_named = arguments.results || arguments.cache || arguments.datasets;
    let limits = RetentionPolicy::of(arguments);
    let mut found = CleanupPlan::default();
    if arguments.results || !is_named {
        runs(&settings, &limits, &mut found)?;
    }
    if arguments.cache || !is_named {
        candidates::cached_responses(&settings, &limits, &mut found)?;
    }
    if arguments.datasets || !is_named {
        candidates::datasets(settings.layout(), &limits, &mut found)?;
    }
    print(&listing(&found.entries, arguments.files, paint(&io::stdout()))).map_err(Error::Print)?;
    found.notes.iter().for_each(|note| eprint_wrapped(note));
    if found.entries.is_empty() {
        eprintln!("Nothing to delete.");
    } else if !is_named {
        eprint_wrapped(
            "Nothing removed. Choose what to delete: `--results`, `--cache`, `--datasets`, or several of these.",
        );
    } else if arguments.yes || is_confirmed(&total(&found.entries))? {
        remove(&found.entries, &settings)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Finds all files of runs.
fn runs(settings: &Config, limits: &RetentionPolicy, found: &mut CleanupPlan) -> Result<(), Error> {
    let (whole, skipped) = Index::open(settings.layout())?.query(&RunFilter::ALL)?;
    let kept = limits.keep.map(|most| RetainedRuns::of(&whole.runs, most));
    candidates::results(settings, &whole.runs, &skipped, limits, kept.as_ref(), found)?;
    candidates::journals(settings.layout(), limits, kept.as_ref(), found)?;
    candidates::workspaces(settings.layout(), limits, kept.as_ref(), found)?;
    if kept.is_none() {
        candidates::reports(settings.layout(), limits, found)?;
    }
    Ok(())
}

#[derive(Debug, thiserror::Error)]
#[error("failed to ask for confirmation: {0}; use `--yes` to skip it")]
struct AskError(io::Error);

impl CommandError for AskError {}

/// Asks for confirmation to delete `files`, a number and a size; without a terminal the answer is no.
pub fn is_confirmed(files: &str) -> Result<bool, Error> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        eprintln!("Nothing removed. Use `--yes` to delete these files.");
        return Ok(false);
    }
    eprint!("Delete {files}? [y/N] ");
    let mut answer = String::new();
    let asked = io::stderr().flush().and_then(|()| io::stdin().read_line(&mut answer));
    asked.map_err(AskError)?;
    let is_yes = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    if !is_yes {
        eprintln!("Nothing removed.");
    }
    Ok(is_yes)
}

/// Deletes the files and updates the index.
fn remove(entries: &[CleanupEntry], settings: &Config) -> Result<(), Error> {
    let removed = remove_all(entries);
    removed.notes.iter().for_each(|note| eprint_wrapped(note));
    eprintln!("Removed {}", total(&removed.entries));
    if removed.entries.iter().any(|entry| entry.kind == FileKind::Result) {
        Index::open(settings.layout())?.query(&RunFilter::ALL)?;
    }
    if removed.errors.is_empty() { Ok(()) } else { Err(Error::Multiple(removed.errors)) }
}

const TITLES: [(&str, Align); 5] = [
    ("what", Align::Left),
    ("files", Align::Right),
    ("size", Align::Right),
    ("oldest (UTC)", Align::Left),
    ("newest (UTC)", Align::Left),
];
const FILE_TITLES: [(&str, Align); 4] =
    [("what", Align::Left), ("size", Align::Right), ("time (UTC)", Align::Left), ("file", Align::Left)];

/// A line per kind and, with `by_file`, one per file. Empty if there are none.
fn listing(entries: &[CleanupEntry], by_file: bool, paint: Style) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let rows = FileKind::ALL.into_iter().filter_map(|kind| kind_row(kind, entries));
    let text = table(TITLES, rows, paint);
    if by_file { format!("{}\n{text}", files(entries, paint)) } else { text }
}

fn kind_row(kind: FileKind, entries: &[CleanupEntry]) -> Option<[String; 5]> {
    let of_kind: Vec<_> = entries.iter().filter(|entry| entry.kind == kind).collect();
    let times = || of_kind.iter().map(|entry| entry.time);
    Some([
        kind.name().to_owned(),
        of_kind.len().to_string(),
        BinaryBytes(of_kind.iter().map(|entry| entry.size).sum()).to_string(),
        minute(times().min()?),
        minute(times().max()?),
    ])
}

fn files(entries: &[CleanupEntry], paint: Style) -> String {
    let row = |CleanupEntry { kind, path, size, time }: &CleanupEntry| {
        [kind.name().to_owned(), BinaryBytes(*size).to_string(), minute(*time), relative_path(path)]
    };
    table(FILE_TITLES, entries.iter().map(row), paint)
}

/// Number and total size of files.
fn total(entries: &[CleanupEntry]) -> String {
    let size = BinaryBytes(entries.iter().map(|entry| entry.size).sum());
    format!("{} ({size})", count(entries.len(), "file"))
}

fn minute(time: SystemTime) -> String {
    Timestamp::from(time).to_minute()
}

/// The result of deleting files.
#[derive(Debug, Default)]
pub struct RemovalResult {
    pub entries: Vec<CleanupEntry>,
    pub notes: Vec<String>,
    pub errors: Vec<String>,
}

/// Deletes files, except for those that are in use.
pub fn remove_all(entries: &[CleanupEntry]) -> RemovalResult {
    let mut removed = RemovalResult::default();
    for entry in entries {
        match remove_one(entry) {
            Ok(true) => removed.entries.push(entry.clone()),
            Ok(false) => {
                let why = if entry.kind == FileKind::Dataset {
                    "it is being fetched"
                } else {
                    "its run was resumed"
                };
                removed.notes.push(format!("keeping `{}`: {why}", relative_path(&entry.path)))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                removed.errors.push(format!("failed to delete `{}`: {error}", relative_path(&entry.path)))
            }
        }
    }
    removed
}

/// Deletes a file; returns false if it is in use again.
fn remove_one(CleanupEntry { kind, path, .. }: &CleanupEntry) -> io::Result<bool> {
    match kind {
        FileKind::Journal => match InterruptedJournal::open(path)? {
            Some(journal) => journal.remove()?,
            None => return Ok(false),
        },
        FileKind::Dataset => return remove_dataset(path),
        FileKind::Workspaces => fs::remove_dir_all(path)?,
        FileKind::Result | FileKind::Report | FileKind::CachedResponse => fs::remove_file(path)?,
    }
    if *kind == FileKind::CachedResponse {
        // Succeeds only when the folder is empty.
        let _ = path.parent().map(|folder: &Path| fs::remove_dir(folder));
    }
    Ok(true)
}

/// Deletes a cached dataset, unless a process is fetching it and holds the lock.
fn remove_dataset(path: &Path) -> io::Result<bool> {
    let lock = Layout::dataset_lock(path);
    let held = File::options().write(true).open(&lock).ok();
    if held.as_ref().is_some_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock))) {
        return Ok(false);
    }
    fs::remove_file(path)?;
    // The lock file alone is of no use.
    let _ = fs::remove_file(lock);
    Ok(true)
}
