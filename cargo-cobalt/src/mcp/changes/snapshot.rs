//! A snapshot of a project's settings and runs, and how a later one differs from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cobalt::command::config::Setting;
use cobalt_core::paths::workspace_root;
use cobalt_core::store::{Layout, ResultFileName};

use crate::index::{FileStamp, result_files};
use crate::mcp::projects::Project;
use crate::mcp::resources::ResourceKind;
use crate::runs::journals;

/// A snapshot of a project's settings and runs.
#[derive(Debug)]
pub struct Snapshot {
    /// All settings as JSON, or why they cannot be read.
    settings: String,
    /// Where runs are stored; absent until the settings have been read.
    layout: Option<Layout>,
    /// The result files by name.
    results: BTreeMap<String, FileStamp>,
    /// The journals of unfinished runs by run ID.
    journals: BTreeMap<String, FileStamp>,
}

impl Snapshot {
    /// An empty snapshot.
    pub fn empty() -> Self {
        Self { settings: String::new(), layout: None, results: BTreeMap::new(), journals: BTreeMap::new() }
    }

    /// Reads the settings, which determine the file locations. If they are invalid, keeps the previous locations.
    pub fn locate(before: &Self, project: &Project) -> Self {
        let (settings, layout) = match project.settings() {
            Ok(config) => (settings_json(config.settings()), Some(config.layout().clone())),
            Err(error) => (error.to_string(), before.layout.clone()),
        };
        Self { settings, layout, ..Self::empty() }
    }

    /// The folders to watch. For a folder that does not exist yet, its nearest existing parent.
    pub fn folders(&self, project: &Project) -> BTreeSet<PathBuf> {
        let mut folders = vec![project.root.clone(), workspace_root(&project.root)];
        if let Some(layout) = &self.layout {
            folders.extend([layout.results().to_owned(), layout.journals()]);
        }
        folders.iter().filter_map(|folder| nearest_folder(folder)).collect()
    }

    /// Reads the files, and returns what changed since `before`.
    pub fn scan(&mut self, before: &Self, project: &Arc<Project>) -> ProjectChanges {
        if let Some(layout) = &self.layout {
            // A folder that cannot be listed is reported when runs are requested.
            self.results = result_files(layout.results()).unwrap_or_default();
            let journals = journals(&layout.journals()).into_iter();
            self.journals = journals.filter_map(|(id, path)| Some((id, stamp(&path)?))).collect();
        }
        let results = changed_names(&before.results, &self.results);
        let runs =
            results.iter().map(|file| run_id(file)).chain(changed_names(&before.journals, &self.journals));
        ProjectChanges {
            project: Arc::clone(project),
            settings: before.settings != self.settings,
            experiments: false,
            results: !results.is_empty(),
            list: before.finished_ids() != self.finished_ids()
                || !before.journals.keys().eq(self.journals.keys()),
            runs: runs.map(str::to_owned).collect(),
            known: self
                .finished_ids()
                .into_iter()
                .chain(self.journals.keys().map(String::as_str))
                .map(str::to_owned)
                .collect(),
        }
    }

    /// The IDs of runs with a result file.
    fn finished_ids(&self) -> BTreeSet<&str> {
        self.results.keys().map(|file| run_id(file)).collect()
    }
}

fn settings_json(settings: &[Setting]) -> String {
    serde_json::to_string(settings).unwrap_or_else(|error| error.to_string())
}

/// The run ID in the name of a result file, or the name itself.
fn run_id(file: &str) -> &str {
    ResultFileName::parse(file).map_or(file, |parsed| parsed.id)
}

/// The nearest existing folder of a path.
pub fn nearest_folder(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|folder| folder.is_dir()).map(Path::to_owned)
}

/// None if the journal was removed meanwhile because its run ended.
fn stamp(path: &Path) -> Option<FileStamp> {
    Some(FileStamp::of(&fs::metadata(path).ok()?))
}

/// The names of added, removed and changed entries.
fn changed_names<'a>(
    before: &'a BTreeMap<String, FileStamp>,
    now: &'a BTreeMap<String, FileStamp>,
) -> BTreeSet<&'a str> {
    let names = before.keys().chain(now.keys());
    names.filter(|name| before.get(*name) != now.get(*name)).map(String::as_str).collect()
}

/// The changes in a project.
#[derive(Clone, Debug)]
pub struct ProjectChanges {
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

impl ProjectChanges {
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
    pub fn has_changes(&self) -> bool {
        self.settings || self.experiments || self.results || self.list || !self.runs.is_empty()
    }

    /// Whether a resource of this project may have changed.
    pub fn affects(&self, place: &ResourceKind) -> bool {
        match place {
            ResourceKind::Config => self.settings,
            ResourceKind::Experiments => self.experiments,
            ResourceKind::LatestResults => self.results,
            ResourceKind::Schema(_) => false,
            ResourceKind::Run(run) | ResourceKind::Item { run, .. } => self.affects_run(run),
        }
    }

    /// A name other than an ID, such as `latest`, may resolve to another run whenever results change.
    fn affects_run(&self, name: &str) -> bool {
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
        let grown = ProjectChanges {
            runs: ids(&["aaa1"]),
            known: ids(&["aaa1", "bbb2"]),
            ..ProjectChanges::of_experiments(&project)
        };
        let ended = ProjectChanges { results: true, ..grown.clone() };
        let touched = |news: &ProjectChanges, run: &str| news.affects(&ResourceKind::Run(run.to_owned()));
        assert!(touched(&grown, "aaa1") && touched(&grown, "aaa") && touched(&ended, "aaa1"));
        assert!(!touched(&grown, "bbb2") && !touched(&ended, "bbb2"));
        assert!(!touched(&grown, "latest") && touched(&ended, "latest"));
    }
}
