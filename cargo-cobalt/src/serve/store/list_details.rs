//! What the lists of runs show besides the index: heads of runs, and differences from saved baselines.

use std::sync::Arc;

use cobalt_core::report::comparison::{Comparison, compare};
use cobalt_core::store::{ReportReader, read_measurements};

use super::Store;
use super::matched_items::size_of_comparison;
use super::run_file::{RunFile, RunFileError};
use super::run_heads::{RunHead, RunHeads, ScoreDifference, score_differences};
use crate::error::Error;
use crate::runs::RunView;
use crate::serve::error::ApiError;

impl Store {
    /// The heads of runs. Those whose file cannot be read, or is only in a remote store, are left out.
    pub fn run_heads<'a>(&self, ids: impl Iterator<Item = &'a str>) -> RunHeads {
        let files = ids.filter_map(|id| Some((id, self.local_file(id)?)));
        self.heads.get_all(files, |file| {
            let _pass = self.loaders.acquire();
            Some(RunHead::of(ReportReader::of(&file.read().ok()?).ok()?.head()))
        })
    }

    /// How the scores of a run differ from the saved baseline of its experiment. `None` without a baseline, or if the run is only in a
    /// remote store.
    pub fn differences_from_baseline(
        &self,
        run: &RunView,
    ) -> Result<Option<Arc<Vec<ScoreDifference>>>, ApiError> {
        let path = self.layout().baseline(&run.experiment);
        let Ok(baseline) = RunFile::current(&path) else { return Ok(None) };
        if self.local_file(&run.id).is_none() {
            return Ok(None);
        }
        self.with_run(&run.id, |loaded| {
            let files = vec![baseline.clone(), loaded.file.clone()];
            let size = |comparisons: &Vec<Comparison>| comparisons.iter().map(size_of_comparison).sum();
            let comparisons = self.comparisons.get(&files, size, || {
                let _pass = self.loaders.acquire();
                let base = read_measurements(&path, self.prices())
                    .map_err(|error| RunFileError::from(ApiError::from(Error::from(error))))?;
                Ok::<_, RunFileError>(compare(&base, &[&loaded.measurements()]))
            })?;
            Ok(comparisons.first().map(|comparison| Arc::new(score_differences(comparison))))
        })
    }
}
