//! Which runs are there already.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cobalt::store::{Layout, ResultFileName};

use crate::index::{Filter, Index, IndexError};

/// The result files that are there, by the ids of their runs.
pub(super) struct There(HashMap<String, PathBuf>);

impl There {
    /// Whole runs are known by the index, whatever their files are called; those of some of the items by their names.
    pub(super) fn read(layout: &Layout) -> Result<Self, IndexError> {
        let results = layout.results();
        let all = Filter::ALL;
        let (found, _) = Index::open(layout)?.runs(&all)?;
        let mut files =
            by_name(results).map_err(|source| IndexError::Results { path: results.to_owned(), source })?;
        files.extend(found.runs.into_iter().map(|run| (run.id, results.join(run.file))));
        Ok(Self(files))
    }

    pub(super) fn find(&self, id: &str) -> Option<&Path> {
        self.0.get(id).map(PathBuf::as_path)
    }

    pub(super) fn add(&mut self, id: &str, path: &Path) {
        self.0.insert(id.to_owned(), path.to_owned());
    }
}

/// The files of a folder that have the id of a run in their names.
fn by_name(folder: &Path) -> io::Result<HashMap<String, PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(HashMap::new()),
        entries => entries?,
    };
    let mut files = HashMap::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if let Some(ResultFileName { id, .. }) = ResultFileName::parse(&name) {
            files.insert(id.to_owned(), path);
        }
    }
    Ok(files)
}
