//! The runs to merge: result files and journals in the given folders, by experiment and shard.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use cobalt_core::report::{Shard, SourceLocation, Timestamp};
use cobalt_core::store::{JournalHeader, ResultFileName, strip_bom};
use serde::Deserialize;
use walkdir::WalkDir;

use crate::error::Error;

/// The runs found for one experiment.
#[derive(Debug)]
pub struct ExperimentRuns {
    pub name: String,
    /// Where the experiment is declared, according to its latest run.
    pub declared_at: Option<SourceLocation>,
    /// The runs of each shard, latest first.
    pub shards: BTreeMap<Shard, Vec<RunFile>>,
    /// The number of runs that are not shards.
    others: usize,
}

/// Groups runs by experiment, in source order. Experiments with the same name in different files are separate.
pub fn group_by_experiment(found: Vec<RunFile>) -> Vec<ExperimentRuns> {
    let mut by_place = BTreeMap::<_, Vec<RunFile>>::new();
    for run in found {
        let file = run.head.declared_at.as_ref().map(|place| place.file.clone());
        by_place.entry((file, run.head.name.clone())).or_default().push(run);
    }
    let mut groups: Vec<_> =
        by_place.into_iter().map(|((_, name), runs)| ExperimentRuns::of(name, runs)).collect();
    groups
        .sort_by_cached_key(|group| group.declared_at.as_ref().map(|place| (place.file.clone(), place.line)));
    groups
}

impl ExperimentRuns {
    fn of(name: String, mut runs: Vec<RunFile>) -> Self {
        // If a run has both, its result file comes before its journal.
        runs.sort_by_key(|run| Reverse((run.head.timestamp, run.is_finished)));
        let declared_at = runs.first().and_then(|run| run.head.declared_at.clone());
        let mut group = Self { name, declared_at, shards: BTreeMap::new(), others: 0 };
        for run in runs {
            let Some(shard) = run.head.shard else {
                group.others += 1;
                continue;
            };
            let known = group.shards.entry(shard).or_default();
            if !known.iter().any(|known| known.head.id == run.head.id) {
                known.push(run);
            }
        }
        group
    }

    /// The note that none of its runs is a shard.
    pub fn skip_note(&self) -> String {
        let are = if self.others == 1 {
            "its only run is not a shard".to_owned()
        } else {
            format!("none of its {} runs is a shard", self.others)
        };
        format!("{}: skipped, {are}", self.name)
    }

    /// Notes on shards with several runs.
    pub fn notes(&self) -> Vec<String> {
        let several = self.shards.iter().filter(|(_, runs)| runs.len() > 1);
        let note = |(shard, runs): (&Shard, &Vec<RunFile>)| {
            format!(
                "{}: using the latest of {} runs of shard {shard}: `{}`",
                self.name,
                runs.len(),
                runs[0].path.display()
            )
        };
        several.map(note).collect()
    }

    /// The result files of the latest run of each shard; an error if one did not finish.
    pub fn newest(self) -> Result<Vec<PathBuf>, String> {
        let mut paths = Vec::with_capacity(self.shards.len());
        for (shard, runs) in self.shards {
            let Some(newest) = runs.into_iter().next() else { continue };
            if !newest.is_finished {
                let RunFile { path, head, .. } = newest;
                return Err(format!(
                    "run {} of shard {shard} is not finished: there is only its journal `{}`; on the machine that ran it, \
                     resume with `cargo cobalt run --resume {}` or rerun the shard",
                    head.id,
                    path.display(),
                    head.id
                ));
            }
            paths.push(newest.path);
        }
        Ok(paths)
    }
}

/// A file of a run.
#[derive(Debug)]
pub struct RunFile {
    path: PathBuf,
    head: RunHead,
    /// Whether the run finished: the file is a result file, not a journal.
    is_finished: bool,
}

impl RunFile {
    /// Whether the run is a shard of another group than this one.
    pub fn is_of_other_group(&self, group: &str) -> bool {
        self.head.shard.is_some() && self.head.shard_group.as_deref() != Some(group)
    }
}

/// The head of a result file, without metrics and items.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RunHead {
    id: String,
    name: String,
    timestamp: Timestamp,
    #[serde(default)]
    declared_at: Option<SourceLocation>,
    #[serde(default)]
    shard: Option<Shard>,
    #[serde(default)]
    shard_group: Option<String>,
    /// Fields that every result file has, and few other files.
    #[serde(rename = "config")]
    _config: serde::de::IgnoredAny,
    #[serde(rename = "summary")]
    _summary: serde::de::IgnoredAny,
}

/// The runs in these files and, recursively, in these folders, sorted by path.
pub fn find(paths: &[PathBuf]) -> Result<Vec<RunFile>, Error> {
    let mut found = Vec::new();
    for path in paths {
        if !path.is_dir() {
            found.extend(read_journal_head(path).map_or_else(|| read_result(path), Ok)?);
            continue;
        }
        for entry in WalkDir::new(path).sort_by_file_name() {
            let entry = entry.map_err(|error| file_error(error.path().unwrap_or(path), &error))?;
            if entry.file_type().is_file() {
                found.extend(read_in_folder(entry.path())?);
            }
        }
    }
    Ok(found)
}

/// The run in a file of a folder. A file named like a result file must be one.
fn read_in_folder(path: &Path) -> Result<Option<RunFile>, Error> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => match read_result(path) {
            Err(error) if is_named_as_result(path) => Err(error),
            found => Ok(found.ok().flatten()),
        },
        _ => Ok(read_journal_head(path).flatten()),
    }
}

fn read_result(path: &Path) -> Result<Option<RunFile>, Error> {
    let bytes = fs::read(path).map_err(|error| file_error(path, &error))?;
    let head = serde_json::from_slice(strip_bom(&bytes));
    let head = head.map_err(|error| file_error(path, &format!("not a result file: {error}")))?;
    Ok(Some(RunFile { path: path.to_owned(), head, is_finished: true }))
}

/// The run in the journal of an interrupted or running run; the inner value is `None` if the journal is unusable. The outer one
/// is `None` if the file is not named like a journal.
fn read_journal_head(path: &Path) -> Option<Option<RunFile>> {
    path.extension().filter(|extension| *extension == "jsonl")?;
    let read = || {
        let mut line = String::new();
        BufReader::new(File::open(path).ok()?).read_line(&mut line).ok()?;
        let JournalHeader { id, name, timestamp, declared_at, shard, shard_group, .. } =
            serde_json::from_str(&line).ok()?;
        let (_config, _summary) = (serde::de::IgnoredAny, serde::de::IgnoredAny);
        let head = RunHead { id, name, timestamp, declared_at, shard, shard_group, _config, _summary };
        Some(RunFile { path: path.to_owned(), head, is_finished: false })
    };
    Some(read())
}

fn is_named_as_result(path: &Path) -> bool {
    path.file_name().is_some_and(|name| ResultFileName::parse(&name.to_string_lossy()).is_some())
}

fn file_error(path: &Path, reason: &impl ToString) -> Error {
    let reason = format!("{}; pass result files of shards, or folders that contain them", reason.to_string());
    Error::RunFile { path: path.to_owned(), reason }
}
