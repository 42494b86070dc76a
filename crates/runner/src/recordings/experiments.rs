//! The recordings of a project's experiments: where they are, and which of them no item uses.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use cobalt_core::recordings::{Cassette, RecordingError, RecordingFolder, UNATTRIBUTED, cassette_name};
use cobalt_core::reporters::{Listed, ListedRecordings};
use serde::Serialize;

use crate::list::Row;

/// The recordings of one experiment.
#[derive(Clone, Debug)]
pub struct ExperimentRecordings {
    pub experiment: String,
    /// The folder of all experiments' recordings.
    pub root: PathBuf,
    pub folder: RecordingFolder,
    /// The names of unused files, or why they are not known.
    pub unused: Result<HashSet<String>, String>,
}

/// Whether an item uses a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Use {
    Used,
    Unused,
    /// The experiment's items are not known, or it is a recording of another experiment.
    Unknown,
}

impl ExperimentRecordings {
    /// The recordings of the listed experiments that have any, in their order.
    pub fn of(rows: &[Row]) -> Vec<Self> {
        rows.iter().filter_map(|row| Self::of_one(&row.experiment)).collect()
    }

    fn of_one(listed: &Listed) -> Option<Self> {
        let ListedRecordings { root, folder, unused } = listed.recordings.clone()?;
        let unused =
            unused.map(HashSet::from_iter).ok_or_else(|| match (&listed.error, &listed.ignored_without) {
                (Some(error), _) => error.clone(),
                (None, Some(variable)) => format!("the experiment is ignored because {variable} is not set"),
                (None, None) => "its items are not known".to_owned(),
            });
        Some(Self { experiment: listed.name.clone(), root, folder: RecordingFolder::new(folder), unused })
    }

    /// Whether an item uses a file with this name. A file of another item is as good as absent.
    pub fn has_use_for(&self, name: &str) -> Use {
        match &self.unused {
            Ok(unused) if unused.contains(name) => Use::Unused,
            Ok(_) => Use::Used,
            Err(_) => Use::Unknown,
        }
    }

    /// Whether an item uses the recording in a file with this name.
    pub fn use_of(&self, name: &str, cassette: &Cassette) -> Use {
        let is_of_item = cassette.item.is_empty() || cassette_name(&cassette.item) == name;
        let is_own = cassette.experiment.is_empty() || cassette.experiment == self.experiment;
        match self.has_use_for(name) {
            Use::Used if is_of_item => Use::Used,
            Use::Used | Use::Unused if is_own => Use::Unused,
            // Experiments whose names differ little share a folder.
            _ => Use::Unknown,
        }
    }

    /// Its recordings by their files.
    pub fn files(&self) -> Result<Vec<PathBuf>, RecordingError> {
        self.folder.cassettes()
    }
}

/// The name of a recording: its file name without extension.
pub fn name(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The folders of all experiments' recordings.
pub fn roots(experiments: &[ExperimentRecordings]) -> BTreeSet<&Path> {
    experiments.iter().map(|experiment| experiment.root.as_path()).collect()
}

/// The file of requests that could not be attributed to an item.
pub fn unattributed(root: &Path) -> PathBuf {
    RecordingFolder::new(root).cassette(UNATTRIBUTED)
}

/// Folders with recordings that belong to none of the experiments. Only meaningful if all experiments were listed.
pub fn foreign_folders(experiments: &[ExperimentRecordings]) -> Vec<PathBuf> {
    let known: HashSet<_> = experiments.iter().map(|experiment| experiment.folder.path()).collect();
    let inside = |root: &Path| {
        fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let has_recordings =
        |folder: &PathBuf| RecordingFolder::new(folder).cassettes().is_ok_and(|files| !files.is_empty());
    let folders = roots(experiments).into_iter().flat_map(inside);
    let mut foreign: Vec<_> = folders
        .filter(|path| path.is_dir() && !known.contains(path.as_path()))
        .filter(has_recordings)
        .collect();
    foreign.sort();
    foreign
}

/// The long texts that a recording refers to, by their hashes, with their sizes in bytes.
pub fn blobs(cassette: &Cassette, folder: &RecordingFolder) -> BTreeMap<PathBuf, u64> {
    let mut blobs = BTreeMap::new();
    cassette.for_each_blob(&mut |hash| {
        let path = folder.blob(hash);
        if let Ok(known) = path.metadata() {
            blobs.insert(path, known.len());
        }
    });
    blobs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_used_by_the_item_that_it_names() {
        let mut desk = ExperimentRecordings {
            experiment: "desk".to_owned(),
            root: PathBuf::new(),
            folder: RecordingFolder::new("desk"),
            unused: Ok(HashSet::from(["old".to_owned()])),
        };
        let use_of = |desk: &ExperimentRecordings, name: &str, experiment: &str, item: &str| {
            desk.use_of(name, &Cassette::new(experiment, item))
        };
        for (name, experiment, item, expected) in [
            ("rome", "desk", "rome", Use::Used),
            ("rome", "desk", "", Use::Used),
            ("rome", "renamed", "rome", Use::Used),
            ("rome", "desk", "Rome!", Use::Unused),
            ("rome", "other", "Rome!", Use::Unknown),
            ("old", "desk", "old", Use::Unused),
            ("old", "other", "old", Use::Unknown),
        ] {
            assert_eq!(use_of(&desk, name, experiment, item), expected, "{name} {experiment} {item}");
        }
        desk.unused = Err("its items are not known".to_owned());
        assert_eq!(use_of(&desk, "rome", "desk", "rome"), Use::Unknown);
    }
}
