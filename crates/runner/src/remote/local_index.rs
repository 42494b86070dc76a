//! The local copy of the remote store's index: a database beside `history.db`, which may be deleted at any time.
//!
//! It is not in `history.db`, so that neither is rebuilt with the other: filling this one costs requests.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cobalt_core::hash::sha256;
use cobalt_core::store::Layout;
use rusqlite::{Connection, ErrorCode, Result, TransactionBehavior, named_params, params};

use super::entry::RemoteEntry;
use super::error::RemoteError;
use super::layout;
use crate::index::{RunFilter, RunMatches, create_database};
use crate::terminal::relative_path;

/// The version of the tables. A database with another version is filled again.
const VERSION: i64 = 3;
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
const TABLES: &str = "
    -- The index objects, those of all remotes that were used. `pack` is the pack that lists it, if any.
    CREATE TABLE entries (
        remote TEXT NOT NULL,
        name TEXT NOT NULL,
        pack TEXT,
        id TEXT NOT NULL,
        hash TEXT NOT NULL,
        run TEXT NOT NULL,
        experiment TEXT NOT NULL,
        timestamp TEXT NOT NULL,
        tags TEXT NOT NULL,
        branch TEXT,
        partial INTEGER NOT NULL,
        shard_group TEXT,
        redacted INTEGER NOT NULL,
        pushed_at TEXT NOT NULL,
        entry TEXT NOT NULL,
        PRIMARY KEY (remote, name)
    ) WITHOUT ROWID;
    CREATE INDEX entries_by_id ON entries (remote, id, redacted, pushed_at);
    CREATE INDEX entries_by_time ON entries (remote, timestamp);
    -- The packs that were read, and index objects that this version cannot read.
    CREATE TABLE read_objects (remote TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (remote, name)) WITHOUT ROWID;
    -- The files in packs of recordings and answers.
    CREATE TABLE shared (remote TEXT NOT NULL, pack TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (remote, pack, id)) WITHOUT ROWID;
    CREATE TABLE tombstones (remote TEXT NOT NULL, id TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (remote, id, hash)) WITHOUT ROWID;
";
/// One entry per run: a complete one rather than a redacted one, then the one pushed last.
const SHOWN: &str = "NOT EXISTS (SELECT 1 FROM entries AS other WHERE other.remote = entries.remote AND other.id = entries.id \
     AND (other.redacted < entries.redacted OR other.redacted = entries.redacted \
          AND (other.pushed_at, other.name) > (entries.pushed_at, entries.name)))";

/// The runs of a remote store, as of the last [`Remote::sync`](super::Remote::sync).
#[derive(Debug)]
pub struct RemoteIndex {
    connection: Connection,
    /// Names the remote in the tables.
    remote: String,
    path: PathBuf,
    /// Index objects and packs that could not be read in the last sync: the copy lacks their runs.
    pub damaged: Vec<String>,
}

/// The result of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteMatches {
    /// The newest matching runs, newest first.
    pub entries: Vec<RemoteEntry>,
    /// The number of matching runs.
    pub matching: usize,
    /// The number of all whole runs.
    pub known: usize,
    /// The number of partial runs.
    pub partial: usize,
}

impl From<RemoteMatches> for RunMatches {
    fn from(RemoteMatches { entries, matching, known, partial }: RemoteMatches) -> Self {
        Self { runs: entries.into_iter().map(|entry| entry.run).collect(), matching, known, partial }
    }
}

/// What changed in the remote store.
#[derive(Debug, Default)]
pub struct IndexChanges {
    /// The names of index objects that are neither there nor in a pack.
    pub gone: Vec<String>,
    /// New entries, each with the pack that lists it.
    pub entries: Vec<(RemoteEntry, Option<String>)>,
    /// Packs that were read, and objects that do not belong to the index.
    pub read_objects: Vec<String>,
    /// Those of earlier syncs that the store has no more.
    pub unlisted: Vec<String>,
    /// All packs of the store.
    pub packs: Vec<String>,
    /// Index objects and packs that are damaged.
    pub damaged: Vec<String>,
    /// The IDs and hashes of all tombstones.
    pub tombstones: Vec<(String, String)>,
}

