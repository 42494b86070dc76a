//! What there is to be shown: the runs of the project, out of its index and its result files.
//!
//! The list of [`known`] runs is in memory. Runs whose items are asked for are [`loaded`], as far as there is [room](recent)
//! for them, and what is large is read from the files again, item by item.

mod compare;
mod gate;
mod items;
mod known;
mod loaded;
mod order;
mod overview;
mod recent;
mod runs;
mod search;
mod trends;

use std::fs::File;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use axum::body::Bytes;
use cobalt::Report;
use cobalt::config::Config;
use cobalt::report::comparison::Comparison;
use cobalt::store::{Layout, read_report};

use self::gate::Gate;
use self::known::{Known, KnownRuns};
pub(in crate::serve) use self::loaded::FileProblem;
use self::loaded::{LoadedRun, RunFile, Unfinished};
use self::recent::Recent;
use super::api::{ApiError, ExportFormat, ExportQuery};
use super::live::Live;
use crate::error::Error;
use crate::formats::{csv, html, junit, markdown};
use crate::reporters::{Finished, Results};

/// How many bytes all loaded runs may take. One of 10,000 items takes about 7 MB.
const ROOM: usize = 32 << 20;
/// How many bytes the results of searches may take.
const ROOM_FOR_SEARCHES: usize = 1 << 20;
/// How many bytes comparisons may take.
const ROOM_FOR_COMPARISONS: usize = 4 << 20;
/// How many bytes answers may take.
const ROOM_FOR_ANSWERS: usize = 8 << 20;
/// How many runs are loaded at a time, so that a comparison has its two side by side.
const LOADERS: usize = 2;
/// How often a run is looked for again whose file has changed meanwhile.
const TRIES: usize = 3;

/// The runs of a project.
#[derive(Debug)]
pub(super) struct Store {
    settings: Config,
    live: Arc<Live>,
    known: KnownRuns,
    loaded: Recent<RunFile, LoadedRun>,
    loaders: Gate,
    /// The places of the items in which a text was found.
    found: Recent<(RunFile, String), Vec<usize>>,
    /// What statistics say of runs that are held against the first of them.
    comparisons: Recent<Vec<RunFile>, Vec<Comparison>>,
    /// Answers as they are sent, by their tags.
    answers: Recent<String, Bytes>,
    /// Another number for each start, as other prices and other versions make other answers.
    start: u64,
}

impl Store {
    pub(super) fn open(settings: &Config) -> Result<Self, Error> {
        Ok(Self {
            settings: settings.clone(),
            live: Arc::new(Live::of(settings.layout())),
            known: KnownRuns::default(),
            loaded: Recent::new(ROOM),
            loaders: Gate::new(LOADERS),
            found: Recent::new(ROOM_FOR_SEARCHES),
            comparisons: Recent::new(ROOM_FOR_COMPARISONS),
            answers: Recent::new(ROOM_FOR_ANSWERS),
            start: fastrand::u64(..),
        })
    }

    /// What happens in it.
    pub(super) fn live(&self) -> Arc<Live> {
        Arc::clone(&self.live)
    }

