//! The runs of the project, from its index and its result files.
//!
//! The list of [`known`] runs is in memory. Runs whose items are requested are [`loaded`] into a [bounded cache](crate::recent);
//! large fields are read from the files again, item by item.

mod file;
mod known;
mod loaded;
mod matched;
mod unfinished;

use std::fs::File;
use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use axum::body::Bytes;
use cobalt::command::config::Config;
use cobalt_core::prices::PriceTable;
use cobalt_core::report::comparison::Comparison;
use cobalt_core::report::{ItemResult, Report};
use cobalt_core::store::{Layout, read_report};
use serde_json::Value;

pub use self::file::{FileProblem, ItemReader, RunFile};
pub use self::known::Known;
use self::known::KnownRuns;
pub use self::loaded::{LoadedItem, LoadedRun};
pub use self::matched::{Matched, change};
use self::unfinished::Unfinished;
use super::error::ApiError;
use super::live::Live;
use super::running;
use crate::error::Error;
use crate::recent::{Recent, lock};

/// The memory limit of loaded runs in bytes. A run of 10,000 items takes about 7 MB.
const ROOM: usize = 32 << 20;
/// The memory limit of search results in bytes.
const ROOM_FOR_SEARCHES: usize = 1 << 20;
/// The memory limit of comparisons in bytes.
const ROOM_FOR_COMPARISONS: usize = 4 << 20;
/// The memory limit of matched items in bytes. Those of two runs of 100,000 items take about 11 MB.
const ROOM_FOR_MATCHES: usize = 16 << 20;
/// The memory limit of cached responses in bytes.
const ROOM_FOR_ANSWERS: usize = 4 << 20;
/// The number of runs loaded in parallel: a comparison loads its two runs at once.
const LOADERS: usize = 2;
/// The number of comparisons computed in parallel; others wait and share cached results.
const COMPARERS: usize = 2;
/// The number of attempts if a run's file keeps changing.
const TRIES: usize = 3;

/// The runs of a project.
#[derive(Debug)]
pub struct Store {
    settings: Config,
    live: Arc<Live>,
    known: KnownRuns,
    loaded: Recent<RunFile, LoadedRun>,
    loaders: Gate,
    /// The indexes of the items that contain a text.
    found: Recent<(RunFile, String), Vec<usize>>,
    /// The comparisons of runs with the first of them.
    comparisons: Recent<Vec<RunFile>, Vec<Comparison>>,
    /// The matched items of compared runs, by the runs and the evaluator that changes are limited to.
    matches: Recent<(Vec<RunFile>, Option<String>), Vec<Matched>>,
    pub comparers: Gate,
    /// Response bodies by ETag.
    answers: Recent<String, Bytes>,
    /// A random number per start: other prices and versions result in other responses.
    start: u64,
}

impl Store {
    pub fn open(settings: &Config) -> Result<Self, Error> {
        Ok(Self {
            settings: settings.clone(),
            live: Arc::new(Live::of(settings.layout())),
            known: KnownRuns::default(),
            loaded: Recent::new(ROOM),
            loaders: Gate::new(LOADERS),
            found: Recent::new(ROOM_FOR_SEARCHES),
            comparisons: Recent::new(ROOM_FOR_COMPARISONS),
            matches: Recent::new(ROOM_FOR_MATCHES),
            comparers: Gate::new(COMPARERS),
            answers: Recent::new(ROOM_FOR_ANSWERS),
            start: fastrand::u64(..),
        })
    }

    /// The unfinished runs and the event source.
    pub fn live(&self) -> Arc<Live> {
        Arc::clone(&self.live)
    }

    /// The number of finished runs, including partial ones.
    pub fn count(&self) -> Result<usize, Error> {
        let known = self.known.now(self.layout())?;
        Ok(known.runs.len() + known.partial.len())
    }

    /// The name of the project's folder.
    pub fn project_name(&self) -> String {
        running::project_name(&self.settings)
    }

    /// A hash of the project's location.
    pub fn project_hash(&self) -> String {
        running::project_hash(&self.settings)
    }

    fn layout(&self) -> &Layout {
        self.settings.layout()
    }

    /// The known runs.
    pub fn known(&self) -> Result<Arc<Known>, ApiError> {
        Ok(self.known.now(self.layout())?)
    }

    /// The file of a run. The id is looked up among the known runs, never used as a path.
    pub fn file(&self, id: &str) -> Result<RunFile, ApiError> {
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
        let found = found(&*self.known.refreshed(self.layout())?);
        found.ok_or_else(|| ApiError::not_found(format!("run `{id}` not found; `/api/runs` lists all runs")))
    }

    /// Loads the run in a file, unless cached.
    fn load(&self, file: &RunFile) -> Result<Arc<LoadedRun>, FileProblem> {
        self.loaded.get(file, LoadedRun::size, || {
            let _pass = self.loaders.pass();
            match file.is_journal() {
                true => LoadedRun::read_journal(file, self.settings.prices()),
                false => LoadedRun::read(file, self.settings.prices()),
            }
        })
    }

    /// Queries a run; retries if its file has changed.
    pub fn of_run<T>(
        &self,
        id: &str,
        ask: impl Fn(&LoadedRun) -> Result<T, FileProblem>,
    ) -> Result<T, ApiError> {
        self.of_runs(&[id], |runs| ask(&runs[0]))
    }

