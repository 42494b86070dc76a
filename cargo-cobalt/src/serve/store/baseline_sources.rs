//! The runs that the baselines were saved from, reread when a baseline file changes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use cobalt_core::store::Layout;

use crate::baseline::baseline_runs;
use crate::index::{FileStamp, result_files};
use crate::sized_cache::lock;

/// The source runs of the baselines.
#[derive(Debug, Default)]
pub struct BaselineSources {
    files: BTreeMap<String, FileStamp>,
    /// The experiments by run id.
    runs: BTreeMap<String, String>,
}

impl BaselineSources {
    /// Whether a baseline was saved from the run with this id.
    pub fn is_source(&self, id: &str) -> bool {
        self.runs.contains_key(id)
    }

    /// The experiment whose baseline was saved from the run with this id.
    pub fn experiment(&self, id: &str) -> Option<&str> {
        self.runs.get(id).map(String::as_str)
    }

    /// The run that the baseline of an experiment was saved from.
    pub fn run_of(&self, experiment: &str) -> Option<&str> {
        self.runs.iter().find(|(_, of)| *of == experiment).map(|(run, _)| &**run)
    }

    /// A string for this state. A baseline that is saved again from the same run is another state.
    pub fn state(&self) -> String {
        format!("{:?}\0", self.files)
    }
}

/// The cached sources.
#[derive(Debug, Default)]
pub struct BaselineSourcesCache(Mutex<Arc<BaselineSources>>);

impl BaselineSourcesCache {
    /// The current sources. Commands that use an unreadable folder or file report it.
    pub fn current(&self, layout: &Layout) -> Arc<BaselineSources> {
        let mut known = lock(&self.0);
        let files = result_files(&layout.baselines()).unwrap_or_default();
        if files != known.files {
            let runs = baseline_runs(layout).unwrap_or_default().into_iter().collect();
            *known = Arc::new(BaselineSources { files, runs });
        }
        Arc::clone(&known)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_baseline_that_is_saved_again_from_the_same_run_is_another_state() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let layout = Layout::new(folder.path().to_owned(), path("results"), path("history"), path("cache"));
        fs::create_dir_all(layout.baselines()).unwrap();
        let cache = BaselineSourcesCache::default();
        let state = |text: &str| {
            fs::write(layout.baseline("desk"), text).unwrap();
            cache.current(&layout).state()
        };
        let before = state("{}");
        assert_ne!(before, state("{ }"));
    }
}
