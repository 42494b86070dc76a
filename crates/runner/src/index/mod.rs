//! The index of past runs: a table built from the result files, which remain the source of truth.
//!
//! The index is always available: a damaged file is rebuilt, and if it cannot be written, the index is in memory.

mod read;
mod run;
mod schema;
#[cfg(test)]
mod tests;
mod update;

use std::fs;
use std::path::{Path, PathBuf};

use cobalt::command::log;
use cobalt_core::store::Layout;
use rusqlite::{Connection, Error as SqliteError, ErrorCode};

pub use read::parse_run;
pub use run::{IndexError, IndexedRun, RunFilter, RunMatches, RunStatus};
pub use schema::create_database;
pub use update::{FileStamp, SkippedFile, result_files};

/// All runs.
#[derive(Clone, Debug, PartialEq)]
pub struct AllRuns {
    /// Runs of all items, newest first.
    pub whole: Vec<IndexedRun>,
    /// Partial runs, newest first.
    pub partial: Vec<IndexedRun>,
}

/// All runs, if the index has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedRuns {
    /// `None` if they are as before.
    pub all: Option<AllRuns>,
    /// The number of the index's state; `None` if it is only in memory.
    pub state: Option<i64>,
}

/// The index of the result files in a folder.
#[derive(Debug)]
pub struct Index {
    results: PathBuf,
    connection: Connection,
    /// Whether it has been rebuilt already: a further failure would repeat.
    is_rebuilt: bool,
}

impl Index {
    /// Opens the index, which may be out of date.
    pub fn open(layout: &Layout) -> Result<Self, IndexError> {
        Self::open_at(layout.results(), layout.history())
    }

    fn open_at(results: &Path, database: &Path) -> Result<Self, IndexError> {
        let results = results.to_owned();
        match open_on_disk(&results, database)? {
            Some(connection) => {
                log::trace!(index = database.display(), "opened the index");
                Ok(Self { results, connection, is_rebuilt: false })
            }
            None => {
                log::debug!(
                    index = database.display(),
                    "builds the index in memory; the file cannot be used"
                );
                Ok(Self { results, connection: schema::in_memory()?, is_rebuilt: true })
            }
        }
    }

    /// Updates the index from the result files. Returns the runs that match a filter, newest first, and the skipped files.
    ///
    /// No run is missing, regardless of what other processes do to the index at the same time.
    pub fn query(&mut self, filter: &RunFilter) -> Result<(RunMatches, Vec<SkippedFile>), IndexError> {
        self.run_query(|connection| run::query_runs(connection, filter))
    }

    /// The same for all runs, whole and partial, each newest first.
    pub fn all_runs(&mut self) -> Result<(AllRuns, Vec<SkippedFile>), IndexError> {
        self.run_query(|connection| {
            let whole = run::query_runs(connection, &RunFilter::ALL)?.runs;
            Ok(AllRuns { whole, partial: run::query_partial_runs(connection)? })
        })
    }

    /// The same if the index has changed since the state with this number.
    pub fn all_runs_since(
        &mut self,
        known: Option<i64>,
    ) -> Result<(ChangedRuns, Vec<SkippedFile>), IndexError> {
        self.run_query(|connection| {
            let is_on_disk = connection.path().is_some_and(|path| !path.is_empty());
            let state = update::generation(connection)?.filter(|_| is_on_disk);
            if known.is_some() && known == state {
                return Ok(ChangedRuns { all: None, state });
            }
            let whole = run::query_runs(connection, &RunFilter::ALL)?.runs;
            let all = Some(AllRuns { whole, partial: run::query_partial_runs(connection)? });
            Ok(ChangedRuns { all, state })
        })
    }

    fn run_query<T>(
        &mut self,
        question: impl Fn(&Connection) -> Result<T, SqliteError>,
    ) -> Result<(T, Vec<SkippedFile>), IndexError> {
        loop {
            match update::update(&mut self.connection, &self.results, &question) {
                Err(IndexError::Database(error)) => self.recover(error)?,
                outcome => return outcome,
            }
        }
    }

    /// Replaces a failed index by an empty one: once in its file, then in memory.
    fn recover(&mut self, error: SqliteError) -> Result<(), IndexError> {
        if self.connection.path().is_none_or(str::is_empty) {
            return Err(error.into());
        }
        let is_usable =
            !self.is_rebuilt && !is_inaccessible(&error) && schema::reset(&mut self.connection).is_ok();
        self.is_rebuilt = true;
        if !is_usable {
            self.connection = schema::in_memory()?;
        }
        Ok(())
    }
}

/// Whether the file is inaccessible, rather than damaged.
fn is_inaccessible(error: &SqliteError) -> bool {
    use ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, PermissionDenied, ReadOnly, SystemIoFailure,
    };
    let code = error.sqlite_error_code();
    code.is_some_and(|code| {
        matches!(
            code,
            CannotOpen
                | DatabaseBusy
                | DatabaseLocked
                | DiskFull
                | PermissionDenied
                | ReadOnly
                | SystemIoFailure
        )
    })
}

/// The index in its file, if it can be opened. Nothing is created if there are no results, and foreign files are not touched.
fn open_on_disk(results: &Path, path: &Path) -> Result<Option<Connection>, IndexError> {
    if !path.exists() {
        let folder = path.parent().filter(|_| results.exists());
        if folder.is_none_or(|folder| fs::create_dir_all(folder).is_err()) {
            return Ok(None);
        }
    }
    let Ok(mut connection) = schema::open(path) else { return Ok(None) };
    if schema::is_foreign(&connection, path) {
        return Err(IndexError::Foreign { path: path.to_owned() });
    }
    Ok(match schema::prepare(&mut connection) {
        Ok(()) => Some(connection),
        Err(error) if is_inaccessible(&error) => None,
        Err(_) => schema::reset(&mut connection).ok().map(|()| connection),
    })
}
