//! The runs in files and folders: their heads, as a folder may hold many, and most of them large.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use cobalt::report::{Shard, SourcePlace, Timestamp};
use cobalt::store::{JournalHeader, ResultFileName, without_mark};
use serde::Deserialize;
use walkdir::WalkDir;

use crate::error::Error;

/// What tells of a run.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) head: Head,
    /// Whether it came to its end: the file is a result file, and no journal.
    pub(super) is_finished: bool,
}

/// A result file without its figures and items.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Head {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) timestamp: Timestamp,
    #[serde(default)]
    pub(super) declared_at: Option<SourcePlace>,
    #[serde(default)]
    pub(super) shard: Option<Shard>,
    /// What every result file has, and hardly another.
    #[serde(rename = "config")]
    _config: serde::de::IgnoredAny,
    #[serde(rename = "summary")]
    _summary: serde::de::IgnoredAny,
}

/// The runs in these files, and anywhere below these folders, in the order of their paths.
pub(super) fn find(paths: &[PathBuf]) -> Result<Vec<Found>, Error> {
    let mut found = Vec::new();
    for path in paths {
        if !path.is_dir() {
            found.extend(journal(path).map_or_else(|| result(path), Ok)?);
            continue;
        }
        for entry in WalkDir::new(path).sort_by_file_name() {
            let entry = entry.map_err(|error| unfit(error.path().unwrap_or(path), &error))?;
            if entry.file_type().is_file() {
                found.extend(below(entry.path())?);
            }
        }
    }
    Ok(found)
}

/// What a file of a folder tells. One that has the name of a result file must be one.
fn below(path: &Path) -> Result<Option<Found>, Error> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => match result(path) {
            Err(error) if is_named_as_result(path) => Err(error),
            found => Ok(found.ok().flatten()),
        },
        _ => Ok(journal(path).flatten()),
    }
}

fn result(path: &Path) -> Result<Option<Found>, Error> {
    let bytes = fs::read(path).map_err(|error| unfit(path, &error))?;
    let head = serde_json::from_slice(without_mark(&bytes));
    let head = head.map_err(|error| unfit(path, &format!("no result file: {error}")))?;
    Ok(Some(Found { path: path.to_owned(), head, is_finished: true }))
}

/// What a journal tells of a run that was cut off, or goes on; nothing is inside where it is of no use. Absent for files that
/// are not named as journals are.
fn journal(path: &Path) -> Option<Option<Found>> {
    path.extension().filter(|extension| *extension == "jsonl")?;
    let read = || {
        let mut line = String::new();
        BufReader::new(File::open(path).ok()?).read_line(&mut line).ok()?;
        let JournalHeader { id, name, timestamp, declared_at, shard, .. } =
            serde_json::from_str(&line).ok()?;
        let (_config, _summary) = (serde::de::IgnoredAny, serde::de::IgnoredAny);
        let head = Head { id, name, timestamp, declared_at, shard, _config, _summary };
        Some(Found { path: path.to_owned(), head, is_finished: false })
    };
    Some(read())
}

fn is_named_as_result(path: &Path) -> bool {
    path.file_name().is_some_and(|name| ResultFileName::parse(&name.to_string_lossy()).is_some())
}

fn unfit(path: &Path, reason: &impl ToString) -> Error {
    let reason = format!("{}; name result files of shards, or folders above them", reason.to_string());
    Error::RunFile { path: path.to_owned(), reason }
}
