//! Finds the files that `clean` can delete: result files and their drafts, journals, reports, cached model responses and cached
//! datasets. Only files with known names, and never through symbolic links.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cobalt::command::config::{Config, ReporterKind};
use cobalt_core::store::{
    InterruptedJournal, JournalHeader, Layout, ResultFileName, head_of_items_file, read_measurements,
};
use cobalt_core::wording::count;

use crate::baseline::json_files;
use crate::cli::Clean;
use crate::error::Error;
use crate::index::{IndexedRun, SkippedFile};
use crate::terminal::{one_line, relative_path};

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// The result file of a run, or an abandoned draft of one.
    Result,
    /// The journal of an interrupted run.
    Journal,
    /// The folder of a run's kept workspaces.
    Workspaces,
    /// A reporter file.
    Report,
    /// A cached model response.
    CachedResponse,
    /// A cached dataset, or an abandoned download of one.
    Dataset,
}

impl FileKind {
    pub const ALL: [Self; 6] =
        [Self::Result, Self::Journal, Self::Workspaces, Self::Report, Self::CachedResponse, Self::Dataset];

    pub fn name(self) -> &'static str {
        match self {
            Self::Result => "results",
            Self::Journal => "journals",
            Self::Workspaces => "workspaces",
            Self::Report => "reports",
            Self::CachedResponse => "cached responses",
            Self::Dataset => "datasets",
        }
    }
}

#[derive(Clone, Debug)]
pub struct CleanupEntry {
    pub kind: FileKind,
    pub path: PathBuf,
    /// In bytes.
    pub size: u64,
    /// The start of the run for result files, otherwise the modification time.
    pub time: SystemTime,
}

/// The files to delete, and notes on them and on what is kept.
#[derive(Debug, Default)]
pub struct CleanupPlan {
    pub entries: Vec<CleanupEntry>,
    pub notes: Vec<String>,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What to keep.
#[derive(Clone, Copy, Debug)]
pub struct RetentionPolicy {
    now: SystemTime,
    /// Younger files are kept.
    age: Option<Duration>,
    /// Number of latest complete runs to keep per experiment.
    pub keep: Option<usize>,
}

impl RetentionPolicy {
    pub fn of(arguments: &Clean) -> Self {
        let days = arguments.days.map(|days| u32::try_from(days.get()).unwrap_or(u32::MAX));
        Self {
            now: SystemTime::now(),
            age: days.map(|days| DAY * days),
            keep: arguments.keep.map(usize::from),
        }
    }

    /// Whether a file of this time is old enough to delete.
    pub fn is_old(&self, time: SystemTime) -> bool {
        self.age.is_none_or(|age| self.is_older(time, age))
    }

    /// Whether a file of this time is older than `age`. Times in the future are not.
    pub fn is_older(&self, time: SystemTime, age: Duration) -> bool {
        self.now.duration_since(time).is_ok_and(|passed| passed > age)
    }
}

/// Length of a timestamp up to the second.
const SECOND: usize = "2026-02-05T14:30:00".len();

/// The runs to keep.
#[derive(Debug)]
pub struct RetainedRuns {
    /// The files of the complete runs to keep.
    files: HashSet<String>,
    /// The start of the oldest of them, to the second, by experiment; absent if an experiment has fewer runs than the limit.
    since: BTreeMap<String, String>,
    /// The same by the slug in file names. For names that share a slug, the earliest start counts.
    since_by_slug: BTreeMap<String, String>,
}

impl RetainedRuns {
    /// Keeps the `most` latest complete runs of each experiment; `runs` are sorted, latest first.
    pub fn of(runs: &[IndexedRun], most: usize) -> Self {
        let mut kept = Self { files: HashSet::new(), since: BTreeMap::new(), since_by_slug: BTreeMap::new() };
        let mut by_name = BTreeMap::<&str, Vec<&IndexedRun>>::new();
        for run in runs {
            by_name.entry(&run.name).or_default().push(run);
        }
        let mut unlimited = Vec::new();
        for (name, runs) in by_name {
            kept.files.extend(runs.iter().take(most).map(|run| run.file.clone()));
            let slug = |run: &IndexedRun| Some(ResultFileName::parse(&run.file)?.experiment.to_owned());
            let slug = runs.iter().find_map(|run| slug(run));
            match runs.get(most - 1).and_then(|oldest| oldest.timestamp.get(..SECOND)) {
                Some(start) => {
                    kept.since.insert(name.to_owned(), start.to_owned());
                    let earliest =
                        slug.map(|slug| kept.since_by_slug.entry(slug).or_insert_with(|| start.to_owned()));
                    if let Some(earliest) = earliest.filter(|earliest| &***earliest > start) {
                        start.clone_into(earliest);
                    }
                }
                None => unlimited.extend(slug),
            }
        }
        unlimited.iter().for_each(|slug| drop(kept.since_by_slug.remove(slug)));
        kept
    }