impl RemoteIndex {
    /// Opens the copy, which may be empty or out of date. A damaged file is replaced; where none can be written, it is in memory.
    /// `identity` is that of the remote, see [`Remote::identity`](super::Remote::identity).
    pub fn open(layout: &Layout, identity: &str) -> std::result::Result<Self, RemoteError> {
        let path = database(layout.history());
        let folder = path.parent().unwrap_or(&path);
        let on_disk = layout.create_folder(folder).ok().and_then(|()| open_at(&path).ok());
        let connection = match on_disk {
            Some(connection) => connection,
            None => prepared(Connection::open_in_memory()?)?,
        };
        Ok(Self { connection, remote: sha256(identity.as_bytes()), path, damaged: Vec::new() })
    }

    /// The file, for messages.
    pub fn place(&self) -> String {
        format!("`{}`", relative_path(&self.path))
    }

    /// The error if damaged objects may list runs that the copy lacks.
    pub fn incomplete(&self, url: &str) -> Option<RemoteError> {
        (!self.damaged.is_empty())
            .then(|| RemoteError::Incomplete { url: url.to_owned(), objects: self.damaged.clone() })
    }

    /// The names of the known index objects, each with the pack that lists it, if any.
    pub fn names(&self) -> Result<Vec<(String, Option<String>)>> {
        let mut query = self.connection.prepare("SELECT name, pack FROM entries WHERE remote = ?")?;
        query.query_map([&self.remote], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    }

    /// The objects that need not be read again.
    pub fn read_objects(&self) -> Result<HashSet<String>> {
        let mut query = self.connection.prepare("SELECT name FROM read_objects WHERE remote = ?")?;
        query.query_map([&self.remote], |row| row.get(0))?.collect()
    }

    pub fn apply(&mut self, changes: &IndexChanges) -> Result<()> {
        let remote = &self.remote;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for name in &changes.gone {
            transaction
                .prepare_cached("DELETE FROM entries WHERE remote = ? AND name = ?")?
                .execute([remote, name])?;
        }
        let packs = serde_json::to_string(&changes.packs).unwrap_or_default();
        let lost = "UPDATE entries SET pack = NULL WHERE remote = ? AND pack NOT IN (SELECT value FROM json_each(?))";
        transaction.execute(lost, [remote, &packs])?;
        for (entry, pack) in &changes.entries {
            insert(&transaction, remote, entry, pack.as_deref())?;
        }
        for name in &changes.unlisted {
            transaction
                .prepare_cached("DELETE FROM read_objects WHERE remote = ? AND name = ?")?
                .execute([remote, name])?;
        }
        for name in &changes.read_objects {
            transaction
                .prepare_cached("INSERT OR IGNORE INTO read_objects VALUES (?, ?)")?
                .execute([remote, name])?;
        }
        transaction.execute("DELETE FROM tombstones WHERE remote = ?", [remote])?;
        for (id, hash) in &changes.tombstones {
            transaction
                .prepare_cached("INSERT OR IGNORE INTO tombstones VALUES (?, ?, ?)")?
                .execute([remote, id, hash])?;
        }
        let removed = "DELETE FROM entries WHERE remote = ? AND (id, hash) IN (SELECT id, hash FROM tombstones WHERE remote = ?)";
        transaction.execute(removed, [remote, remote])?;
        transaction.commit()
    }

    /// Whether the store has a run with this ID or, with a hash, with this content.
    pub fn has(&self, id: &str, hash: Option<&str>) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM entries WHERE remote = :remote AND id = :id AND (:hash IS NULL OR hash = :hash))";
        self.connection.prepare_cached(sql)?.query_row(
            named_params! { ":remote": self.remote, ":id": id, ":hash": hash.map(layout::short) },
            |row| row.get(0),
        )
    }

    /// Whether a run with this ID was deleted from the store.
    pub fn is_removed(&self, id: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM tombstones WHERE remote = ? AND id = ?)";
        self.connection.prepare_cached(sql)?.query_row([&self.remote, id], |row| row.get(0))
    }

    /// The IDs and hashes of all tombstones.
    pub fn all_tombstones(&self) -> Result<HashSet<(String, String)>> {
        let mut query = self.connection.prepare("SELECT id, hash FROM tombstones WHERE remote = ?")?;
        query.query_map([&self.remote], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    }

    /// The files that the packs in a folder have.
    pub fn shared(&self, folder: &str) -> Result<HashSet<String>> {
        let mut query =
            self.connection.prepare_cached("SELECT id FROM shared WHERE remote = ? AND pack GLOB ?")?;
        query.query_map([&*self.remote, &format!("{folder}/*")], |row| row.get(0))?.collect()
    }

    /// The packs in a folder that have such a file.
    pub fn shared_packs(&self, folder: &str, is_wanted: impl Fn(&String) -> bool) -> Result<Vec<String>> {
        let mut query =
            self.connection.prepare_cached("SELECT pack, id FROM shared WHERE remote = ? AND pack GLOB ?")?;
        let mut rows = query.query([&*self.remote, &format!("{folder}/*")])?;
        let mut packs: Vec<String> = Vec::new();
        while let Some(row) = rows.next()? {
            let pack: String = row.get(0)?;
            if packs.last() != Some(&pack) && is_wanted(&row.get(1)?) {
                packs.push(pack);
            }
        }
        Ok(packs)
    }

    /// Notes what a pack has.
    pub fn add_shared(&mut self, pack: &str, ids: &[String]) -> Result<()> {
        let transaction = self.connection.transaction()?;
        for id in ids {
            transaction.prepare_cached("INSERT OR IGNORE INTO shared VALUES (?, ?, ?)")?.execute([
                &*self.remote,
                pack,
                id,
            ])?;
        }
        transaction.commit()
    }

    /// The whole runs that match a filter, newest first.
    pub fn query(&self, filter: &RunFilter) -> Result<RemoteMatches> {
        let sql = format!(
            "SELECT run, experiment, entry FROM entries WHERE remote = :remote AND NOT partial \
             AND (:since IS NULL OR timestamp >= :since) \
             AND (:branch IS NULL OR branch = :branch) \
             AND (:tag IS NULL OR EXISTS (SELECT 1 FROM json_each(tags) WHERE value = :tag)) \
             AND {SHOWN} ORDER BY timestamp DESC, id"
        );
        let mut query = self.connection.prepare_cached(&sql)?;
        let RunFilter { since, tag, branch, .. } = filter;
        let mut rows = query.query(
            named_params! { ":remote": self.remote, ":since": since, ":tag": tag, ":branch": branch },
        )?;
        let (mut entries, mut matching) = (Vec::new(), 0);
        while let Some(row) = rows.next()? {
            if let Some(wanted) = &filter.experiment {
                let names = [row.get_ref("run")?.as_str()?, row.get_ref("experiment")?.as_str()?];
                if !names.iter().any(|name| wanted.matches(name)) {
                    continue;
                }
            }
            matching += 1;
            if entries.len() < filter.limit {
                entries.extend(parse(row.get_ref("entry")?.as_str()?));
            }
        }
        let (known, partial) = (self.count(false)?, self.count(true)?);
        Ok(RemoteMatches { entries, matching, known, partial })
    }

    /// All runs, whole and partial, one entry each, newest first.
    pub fn entries(&self) -> Result<Vec<RemoteEntry>> {
        self.select("TRUE", &[])
    }

    /// All entries of a run: one for each content that was pushed.
    pub fn versions(&self, id: &str) -> Result<Vec<RemoteEntry>> {
        let mut query =
            self.connection.prepare_cached("SELECT entry FROM entries WHERE remote = ? AND id = ?")?;
        let entries = query.query_map([&*self.remote, id], |row| row.get::<_, String>(0))?;
        Ok(entries.collect::<Result<Vec<_>>>()?.iter().filter_map(|entry| parse(entry)).collect())
    }

    /// The runs of a branch, newest first.
    pub fn of_branch(&self, branch: &str) -> Result<Vec<RemoteEntry>> {
        self.select("branch = :value", &[(":value", &branch)])
    }

    /// The runs of the shards of a group, newest first.
    pub fn of_group(&self, group: &str) -> Result<Vec<RemoteEntry>> {
        self.select("shard_group = :value", &[(":value", &group)])
    }

    fn select(&self, condition: &str, values: &[(&str, &dyn rusqlite::ToSql)]) -> Result<Vec<RemoteEntry>> {
        let sql = format!(
            "SELECT entry FROM entries WHERE remote = :remote AND {condition} AND {SHOWN} \
             ORDER BY timestamp DESC, id"
        );
        let mut query = self.connection.prepare_cached(&sql)?;
        let mut values = values.to_vec();
        values.push((":remote", &self.remote));
        let mut rows = query.query(&*values)?;
        let mut entries = Vec::new();
        while let Some(row) = rows.next()? {
            entries.extend(parse(row.get_ref(0)?.as_str()?));
        }
        Ok(entries)
    }

    fn count(&self, partial: bool) -> Result<usize> {
        let sql = "SELECT count(DISTINCT id) FROM entries WHERE remote = ? AND partial = ?";
        let count: i64 = self
            .connection
            .prepare_cached(sql)?
            .query_row(params![self.remote, partial], |row| row.get(0))?;
        Ok(usize::try_from(count).unwrap_or(0))
    }
}

