//! Reads the items of a file on disk, in any supported format.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use cobalt_core::{paths, wording};
use glob::{MatchOptions, Pattern, PatternError, glob_with};

use super::compressed::Compression;
use super::on_disk::{ItemsOnDisk, MAX_OPEN_FILES, MIN_BYTES, SourceFile};
use super::text::{Content, Rest};
use super::{
    Dataset, DatasetError, Format, FormatHints, Item, columnar, parse_csv, parse_json, parse_jsonl, text,
};

/// How many bytes of a file are used to detect its format.
const HEAD_BYTES: u64 = 64 * 1024;
/// The same if the first line may be an object and is longer.
const MAX_HEAD_BYTES: usize = 16 * 1024 * 1024;

/// The items of the file at `path`; errors use the name `shown`.
pub fn read(path: &Path, shown: &str, hints: &FormatHints) -> Result<Vec<Item>, DatasetError> {
    let (content, format) = open(path, shown, hints)?;
    content.items(format, shown, hints.max_bytes)
}

/// The decompressed content of the file at `path`, and its format.
pub fn open(path: &Path, shown: &str, hints: &FormatHints) -> Result<(Content, Format), DatasetError> {
    let content = content(path, shown, hints)?;
    let format = hints.format(&content.head, shown)?;
    Ok((content, format))
}

/// The decompressed content of the file at `path`.
pub fn content(path: &Path, shown: &str, hints: &FormatHints) -> Result<Content, DatasetError> {
    let unread = |error| DatasetError::read(shown, error);
    let mut file = File::open(path).map_err(unread)?;
    let start = head(&mut file).map_err(unread)?;
    Ok(match Compression::detect(&start) {
        None => Content { head: start, rest: Rest::File(file) },
        Some(compression) => {
            let packed = BufReader::new(Cursor::new(start).chain(file));
            let mut unpacked = compression.decoder(packed, hints.max_bytes, shown)?;
            Content { head: head(&mut unpacked).map_err(unread)?, rest: Rest::Decompressed(unpacked) }
        }
    })
}

/// The format of a file with this name and content, as detected on reading.
#[doc(hidden)]
pub fn detect_format(name: &str, bytes: &[u8]) -> Result<Format, DatasetError> {
    let head = head(&mut &*bytes).map_err(|error| DatasetError::read(name, error))?;
    FormatHints::by_name(name).format(&head, name)
}

/// The first bytes of a reader. If they may be an object per line, reads until something follows the first line, up to a limit.
fn head(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    loop {
        // The parts double in size, as each round scans from the start.
        let part = HEAD_BYTES.max(head.len() as u64);
        let read = reader.by_ref().take(part).read_to_end(&mut head)?;
        let goes_on = read > 0 && head.len() < MAX_HEAD_BYTES && starts_long_line(&head);
        if !goes_on {
            return Ok(head);
        }
    }
}

/// Whether an object starts here, and the text ends before the next non-blank line.
fn starts_long_line(head: &[u8]) -> bool {
    let text = head[text::bom_length(head).unwrap_or(0)..].trim_ascii_start();
    let line_end = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
    text.starts_with(b"{") && text[line_end..].trim_ascii_start().is_empty()
}

impl Content {
    /// Parses the items.
    pub fn items(
        self,
        format: Format,
        shown: &str,
        max_bytes: Option<u64>,
    ) -> Result<Vec<Item>, DatasetError> {
        match format {
            Format::Json => parse_json(self.text(), shown),
            Format::Jsonl => parse_jsonl(self.text(), shown),
            Format::Csv => parse_csv(self.text(), shown, b','),
            Format::Tsv => parse_csv(self.text(), shown, b'\t'),
            Format::Parquet => columnar::read_parquet(self, shown, max_bytes),
            Format::Arrow => columnar::read_arrow(self, shown, max_bytes),
        }
    }
}

