//! The past runs of a project, and their reports.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use cobalt::command::config::Config;
use cobalt_core::prices::PriceTable;
use cobalt_core::report::Report;
use cobalt_core::store::ReportFile;
use cobalt_core::wording;

use super::projects::{Project, Projects};
use crate::cli::RunName;
use crate::error::Error;
use crate::index::{Index, IndexedRun, SkippedFile};
pub use crate::runs::RunPhase as State;
use crate::runs::{KnownRuns, ResolvedRun, RunView, UnknownRun, journals, unfinished_report};
use crate::sized_cache::SizedCache;

/// The maximum number of runs in a message.
const MOST_NAMED: usize = 5;

/// A snapshot of a project's past runs.
#[derive(Debug)]
pub struct PastRuns {
    settings: Config,
    known: KnownRuns,
    /// Runs of only some items, newest first.
    partial: Vec<IndexedRun>,
    /// Files that are not result files, and why.
    pub skipped: Vec<SkippedFile>,
    /// The journals of unfinished runs by run ID.
    journals: BTreeMap<String, PathBuf>,
}

/// A run found by name.
#[derive(Debug)]
pub struct LoadedRun {
    /// Its report and its items, which of a large run are read on demand.
    pub file: Arc<ReportFile>,
    pub state: State,
    /// A note on how the name was resolved, in a sentence.
    pub note: Option<String>,
}

impl LoadedRun {
    /// The report; without its items if they are in parts.
    pub fn report(&self) -> &Report {
        self.file.report()
    }
}

/// The file of a run.
enum RunLocation {
    Result(ResolvedRun),
    Journal(PathBuf),
}

impl PastRuns {
    /// Reads the store of a project.
    pub fn open(project: &Project) -> Result<Self, Error> {
        let settings = project.settings()?;
        let layout = settings.layout();
        let (all, skipped) = Index::open(layout)?.all_runs()?;
        let known = KnownRuns::of(all.whole, layout, &project.root);
        let mut journals = journals(&layout.journals());
        // The result file is written before the journal is removed.
        journals.retain(|id, _| !known.whole().iter().chain(&all.partial).any(|run| run.id == *id));
        Ok(Self { known, partial: all.partial, skipped, journals, settings })
    }

    /// All finished runs, newest first.
    pub fn runs(&self) -> Vec<RunView> {
        let whole = self.known.whole().iter().map(|run| RunView::finished(run.clone(), false));
        let partial = self.partial.iter().map(|run| RunView::finished(run.clone(), true));
        RunView::newest_first(whole.chain(partial))
    }

    /// The whole runs in the index, newest first.
    pub fn whole_runs(&self) -> &[IndexedRun] {
        self.known.whole()
    }

    /// All finished runs in the index, whole ones before partial ones.
    pub fn index_rows(&self) -> impl Iterator<Item = &IndexedRun> {
        self.known.whole().iter().chain(&self.partial)
    }

    /// The experiments with a whole run, that of the newest run first.
    pub fn experiments(&self) -> Vec<&str> {
        self.known.experiments()
    }

    /// Unfinished runs, newest first. Only their headers are parsed.
    pub fn unfinished(&self) -> Vec<RunView> {
        RunView::newest_first(self.journals.values().filter_map(|path| RunView::of_journal(path)))
    }

    /// The prices of models.
    pub fn prices(&self) -> &PriceTable {
        self.settings.prices()
    }

    /// Reads a run by name: `latest`, `latest~1`, `experiment@latest`, a run ID or ID prefix, or a git revision.
    pub fn find(&self, name: &str) -> Result<LoadedRun, Error> {
        self.read(self.resolve(&[name])?.remove(0))
    }

    /// Reads two runs by name. An ambiguous name resolves to a run of the other's experiment.
    pub fn find_two(&self, names: [&str; 2]) -> Result<[LoadedRun; 2], Error> {
        let mut places = self.resolve(&names)?.into_iter();
        let mut next = || self.read(places.next().expect("there is a place for each name"));
        Ok([next()?, next()?])
    }

    /// Whether a name is a run ID or ID prefix.
    pub fn has_id(&self, name: &str) -> bool {
        let runs = self.index_rows().map(|run| &*run.id);
        !name.is_empty()
            && runs.chain(self.journals.keys().map(String::as_str)).any(|id| id.starts_with(name))
    }

    fn resolve(&self, names: &[&str]) -> Result<Vec<RunLocation>, Error> {
        let mut places: Vec<_> = names.iter().map(|name| self.journal(name)).collect::<Result<_, _>>()?;
        let others = names.iter().zip(&places).filter(|(_, journal)| journal.is_none());
        let others = others.map(|(name, _)| run_name(name)).collect::<Result<Vec<_>, _>>()?;
        let mut found = self.known.resolve(&others).map_err(with_hint)?.into_iter().map(RunLocation::Result);
        places.iter_mut().filter(|place| place.is_none()).for_each(|place| *place = found.next());
        Ok(places.into_iter().flatten().collect())
    }

    /// The journal of a run, by its ID or ID prefix.
    fn journal(&self, name: &str) -> Result<Option<RunLocation>, Error> {
        if let Some(path) = self.journals.get(name) {
            return Ok(Some(RunLocation::Journal(path.clone())));
        }
        let journals: Vec<_> = self.journals.iter().filter(|(id, _)| id.starts_with(name)).collect();
        let ended = self.index_rows().map(|run| &run.id);
        let ended: Vec<_> = ended.filter(|id| id.starts_with(name)).collect();
        match (&journals[..], &ended[..]) {
            _ if name.is_empty() || ended.iter().any(|id| *id == name) => Ok(None),
            ([], _) => Ok(None),
            ([(_, path)], []) => Ok(Some(RunLocation::Journal((*path).clone()))),
            _ => {
                let all = ended.into_iter().chain(journals.into_iter().map(|(id, _)| id)).cloned();
                let runs = all.take(MOST_NAMED).collect();
                Err(with_hint(UnknownRun::Ambiguous { typed: name.to_owned(), runs }.into()))
            }
        }
    }

