//! What `--keep` spares: the newest whole runs of each experiment, and what has been run since.

use std::collections::{BTreeMap, HashSet};

use cobalt::store::ResultFileName;

use crate::index::Run;

/// How much of a timestamp tells the second.
const SECOND: usize = "2026-02-05T14:30:00".len();

/// The runs that stay.
#[derive(Debug)]
pub(super) struct Kept {
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
    pub(super) fn of(runs: &[Run], most: usize) -> Self {
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
    pub(super) fn has(&self, file: &str) -> bool {
        self.files.contains(file)
    }

    /// Whether the run of some items, of which this is the file's name, stays.
    pub(super) fn has_partial(&self, name: ResultFileName<'_>) -> bool {
        let since = self.since_by_slug.get(name.experiment);
        since.is_none_or(|since| *name.start >= *since.replace(':', "-"))
    }

    /// Whether a run of the experiment that was cut off and started then stays.
    pub(super) fn has_cut_off(&self, experiment: &str, timestamp: &str) -> bool {
        self.since.get(experiment).is_none_or(|since| timestamp >= since.as_str())
    }
}
