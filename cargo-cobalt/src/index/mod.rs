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

use cobalt_core::store::Layout;
use rusqlite::{Connection, Error as SqliteError, ErrorCode};

pub use run::{Filter, Found, IndexError, Run, RunStatus};
pub use update::{Skipped, Stamp, result_files};

/// All runs.
#[derive(Clone, Debug, PartialEq)]
pub struct AllRuns {
    /// Runs of all items, newest first.
    pub whole: Vec<Run>,
    /// Partial runs, newest first.
    pub partial: Vec<Run>,
}

/// The index of the result files in a folder.
#[derive(Debug)]
pub struct Index {
    results: PathBuf,
    connection: Connection,
    /// Whether it has been rebuilt already: a further failure would repeat.
    is_new: bool,
}

impl Index {
    /// Opens the index, which may be out of date.
    pub fn open(layout: &Layout) -> Result<Self, IndexError> {
        Self::open_at(layout.results(), layout.history())
    }

    fn open_at(results: &Path, database: &Path) -> Result<Self, IndexError> {
        let results = results.to_owned();
        match on_disk(&results, database)? {
            Some(connection) => Ok(Self { results, connection, is_new: false }),
            None => Ok(Self { results, connection: schema::in_memory()?, is_new: true }),
        }
    }

    /// Updates the index from the result files. Returns the runs that match a filter, newest first, and the skipped files.
    ///
    /// No run is missing, regardless of what other processes do to the index at the same time.
    pub fn runs(&mut self, filter: &Filter) -> Result<(Found, Vec<Skipped>), IndexError> {
        self.ask(|connection| run::runs(connection, filter))
    }

    /// The same for all runs, whole and partial, each newest first.
    pub fn with_partial(&mut self) -> Result<(AllRuns, Vec<Skipped>), IndexError> {
        self.ask(|connection| {
            let whole = run::runs(connection, &Filter::ALL)?.runs;
            Ok(AllRuns { whole, partial: run::partial_runs(connection)? })
        })
    }

    fn ask<T>(
        &mut self,
        question: impl Fn(&Connection) -> Result<T, SqliteError>,
    ) -> Result<(T, Vec<Skipped>), IndexError> {
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
            !self.is_new && !is_out_of_reach(&error) && schema::reset(&mut self.connection).is_ok();
        self.is_new = true;
        if !is_usable {
            self.connection = schema::in_memory()?;
        }
        Ok(())
    }
}

/// Whether the file is inaccessible, rather than damaged.
fn is_out_of_reach(error: &SqliteError) -> bool {
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
fn on_disk(results: &Path, path: &Path) -> Result<Option<Connection>, IndexError> {
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
        Err(error) if is_out_of_reach(&error) => None,
        Err(_) => schema::reset(&mut connection).ok().map(|()| connection),
    })
}
