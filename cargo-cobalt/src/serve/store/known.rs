//! The runs that there are, as the index has them: a list in memory, made anew where the folder of results has changed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use cobalt::store::Layout;

use super::recent::lock;
use crate::error::Error;
use crate::index::{Index, Run, Skipped};

/// How long files may change without their folder, as when one is written over, before it is seen.
const PATIENCE: Duration = Duration::from_secs(2);

/// The runs at one time.
#[derive(Debug)]
pub(super) struct Known {
    /// The runs, partial ones among them, the newest first.
    pub(super) runs: Vec<Run>,
    /// What could not be read.
    pub(super) skipped: Vec<Skipped>,
    /// The experiments that have runs, that of the newest run first.
    pub(super) experiments: Vec<Experiment>,
    places: HashMap<String, usize>,
    /// Of each run the place of its experiment, and its own place among the runs of that.
    in_experiments: Vec<(usize, usize)>,
    /// Another number for each list that differs from the one before.
    pub(super) version: u64,
}

/// The runs of an experiment.
#[derive(Debug)]
pub(super) struct Experiment {
    pub(super) name: String,
    /// Their places among all runs: the newest first.
    pub(super) runs: Vec<usize>,
}

impl Known {
    fn new(runs: Vec<Run>, skipped: Vec<Skipped>, version: u64) -> Self {
        let places = runs.iter().enumerate().map(|(place, run)| (run.id.clone(), place)).collect();
        let (mut experiments, mut by_name) = (Vec::new(), HashMap::new());
        let in_experiments = runs.iter().enumerate().map(|(place, run)| {
            let experiment = *by_name.entry(&run.name).or_insert_with(|| {
                experiments.push(Experiment { name: run.name.clone(), runs: Vec::new() });
                experiments.len() - 1
            });
            experiments[experiment].runs.push(place);
            (experiment, experiments[experiment].runs.len() - 1)
        });
        let in_experiments = in_experiments.collect();
        Self { runs, skipped, experiments, places, in_experiments, version }
    }

    /// The run at a place and those of its experiment before it, the newest first, without partial ones.
    pub(super) fn before(&self, place: usize) -> impl Iterator<Item = &Run> {
        let (experiment, from) = self.in_experiments[place];
        let runs = self.experiments[experiment].runs[from..].iter().map(|place| &self.runs[*place]);
        runs.filter(|run| !run.partial)
    }

    /// The whole runs, the newest first.
    pub(super) fn whole(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| !run.partial)
    }

    pub(super) fn run(&self, id: &str) -> Option<&Run> {
        self.places.get(id).map(|place| &self.runs[*place])
    }
}

/// Keeps the list.
#[derive(Debug, Default)]
pub(super) struct KnownRuns(Mutex<Option<Seen>>);

/// What was seen when the folder was looked at last.
#[derive(Debug)]
struct Seen {
    known: Arc<Known>,
    at: Instant,
    /// When the folder was changed.
    folder: Option<SystemTime>,
}

impl KnownRuns {
    /// The runs as they are now.
    pub(super) fn now(&self, layout: &Layout) -> Result<Arc<Known>, Error> {
        self.seen_within(PATIENCE, layout)
    }

    /// The same, whatever was seen a moment ago.
    pub(super) fn anew(&self, layout: &Layout) -> Result<Arc<Known>, Error> {
        self.seen_within(Duration::ZERO, layout)
    }

    fn seen_within(&self, age: Duration, layout: &Layout) -> Result<Arc<Known>, Error> {
        // Others wait: they ask for the same.
        let mut seen = lock(&self.0);
        let folder = std::fs::metadata(layout.results()).and_then(|metadata| metadata.modified()).ok();
        if let Some(seen) = &*seen
            && seen.folder == folder
            && seen.at.elapsed() < age
        {
            return Ok(Arc::clone(&seen.known));
        }
        let (runs, skipped) = Index::open(layout)?.with_partial()?;
        let before = seen.take().map(|seen| seen.known);
        let known = match before {
            Some(before) if before.runs == runs && before.skipped == skipped => before,
            before => {
                let version = before.map_or(0, |before| before.version + 1);
                Arc::new(Known::new(runs, skipped, version))
            }
        };
        *seen = Some(Seen { known: Arc::clone(&known), at: Instant::now(), folder });
        Ok(known)
    }
}
