//! The tables, and how a database is prepared.

use std::path::Path;
use std::time::Duration;

use cobalt_core::atomic_write::private_options;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Result, TransactionBehavior};

/// The version of the tables and of their content. A database with another version is rebuilt.
const VERSION: i64 = 11;
/// How long to wait for another process's lock on the database.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const TABLES: &str = "
    -- The whole runs.
    CREATE TABLE runs (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        run_name TEXT,
        experiment TEXT NOT NULL,
        variant TEXT,
        variant_group TEXT,
        rescored_from TEXT,
        timestamp TEXT NOT NULL,
        tags TEXT NOT NULL,
        scores TEXT NOT NULL,
        metrics TEXT NOT NULL,
        cost REAL,
        total_items INTEGER NOT NULL,
        status TEXT NOT NULL,
        duration_ms INTEGER NOT NULL,
        avg_latency_ms REAL NOT NULL,
        total_tokens INTEGER,
        judge_cost REAL,
        user_cost REAL,
        passed_items INTEGER NOT NULL,
        low_items INTEGER NOT NULL,
        failed_items INTEGER NOT NULL,
        eval_errors INTEGER NOT NULL,
        git_commit TEXT,
        git_dirty INTEGER,
        git_branch TEXT,
        dataset_hash TEXT,
        dataset_items INTEGER,
        replayed_items INTEGER NOT NULL,
        redacted INTEGER NOT NULL,
        file TEXT NOT NULL UNIQUE
    );
    CREATE INDEX runs_by_time ON runs(timestamp DESC, id);
    CREATE INDEX runs_by_name ON runs(experiment, name);
    -- All files that were read, so that each is read once. The row without a name is the state of the table: `size` is another number
    -- after each change, and `modified` the time of the folder that the table agrees with, 0 if that is not known. A partial run is stored here as JSON: with another table, earlier
    -- versions of the command would treat the database as foreign.
    CREATE TABLE files (
        name TEXT PRIMARY KEY,
        size INTEGER NOT NULL,
        modified INTEGER NOT NULL,
        run_id TEXT,
        partial_run TEXT,
        problem TEXT
    );
    -- So that nothing is counted row by row: there may be 100,000.
    CREATE INDEX files_with_run ON files(run_id) WHERE run_id IS NOT NULL;
    CREATE INDEX files_with_partial_run ON files(name) WHERE partial_run IS NOT NULL;
    CREATE INDEX files_with_problem ON files(name) WHERE problem IS NOT NULL;
";

/// Opens a database with any content.
pub fn open(path: &Path) -> Result<Connection> {
    // Without the default flag for URIs: the path must not be parsed as one.
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    create_database(path);
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(connection)
}

/// Creates an empty database for its owner alone. SQLite reports what is wrong with the path.
pub fn create_database(path: &Path) {
    let _ = private_options().write(true).create_new(true).open(path);
}

/// An index for this process only.
pub fn in_memory() -> Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    prepare(&mut connection)?;
    Ok(connection)
}

/// Creates the tables of a new database, and resets one with another version.
pub fn prepare(connection: &mut Connection) -> Result<()> {
    match version(connection)? {
        VERSION => Ok(()),
        0 if is_empty(connection)? => create_tables(connection),
        _ => reset(connection),
    }
}

/// Whether a file probably belongs to another program: a database with other tables, or not a database and not named like ours.
pub fn is_foreign(connection: &Connection, path: &Path) -> bool {
    let others =
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('runs', 'files'))";
    let has_other_tables: Result<bool> = connection.query_row(others, [], |row| row.get(0));
    match has_other_tables {
        Ok(foreign) => foreign,
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            path.file_name().is_none_or(|name| name != "history.db")
        }
        Err(_) => false,
    }
}

fn version(connection: &Connection) -> Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn is_empty(connection: &Connection) -> Result<bool> {
    connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))
}

/// Creates the tables, unless another process was faster.
fn create_tables(connection: &mut Connection) -> Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if version(&transaction)? != VERSION {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()
}

/// Empties a database, damaged or not, under SQLite's locks. Removing a file that another process has open could damage its
/// replacement.
///
/// Another process may have reset and filled it just before. That process has its result, and the database is filled again.
pub fn reset(connection: &mut Connection) -> Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, true)?;
    let emptied = connection.execute_batch("VACUUM");
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, false)?;
    emptied?;
    create_tables(connection)
}
