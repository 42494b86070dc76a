//! Which files are meant by the paths that were typed.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cobalt::store::ResultFileName;

use crate::terminal::one_line;

/// Where results lie below a folder that was named: this project's and those of the original.
const BELOW: [&str; 5] = ["results", "data/results", ".cobalt/results", ".cobalt/data/results", "data"];

/// Files as they are, and of folders the files `*.json` in them and in the folders with results below, sorted; each once. Beside
/// them, why others cannot be read.
pub(super) fn files(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<String>) {
    let (mut files, mut refused, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for path in paths {
        match of_path(path) {
            Ok(found) => files.extend(found.into_iter().filter(|file| seen.insert(file.clone()))),
            Err(error) => {
                let path = one_line(&path.display().to_string());
                refused.push(format!(
                    "failed to read `{path}`: {error}; name result files, or folders with some"
                ));
            }
        }
    }
    (files, refused)
}

fn of_path(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !fs::metadata(path)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let below: Vec<_> =
        BELOW.iter().map(|folder| path.join(folder)).filter(|folder| folder.is_dir()).collect();
    let beside = in_folder(path)?;
    let mut files = Vec::new();
    for folder in below {
        files.extend(
            in_folder(&folder)?.into_iter().filter(|file| !folder.ends_with("data") || is_result(file)),
        );
    }
    // What else lies in the root of a project, such as its settings, is no result.
    let is_root =
        path.join(".cobalt").is_dir() && (!files.is_empty() || beside.iter().any(|file| is_result(file)));
    let beside = beside.into_iter().filter(|file| !is_root || is_result(file));
    Ok(beside.chain(files).collect())
}

/// Whether a file has the name of a result file.
pub(super) fn is_result(file: &Path) -> bool {
    file.file_name().and_then(|name| name.to_str()).is_some_and(|name| ResultFileName::parse(name).is_some())
}

/// The files `*.json` of a folder. What is being written begins with a dot.
fn in_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
        let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        if is_json && !is_hidden && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
