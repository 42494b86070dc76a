//! The places of a file that hold an item, or should: to be told all that is wrong with it, and not the first mistake alone.

use std::io;
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern, PatternError, glob_with};

use super::csv::each_row;
use super::json::each_element;
use super::jsonl::each_line;
use super::read::{Content, open, with_similar_name};
use super::{DatasetError, Format, Item, Told};
use crate::nesting::{DEEPEST, is_too_deep};

/// What is given each place in turn: the line that it begins on, and the item or what is wrong with it. Its error ends the
/// reading.
pub type Take<'t> = &'t mut dyn FnMut(usize, Result<Item, String>) -> Result<(), DatasetError>;

/// A place of a file that holds an item, or should.
#[derive(Debug)]
pub struct Row {
    /// The line that it begins on, counted from 1, in a file that has lines.
    pub line: Option<usize>,
    /// The item, or what is wrong with it.
    pub item: Result<Item, String>,
}

/// The places of a file, as far as it can be read.
#[derive(Debug, Default)]
pub struct Rows {
    /// The places in their order.
    pub rows: Vec<Row>,
    /// Why what follows cannot be read, if that is so.
    pub end: Option<DatasetError>,
}

/// The places of the file at `path`, which errors call `shown`.
///
/// # Errors
///
/// Where the file cannot be opened or read.
pub fn read_rows(path: &Path, shown: &str) -> Result<Rows, DatasetError> {
    let mut rows = Vec::new();
    let take = &mut |line, item: Result<Item, String>| {
        let index = rows.len();
        let item = item.and_then(|item| match item.values().any(is_too_deep) {
            true => Err(DatasetError::TooDeep { index, deepest: DEEPEST }.to_string()),
            false => Ok(item),
        });
        rows.push(Row { line: (line > 0).then_some(line), item });
        Ok(())
    };
    let end = open(path, shown, &Told::by_name(shown))
        .and_then(|(content, format)| each(content, shown, format, take));
    match end {
        Err(error @ DatasetError::Read { .. }) => Err(with_similar_name(error, path)),
        end => Ok(Rows { rows, end: end.err() }),
    }
}

/// The items of a file of JSON, by what hands over its places. The first of them that holds none is an error, with its index.
pub fn all_items(
    file: &str,
    each: impl FnOnce(Take<'_>) -> Result<(), DatasetError>,
) -> Result<Vec<Item>, DatasetError> {
    let mut items = Vec::new();
    each(&mut |line, item| {
        let reason =
            |reason| DatasetError::malformed(file, line, format!("{reason} (items[{}])", items.len()));
        items.push(item.map_err(reason)?);
        Ok(())
    })?;
    Ok(items)
}

fn each(content: Content, shown: &str, format: Format, take: Take<'_>) -> Result<(), DatasetError> {
    match format {
        Format::Json => each_element(content.text(), shown, take),
        Format::Jsonl => each_line(content.text(), shown, take),
        Format::Csv => each_row(content.text(), shown, b',', take),
        Format::Tsv => each_row(content.text(), shown, b'\t', take),
        // These have no lines, and are refused as a whole.
        Format::Parquet | Format::Arrow => {
            content.items(format, shown, None)?.into_iter().try_for_each(|item| take(0, Ok(item)))
        }
    }
}

/// Wildcards stand for parts of one name, and not for the dot that hides a file.
const OPTIONS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// The files that a path stands for, sorted, as they are found below a folder: itself where it has no wildcards, or
/// where a file has just that name.
pub fn files(root: &Path, path: &Path, shown: &str) -> Result<Vec<PathBuf>, DatasetError> {
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

    use super::*;
    use crate::{Dataset, item};

    fn read(name: &str, text: &str) -> (Vec<String>, Option<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let rows = read_rows(&path, name).unwrap();
        let told = |row: Row| match row.item {
            Ok(item) => format!("{}: {}", row.line.unwrap(), serde_json::Value::Object(item)),
            Err(reason) => format!("{}! {reason}", row.line.unwrap()),
        };
        (rows.rows.into_iter().map(told).collect(), rows.end.map(|error| error.to_string()))
    }

    #[test]
    fn every_line_of_jsonl_is_told_of() {
        let (rows, end) = read("a.jsonl", "{\"a\": 1}\n{\"a\": \n\n[2]\n{\"a\": 3}\n");
        assert_eq!(
            rows,
            [
                "1: {\"a\":1}",
                "2! expected one whole JSON object: EOF while parsing a value at column 5",
                "4! expected a JSON object, found an array: each line is one item",
                "5: {\"a\":3}",
            ]
        );
        assert_eq!(end, None);
    }

    #[test]
    fn after_a_row_that_is_refused_the_next_line_is_read() {
        let (rows, end) = read("a.csv", "a,b\n1,2\n1,2,3\nx\"y,2\n\"1\n2\",\"3\"4\n5,6\n\"7,8\n9,10\n");
        let lines: Vec<_> = rows.iter().map(|row| row.split(' ').next().unwrap()).collect();
        assert_eq!(lines, ["2:", "3!", "4!", "6!", "7:", "8!"]);
        assert_eq!(end, None);
    }

    #[test]
    fn elements_that_are_no_items_are_passed_over_and_what_is_no_json_ends_the_file() {
        let (rows, end) = read("a.json", "[\n{\"a\": 1},\n 2,\n\n{\"a\":\n 3},\n{\"a\" 4}]");
        assert_eq!(rows, ["2: {\"a\":1}", "3! expected a JSON object, found a number", "5: {\"a\":3}"]);
        assert_eq!(end.unwrap(), "a.json:7: expected `:` at column 6 (items[3])");
    }

    #[test]
    fn an_item_that_is_too_deep_to_be_kept_is_told_of() {
        let deep = format!("{{\"a\": {}1{}}}\n{{}}\n", "[".repeat(101), "]".repeat(101));
        let (rows, _) = read("a.jsonl", &deep);
        assert!(rows[0].starts_with("1! items[0]: lists and objects are nested"), "{rows:?}");
        assert_eq!(rows[1], "2: {}");
    }

    #[test]
    fn a_file_that_is_not_there_is_an_error_and_an_empty_one_has_no_rows() {
        assert!(read_rows(Path::new("/nowhere/a.jsonl"), "a.jsonl").is_err());
        let (rows, end) = read("a.jsonl", "\n");
        assert_eq!(rows, Vec::<String>::new());
        assert!(end.unwrap().contains("is empty"));
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
