//! Updates the index: reads new and changed files, and removes deleted ones.
//!
//! The files are read while the database is not locked. Another process may fill or empty it in between, so the plan is recomputed
//! under the lock, and the query runs before the lock is released. If a file changes in the meantime, the next update sees the
//! difference.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, Metadata};
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};
use std::{io, thread};

use rusqlite::{Connection, OptionalExtension, Result as SqliteResult, TransactionBehavior, params};

use super::read::{FileContent, read};
use super::run::{IndexError, IndexedRun, json_text};

/// The minimum number of files per thread.
const FILES_PER_THREAD: usize = 16;

/// A file that is not in the index, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedFile {
    pub file: String,
    pub reason: String,
}

/// Identifies a version of a file: its size in bytes and its modification time in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp {
    size: i64,
    modified: i64,
}

impl FileStamp {
    pub fn of(metadata: &Metadata) -> Self {
        let modified =
            metadata.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        Self {
            size: i64::try_from(metadata.len()).unwrap_or(i64::MAX),
            modified: modified.map_or(0, |time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)),
        }
    }
}

/// An indexed file.
struct IndexedFile {
    stamp: FileStamp,
    run_id: Option<String>,
}

/// The changes to make.
struct UpdatePlan {
    removed: Vec<String>,
    read: Vec<(String, FileStamp)>,
}

impl UpdatePlan {
    fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.read.is_empty()
    }

    /// The files that have not been read yet.
    fn unread(&self, contents: &Contents) -> Vec<String> {
        let files = self.read.iter().map(|(file, _)| file);
        files.filter(|file| !contents.contains_key(*file)).cloned().collect()
    }
}

/// The contents by file name.
type Contents = HashMap<String, FileContent>;

/// Updates the index from the folder and runs a query, in one transaction. Also returns the skipped files.
pub fn update<T>(
    connection: &mut Connection,
    folder: &Path,
    question: impl Fn(&Connection) -> SqliteResult<T>,
) -> Result<(T, Vec<SkippedFile>), IndexError> {
    let time = settled_time(folder);
    if let Some(answer) = answer_if_unchanged(connection, time, &question)? {
        return Ok(answer);
    }
    let present =
        result_files(folder).map_err(|source| IndexError::Results { path: folder.to_owned(), source })?;
    let mut contents = Contents::new();
    let mut behavior = TransactionBehavior::Deferred;
    let mut may_write = false;
    // Each round after the first reads at least one more file, so the loop terminates.
    loop {
        let transaction = connection.transaction_with_behavior(behavior)?;
        let plan = make_plan(&present, &indexed_files(&transaction)?);
        let unread = plan.unread(&contents);
        if plan.is_empty() || (may_write && unread.is_empty()) {
            apply(&transaction, &plan, &contents)?;
            let answer = question(&transaction)?;
            let mut skipped = skipped_files(&transaction)?;
            let state = generation(&transaction)?;
            let is_whole = plan.read.iter().all(|(file, _)| is_indexed(file, &contents));
            skipped.extend(plan.read.into_iter().filter_map(|(file, _)| unreadable_file(file, &contents)));
            transaction.commit()?;
            if let Some((state, time)) = state.zip(time).filter(|_| is_whole && present.len() >= LARGE_STORE)
            {
                // Only saves time, and fails if the database cannot be written.
                let _ = agree_with_folder(connection, state, time);
            }
            return Ok((answer, skipped));
        }
        drop(transaction);
        contents.extend(read_all(folder, &unread));
        (behavior, may_write) = (TransactionBehavior::Immediate, true);
    }
}

/// The number of files from which a store is large: its files are compared with the index only if its folder has changed since. A file
/// that is overwritten in place, which Cobalt never does, is noticed then.
const LARGE_STORE: usize = 2_000;

/// The age from which a folder's time tells all changes: file systems have clocks of up to two seconds.
const SETTLED_AFTER: Duration = Duration::from_secs(2);