fn parse(entry: &str) -> Option<RemoteEntry> {
    serde_json::from_str(entry).ok()
}

fn insert(connection: &Connection, remote: &str, entry: &RemoteEntry, pack: Option<&str>) -> Result<()> {
    let text = |value: serde_json::Result<String>| {
        value.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    };
    let run = &entry.run;
    // An entry that is also in a pack stays when its own object goes.
    let sql = "INSERT INTO entries VALUES (:remote, :name, :pack, :id, :hash, :run, :experiment, :timestamp, :tags, :branch, \
               :partial, :shard_group, :redacted, :pushed_at, :entry) \
               ON CONFLICT (remote, name) DO UPDATE SET pack = coalesce(excluded.pack, pack)";
    connection.prepare_cached(sql)?.execute(named_params! {
        ":remote": remote,
        ":name": entry.name(),
        ":pack": pack,
        ":id": run.id,
        ":hash": layout::short(&entry.result.hash),
        ":run": run.name,
        ":experiment": run.experiment,
        ":timestamp": run.timestamp,
        ":tags": text(serde_json::to_string(&run.tags))?,
        ":branch": run.git_branch,
        ":partial": run.partial,
        ":shard_group": run.shard_group,
        ":redacted": entry.redacted,
        ":pushed_at": entry.pushed_at,
        ":entry": text(serde_json::to_string(entry))?,
    })?;
    Ok(())
}

/// The file, beside `history.db`: git ignores all that begin with its name.
fn database(history: &Path) -> PathBuf {
    let mut path = OsString::from(history);
    path.push("-remote");
    path.into()
}

/// Opens the file, and replaces a damaged one.
fn open_at(path: &Path) -> Result<Connection> {
    create_database(path);
    match Connection::open(path).and_then(prepared) {
        Err(error)
            if matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt)
            ) =>
        {
            let _ = std::fs::remove_file(path);
            create_database(path);
            Connection::open(path).and_then(prepared)
        }
        outcome => outcome,
    }
}

/// Creates the tables, and replaces those of another version.
fn prepared(mut connection: Connection) -> Result<Connection> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let version = |connection: &Connection| -> Result<i64> {
        connection.query_row("PRAGMA user_version", [], |row| row.get(0))
    };
    if version(&connection)? != VERSION {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if version(&transaction)? != VERSION {
            for table in ["entries", "read_objects", "shared", "tombstones"] {
                transaction.execute(&format!("DROP TABLE IF EXISTS {table}"), [])?;
            }
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
        }
        transaction.commit()?;
    }
    Ok(connection)
}
