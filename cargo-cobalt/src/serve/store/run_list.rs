//! The list of runs from the index: cached in memory, reloaded when the results folder changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use cobalt_core::store::Layout;

use crate::error::Error;
use crate::index::{ChangedRuns, Index, SkippedFile};
use crate::runs::RunView;
use crate::sized_cache::lock;

/// The maximum age of the list. Overwriting a file does not change the folder's time.
const MAX_AGE: Duration = Duration::from_secs(2);

/// The resolution of file system clocks: changes within one tick have the same time.
const CLOCK_RESOLUTION: Duration = Duration::from_millis(50);

/// A snapshot of the runs.
#[derive(Debug)]
pub struct RunList {
    /// The whole runs, newest first.
    pub runs: Vec<RunView>,
    /// The partial runs, newest first.
    pub partial: Vec<RunView>,
    /// The skipped files.
    pub skipped: Vec<SkippedFile>,
    /// The index of each id among the whole runs, followed by the partial ones.
    places: HashMap<String, usize>,
    /// The indexes of each experiment's whole runs, newest first.
    of_experiments: HashMap<String, Vec<usize>>,
    /// Incremented whenever the list changes.
    pub version: u64,
}

impl RunList {
    /// From whole runs and partial runs, each newest first.
    pub fn new([runs, partial]: [Vec<RunView>; 2], skipped: Vec<SkippedFile>, version: u64) -> Self {
        let ids = runs.iter().chain(&partial).map(|run| run.id.clone());
        let mut of_experiments: HashMap<_, Vec<_>> = HashMap::new();
        for (place, run) in runs.iter().enumerate() {
            of_experiments.entry(run.experiment.clone()).or_default().push(place);
        }
        Self { places: ids.zip(0..).collect(), of_experiments, runs, partial, skipped, version }
    }

    fn has_runs(&self, [runs, partial]: &[Vec<RunView>; 2]) -> bool {
        self.runs == *runs && self.partial == *partial
    }

    /// The whole or partial run with this id.
    pub fn run(&self, id: &str) -> Option<&RunView> {
        let place = *self.places.get(id)?;
        self.runs.get(place).or_else(|| self.partial.get(place - self.runs.len()))
    }

    /// The whole runs of an experiment up to a given run, which may be partial, newest first.
    pub fn runs_up_to(&self, run: &RunView) -> impl Iterator<Item = &RunView> {
        let places = self.of_experiments.get(&run.experiment).map(Vec::as_slice).unwrap_or_default();
        // Runs with the same start are sorted by id.
        let is_later = |later: &RunView| (&later.timestamp, &run.id) > (&run.timestamp, &later.id);
        let from = places.partition_point(|place| is_later(&self.runs[*place]));
        places[from..].iter().map(|place| &self.runs[*place])
    }
}

/// The cached list.
#[derive(Debug, Default)]
pub struct RunListCache(Mutex<Option<Snapshot>>);

/// The last snapshot.
#[derive(Debug)]
struct Snapshot {
    known: Arc<RunList>,
    at: Instant,
    /// The folder's modification time; absent if it is too recent to detect further changes.
    folder: Option<SystemTime>,
    /// The number of the index's state; absent if the index is only in memory.
    state: Option<i64>,
}

impl RunListCache {
    /// The current runs.
    pub fn current(&self, layout: &Layout) -> Result<Arc<RunList>, Error> {
        self.load_within(MAX_AGE, layout)
    }

    /// The current runs, ignoring the cache.
    pub fn refreshed(&self, layout: &Layout) -> Result<Arc<RunList>, Error> {
        self.load_within(Duration::ZERO, layout)
    }

    fn load_within(&self, age: Duration, layout: &Layout) -> Result<Arc<RunList>, Error> {
        // Concurrent callers wait for the same result.
        let mut seen = lock(&self.0);
        let folder = std::fs::metadata(layout.results()).and_then(|metadata| metadata.modified()).ok();
        if let Some(seen) = &*seen
            && seen.folder.is_some()
            && seen.folder == folder
            && seen.at.elapsed() < age
        {
            return Ok(Arc::clone(&seen.known));
        }
        let state = seen.as_ref().and_then(|seen| seen.state);
        let (ChangedRuns { all, state }, skipped) = Index::open(layout)?.all_runs_since(state)?;
        let folder = folder.filter(|time| time.elapsed().is_ok_and(|age| age > CLOCK_RESOLUTION));
        let Some(all) = all else {
            // Nothing has changed: of a large store, that is known without its rows.
            if let Some(seen) = seen.as_mut().filter(|seen| seen.known.skipped == skipped) {
                (seen.at, seen.folder) = (Instant::now(), folder);
                return Ok(Arc::clone(&seen.known));
            }
            *seen = None;
            drop(seen);
            return self.load_within(Duration::ZERO, layout);
        };
        let view = |runs: Vec<_>, is_partial| {
            runs.into_iter().map(|run| RunView::finished(run, is_partial)).collect()
        };
        let all = [view(all.whole, false), view(all.partial, true)];
        let before = seen.take().map(|seen| seen.known);
        let known = match before {
            Some(before) if before.has_runs(&all) && before.skipped == skipped => before,
            before => {
                let version = before.map_or(0, |before| before.version + 1);
                Arc::new(RunList::new(all, skipped, version))
            }
        };
        *seen = Some(Snapshot { known: Arc::clone(&known), at: Instant::now(), folder, state });
        Ok(known)
    }
}