    /// Queries runs; retries if a file has changed.
    pub fn of_runs<T>(
        &self,
        ids: &[&str],
        ask: impl Fn(&[Arc<LoadedRun>]) -> Result<T, FileProblem>,
    ) -> Result<T, ApiError> {
        self.of_files(ids, |files| ask(&self.load_all(files)?))
    }

    /// Queries the files of runs; retries if one has changed.
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
        Err(ApiError::not_found(format!(
            "the file of run `{}` keeps changing; try again",
            ids.join("` or `")
        )))
    }

    /// Loads runs in parallel.
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

    /// The state that determines responses about finished runs.
    pub fn runs_state(&self) -> Result<String, ApiError> {
        Ok(format!("{}\0{}\0", self.start, self.known()?.version))
    }

    /// The state that determines the list of runs.
    pub fn list_state(&self) -> Result<String, ApiError> {
        Ok(self.runs_state()? + &format!("{:?}", self.live.runs()))
    }

    /// The state that determines responses about a run.
    pub fn run_state(&self, id: &str) -> Result<String, ApiError> {
        let file = self.file(id)?;
        // A run can be interrupted without a change to its journal.
        let live = file.is_journal().then(|| self.live.runs().into_iter().find(|run| run.id == id));
        let live = live.flatten().map(|run| (run.state, run.finished_items));
        Ok(format!("{}\0{}\0{live:?}\0", self.start, file.identity()))
    }

    /// A response body by ETag, computed unless cached.
    pub fn answer(
        &self,
        tag: &str,
        make: impl FnOnce() -> Result<Bytes, ApiError>,
    ) -> Result<Bytes, ApiError> {
        Ok((*self.answers.get(&tag.to_owned(), Bytes::len, make)?).clone())
    }

    /// A run with all of its items: its file if finished, else the finished items.
    pub fn text(&self, id: &str) -> Result<RunText, ApiError> {
        self.of_files(&[id], |files| match files[0].is_journal() {
            true => Ok(RunText::Unfinished(Box::new(self.unfinished(&files[0])?))),
            false => Ok(RunText::File(files[0].open_text()?)),
        })
    }

    /// The prices of models.
    pub fn prices(&self) -> &PriceTable {
        self.settings.prices()
    }

    /// Reads the file of a run without loading it.
    pub fn read<T>(&self, id: &str, read: impl FnOnce(&[u8]) -> T) -> Result<T, FileProblem> {
        let _pass = self.loaders.pass();
        Ok(read(&self.file(id)?.read()?))
    }

    fn unfinished(&self, file: &RunFile) -> Result<Report, FileProblem> {
        Ok(Unfinished::read(file)?.report(self.settings.prices()))
    }

    /// A run with all of its finished items.
    pub fn report(&self, id: &str) -> Result<Report, ApiError> {
        self.of_files(&[id], |files| match files[0].is_journal() {
            true => self.unfinished(&files[0]),
            false => Ok(read_report(files[0].path()).map_err(|error| ApiError::from(Error::from(error)))?),
        })
    }

    /// The indexes of the items with a text in their key, input, output or error; case-insensitive.
    pub fn found(&self, run: &LoadedRun, text: &str) -> Result<Arc<Vec<usize>>, FileProblem> {
        let wanted = text.to_lowercase();
        let size = |found: &Vec<usize>| size_of_val(&**found) + wanted.len();
        self.found.get(&(run.file.clone(), wanted.clone()), size, || {
            let (mut reader, mut found) = (run.file.reader()?, Vec::new());
            for (place, item) in run.items.iter().enumerate() {
                if has_text(&item.key, &wanted) || says(&reader.item(&item.place)?, &wanted) {
                    found.push(place);
                }
            }
            Ok(found)
        })
    }
}

/// Whether an item contains a lower-case text.
fn says(item: &ItemResult, wanted: &str) -> bool {
    item.input.values().any(|value| is_in(value, wanted))
        || item.runs.iter().any(|run| {
            let failed = run.evaluations.iter().filter_map(|(_, evaluation)| evaluation.error.as_ref());
            run.output.as_ref().is_some_and(|output| has_text(&output.text(), wanted))
                || run.error.iter().chain(failed).any(|error| has_text(error, wanted))
        })
}

/// Whether a value contains a lower-case text; field names do not count.
fn is_in(value: &Value, wanted: &str) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => has_text(text, wanted),
        Value::Array(values) => values.iter().any(|value| is_in(value, wanted)),
        Value::Object(fields) => fields.values().any(|value| is_in(value, wanted)),
        Value::Bool(_) | Value::Number(_) => has_text(&value.to_string(), wanted),
    }
}

/// Whether a text contains a lower-case one, ignoring case.
pub fn has_text(text: &str, wanted: &str) -> bool {
    text.to_lowercase().contains(wanted)
}

/// A run with all of its items.
#[derive(Debug)]
pub enum RunText {
    /// The result file, positioned after the byte order mark.
    File(File),
    Unfinished(Box<Report>),
}

/// A semaphore that bounds memory use.
#[derive(Debug)]
pub struct Gate {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A permit, released on drop.
#[derive(Debug)]
pub struct Pass<'a>(&'a Gate);

impl Gate {
    /// With this number of permits.
    pub fn new(places: usize) -> Self {
        Self { free: Mutex::new(places), freed: Condvar::new() }
    }

    /// Waits for a permit.
    pub fn pass(&self) -> Pass<'_> {
        let free = self.freed.wait_while(lock(&self.free), |free| *free == 0);
        *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        Pass(self)
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.freed.notify_one();
    }
}
