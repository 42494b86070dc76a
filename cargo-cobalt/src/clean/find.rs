//! What `clean` may remove: result files and drafts of them, journals, reports, answers of models and copies of data sets, each only
//! with a name of ours, and through no symbolic link.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cobalt::command::config::{Config, ReporterKind};
use cobalt_core::store::{CutOffJournal, JournalHeader, Layout, ResultFileName, read_measurements};
use cobalt_core::wording::count;

use crate::baseline::json_files;
use crate::cli::Clean;
use crate::error::Error;
use crate::index::{Run, Skipped};
use crate::terminal::{one_line, seen};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The result file of a run, or what a process that was killed left of one.
    Result,
    /// The journal of a run that was cut off.
    Journal,
    /// A file that a reporter wrote.
    Report,
    /// An answer of a model.
    Answer,
    /// A copy of a data set that was fetched, or what a process that was killed left of one.
    Dataset,
}

impl Kind {
    pub const ALL: [Self; 5] = [Self::Result, Self::Journal, Self::Report, Self::Answer, Self::Dataset];

    pub fn name(self) -> &'static str {
        match self {
            Self::Result => "results",
            Self::Journal => "journals",
            Self::Report => "reports",
            Self::Answer => "answers",
            Self::Dataset => "data sets",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub kind: Kind,
    pub path: PathBuf,
    /// In bytes.
    pub size: u64,
    /// When the run started or, for all but result files, when the file was last written.
    pub time: SystemTime,
}

/// What would go, and what is worth knowing of it and of what stays.
#[derive(Debug, Default)]
pub struct Found {
    pub entries: Vec<Entry>,
    pub notes: Vec<String>,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What stays of what is named.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    now: SystemTime,
    /// What is younger stays.
    age: Option<Duration>,
    /// So many of the newest whole runs of each experiment stay.
    pub keep: Option<usize>,
}

impl Limits {
    pub fn of(arguments: &Clean) -> Self {
        let days = arguments.days.map(|days| u32::try_from(days.get()).unwrap_or(u32::MAX));
        Self {
            now: SystemTime::now(),
            age: days.map(|days| DAY * days),
            keep: arguments.keep.map(usize::from),
        }
    }

    /// Whether what is of this time is old enough to go.
    pub fn is_old(&self, time: SystemTime) -> bool {
        self.age.is_none_or(|age| self.is_older(time, age))
    }

