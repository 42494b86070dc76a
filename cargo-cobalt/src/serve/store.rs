//! The runs of the project, from its index and its result files.
//!
//! The list of [known](run_list) runs is in memory. Runs whose items are requested are [loaded](loaded_run) into a [bounded cache](crate::sized_cache);
//! large fields are read from the files again, item by item.

mod baseline_sources;
mod cell;
mod columns;
mod item_fields;
mod item_reader;
mod item_set;
mod item_texts;
mod item_values;
mod list_details;
mod loaded_item;
mod loaded_parts;
mod loaded_run;
mod matched_items;
mod page_texts;
mod project_files;
mod ranked_runs;
mod run_file;
mod run_heads;
mod run_list;
mod search;
mod team_fetches;
mod team_runs;
mod unfinished_run;

use std::fs::File;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use axum::body::Bytes;
use cobalt::command::config::Config;
use cobalt_core::prices::PriceTable;
use cobalt_core::report::Report;
use cobalt_core::report::comparison::Comparison;
use cobalt_core::report::ranking::Ranking;
use cobalt_core::store::{Layout, ReportFile, items_file};

pub use self::baseline_sources::BaselineSources;
use self::baseline_sources::BaselineSourcesCache;
pub use self::cell::{Cell, SortKey};
pub use self::columns::{ColumnValues, FileColumn};
pub use self::item_fields::ItemField;
pub use self::item_set::{ItemSet, Selection};
pub use self::item_texts::ItemTexts;
pub use self::loaded_item::{LoadedItem, LoadedTraffic};
pub use self::loaded_run::LoadedRun;
pub use self::matched_items::{MatchedItem, item_change};
pub use self::page_texts::PageTexts;
pub use self::project_files::open_regular;
pub use self::run_file::{RunFile, RunFileError};
use self::run_heads::RunHeadCache;
pub use self::run_heads::{RunHead, RunHeads, ScoreDifference};
pub use self::run_list::RunList;
use self::run_list::RunListCache;
pub use self::search::contains_ignore_case;
pub use self::team_runs::{RemoteState, TeamRuns};
use self::unfinished_run::UnfinishedRun;
use super::error::ApiError;
use super::limiter::Limiter;
use super::live::LiveUpdates;
use crate::dashboard_link;
use crate::error::Error;
use crate::sized_cache::SizedCache;

/// The memory limit of loaded runs in bytes. A run of 10,000 items takes about 7 MB.
const LOADED_BYTES: usize = 32 << 20;
/// The same of runs in parts. One of 1,000,000 items takes about 200 MB; a larger one is kept until the next.
const LOADED_IN_PARTS_BYTES: usize = 448 << 20;
/// The memory limit of the sets of items that searches and conditions select, in bytes. Of a run of 1,000,000 items, one takes 125 kB.
const SELECTION_BYTES: usize = 4 << 20;
/// The memory limit of comparisons in bytes.
const COMPARISON_BYTES: usize = 4 << 20;
/// The memory limit of rankings in bytes.
const RANKING_BYTES: usize = 1 << 20;
/// The memory limit of matched items in bytes. Those of two runs of 100,000 items take about 11 MB.
const MATCH_BYTES: usize = 16 << 20;
/// The memory limit of columns in bytes. One of short texts takes about 0.5 MB for 10,000 items.
const COLUMN_BYTES: usize = 16 << 20;
/// The same of large runs. One of short texts takes about 50 MB for 1,000,000 items; a larger one is kept until the next.
const COLUMN_OF_LARGE_BYTES: usize = 128 << 20;
/// The memory limit of the lists of columns in bytes.
const FIELD_BYTES: usize = 1 << 20;
/// The memory limit of cached responses in bytes.
const RESPONSE_BYTES: usize = 4 << 20;
/// The number of runs loaded in parallel: a comparison loads its two runs at once.
const MAX_LOADERS: usize = 2;
/// The number of comparisons computed in parallel; others wait and share cached results.
const MAX_COMPARERS: usize = 2;
/// The number of attempts if a run's file keeps changing.
const MAX_ATTEMPTS: usize = 3;

