//! The recordings of a project's experiments: where they are, and which of them no item uses.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use cobalt_core::recordings::{Cassette, RecordingError, RecordingFolder, UNATTRIBUTED};
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
    /// The experiment's items are not known.
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

    /// Whether an item uses the recording with this name.
    pub fn use_of(&self, name: &str) -> Use {
        match &self.unused {
            Ok(unused) if unused.contains(name) => Use::Unused,
            Ok(_) => Use::Used,
            Err(_) => Use::Unknown,
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