impl Dataset {
    /// [`read_package_file`] for a path relative to the workspace root.
    pub(crate) fn from_workspace(workspace: &Path, path: &Path) -> Result<Dataset, DatasetError> {
        load_from(&BaseDir { folder: workspace, called: "the workspace root" }, path, None)
    }
}

/// The base of relative paths.
struct BaseDir<'a> {
    folder: &'a Path,
    called: &'static str,
}

/// The items of a file, or of all files that match a pattern; a relative path starts at the package directory. Without a
/// format, it is detected from the file.
pub(crate) fn read_package_file(path: &Path, format: Option<Format>) -> Result<Dataset, DatasetError> {
    let root = BaseDir { folder: &paths::package_root(), called: "the package directory" };
    load_from(&root, path, format)
}

fn load_from(root: &BaseDir<'_>, path: &Path, format: Option<Format>) -> Result<Dataset, DatasetError> {
    let shown = path.display().to_string();
    let files = files(root.folder, path, &shown).map_err(|error| with_hint(error, path, root))?;
    if let Some(on_disk) = open_on_disk(root, &files, format, MIN_BYTES)? {
        return Ok(Dataset::on_disk(shown, on_disk));
    }
    let mut items = Vec::new();
    for file in files {
        let name = file.display().to_string();
        let hints = FormatHints { format, ..FormatHints::by_name(&name) };
        items.extend(
            read(&root.folder.join(&file), &name, &hints).map_err(|error| with_hint(error, &file, root))?,
        );
    }
    Ok(Dataset::new(shown, items))
}

/// The items of files that stay on disk: JSONL that is not compressed, if all of it has at least `min_bytes`.
fn open_on_disk(
    root: &BaseDir<'_>,
    files: &[PathBuf],
    format: Option<Format>,
    min_bytes: u64,
) -> Result<Option<ItemsOnDisk>, DatasetError> {
    let length = |file: &PathBuf| root.folder.join(file).metadata().map_or(0, |metadata| metadata.len());
    if files.iter().map(length).sum::<u64>() < min_bytes {
        return Ok(None);
    }
    let mut sources = Vec::with_capacity(files.len());
    for file in files {
        let (path, name) = (root.folder.join(file), file.display().to_string());
        let hints = FormatHints { format, ..FormatHints::by_name(&name) };
        let open = open(&path, &name, &hints);
        match open.map_err(|error| with_hint(error, file, root))? {
            (Content { rest: Rest::File(_), .. }, Format::Jsonl) => sources.push(SourceFile { path, name }),
            _ => return Ok(None),
        }
    }
    ItemsOnDisk::index(sources, MAX_OPEN_FILES).map(Some)
}