/// The folder's modification time, unless it may change again without a difference.
fn settled_time(folder: &Path) -> Option<i64> {
    let modified = fs::metadata(folder).and_then(|metadata| metadata.modified()).ok()?;
    modified.elapsed().ok().filter(|age| *age > SETTLED_AFTER)?;
    let since = modified.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_nanos()).ok()
}

/// The answer from the index as it is, if the store is large and its folder has not changed since the last update.
fn answer_if_unchanged<T>(
    connection: &mut Connection,
    time: Option<i64>,
    question: impl Fn(&Connection) -> SqliteResult<T>,
) -> SqliteResult<Option<(T, Vec<SkippedFile>)>> {
    let Some(time) = time else { return Ok(None) };
    let transaction = connection.transaction()?;
    let known: Option<i64> = transaction
        .query_row("SELECT modified FROM files WHERE name = ''", [], |row| row.get(0))
        .optional()?;
    if known != Some(time) {
        return Ok(None);
    }
    let answer = (question(&transaction)?, skipped_files(&transaction)?);
    transaction.commit()?;
    Ok(Some(answer))
}

/// The number of the index's state. `None` if it is empty.
pub fn generation(connection: &Connection) -> SqliteResult<Option<i64>> {
    connection.query_row("SELECT size FROM files WHERE name = ''", [], |row| row.get(0)).optional()
}

/// Notes that the index in this state agrees with the folder at this time.
fn agree_with_folder(connection: &Connection, state: i64, time: i64) -> SqliteResult<usize> {
    connection.execute("UPDATE files SET modified = ? WHERE name = '' AND size = ?", [time, state])
}

/// The folder's potential result files. Files being written start with a dot.
pub fn result_files(folder: &Path) -> io::Result<BTreeMap<String, FileStamp>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        entries => entries?,
    };
    let mut files = BTreeMap::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || !name.ends_with(".json") {
            continue;
        }
        // Follows symlinks; broken ones are skipped.
        if let Some(metadata) = fs::metadata(entry.path()).ok().filter(Metadata::is_file) {
            files.insert(name, FileStamp::of(&metadata));
        }
    }
    Ok(files)
}

fn indexed_files(connection: &Connection) -> SqliteResult<HashMap<String, IndexedFile>> {
    let mut query =
        connection.prepare_cached("SELECT name, size, modified, run_id FROM files WHERE name <> ''")?;
    let rows = query.query_map([], |row| {
        let stamp = FileStamp { size: row.get(1)?, modified: row.get(2)? };
        Ok((row.get(0)?, IndexedFile { stamp, run_id: row.get(3)? }))
    })?;
    rows.collect()
}

/// Compares the folder with the index.
fn make_plan(present: &BTreeMap<String, FileStamp>, known: &HashMap<String, IndexedFile>) -> UpdatePlan {
    let is_stale = |name: &str, known: &IndexedFile| present.get(name) != Some(&known.stamp);
    // If a run's file changed or is gone, another file with the same id may now take precedence.
    let contested: HashSet<_> = known
        .iter()
        .filter(|(name, known)| is_stale(name, known))
        .filter_map(|(_, known)| known.run_id.as_ref())
        .collect();
    let is_to_be_read = |name: &str| {
        known.get(name).is_none_or(|known| {
            is_stale(name, known) || known.run_id.as_ref().is_some_and(|id| contested.contains(id))
        })
    };
    let read = present.iter().filter(|(name, _)| is_to_be_read(name));
    UpdatePlan {
        removed: known.keys().filter(|name| !present.contains_key(*name)).cloned().collect(),
        read: read.map(|(name, stamp)| (name.clone(), *stamp)).collect(),
    }
}

/// Reads files, in parallel if there are many.
fn read_all(folder: &Path, files: &[String]) -> Vec<(String, FileContent)> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut contents = Vec::new();
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            contents.push((file.clone(), read(folder, file)));
        }
        contents
    };
    thread::scope(|scope| {
        let helpers = processors.min(files.len() / FILES_PER_THREAD).saturating_sub(1);
        let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(work)).collect();
        let mut contents = work();
        for helper in helpers {
            contents.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        contents
    })
}