    /// The name of the project's folder.
    pub(super) fn project_name(&self) -> String {
        let name = self.settings.workspace_root().file_name();
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// A hash of where the project lies.
    pub(super) fn project_hash(&self) -> String {
        let path = self.settings.workspace_root().to_string_lossy().into_owned();
        hmac_sha256::Hash::hash(path.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// A run in another format.
    pub(super) fn export(&self, query: &ExportQuery) -> Result<String, ApiError> {
        let report = self.report(&query.run)?;
        let results = Results::of(vec![Finished { report, path: None, without_items: None }]);
        Ok(match query.format {
            ExportFormat::Csv => csv(&results, self.settings.prices()),
            ExportFormat::Html => html(&results),
            ExportFormat::Json => results.experiments[0].report.to_json().map_err(Error::from)?,
            ExportFormat::Junit => junit(&results),
            ExportFormat::Markdown => markdown::markdown(&results),
        })
    }

    fn layout(&self) -> &Layout {
        self.settings.layout()
    }

    /// The runs that there are.
    fn known(&self) -> Result<Arc<Known>, ApiError> {
        Ok(self.known.now(self.layout())?)
    }

    /// The file of a run. An id is looked for among those that are known; no path is made of it.
    fn file(&self, id: &str) -> Result<RunFile, ApiError> {
        let found = |known: &Known| {
            let run = known.run(id)?;
            RunFile::find(&self.layout().results().join(&run.file)).ok()
        };
        if let Some(file) = found(&*self.known()?) {
            return Ok(file);
        }
        if let Some(file) = self.live.journal(id).and_then(|path| RunFile::find(&path).ok()) {
            return Ok(file);
        }
        let found = found(&*self.known.anew(self.layout())?);
        found.ok_or_else(|| {
            ApiError::not_found(format!("there is no run `{id}`; `/api/runs` names those there are"))
        })
    }

    /// Loads the run in a file, unless it is loaded.
    fn load(&self, file: &RunFile) -> Result<Arc<LoadedRun>, FileProblem> {
        self.loaded.get(file, LoadedRun::size, || {
            let _pass = self.loaders.pass();
            match file.is_journal() {
                true => LoadedRun::read_journal(file, self.settings.prices()),
                false => LoadedRun::read(file, self.settings.prices()),
            }
        })
    }

    /// Asks for a run; again where its file is another one meanwhile.
    fn of_run<T>(&self, id: &str, ask: impl Fn(&LoadedRun) -> Result<T, FileProblem>) -> Result<T, ApiError> {
        self.of_runs(&[id], |runs| ask(&runs[0]))
    }

    /// Asks for runs; again where a file is another one meanwhile.
    fn of_runs<T>(
        &self,
        ids: &[&str],
        ask: impl Fn(&[Arc<LoadedRun>]) -> Result<T, FileProblem>,
    ) -> Result<T, ApiError> {
        self.of_files(ids, |files| ask(&self.load_all(files)?))
    }

    /// Asks for the files of runs; again where one is another one meanwhile.
    fn of_files<T>(
        &self,
        ids: &[&str],
        ask: impl Fn(&[RunFile]) -> Result<T, FileProblem>,
    ) -> Result<T, ApiError> {
        for _ in 0..TRIES {
            let files = ids.iter().map(|id| self.file(id)).collect::<Result<Vec<_>, _>>()?;
            match ask(&files) {
                Err(FileProblem::Changed) => {}
                Err(FileProblem::Final(error)) => return Err(error),
                Ok(answer) => return Ok(answer),
            }
        }
        Err(changing(ids))
    }

    /// Loads runs side by side.
    fn load_all(&self, files: &[RunFile]) -> Result<Vec<Arc<LoadedRun>>, FileProblem> {
        if let [only] = files {
            return Ok(vec![self.load(only)?]);
        }
        thread::scope(|scope| {
            let loading: Vec<_> = files.iter().map(|file| scope.spawn(|| self.load(file))).collect();
            let loaded = loading.into_iter().map(|it| it.join().unwrap_or_else(|panic| resume_unwind(panic)));
            loaded.collect()
        })
    }

    /// What all that is answered of the list of runs follows from.
    pub(super) fn runs_state(&self) -> Result<String, ApiError> {
        Ok(format!("{}\0{}\0", self.start, self.known()?.version))
    }

    /// What the list of runs follows from, with those that have not ended.
    pub(super) fn list_state(&self) -> Result<String, ApiError> {
        Ok(self.runs_state()? + &format!("{:?}\0", self.live.runs()))
    }

    /// What all that is answered of a run follows from.
    pub(super) fn run_state(&self, id: &str) -> Result<String, ApiError> {
        let file = self.file(id)?;
        let live = if file.is_journal() { self.live.run(id) } else { None };
        Ok(format!("{}\0{}\0{:?}\0", self.start, file.identity(), live.map(|run| run.state)))
    }

    /// An answer by its tag, made where it is not kept.
    pub(super) fn answer(
        &self,
        tag: &str,
        make: impl FnOnce() -> Result<Bytes, ApiError>,
    ) -> Result<Bytes, ApiError> {
        Ok((*self.answers.get(&tag.to_owned(), Bytes::len, make)?).clone())
    }

    /// The file of a run, from the beginning of its text on.
    pub(super) fn file_text(&self, id: &str) -> Result<File, ApiError> {
        let file = self.file(id)?;
        match file.open_text() {
            Ok(text) => Ok(text),
            Err(FileProblem::Final(error)) => Err(error),
            Err(FileProblem::Changed) => Err(changing(&[id])),
        }
    }

    /// A run with all of its items, as far as they are finished.
    fn report(&self, id: &str) -> Result<Report, ApiError> {
        self.of_files(&[id], |files| match files[0].is_journal() {
            true => Ok(Unfinished::read(&files[0])?.report(self.settings.prices())),
            false => Ok(read_report(files[0].path()).map_err(|error| ApiError::from(Error::from(error)))?),
        })
    }

    /// The same of a run that has not ended, which has no file to be sent as it is.
    pub(super) fn unfinished(&self, id: &str) -> Result<Option<Report>, ApiError> {
        if self.file(id)?.is_journal() { self.report(id).map(Some) } else { Ok(None) }
    }
}

fn changing(ids: &[&str]) -> ApiError {
    ApiError::not_found(format!(
        "the file of run `{}` is being changed or removed; ask again",
        ids.join("` or `")
    ))
}