/// The runs of a project.
#[derive(Debug)]
pub struct Store {
    settings: Config,
    live: Arc<LiveUpdates>,
    /// The runs of a remote store, which are served instead of those of this machine.
    team: Option<Arc<TeamRuns>>,
    known: RunListCache,
    baselines: BaselineSourcesCache,
    heads: RunHeadCache,
    loaded: SizedCache<RunFile, LoadedRun>,
    /// The same of runs in parts.
    loaded_in_parts: SizedCache<RunFile, LoadedRun>,
    loaders: Limiter,
    /// The items that searches and conditions select.
    selections: SizedCache<(RunFile, Selection), ItemSet>,
    /// The comparisons of runs with the first of them.
    comparisons: SizedCache<Vec<RunFile>, Vec<Comparison>>,
    rankings: SizedCache<Vec<RunFile>, Ranking>,
    /// The matched items of compared runs, by the runs and the evaluator that changes are limited to.
    matches: SizedCache<(Vec<RunFile>, Option<String>), Vec<MatchedItem>>,
    /// The values of columns that are read from the file.
    columns: SizedCache<(RunFile, FileColumn), ColumnValues>,
    /// The same of large runs.
    columns_of_large: SizedCache<(RunFile, FileColumn), ColumnValues>,
    /// The columns that the items of runs have.
    fields: SizedCache<RunFile, Vec<ItemField>>,
    pub comparers: Limiter,
    /// Response bodies by ETag.
    responses: SizedCache<String, Bytes>,
    /// Whether only this machine can connect, and needs no token.
    is_local: bool,
    /// A random number per start: other prices and versions result in other responses.
    nonce: u64,
}

impl Store {
    /// Serves the runs of this machine, or those of a `team`. `is_local` says whether only this machine can connect, and needs no token.
    pub fn open(settings: &Config, team: Option<Arc<TeamRuns>>, is_local: bool) -> Result<Self, Error> {
        let live = match team {
            Some(_) => LiveUpdates::without_files(),
            None => LiveUpdates::new(settings.layout()),
        };
        Ok(Self {
            settings: settings.clone(),
            live: Arc::new(live),
            team,
            known: RunListCache::default(),
            baselines: BaselineSourcesCache::default(),
            heads: RunHeadCache::default(),
            loaded: SizedCache::new(LOADED_BYTES),
            loaded_in_parts: SizedCache::new(LOADED_IN_PARTS_BYTES),
            loaders: Limiter::new(MAX_LOADERS),
            selections: SizedCache::new(SELECTION_BYTES),
            comparisons: SizedCache::new(COMPARISON_BYTES),
            rankings: SizedCache::new(RANKING_BYTES),
            matches: SizedCache::new(MATCH_BYTES),
            columns: SizedCache::new(COLUMN_BYTES),
            columns_of_large: SizedCache::new(COLUMN_OF_LARGE_BYTES),
            fields: SizedCache::new(FIELD_BYTES),
            comparers: Limiter::new(MAX_COMPARERS),
            responses: SizedCache::new(RESPONSE_BYTES),
            is_local,
            nonce: fastrand::u64(..),
        })
    }

    /// The unfinished runs and the event source.
    pub fn live(&self) -> Arc<LiveUpdates> {
        Arc::clone(&self.live)
    }

    /// The number of finished runs, including partial ones.
    pub fn run_count(&self) -> Result<usize, Error> {
        let known = self.known_runs()?;
        Ok(known.runs.len() + known.partial.len())
    }

    /// The name of the project's folder.
    pub fn project_name(&self) -> String {
        dashboard_link::project_name(&self.settings)
    }

    /// Whether only this machine can connect, and needs no token. Behind a proxy, a server needs a token, and clients may be elsewhere.
    pub fn is_local(&self) -> bool {
        self.is_local
    }

    /// A hash of the project's location. That of a server of a remote store differs, so the project's commands do not use it.
    pub fn project_hash(&self) -> String {
        let hash = dashboard_link::project_hash(&self.settings);
        self.team.as_ref().map_or(hash.clone(), |team| hash + &team.location_hash())
    }

