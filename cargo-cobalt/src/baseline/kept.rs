//! The baseline files of a project, and the newest run of each experiment.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::{env, fs};

use cobalt::config::Config;
use cobalt::pattern::Pattern;
use cobalt::store::Layout;

use crate::error::Error;
use crate::index::{Filter, Index, Run};
use crate::terminal::one_line;

/// The files in the folder of the baselines, sorted by their names. A folder that is not there has none.
pub(super) fn files(layout: &Layout) -> Result<Vec<PathBuf>, Error> {
    let folder = layout.baselines();
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.and_then(Iterator::collect::<io::Result<Vec<_>>>),
    };
    let entries = entries.map_err(|source| Error::Results { path: folder, source })?;
    let mut files: Vec<_> =
        entries.into_iter().map(|entry| entry.path()).filter(|path| is_json(path)).collect();
    files.sort();
    Ok(files)
}

/// What is being written begins with a dot.
fn is_json(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".json") && !name.starts_with('.')
}

/// The newest whole run of each experiment whose name matches, by these names. What cannot be read is told on stderr.
pub(super) fn newest_runs(settings: &Config, name: Option<&Pattern>) -> Result<BTreeMap<String, Run>, Error> {
    let layout = settings.layout();
    let filter = Filter { name: name.cloned(), tag: None, since: None, limit: usize::MAX };
    let (found, skipped) = Index::open(layout)?.runs(&filter)?;
    for skipped in skipped {
        let path = seen(&layout.results().join(&skipped.file));
        eprintln!("warning: `{path}` is left out: {}", one_line(&skipped.reason));
    }
    let mut newest = BTreeMap::new();
    for run in found.runs {
        newest.entry(run.name.clone()).or_insert(run);
    }
    Ok(newest)
}

/// A path as seen from the current folder.
pub(super) fn seen(path: &Path) -> String {
    let folder = env::current_dir().unwrap_or_default();
    one_line(&path.strip_prefix(&folder).unwrap_or(path).display().to_string())
}
