//! What has changed in a project, and which resources that touches.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::mcp::projects::Project;
use crate::mcp::resources::Place;

#[derive(Clone, Debug)]
pub(super) struct News {
    pub(super) project: Arc<Project>,
    /// Whether settings have changed.
    pub(super) settings: bool,
    /// Whether something has changed of which experiments are made.
    pub(super) experiments: bool,
    /// Whether result files came, went, or were replaced.
    pub(super) results: bool,
    /// Whether runs came, ended or went.
    pub(super) list: bool,
    /// The ids of the runs that have gone on, ended, come or gone.
    pub(super) runs: BTreeSet<String>,
    /// The ids of all runs that there are now.
    pub(super) known: BTreeSet<String>,
}

impl News {
    /// Something has changed of which experiments are made.
    pub(super) fn of_experiments(project: &Arc<Project>) -> Self {
        Self {
            project: Arc::clone(project),
            settings: false,
            experiments: true,
            results: false,
            list: false,
            runs: BTreeSet::new(),
            known: BTreeSet::new(),
        }
    }

    /// Whether there is any.
    pub(super) fn is_some(&self) -> bool {
        self.settings || self.experiments || self.results || self.list || !self.runs.is_empty()
    }

    /// Whether a resource of this project may be another than before.
    pub(super) fn touch(&self, place: &Place) -> bool {
        match place {
            Place::Config => self.settings,
            Place::Experiments => self.experiments,
            Place::LatestResults => self.results,
            Place::Schema(_) => false,
            Place::Run(run) | Place::Item { run, .. } => self.touch_run(run),
        }
    }

    /// A name that is no id, as `latest`, may mean another run whenever results change.
    fn touch_run(&self, name: &str) -> bool {
        let is_among = |ids: &BTreeSet<String>| ids.iter().any(|id| id.starts_with(name));
        is_among(&self.runs) || self.results && !is_among(&self.known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_touched_by_its_own_journal_and_a_name_by_all_results() {
        let project = Arc::new(Project { name: "app".to_owned(), root: "/app".into() });
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        let grown =
            News { runs: ids(&["aaa1"]), known: ids(&["aaa1", "bbb2"]), ..News::of_experiments(&project) };
        let ended = News { results: true, ..grown.clone() };
        let touched = |news: &News, run: &str| news.touch(&Place::Run(run.to_owned()));
        assert!(touched(&grown, "aaa1") && touched(&grown, "aaa") && touched(&ended, "aaa1"));
        assert!(!touched(&grown, "bbb2") && !touched(&ended, "bbb2"));
        assert!(!touched(&grown, "latest") && touched(&ended, "latest"));
    }
}