/// Writes the changes.
fn apply(connection: &Connection, plan: &UpdatePlan, contents: &Contents) -> SqliteResult<()> {
    if plan.is_empty() {
        return Ok(());
    }
    // The first state has any number: a table that was emptied and filled again is in another one.
    let sql = "INSERT INTO files (name, size, modified) VALUES ('', abs(random() / 4), 0) \
               ON CONFLICT (name) DO UPDATE SET size = size + 1, modified = 0";
    connection.execute(sql, [])?;
    for file in plan.removed.iter().chain(plan.read.iter().map(|(file, _)| file)) {
        connection.prepare_cached("DELETE FROM runs WHERE file = ?")?.execute([file])?;
        connection.prepare_cached("DELETE FROM files WHERE name = ?")?.execute([file])?;
    }
    for (file, stamp) in &plan.read {
        let (run, partial, problem) = match contents.get(file) {
            Some(FileContent::Run(run)) => (Some(run), None, None),
            Some(FileContent::Partial(run)) => (None, Some(json_text(run)?), None),
            Some(FileContent::Invalid(problem)) => (None, None, Some(problem)),
            Some(FileContent::Unreadable(_) | FileContent::Removed) | None => continue,
        };
        connection
            .prepare_cached(
                "INSERT INTO files (name, size, modified, run_id, partial_run, problem) VALUES (?, ?, ?, ?, ?, ?)",
            )?
            .execute(params![file, stamp.size, stamp.modified, run.map(|run| &run.id), partial, problem])?;
        if let Some(run) = run {
            insert_run(connection, run)?;
        }
    }
    Ok(())
}

/// Writes a run, unless another file with the same run takes precedence.
fn insert_run(connection: &Connection, run: &IndexedRun) -> SqliteResult<()> {
    let mut query = connection.prepare_cached("SELECT file, timestamp FROM runs WHERE id = ?")?;
    let other: Option<(String, String)> =
        query.query_row([&run.id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let is_before = other.is_none_or(|(file, timestamp)| run.takes_precedence(&file, &timestamp));
    if is_before { run.replace(connection) } else { Ok(()) }
}

fn is_indexed(file: &str, contents: &Contents) -> bool {
    matches!(
        contents.get(file),
        Some(FileContent::Run(_) | FileContent::Partial(_) | FileContent::Invalid(_))
    )
}

fn unreadable_file(file: String, contents: &Contents) -> Option<SkippedFile> {
    match contents.get(&file)? {
        FileContent::Unreadable(error) => Some(SkippedFile { reason: error.to_string(), file }),
        _ => None,
    }
}

/// The indexed files that are skipped.
fn skipped_files(connection: &Connection) -> SqliteResult<Vec<SkippedFile>> {
    // Several files with the same run are rare, and looked for only if there are more files than runs.
    let sql = "SELECT (SELECT count(*) FROM files WHERE run_id IS NOT NULL) > (SELECT count(*) FROM runs)";
    let has_copies: bool = connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    let sql = match has_copies {
        true => {
            "SELECT files.name, files.problem, runs.file FROM files LEFT JOIN runs ON runs.id = files.run_id \
             WHERE files.problem IS NOT NULL OR runs.file <> files.name ORDER BY files.name"
        }
        false => "SELECT name, problem, NULL FROM files WHERE problem IS NOT NULL ORDER BY name",
    };
    let mut query = connection.prepare_cached(sql)?;
    let rows = query.query_map([], |row| {
        let reason = match row.get(1)? {
            Some(problem) => problem,
            None => format!("`{}` has the same id and is used for the run", row.get::<_, String>(2)?),
        };
        Ok(SkippedFile { file: row.get(0)?, reason })
    })?;
    rows.collect()
}