    /// Whether what is of this time is older than that. What is of the future is not.
    pub fn is_older(&self, time: SystemTime, age: Duration) -> bool {
        self.now.duration_since(time).is_ok_and(|passed| passed > age)
    }
}

/// How much of a timestamp tells the second.
const SECOND: usize = "2026-02-05T14:30:00".len();

/// The runs that stay.
#[derive(Debug)]
pub struct Kept {
    /// The files of the whole runs that do.
    files: HashSet<String>,
    /// The start of the oldest of them, to the second, by the experiment's name; where an experiment has fewer runs than may
    /// stay, it is absent.
    since: BTreeMap<String, String>,
    /// The same by the slug of the name, as names of files have it. Of several names with one slug, the earliest counts.
    since_by_slug: BTreeMap<String, String>,
}

impl Kept {
    /// Of whole runs, the newest first, so many of each experiment.
    pub fn of(runs: &[Run], most: usize) -> Self {
        let mut kept = Self { files: HashSet::new(), since: BTreeMap::new(), since_by_slug: BTreeMap::new() };
        let mut by_name = BTreeMap::<&str, Vec<&Run>>::new();
        for run in runs {
            by_name.entry(&run.name).or_default().push(run);
        }
        let mut unlimited = Vec::new();
        for (name, runs) in by_name {
            kept.files.extend(runs.iter().take(most).map(|run| run.file.clone()));
            let slug = |run: &Run| Some(ResultFileName::parse(&run.file)?.experiment.to_owned());
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

    /// Whether the whole run in this file stays.
    pub fn has(&self, file: &str) -> bool {
        self.files.contains(file)
    }

    /// Whether the run of some items, of which this is the file's name, stays.
    pub fn has_partial(&self, name: ResultFileName<'_>) -> bool {
        let since = self.since_by_slug.get(name.experiment);
        since.is_none_or(|since| *name.start >= *since.replace(':', "-"))
    }

    /// Whether a run of the experiment that was cut off and started then stays.
    pub fn has_cut_off(&self, experiment: &str, timestamp: &str) -> bool {
        self.since.get(experiment).is_none_or(|since| timestamp >= since.as_str())
    }
}

/// How old the draft of a result file is at least, if nobody writes it any more.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Looks for them, among the files of `whole` runs, of runs of some items, and of those that are no results.
pub fn results(
    settings: &Config,
    whole: &[Run],
    skipped: &[Skipped],
    limits: &Limits,
    kept: Option<&Kept>,
    found: &mut Found,
) -> Result<(), Error> {
    let folder = settings.layout().results();
    if !is_ours(folder, settings.layout(), found) {
        return Ok(());
    }
    let whole: HashSet<_> = whole.iter().map(|run| &*run.file).collect();
    let skipped: HashSet<_> = skipped.iter().map(|skipped| &*skipped.file).collect();
    let (mut ids, mut foreign) = (HashSet::new(), 0);
    for file in files(folder)? {
        let Some(name) = ResultFileName::parse(&file.name).filter(|_| !skipped.contains(&*file.name)) else {
            foreign += usize::from(!is_draft(&file.name));
            draft(&file, limits, found)?;
            continue;
        };
        let is_kept = kept.is_some_and(|kept| match whole.contains(&*file.name) {
            true => kept.has(&file.name),
            false => kept.has_partial(name),
        });
        let time = name.time().map(|start| start.time());
        let entry = file.entry(Kind::Result, time)?.filter(|entry| !is_kept && limits.is_old(entry.time));
        if let Some(entry) = entry {
            ids.insert(name.id.to_owned());
            found.entries.push(entry);
        }
    }
    if foreign > 0 {
        let stay = if foreign == 1 { "is no result, and stays" } else { "are no results, and stay" };
        found.notes.push(format!("{} in `{}` {stay}", count(foreign, "file"), seen(folder)));
    }
    baselines(settings, &ids, found)
}

/// What is being written: a dot, the run's id, and `.tmp`.
fn is_draft(name: &str) -> bool {
    let id = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp"));
    id.is_some_and(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A draft goes that nobody completes.
fn draft(file: &Inside, limits: &Limits, found: &mut Found) -> Result<(), Error> {
    if is_draft(&file.name) {
        let draft = file.entry(Kind::Result, None)?;
        let is_left = |time| limits.is_old(time) && limits.is_older(time, ABANDONED);
        found.entries.extend(draft.filter(|draft| is_left(draft.time)));
    }
    Ok(())
}

/// Says of which baselines the run goes. They are files by themselves.
fn baselines(settings: &Config, ids: &HashSet<String>, found: &mut Found) -> Result<(), Error> {
    if ids.is_empty() {
        return Ok(());
    }
    for file in json_files(&settings.layout().baselines())? {
        // One that cannot be read is told of by whatever uses it.
        let baseline = read_measurements(&file, settings.prices()).ok();
        if let Some(baseline) = baseline.filter(|baseline| ids.contains(&baseline.id)) {
            found.notes.push(format!(
                "run {} goes, of which the baseline of `{}` was made; the baseline stays as it is",
                one_line(&baseline.id),
                one_line(&baseline.name),
            ));
        }
    }
    Ok(())
}

/// How many digits a run's id has.
const ID: usize = 12;

pub fn journals(
    layout: &Layout,
    limits: &Limits,
    kept: Option<&Kept>,
    found: &mut Found,
) -> Result<(), Error> {
    if !is_ours(&layout.journals(), layout, found) {
        return Ok(());
    }
    let (mut going_on, mut foreign) = (0, 0);
    for file in files(&layout.journals())? {
        if !is_journal(&file.name) {
            foreign += 1;
            continue;
        }
        match CutOffJournal::open(&file.path()) {
            Ok(Some(journal)) => add(&file, journal.header.as_ref(), limits, kept, found)?,
            Ok(None) => going_on += 1,
            // It may have been finished at this moment.
            Err(_) => foreign += usize::from(file.path().exists()),
        }
    }
    if going_on > 0 {
        let stay = if going_on == 1 {
            "is going on, and its journal stays"
        } else {
            "are going on, and their journals stay"
        };
        found.notes.push(format!("{} {stay}", count(going_on, "run")));
    }
    if foreign > 0 {
        let stay = if foreign == 1 {
            "is no journal that this version knows, and stays"
        } else {
            "are no journals that this version knows, and stay"
        };
        found.notes.push(format!("{} in `{}` {stay}", count(foreign, "file"), seen(&layout.journals())));
    }
    Ok(())
}

fn is_journal(name: &str) -> bool {
    let id = name.strip_suffix(".jsonl");
    id.is_some_and(|id| id.len() == ID && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A journal without its first line is of no use to anybody, and of no experiment that is known.
fn add(
    file: &Inside,
    header: Option<&JournalHeader>,
    limits: &Limits,
    kept: Option<&Kept>,
    found: &mut Found,
) -> Result<(), Error> {
    let is_kept = header
        .zip(kept)
        .is_some_and(|(header, kept)| kept.has_cut_off(&header.name, &header.timestamp.to_string()));
    let entry = file.entry(Kind::Journal, None)?;
    found.entries.extend(entry.filter(|entry| !is_kept && limits.is_old(entry.time)));
    Ok(())
}

pub fn reports(layout: &Layout, limits: &Limits, found: &mut Found) -> Result<(), Error> {
    if !is_ours(&layout.reports(), layout, found) {
        return Ok(());
    }
    let is_usual = |name: &str| ReporterKind::ALL.iter().any(|kind| kind.file_name() == Some(name));
    for file in files(&layout.reports())? {
        let entry = if is_usual(&file.name) { file.entry(Kind::Report, None)? } else { None };
        found.entries.extend(entry.filter(|entry| limits.is_old(entry.time)));
    }
    Ok(())
}

/// Looks for them: all, or those that are old, or too old to be used.
pub fn answers(settings: &Config, limits: &Limits, found: &mut Found) -> Result<(), Error> {
    let layout = settings.layout();
    if !is_ours(layout.cache(), layout, found) {
        return Ok(());
    }
    let is_expired =
        |time: SystemTime| settings.answers_kept_for().is_some_and(|most| limits.is_older(time, most));
    for folder in folders(layout.cache())? {
        if !Layout::is_answer_folder(&folder.name) {
            continue;
        }
        for file in files(&folder.path())? {
            let entry = if Layout::is_answer(&file.name) { file.entry(Kind::Answer, None)? } else { None };
            found.entries.extend(entry.filter(|entry| limits.is_old(entry.time) || is_expired(entry.time)));
        }
    }
    Ok(())
}

pub fn datasets(layout: &Layout, limits: &Limits, found: &mut Found) -> Result<(), Error> {
    let folder = layout.datasets();
    if !is_ours(&folder, layout, found) {
        return Ok(());
    }
    for file in files(&folder)? {
        let entry = file.entry(Kind::Dataset, None)?;
        let is_meant = |entry: &Entry| {
            Layout::is_copy(&file.name) || Layout::is_abandoned_download(&file.name, entry.time)
        };
        found.entries.extend(entry.filter(|entry| is_meant(entry) && limits.is_old(entry.time)));
    }
    Ok(())
}

/// Something in a folder, under a name that can be read.
#[derive(Debug)]
pub struct Inside {
    pub name: String,
    entry: DirEntry,
}

/// Whether a folder of the store may be looked into. One that is a link is left alone, and said to be.
pub fn is_ours(folder: &Path, layout: &Layout, found: &mut Found) -> bool {
    let link = link(folder, layout);
    let note = |link| format!("`{}` is a symbolic link, and what it leads to is left alone", seen(link));
    found.notes.extend(link.as_deref().map(note));
    link.is_none()
}

/// The files in a folder. One that is not there has none.
pub fn files(folder: &Path) -> Result<Vec<Inside>, Error> {
    list(folder, FileType::is_file)
}

/// The folders in a folder.
pub fn folders(folder: &Path) -> Result<Vec<Inside>, Error> {
    list(folder, FileType::is_dir)
}

/// The folder of the store or that of everything, where it is a link.
fn link(folder: &Path, layout: &Layout) -> Option<PathBuf> {
    let journals = layout.journals();
    let root = journals.parent().filter(|root| folder.starts_with(root));
    let is_link = |path: &&Path| path.is_symlink();
    root.into_iter().chain([folder]).find(is_link).map(Path::to_owned)
}

fn list(folder: &Path, is_wanted: fn(&FileType) -> bool) -> Result<Vec<Inside>, Error> {
    let failed = |source| Error::Folder { path: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut inside = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        // The type is that of the entry itself, where it is a link.
        if is_wanted(&entry.file_type().map_err(failed)?) {
            let name = entry
                .file_name()
                .into_string()
                .unwrap_or_else(|name: OsString| name.to_string_lossy().into());
            inside.push(Inside { name, entry });
        }
    }
    inside.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(inside)
}

impl Inside {
    pub fn path(&self) -> PathBuf {
        self.entry.path()
    }

    /// The file as one that may go. `None` where it is gone already. `time` is that of its run, in place of when it was last
    /// written.
    pub fn entry(&self, kind: Kind, time: Option<SystemTime>) -> Result<Option<Entry>, Error> {
        let read = self.entry.metadata().and_then(|metadata| {
            let time = time.map_or_else(|| metadata.modified(), Ok)?;
            Ok(Entry { kind, path: self.path(), size: metadata.len(), time })
        });
        match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some).map_err(|source| Error::Folder { path: self.path(), source }),
        }
    }
}
