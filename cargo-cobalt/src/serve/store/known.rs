//! The runs that there are, as the index has them: a list in memory, made anew where the folder of results has changed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use cobalt_core::store::Layout;

use crate::error::Error;
use crate::index::{Index, Skipped};
use crate::recent::lock;
use crate::runs::RunView;

/// How long files may change without their folder, as when one is written over, before it is seen.
const PATIENCE: Duration = Duration::from_secs(2);

/// What changes within one tick of a file system's clock has the same time; no clock in use is slower.
const TICK: Duration = Duration::from_millis(50);

/// The runs at one time.
#[derive(Debug)]
pub struct Known {
    /// The whole runs, the newest first.
    pub runs: Vec<RunView>,
    /// The runs of some of the items, the newest first.
    pub partial: Vec<RunView>,
    /// What could not be read.
    pub skipped: Vec<Skipped>,
    /// Of each id the place among the whole runs and, behind them, the partial ones.
    places: HashMap<String, usize>,
    /// Of each experiment the places of its whole runs, the newest first.
    of_experiments: HashMap<String, Vec<usize>>,
    /// Another number for each list that differs from the one before.
    pub version: u64,
}

impl Known {
    fn new([runs, partial]: [Vec<RunView>; 2], skipped: Vec<Skipped>, version: u64) -> Self {
        let ids = runs.iter().chain(&partial).map(|run| run.id.clone());
        let mut of_experiments: HashMap<_, Vec<_>> = HashMap::new();
        for (place, run) in runs.iter().enumerate() {
            of_experiments.entry(run.experiment.clone()).or_default().push(place);
        }
        Self { places: ids.zip(0..).collect(), of_experiments, runs, partial, skipped, version }
    }

    fn has(&self, [runs, partial]: &[Vec<RunView>; 2]) -> bool {
        self.runs == *runs && self.partial == *partial
    }

    /// The whole run of this id, or the partial one.
    pub fn run(&self, id: &str) -> Option<&RunView> {
        let place = *self.places.get(id)?;
        self.runs.get(place).or_else(|| self.partial.get(place - self.runs.len()))
    }

    /// The whole runs of an experiment up to one of them, or up to a partial one, the newest first.
    pub fn up_to(&self, run: &RunView) -> impl Iterator<Item = &RunView> {
        let places = self.of_experiments.get(&run.experiment).map(Vec::as_slice).unwrap_or_default();
        // Runs of the same start are in the order of their ids.
        let is_later = |later: &RunView| (&later.timestamp, &run.id) > (&run.timestamp, &later.id);
        let from = places.partition_point(|place| is_later(&self.runs[*place]));
        places[from..].iter().map(|place| &self.runs[*place])
    }
}

/// Keeps the list.
#[derive(Debug, Default)]
pub struct KnownRuns(Mutex<Option<Seen>>);

/// What was seen when the folder was looked at last.
#[derive(Debug)]
struct Seen {
    known: Arc<Known>,
    at: Instant,
    /// When the folder was changed; absent where it might change once more without another time.
    folder: Option<SystemTime>,
}

impl KnownRuns {
    /// The runs as they are now.
    pub fn now(&self, layout: &Layout) -> Result<Arc<Known>, Error> {
        self.seen_within(PATIENCE, layout)
    }

    /// The same, whatever was seen a moment ago.
    pub fn refreshed(&self, layout: &Layout) -> Result<Arc<Known>, Error> {
        self.seen_within(Duration::ZERO, layout)
    }

    fn seen_within(&self, age: Duration, layout: &Layout) -> Result<Arc<Known>, Error> {
        // Others wait: they ask for the same.
        let mut seen = lock(&self.0);
        let folder = std::fs::metadata(layout.results()).and_then(|metadata| metadata.modified()).ok();
        if let Some(seen) = &*seen
            && seen.folder.is_some()
            && seen.folder == folder
            && seen.at.elapsed() < age
        {
            return Ok(Arc::clone(&seen.known));
        }
        let (all, skipped) = Index::open(layout)?.with_partial()?;
        let view =
            |runs: Vec<_>, is_partial| runs.into_iter().map(|run| RunView::ended(run, is_partial)).collect();
        let all = [view(all.whole, false), view(all.partial, true)];
        let before = seen.take().map(|seen| seen.known);
        let known = match before {
            Some(before) if before.has(&all) && before.skipped == skipped => before,
            before => {
                let version = before.map_or(0, |before| before.version + 1);
                Arc::new(Known::new(all, skipped, version))
            }
        };
        let folder = folder.filter(|time| time.elapsed().is_ok_and(|age| age > TICK));
        *seen = Some(Seen { known: Arc::clone(&known), at: Instant::now(), folder });
        Ok(known)
    }
}