/// Wildcards match within one name, and do not match the leading dot of hidden files.
const GLOB_OPTIONS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// The files that a path matches, sorted, relative to a folder: the path itself if it has no wildcards or if a file with
/// exactly that name exists.
fn files(root: &Path, path: &Path, shown: &str) -> Result<Vec<PathBuf>, DatasetError> {
    if !shown.contains(['*', '?', '[']) || root.join(path).exists() {
        return Ok(vec![path.to_owned()]);
    }
    // A doubled slash would match nothing.
    let path = &path.components().collect::<PathBuf>();
    // The folder's own name may contain wildcards.
    let pattern = match path.is_absolute() {
        true => path.to_owned(),
        false => Path::new(&Pattern::escape(&root.to_string_lossy())).join(path),
    };
    let refused = |text: String| DatasetError::read(shown, io::Error::new(io::ErrorKind::InvalidInput, text));
    let pattern = pattern.to_string_lossy();
    // With `require_literal_leading_dot`, `glob_with` panics on a name that is not Unicode.
    let all = MatchOptions { require_literal_leading_dot: false, ..GLOB_OPTIONS };
    let no_pattern =
        |error: PatternError| refused(format!("no such file, and not a valid pattern: {}", error.msg));
    let found = glob_with(&pattern, all).map_err(no_pattern)?;
    let visible = Pattern::new(&pattern).map_err(no_pattern)?;
    let mut files = found
        // A broken symlink is not skipped: its items would be missing.
        .filter(|file| {
            file.as_ref().map_or(true, |file| !file.is_dir() && visible.matches_path_with(file, GLOB_OPTIONS))
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

/// Adds a hint to the error for a missing file.
fn with_hint(error: DatasetError, path: &Path, root: &BaseDir<'_>) -> DatasetError {
    match with_similar_name(error, &root.folder.join(path)) {
        DatasetError::Read { file, cause, hint } if cause.kind() == io::ErrorKind::NotFound => {
            DatasetError::Read { file, cause, hint: hint + &relative_path_hint(path, root) }
        }
        DatasetError::Read { file, cause, .. } if cause.kind() == io::ErrorKind::IsADirectory => {
            let hint = format!("; use a pattern for its files, such as `{file}/*.jsonl`");
            DatasetError::Read { file, cause, hint }
        }
        other => other,
    }
}

/// Adds a similar file name to the error for a missing file.
pub fn with_similar_name(error: DatasetError, path: &Path) -> DatasetError {
    match error {
        DatasetError::Read { file, cause, .. } if cause.kind() == io::ErrorKind::NotFound => {
            DatasetError::Read { file, cause, hint: similar_name(path) }
        }
        other => other,
    }
}

fn similar_name(path: &Path) -> String {
    let names: Vec<_> = path
        .parent()
        .and_then(|folder| fs::read_dir(folder).ok())
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let wanted = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let meant = wording::closest(wanted, names.iter().map(String::as_str));
    meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default()
}

/// A hint that names the base of a relative path.
fn relative_path_hint(path: &Path, root: &BaseDir<'_>) -> String {
    if path.is_absolute() {
        return String::new();
    }
    format!(" (relative paths start at {}, {})", root.called, root.folder.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item;

    #[test]
    fn lines_that_are_called_json_are_told_by_what_follows_the_first_however_long_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        for length in [0, HEAD_BYTES as usize - 14, HEAD_BYTES as usize, 300_000] {
            let line = format!("{{\"input\": \"{}\"}}\n", "x".repeat(length));
            std::fs::write(&path, line.repeat(2)).unwrap();
            assert_eq!(
                detect_format("a.json", line.repeat(2).as_bytes()).unwrap(),
                Format::Jsonl,
                "{length}"
            );
            assert_eq!(read(&path, "a.json", &FormatHints::by_name("a.json")).unwrap().len(), 2, "{length}");
        }
    }

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
            dataset.iter().map(std::sync::Arc::unwrap_or_clone).collect::<Vec<_>>(),
            [item! { "n": 0 }, item! { "n": 1 }, item! { "n": "2" }]
        );
        assert_eq!(dataset.source(), pattern.display().to_string());
        assert_eq!(Dataset::from_file(folder.path().join("**/t*.csv")).unwrap().len(), 3);
        let doubled = format!("{}//train-*.csv", folder.path().display());
        assert_eq!(Dataset::from_file(doubled).unwrap().len(), 1);
    }

    /// The same file as a dataset in memory and as one on disk.
    fn both(folder: &tempfile::TempDir, name: &str) -> [Dataset; 2] {
        let root = BaseDir { folder: folder.path(), called: "the folder" };
        let files = files(root.folder, Path::new(name), name).unwrap();
        let on_disk = open_on_disk(&root, &files, None, 0).unwrap().unwrap();
        [Dataset::from_file(folder.path().join(name)).unwrap(), Dataset::on_disk(name.to_owned(), on_disk)]
    }

    #[test]
    fn items_that_stay_on_disk_are_those_in_memory() {
        let line = |n: usize| match n % 3 {
            0 => format!("{{\"id\": \"item {}\", \"n\": {n}}}\n", n % 20),
            1 => format!("{{\"input\": {{\"b\": {}.50, \"a\": null}}, \"n\": {n}}}\n\n", n % 7),
            _ => format!("{{\"n\": {n}}}\r\n"),
        };
        let (first, second): (String, String) = ((0..60).map(line).collect(), (60..100).map(line).collect());
        let folder = folder(&[("a-1.jsonl", &first), ("a-2.jsonl", &second)]);
        let changes: [fn(Dataset) -> Dataset; 8] = [
            |all| all,
            |all| all.filter(|item| item["n"].as_u64().unwrap() % 4 != 1),
            |all| all.sample(17),
            |all| all.slice(30..70).sample(90),
            |all| all.slice(200..),
            |all| all.map_indexed(|index, item| item! { "id": index / 2, "was": item }),
            |all| all.sample(30).map(|item| item! { "input": item["n"] }).filter(|item| item["input"] != 7),
            |all| all.clone().filter(|_| false).map(|item| item),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let [in_memory, on_disk] = both(&folder, "a-*.jsonl").map(change);
            assert_eq!(on_disk.len(), in_memory.len(), "{number}");
            assert!(on_disk.iter().eq(in_memory.iter()), "{number}");
            assert!(on_disk.iter().rev().step_by(3).eq(in_memory.iter().rev().step_by(3)), "{number}");
            assert_eq!(on_disk.hash(), in_memory.hash(), "{number}");
            assert_eq!(on_disk.keys(), in_memory.keys(), "{number}");
            assert_eq!(on_disk.case_keys(), in_memory.case_keys(), "{number}");
            let warning = |dataset: Dataset| {
                dataset.duplicate_id_warning().map(|text| text.replace(dataset.source(), ""))
            };
            assert_eq!(warning(on_disk), warning(in_memory), "{number}");
        }
    }

    #[test]
    fn files_stay_on_disk_if_all_of_them_are_large_and_have_an_item_per_line() {
        let folder = folder(&[("a-0.jsonl", "{\"n\": 0}\n"), ("a-1.csv", "n\n1\n")]);
        let root = BaseDir { folder: folder.path(), called: "the folder" };
        let is_on_disk = |names: &[&str], min_bytes| {
            let names: Vec<_> = names.iter().map(PathBuf::from).collect();
            open_on_disk(&root, &names, None, min_bytes).unwrap().is_some()
        };
        assert!(is_on_disk(&["a-0.jsonl"], 9));
        assert!(!is_on_disk(&["a-0.jsonl"], 10));
        assert!(!is_on_disk(&["a-0.jsonl", "a-1.csv"], 0));
    }

    #[test]
    fn an_error_names_the_file_and_not_the_pattern() {
        let folder = folder(&[("a-0.jsonl", "{\"n\": 0}\n"), ("a-1.jsonl", "{\"n\"")]);
        let error = Dataset::from_file(folder.path().join("a-?.jsonl")).unwrap_err().to_string();
        assert!(error.contains("a-1.jsonl:1: expected one complete JSON object"), "{error}");
    }

    #[test]
    fn a_pattern_without_files_is_an_error() {
        let folder = folder(&[("a.json", "[{}]")]);
        let error = Dataset::from_file(folder.path().join("b-*.json")).unwrap_err().to_string();
        assert!(error.ends_with("b-*.json: no file matches this pattern; did you mean `a.json`?"), "{error}");
        let error = Dataset::from_file("no-such-folder/b-*.json").unwrap_err().to_string();
        assert!(error.contains("no file matches this pattern (relative paths start at"), "{error}");
        let error = Dataset::from_file(folder.path().join("a[.json")).unwrap_err().to_string();
        assert!(error.contains("no such file, and not a valid pattern: "), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_says_how_to_name_its_files() {
        let folder = folder(&[("set/data-00000-of-00001.jsonl", "{}\n")]);
        let error = Dataset::from_file(folder.path().join("set")).unwrap_err().to_string();
        assert!(
            error.contains("set: Is a directory (os error 21); use a pattern for its files, such as `"),
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