    /// Whether to keep the complete run in this file.
    pub fn keeps(&self, file: &str) -> bool {
        self.files.contains(file)
    }

    /// Whether to keep the partial run in a file of this name.
    pub fn keeps_partial(&self, name: ResultFileName<'_>) -> bool {
        let since = self.since_by_slug.get(name.experiment);
        since.is_none_or(|since| *name.start >= *since.replace(':', "-"))
    }

    /// Whether to keep an interrupted run of the experiment with this start.
    pub fn keeps_interrupted(&self, experiment: &str, timestamp: &str) -> bool {
        self.since.get(experiment).is_none_or(|since| timestamp >= since.as_str())
    }
}

/// Age from which a draft of a result file counts as abandoned.
const ABANDONED_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Finds result files to delete. `whole` are the complete runs, `skipped` files that are not results.
pub fn results(
    settings: &Config,
    whole: &[IndexedRun],
    skipped: &[SkippedFile],
    limits: &RetentionPolicy,
    kept: Option<&RetainedRuns>,
    found: &mut CleanupPlan,
) -> Result<(), Error> {
    let folder = settings.layout().results();
    if !is_searchable(folder, settings.layout(), found) {
        return Ok(());
    }
    let whole: HashSet<_> = whole.iter().map(|run| &*run.file).collect();
    let skipped: HashSet<_> = skipped.iter().map(|skipped| &*skipped.file).collect();
    let (mut ids, mut foreign) = (HashSet::new(), 0);
    for file in files(folder)? {
        // The items of a run in parts go with its result file.
        let result = head_of_items_file(&file.name).unwrap_or_else(|| file.name.clone());
        let Some(name) = ResultFileName::parse(&result).filter(|_| !skipped.contains(&*result)) else {
            foreign += usize::from(!is_draft(&file.name));
            add_abandoned_draft(&file, limits, found)?;
            continue;
        };
        let is_kept = kept.is_some_and(|kept| match whole.contains(&*result) {
            true => kept.keeps(&result),
            false => kept.keeps_partial(name),
        });
        let time = name.time().map(|start| start.time());
        let entry = file.entry(FileKind::Result, time)?.filter(|entry| !is_kept && limits.is_old(entry.time));
        if let Some(entry) = entry {
            ids.insert(name.id.to_owned());
            found.entries.push(entry);
        }
    }
    if foreign > 0 {
        let what = if foreign == 1 { "not a result file" } else { "not result files" };
        found.notes.push(format!(
            "keeping {} in `{}`: {what}",
            count(foreign, "file"),
            relative_path(folder)
        ));
    }
    baselines(settings, &ids, found)
}

/// A file being written: a dot, the run ID, `.items` if it is an items file, and `.tmp`.
fn is_draft(name: &str) -> bool {
    let id = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp"));
    let id = id.map(|id| id.strip_suffix(".items").unwrap_or(id));
    id.is_some_and(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Adds an abandoned draft.
fn add_abandoned_draft(
    file: &FolderEntry,
    limits: &RetentionPolicy,
    found: &mut CleanupPlan,
) -> Result<(), Error> {
    if is_draft(&file.name) {
        let draft = file.entry(FileKind::Result, None)?;
        let is_left = |time| limits.is_old(time) && limits.is_older(time, ABANDONED_AGE);
        found.entries.extend(draft.filter(|draft| is_left(draft.time)));
    }
    Ok(())
}

/// Notes which baselines were set from deleted runs. Baselines are separate files.
fn baselines(settings: &Config, ids: &HashSet<String>, found: &mut CleanupPlan) -> Result<(), Error> {
    if ids.is_empty() {
        return Ok(());
    }
    for file in json_files(&settings.layout().baselines())? {
        // Commands that use an unreadable baseline report it.
        let baseline = read_measurements(&file, settings.prices()).ok();
        if let Some(baseline) = baseline.filter(|baseline| ids.contains(&baseline.id)) {
            found.notes.push(format!(
                "run {}, the source of the baseline of `{}`, will be deleted; the baseline is kept",
                one_line(&baseline.id),
                one_line(&baseline.name),
            ));
        }
    }
    Ok(())
}

/// Number of digits of a run ID.
const RUN_ID_LENGTH: usize = 12;

pub fn journals(
    layout: &Layout,
    limits: &RetentionPolicy,
    kept: Option<&RetainedRuns>,
    found: &mut CleanupPlan,
) -> Result<(), Error> {
    if !is_searchable(&layout.journals(), layout, found) {
        return Ok(());
    }
    let (mut going_on, mut foreign) = (0, 0);
    for file in files(&layout.journals())? {
        if !is_journal(&file.name) {
            foreign += 1;
            continue;
        }
        match InterruptedJournal::open(&file.path()) {
            Ok(Some(journal)) => add_journal(&file, journal.header.as_ref(), limits, kept, found)?,
            Ok(None) => going_on += 1,
            // The run may have finished just now.
            Err(_) => foreign += usize::from(file.path().exists()),
        }
    }
    if going_on > 0 {
        let what = if going_on == 1 { "the journal" } else { "the journals" };
        found.notes.push(format!("keeping {what} of {} in progress", count(going_on, "run")));
    }
    if foreign > 0 {
        let what = if foreign == 1 { "not a journal" } else { "not journals" };
        let (files, folder) = (count(foreign, "file"), relative_path(&layout.journals()));
        found.notes.push(format!("keeping {files} in `{folder}`: {what} known to this version"));
    }
    Ok(())
}

fn is_journal(name: &str) -> bool {
    name.strip_suffix(".jsonl").is_some_and(is_run_id)
}

fn is_run_id(name: &str) -> bool {
    name.len() == RUN_ID_LENGTH && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Adds a journal. Without a header its experiment is unknown, and it is of no use.
fn add_journal(
    file: &FolderEntry,
    header: Option<&JournalHeader>,
    limits: &RetentionPolicy,
    kept: Option<&RetainedRuns>,
    found: &mut CleanupPlan,
) -> Result<(), Error> {
    let is_kept = header
        .zip(kept)
        .is_some_and(|(header, kept)| kept.keeps_interrupted(&header.name, &header.timestamp.to_string()));
    let entry = file.entry(FileKind::Journal, None)?;
    found.entries.extend(entry.filter(|entry| !is_kept && limits.is_old(entry.time)));
    Ok(())
}

/// Finds the kept workspaces of runs. Those of runs in progress and of interrupted runs that stay are kept, and with a limit per
/// experiment also those of the other runs that stay.
pub fn workspaces(
    layout: &Layout,
    limits: &RetentionPolicy,
    kept: Option<&RetainedRuns>,
    found: &mut CleanupPlan,
) -> Result<(), Error> {
    let root = layout.workspaces();
    if !is_searchable(&root, layout, found) {
        return Ok(());
    }
    for folder in folders(&root)?.into_iter().filter(|folder| is_run_id(&folder.name)) {
        let stays = |path: &Path| path.exists() && !found.entries.iter().any(|entry| entry.path == path);
        let is_unfinished = stays(&layout.journal(&folder.name));
        let has_result = layout.result_of(&folder.name).is_some_and(|path| stays(&path));
        let is_kept = is_unfinished || (kept.is_some() && has_result);
        let entry = folder.entry(FileKind::Workspaces, None)?;
        let entry = entry.filter(|entry| !is_kept && limits.is_old(entry.time));
        if let Some(entry) = entry {
            found.entries.push(CleanupEntry { size: total_size(&folder.path()), ..entry });
        }
    }
    Ok(())
}

/// The size of all files in a folder in bytes, as far as it can be read: an agent may leave anything.
pub fn total_size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
        .fold(0, |size, (path, metadata)| {
            size + if metadata.is_dir() { total_size(&path) } else { metadata.len() }
        })
}

pub fn reports(layout: &Layout, limits: &RetentionPolicy, found: &mut CleanupPlan) -> Result<(), Error> {
    if !is_searchable(&layout.reports(), layout, found) {
        return Ok(());
    }
    let is_usual = |name: &str| ReporterKind::ALL.iter().any(|kind| kind.file_name() == Some(name));
    for file in files(&layout.reports())? {
        let entry = if is_usual(&file.name) { file.entry(FileKind::Report, None)? } else { None };
        found.entries.extend(entry.filter(|entry| limits.is_old(entry.time)));
    }
    Ok(())
}

/// Finds cached model responses: all, old ones, or expired ones.
pub fn cached_responses(
    settings: &Config,
    limits: &RetentionPolicy,
    found: &mut CleanupPlan,
) -> Result<(), Error> {
    let layout = settings.layout();
    if !is_searchable(layout.cache(), layout, found) {
        return Ok(());
    }
    let is_expired =
        |time: SystemTime| settings.response_cache_ttl().is_some_and(|most| limits.is_older(time, most));
    for folder in folders(layout.cache())? {
        if !Layout::is_cache_folder(&folder.name) {
            continue;
        }
        for file in files(&folder.path())? {
            let entry = if Layout::is_cached_response(&file.name) {
                file.entry(FileKind::CachedResponse, None)?
            } else {
                None
            };
            found.entries.extend(entry.filter(|entry| limits.is_old(entry.time) || is_expired(entry.time)));
        }
    }
    Ok(())
}

pub fn datasets(layout: &Layout, limits: &RetentionPolicy, found: &mut CleanupPlan) -> Result<(), Error> {
    let folder = layout.datasets();
    if !is_searchable(&folder, layout, found) {
        return Ok(());
    }
    for file in files(&folder)? {
        let entry = file.entry(FileKind::Dataset, None)?;
        let is_meant = |entry: &CleanupEntry| {
            Layout::is_dataset_copy(&file.name) || Layout::is_abandoned_download(&file.name, entry.time)
        };
        found.entries.extend(entry.filter(|entry| is_meant(entry) && limits.is_old(entry.time)));
    }
    Ok(())
}

/// An entry of a folder.
#[derive(Debug)]
pub struct FolderEntry {
    pub name: String,
    entry: DirEntry,
}

/// Whether a folder of the store can be searched. Symbolic links are skipped, with a note.
pub fn is_searchable(folder: &Path, layout: &Layout, found: &mut CleanupPlan) -> bool {
    let link = link(folder, layout);
    let note = |link| format!("skipping `{}`: it is a symbolic link", relative_path(link));
    found.notes.extend(link.as_deref().map(note));
    link.is_none()
}

/// The files in a folder; none if it does not exist.
pub fn files(folder: &Path) -> Result<Vec<FolderEntry>, Error> {
    list(folder, FileType::is_file)
}

/// The folders in a folder.
pub fn folders(folder: &Path) -> Result<Vec<FolderEntry>, Error> {
    list(folder, FileType::is_dir)
}

/// Whether a file of the store, its folder or the root is a symbolic link: such files are never deleted.
pub fn is_linked(file: &Path, layout: &Layout) -> bool {
    file.parent().into_iter().chain([file]).any(|path| link(path, layout).is_some())
}

/// The folder or the root of the store, if it is a symbolic link.
fn link(folder: &Path, layout: &Layout) -> Option<PathBuf> {
    let journals = layout.journals();
    let root = journals.parent().filter(|root| folder.starts_with(root));
    let is_link = |path: &&Path| path.is_symlink();
    root.into_iter().chain([folder]).find(is_link).map(Path::to_owned)
}

fn list(folder: &Path, is_wanted: fn(&FileType) -> bool) -> Result<Vec<FolderEntry>, Error> {
    let failed = |source| Error::Folder { path: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut inside = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        // The type of the entry itself, even if it is a link.
        if is_wanted(&entry.file_type().map_err(failed)?) {
            let name = entry
                .file_name()
                .into_string()
                .unwrap_or_else(|name: OsString| name.to_string_lossy().into());
            inside.push(FolderEntry { name, entry });
        }
    }
    inside.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(inside)
}

impl FolderEntry {
    pub fn path(&self) -> PathBuf {
        self.entry.path()
    }

    /// The file as an entry to delete; `None` if it no longer exists. `time` is that of its run, instead of the modification time.
    pub fn entry(&self, kind: FileKind, time: Option<SystemTime>) -> Result<Option<CleanupEntry>, Error> {
        let read = self.entry.metadata().and_then(|metadata| {
            let time = time.map_or_else(|| metadata.modified(), Ok)?;
            Ok(CleanupEntry { kind, path: self.path(), size: metadata.len(), time })
        });
        match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some).map_err(|source| Error::Folder { path: self.path(), source }),
        }
    }
}
