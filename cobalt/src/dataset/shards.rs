//! Data sets in several files: what a path with wildcards stands for.

use std::io;
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern, PatternError, glob_with};

use super::DatasetError;

/// Wildcards stand for parts of one name, and not for the dot that hides a file.
const OPTIONS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// The files that a path stands for, sorted, as they are found below a folder: itself where it has no wildcards, or
/// where a file has just that name.
pub(super) fn files(root: &Path, path: &Path, shown: &str) -> Result<Vec<PathBuf>, DatasetError> {
    if !shown.contains(['*', '?', '[']) || root.join(path).exists() {
        return Ok(vec![path.to_owned()]);
    }
    // A doubled slash would match nothing.
    let path = &path.components().collect::<PathBuf>();
    // The folder's own name may look like a pattern.
    let pattern = match path.is_absolute() {
        true => path.to_owned(),
        false => Path::new(&Pattern::escape(&root.to_string_lossy())).join(path),
    };
    let refused = |text: String| DatasetError::read(shown, io::Error::new(io::ErrorKind::InvalidInput, text));
    let pattern = pattern.to_string_lossy();
    // Asked to leave out hidden files, it panics at a name that is no Unicode.
    let all = MatchOptions { require_literal_leading_dot: false, ..OPTIONS };
    let no_pattern =
        |error: PatternError| refused(format!("there is no such file, and it is no pattern: {}", error.msg));
    let found = glob_with(&pattern, all).map_err(no_pattern)?;
    let visible = Pattern::new(&pattern).map_err(no_pattern)?;
    let mut files = found
        // A link that leads nowhere is not passed over, as its items would be missing.
        .filter(|file| {
            file.as_ref().map_or(true, |file| !file.is_dir() && visible.matches_path_with(file, OPTIONS))
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| refused(error.to_string()))?;
    files.sort_unstable();
    if files.is_empty() {
        let cause = io::Error::new(io::ErrorKind::NotFound, "no file matches this pattern");
        return Err(DatasetError::read(shown, cause));
    }
    Ok(files.into_iter().map(|file| file.strip_prefix(root).map(Path::to_owned).unwrap_or(file)).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::{Dataset, item};

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn files_that_match_are_read_one_after_another_by_name() {
        let folder = folder(&[
            ("train-00001-of-00002.csv", "n\n2\n"),
            ("train-00000-of-00002.jsonl", "{\"n\": 0}\n{\"n\": 1}\n"),
            ("test-00000-of-00001.csv", "n\n9\n"),
            (".train-hidden.csv", "n\n9\n"),
            ("train-deep/train-0.csv", "n\n9\n"),
        ]);
        let pattern = folder.path().join("train-*");
        let dataset = Dataset::from_file(&pattern).unwrap();
        assert_eq!(
            dataset.iter().cloned().collect::<Vec<_>>(),
            [item! { "n": 0 }, item! { "n": 1 }, item! { "n": "2" }]
        );
        assert_eq!(dataset.source(), pattern.display().to_string());
        assert_eq!(Dataset::from_file(folder.path().join("**/t*.csv")).unwrap().len(), 3);
        let doubled = format!("{}//train-*.csv", folder.path().display());
        assert_eq!(Dataset::from_file(doubled).unwrap().len(), 1);
    }

    #[test]
    fn an_error_names_the_file_and_not_the_pattern() {
        let folder = folder(&[("a-0.jsonl", "{\"n\": 0}\n"), ("a-1.jsonl", "{\"n\"")]);
        let error = Dataset::from_file(folder.path().join("a-?.jsonl")).unwrap_err().to_string();
        assert!(error.contains("a-1.jsonl:1: expected one whole JSON object"), "{error}");
    }

    #[test]
    fn a_pattern_without_files_is_an_error() {
        let folder = folder(&[("a.json", "[{}]")]);
        let error = Dataset::from_file(folder.path().join("b-*.json")).unwrap_err().to_string();
        assert!(error.ends_with("b-*.json: no file matches this pattern: is `a.json` meant?"), "{error}");
        let error = Dataset::from_file("no-such-folder/b-*.json").unwrap_err().to_string();
        assert!(error.contains("no file matches this pattern (a relative path begins at"), "{error}");
        let error = Dataset::from_file(folder.path().join("a[.json")).unwrap_err().to_string();
        assert!(error.contains("there is no such file, and it is no pattern: "), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_says_how_to_name_its_files() {
        let folder = folder(&[("set/data-00000-of-00001.jsonl", "{}\n")]);
        let error = Dataset::from_file(folder.path().join("set")).unwrap_err().to_string();
        assert!(
            error.contains("set: Is a directory (os error 21): name its files by a pattern, such as `"),
            "{error}"
        );
        assert!(error.ends_with("/set/*.jsonl`"), "{error}");
    }

    #[test]
    fn a_name_that_looks_like_a_pattern_is_that_of_its_file_first() {
        let folder = folder(&[("a[1].json", "[{}]"), ("a1.json", "[{}, {}]")]);
        assert_eq!(Dataset::from_file(folder.path().join("a[1].json")).unwrap().len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_is_an_error_and_a_name_that_is_no_unicode_is_none() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;

        let folder = folder(&[("a-0.jsonl", "{\"a\": 0}\n")]);
        fs::write(folder.path().join(OsStr::from_bytes(b"b-\xff.jsonl")), "{}\n").unwrap();
        let pattern = folder.path().join("a-*.jsonl");
        assert_eq!(Dataset::from_file(&pattern).unwrap().len(), 1);
        std::os::unix::fs::symlink("nowhere", folder.path().join("a-1.jsonl")).unwrap();
        let error = Dataset::from_file(&pattern).unwrap_err().to_string();
        assert!(error.contains("a-1.jsonl"), "{error}");
    }
}