    /// The remote store that is served.
    pub fn team(&self) -> Option<&Arc<TeamRuns>> {
        self.team.as_ref()
    }

    pub fn settings(&self) -> &Config {
        &self.settings
    }

    pub fn layout(&self) -> &Layout {
        self.settings.layout()
    }

    /// The known runs.
    pub fn known(&self) -> Result<Arc<RunList>, ApiError> {
        Ok(self.known_runs()?)
    }

    fn known_runs(&self) -> Result<Arc<RunList>, Error> {
        match &self.team {
            Some(team) => Ok(team.runs()),
            None => self.known.current(self.layout()),
        }
    }

    /// The known runs, ignoring the cache.
    pub fn refreshed(&self) -> Result<Arc<RunList>, ApiError> {
        Ok(self.known.refreshed(self.layout())?)
    }

    /// The result file of a finished run.
    pub fn finished_file(&self, id: &str) -> Result<PathBuf, ApiError> {
        let file = self.run_file(id)?;
        match file.is_journal() {
            true => Err(ApiError::conflict(format!(
                "run `{id}` is not finished; wait for it, or resume it first"
            ))),
            false => Ok(file.path().to_owned()),
        }
    }

    /// The runs that the baselines were saved from.
    pub fn baselines(&self) -> Arc<BaselineSources> {
        self.baselines.current(self.layout())
    }

    /// The file of a run. The id is looked up among the known runs, never used as a path.
    pub fn run_file(&self, id: &str) -> Result<RunFile, ApiError> {
        if let Some(team) = &self.team {
            let path = team.file(id)?.ok_or_else(|| run_not_found(id))?;
            return RunFile::current(&path)
                .map_err(|error| Error::RunFile { path, reason: error.to_string() }.into());
        }
        let found = |known: &RunList| {
            let run = known.run(id)?;
            RunFile::current(&self.layout().results().join(&run.file)).ok()
        };
        if let Some(file) = found(&*self.known()?) {
            return Ok(file);
        }
        if let Some(file) = self.live.journal(id).and_then(|path| RunFile::current(&path).ok()) {
            return Ok(file);
        }
        let found = found(&*self.known.refreshed(self.layout())?);
        found.ok_or_else(|| run_not_found(id))
    }

    /// The file of a run for lists, which do not fetch what only a remote store has.
    fn local_file(&self, id: &str) -> Option<RunFile> {
        match &self.team {
            Some(team) => RunFile::current(&team.fetched_file(id)?).ok(),
            None => self.run_file(id).ok(),
        }
    }

    /// Loads the run in a file, unless cached.
    fn load(&self, file: &RunFile) -> Result<Arc<LoadedRun>, RunFileError> {
        let is_in_parts = items_file(file.path()).exists();
        let loaded = if is_in_parts { &self.loaded_in_parts } else { &self.loaded };
        loaded.get(file, LoadedRun::size, || {
            let _pass = self.loaders.acquire();
            match file.is_journal() {
                true => LoadedRun::read_journal(file, self.settings.prices()),
                false => LoadedRun::read(file, self.settings.prices()),
            }
        })
    }

    /// Queries a run; retries if its file has changed.
    pub fn with_run<T>(
        &self,
        id: &str,
        ask: impl Fn(&LoadedRun) -> Result<T, RunFileError>,
    ) -> Result<T, ApiError> {
        self.with_runs(&[id], |runs| ask(&runs[0]))
    }

    /// Queries runs; retries if a file has changed.
    pub fn with_runs<T>(
        &self,
        ids: &[&str],
        ask: impl Fn(&[Arc<LoadedRun>]) -> Result<T, RunFileError>,
    ) -> Result<T, ApiError> {
        self.with_files(ids, |files| ask(&self.load_all(files)?))
    }

