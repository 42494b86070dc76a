//! A snapshot of a project's settings and runs, and how a later one differs from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cobalt::command::config::Setting;
use cobalt_core::paths::workspace_root;
use cobalt_core::store::{Layout, ResultFileName};

use crate::index::{Stamp, result_files};
use crate::mcp::projects::Project;
use crate::mcp::resources::Place;
use crate::runs::journals;

/// A snapshot of a project's settings and runs.
#[derive(Debug)]
pub struct State {
    /// All settings as JSON, or why they cannot be read.
    settings: String,
    /// Where runs are stored; absent until the settings have been read.
    layout: Option<Layout>,
    /// The result files by name.
    results: BTreeMap<String, Stamp>,
    /// The journals of unfinished runs by run ID.
    journals: BTreeMap<String, Stamp>,
}

impl State {
    /// An empty snapshot.
    pub fn unseen() -> Self {
        Self { settings: String::new(), layout: None, results: BTreeMap::new(), journals: BTreeMap::new() }
    }

    /// Reads the settings, which determine the file locations. If they are invalid, keeps the previous locations.
    pub fn located(before: &Self, project: &Project) -> Self {
        let (settings, layout) = match project.settings() {
            Ok(config) => (shown(config.settings()), Some(config.layout().clone())),
            Err(error) => (error.to_string(), before.layout.clone()),
        };
        Self { settings, layout, ..Self::unseen() }
    }

    /// The folders to watch. For a folder that does not exist yet, its nearest existing parent.
    pub fn folders(&self, project: &Project) -> BTreeSet<PathBuf> {
        let mut folders = vec![project.root.clone(), workspace_root(&project.root)];
        if let Some(layout) = &self.layout {
            folders.extend([layout.results().to_owned(), layout.journals()]);
        }
        folders.iter().filter_map(|folder| nearest(folder)).collect()
    }

    /// Reads the files, and returns what changed since `before`.
    pub fn look(&mut self, before: &Self, project: &Arc<Project>) -> News {
        if let Some(layout) = &self.layout {
            // A folder that cannot be listed is reported when runs are requested.
            self.results = result_files(layout.results()).unwrap_or_default();
            let journals = journals(&layout.journals()).into_iter();
            self.journals = journals.filter_map(|(id, path)| Some((id, stamp(&path)?))).collect();
        }
        let results = differences(&before.results, &self.results);
        let runs =
            results.iter().map(|file| id_of(file)).chain(differences(&before.journals, &self.journals));
        News {
            project: Arc::clone(project),
            settings: before.settings != self.settings,
            experiments: false,
            results: !results.is_empty(),
            list: before.ended() != self.ended() || !before.journals.keys().eq(self.journals.keys()),
            runs: runs.map(str::to_owned).collect(),
            known: self
                .ended()
                .into_iter()
                .chain(self.journals.keys().map(String::as_str))
                .map(str::to_owned)
                .collect(),
        }
    }

    /// The IDs of runs with a result file.
    fn ended(&self) -> BTreeSet<&str> {
        self.results.keys().map(|file| id_of(file)).collect()
    }
}

fn shown(settings: &[Setting]) -> String {
    serde_json::to_string(settings).unwrap_or_else(|error| error.to_string())
}

/// The run ID in the name of a result file, or the name itself.
fn id_of(file: &str) -> &str {
    ResultFileName::parse(file).map_or(file, |parsed| parsed.id)
}

/// The nearest existing folder of a path.
pub fn nearest(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|folder| folder.is_dir()).map(Path::to_owned)
}

/// None if the journal was removed meanwhile because its run ended.
fn stamp(path: &Path) -> Option<Stamp> {
    Some(Stamp::of(&fs::metadata(path).ok()?))
}

/// The names of added, removed and changed entries.
fn differences<'a>(
    before: &'a BTreeMap<String, Stamp>,
    now: &'a BTreeMap<String, Stamp>,
) -> BTreeSet<&'a str> {
    let names = before.keys().chain(now.keys());
    names.filter(|name| before.get(*name) != now.get(*name)).map(String::as_str).collect()
}

/// The changes in a project.
#[derive(Clone, Debug)]
pub struct News {
    pub project: Arc<Project>,
    /// Whether settings changed.
    pub settings: bool,
    /// Whether sources of experiments changed.
    pub experiments: bool,
    /// Whether result files were added, removed or replaced.
    pub results: bool,
    /// Whether runs were added, finished or removed.
    pub list: bool,
    /// The IDs of runs that progressed, finished, or were added or removed.
    pub runs: BTreeSet<String>,
    /// The IDs of all current runs.
    pub known: BTreeSet<String>,
}

impl News {
    /// A change of the sources of experiments.
    pub fn of_experiments(project: &Arc<Project>) -> Self {
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

    /// Whether anything changed.
    pub fn is_some(&self) -> bool {
        self.settings || self.experiments || self.results || self.list || !self.runs.is_empty()
    }

    /// Whether a resource of this project may have changed.
    pub fn touch(&self, place: &Place) -> bool {
        match place {
            Place::Config => self.settings,
            Place::Experiments => self.experiments,
            Place::LatestResults => self.results,
            Place::Schema(_) => false,
            Place::Run(run) | Place::Item { run, .. } => self.touch_run(run),
        }
    }

    /// A name other than an ID, such as `latest`, may resolve to another run whenever results change.
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