    fn read(&self, place: RunLocation) -> Result<LoadedRun, Error> {
        match place {
            RunLocation::Result(ResolvedRun { path, note, .. }) => {
                let file = read_result(&path).map_err(|error| read_error(&path, &*error))?;
                Ok(LoadedRun { file, state: State::Finished, note })
            }
            RunLocation::Journal(path) => {
                let report = unfinished_report(&path, &self.settings);
                let report = report.map_err(|error| read_error(&path, &error))?;
                let state = State::of_journal(&path).map_err(|error| read_error(&path, &error))?;
                let file = ReportFile::of_report(&path, report);
                Ok(LoadedRun { file: Arc::new(file), state, note: None })
            }
        }
    }
}

/// The project to search for a run: the named one, the only one, or the one of several that has a run with this ID.
pub fn find_project(
    projects: &Projects,
    project: Option<&str>,
    run: &str,
) -> Result<(Arc<Project>, PastRuns), Error> {
    let all = projects.all();
    if project.is_some() || all.len() < 2 {
        let project = projects.select(project)?;
        let past = PastRuns::open(&project)?;
        return Ok((project, past));
    }
    let mut having = Vec::new();
    for project in all {
        // A project that cannot be read reports why when it is named, and does not block the others.
        let Ok(past) = PastRuns::open(&project) else { continue };
        if past.has_id(run) {
            having.push((project, past));
        }
    }
    match having.len() {
        // An error that lists the projects.
        0 => projects.select(None).and_then(|project| Ok((Arc::clone(&project), PastRuns::open(&project)?))),
        1 => Ok(having.remove(0)),
        _ => {
            let names: Vec<_> =
                having.iter().map(|(project, _)| project.root.display().to_string()).collect();
            let names = wording::join_quoted(names.iter().map(String::as_str));
            Err(Error::Arguments(format!(
                "several projects have a run `{run}`: pass one of them as `project`: {names}"
            )))
        }
    }
}

/// Parses a run name, but rejects paths: only files of the store are read.
fn run_name(name: &str) -> Result<RunName, Error> {
    let looks_like_a_path = Path::new(name).is_absolute()
        || name.starts_with(['.', '/', '\\', '~'])
        || name.split(['/', '\\']).any(|part| part == "..")
        || Path::new(name).extension().is_some_and(|it| it == "json" || it == "jsonl");
    if looks_like_a_path {
        return Err(Error::Arguments(format!(
            "`{name}` looks like a path, but runs are not read from paths: pass a run ID or ID prefix, `latest`, `latest~1`, \
             `EXPERIMENT@latest` or a git revision; `cobalt_results` lists the runs"
        )));
    }
    name.parse().map_err(|error| Error::Arguments(format!("`{name}`: {error}")))
}

/// The same error, with a hint at the tool that lists the runs.
fn with_hint(error: Error) -> Error {
    match error.downcast::<UnknownRun>() {
        Some(unknown) => {
            Error::NothingMatched(format!("{unknown}; the tool `cobalt_results` lists the runs"))
        }
        None => error,
    }
}

fn read_error(path: &Path, error: &dyn std::error::Error) -> Error {
    let reason = format!(
        "{error}; it may have been removed or replaced meanwhile: try again; `cobalt_results` lists the runs"
    );
    Error::RunFile { path: path.to_owned(), reason }
}

/// The total file size of cached reports, in bytes; in memory they take a few times as much. A paginated run is read once per
/// page.
const CACHE_BYTES: usize = 64 << 20;

/// A version of a result file: its path, its length in bytes, and its modification time.
type FileVersion = (PathBuf, u64, Option<SystemTime>);

/// Shared by all projects, as the limit applies to the whole process.
static REPORT_CACHE: SizedCache<FileVersion, ReportFile> = SizedCache::new(CACHE_BYTES);

/// What a run in parts takes of the cache besides its head, so that only a few items files are open.
const OPEN_PARTS_BYTES: usize = 8 << 20;

/// A result file, opened again only if it changed.
fn read_result(path: &Path) -> Result<Arc<ReportFile>, Box<dyn std::error::Error>> {
    let metadata = fs::metadata(path)?;
    let written = (path.to_owned(), metadata.len(), metadata.modified().ok());
    let size = usize::try_from(metadata.len()).unwrap_or(CACHE_BYTES);
    let size = |file: &ReportFile| if file.parts().is_some() { size + OPEN_PARTS_BYTES } else { size };
    Ok(REPORT_CACHE.get(&written, size, || ReportFile::open(path))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, name: &str) {
        let report = serde_json::json!({
            "schema": 1, "id": "0123456789ab", "name": name, "timestamp": "2026-02-05T14:30:00.000Z", "summary": {}, "items": [],
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": [] },
        });
        fs::write(path, report.to_string()).unwrap();
    }

    #[test]
    fn a_file_is_read_again_after_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        write(&path, "desk");
        let first = read_result(&path).unwrap();
        assert!(Arc::ptr_eq(&first, &read_result(&path).unwrap()), "cached");
        write(&path, "another");
        let again = read_result(&path).unwrap();
        assert_eq!((&*first.report().name, &*again.report().name), ("desk", "another"));
        fs::remove_file(&path).unwrap();
        assert!(read_result(&path).is_err());
    }
}