    /// Queries the files of runs; retries if one has changed.
    fn with_files<T>(
        &self,
        ids: &[&str],
        ask: impl Fn(&[RunFile]) -> Result<T, RunFileError>,
    ) -> Result<T, ApiError> {
        for _ in 0..MAX_ATTEMPTS {
            let files = ids.iter().map(|id| self.run_file(id)).collect::<Result<Vec<_>, _>>()?;
            match ask(&files) {
                Err(RunFileError::Changed) => {}
                Err(RunFileError::Permanent(error)) => return Err(error),
                Ok(answer) => return Ok(answer),
            }
        }
        Err(ApiError::not_found(format!("the file of run {} keeps changing; try again", ids.join(" or "))))
    }

    /// Loads runs in parallel.
    fn load_all(&self, files: &[RunFile]) -> Result<Vec<Arc<LoadedRun>>, RunFileError> {
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
        Ok(format!("{}\0{}\0", self.nonce, self.known()?.version))
    }

    /// The state that determines responses about finished runs that also need their files, as far as these are on this machine.
    pub fn local_files_state(&self) -> Result<String, ApiError> {
        Ok(self.runs_state()? + &self.team.as_ref().map(|team| team.fetched_state()).unwrap_or_default())
    }

    /// The state that determines the list of runs.
    pub fn list_state(&self) -> Result<String, ApiError> {
        Ok(self.runs_state()? + &self.baselines().state() + &format!("{:?}", self.live.runs()))
    }

    /// The state that determines responses about a run.
    pub fn run_state(&self, id: &str) -> Result<String, ApiError> {
        let file = self.run_file(id)?;
        // A run can be interrupted without a change to its journal.
        let live = file.is_journal().then(|| self.live.runs().into_iter().find(|run| run.id == id));
        let live = live.flatten().map(|run| (run.state, run.finished_items));
        Ok(format!("{}\0{}\0{live:?}\0", self.nonce, file.identity()))
    }

    /// The state that determines responses about several runs.
    pub fn states(&self, ids: &[String]) -> Result<String, ApiError> {
        ids.iter().map(|id| self.run_state(id)).collect()
    }

    /// A response body by ETag, computed unless cached.
    pub fn cached_response(
        &self,
        tag: &str,
        make: impl FnOnce() -> Result<Bytes, ApiError>,
    ) -> Result<Bytes, ApiError> {
        Ok((*self.responses.get(&tag.to_owned(), Bytes::len, make)?).clone())
    }

    /// A run with all of its items: its file if finished, else the finished items.
    pub fn run_text(&self, id: &str) -> Result<RunText, ApiError> {
        self.with_files(&[id], |files| match files[0].is_journal() {
            true => Ok(RunText::Unfinished(Box::new(self.unfinished(&files[0])?))),
            false if items_file(files[0].path()).exists() => {
                Ok(RunText::InParts(Box::new(ReportFile::open(files[0].path())?)))
            }
            false => Ok(RunText::File(files[0].open_text()?)),
        })
    }

    /// The prices of models.
    pub fn prices(&self) -> &PriceTable {
        self.settings.prices()
    }

    /// Reads the file of a run without loading it. `None` if it is only in a remote store.
    pub fn read_local<T>(&self, id: &str, read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>, RunFileError> {
        let Some(file) = self.local_file(id) else { return Ok(None) };
        let _pass = self.loaders.acquire();
        Ok(Some(read(&file.read()?)))
    }

    fn unfinished(&self, file: &RunFile) -> Result<Report, RunFileError> {
        Ok(UnfinishedRun::read(file)?.report(self.settings.prices()))
    }

    /// A run with its items, or the finished items of an unfinished run.
    pub fn report_file(&self, id: &str) -> Result<ReportFile, ApiError> {
        self.with_files(&[id], |files| match files[0].is_journal() {
            true => Ok(ReportFile::of_report(files[0].path(), self.unfinished(&files[0])?)),
            false => Ok(ReportFile::open(files[0].path())?),
        })
    }
}

fn run_not_found(id: &str) -> ApiError {
    ApiError::not_found(format!("run {id} not found; it may have been deleted, or the link is incomplete"))
}

/// A run with all of its items.
#[derive(Debug)]
pub enum RunText {
    /// The result file, positioned after the byte order mark.
    File(File),
    InParts(Box<ReportFile>),
    Unfinished(Box<Report>),
}
