//! Data sets from files: which file, which format.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use serde::de::IgnoredAny;

use super::{Dataset, DatasetError, Item, parse_csv, parse_json, parse_jsonl, text};
use crate::{Error, paths, suggest};

/// How much of a file its format is told by.
const HEAD_BYTES: u64 = 64 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Json,
    Jsonl,
    Csv,
    Tsv,
}

impl Dataset {
    /// The items of a JSON, JSONL or CSV file; a relative path begins at the package's folder.
    ///
    /// The format follows from the extension (see [the module](crate::dataset#files)), for other extensions from
    /// the content. A `.json` file with an object per line is read as JSONL.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("questions.jsonl");
    /// std::fs::write(&path, "{\"input\": \"2 + 2\"}\n{\"input\": \"3 + 3\"}\n").unwrap();
    ///
    /// let dataset = cobalt::Dataset::from_file(&path)?;
    /// assert_eq!(dataset.len(), 2);
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Where the file cannot be read, breaks the rules of its format, or has no items. The message names the
    /// file and the line.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Dataset, Error> {
        load(path.as_ref(), None)
    }

    /// The items of a JSON file, whatever its extension: an array of objects, or an object with such an array as
    /// `items`.
    ///
    /// # Errors
    ///
    /// As for [`from_file`](Dataset::from_file).
    pub fn from_json(path: impl AsRef<Path>) -> Result<Dataset, Error> {
        load(path.as_ref(), Some(Format::Json))
    }

    /// The items of a JSONL file, whatever its extension: an object per line.
    ///
    /// # Errors
    ///
    /// As for [`from_file`](Dataset::from_file).
    pub fn from_jsonl(path: impl AsRef<Path>) -> Result<Dataset, Error> {
        load(path.as_ref(), Some(Format::Jsonl))
    }

    /// The items of a CSV file, whatever its extension: a header, then a row per item, split at tabs where the
    /// extension is `tsv` or `tab`. All values are strings, with the spaces that they are written with.
    ///
    /// # Errors
    ///
    /// As for [`from_file`](Dataset::from_file); also for a header with an empty or repeated name, a row that is
    /// longer or shorter than the header, and a misplaced quote.
    pub fn from_csv(path: impl AsRef<Path>) -> Result<Dataset, Error> {
        let path = path.as_ref();
        let tabs = by_extension(path) == Some(Format::Tsv);
        load(path, Some(if tabs { Format::Tsv } else { Format::Csv }))
    }
}

fn load(path: &Path, format: Option<Format>) -> Result<Dataset, Error> {
    let name = path.display().to_string();
    let mut file = open(path, &name)?;
    let mut head = Vec::new();
    file.by_ref()
        .take(HEAD_BYTES)
        .read_to_end(&mut head)
        .map_err(|error| DatasetError::read(&name, error))?;
    let format = match format {
        Some(format) => format,
        None => tell_format(path, &head, &name)?,
    };
    let items = parse(Cursor::new(head).chain(file), &name, format)?;
    Ok(Dataset::new(name, items))
}

fn parse(reader: impl BufRead, name: &str, format: Format) -> Result<Vec<Item>, DatasetError> {
    match format {
        Format::Json => parse_json(reader, name),
        Format::Jsonl => parse_jsonl(reader, name),
        Format::Csv => parse_csv(reader, name, b','),
        Format::Tsv => parse_csv(reader, name, b'\t'),
    }
}

fn open(path: &Path, name: &str) -> Result<BufReader<File>, DatasetError> {
    let resolved = paths::resolve(path);
    File::open(&resolved).map(BufReader::new).map_err(|cause| {
        let hint =
            if cause.kind() == io::ErrorKind::NotFound { hint(path, &resolved) } else { String::new() };
        DatasetError::Read { file: name.to_owned(), cause, hint }
    })
}

/// What helps to find a file that is not there.
fn hint(path: &Path, resolved: &Path) -> String {
    let mut hint = String::new();
    let names: Vec<_> = resolved
        .parent()
        .and_then(|folder| fs::read_dir(folder).ok())
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let wanted = resolved.file_name().and_then(OsStr::to_str).unwrap_or_default();
    if let Some(meant) = suggest::closest(wanted, names.iter().map(String::as_str)) {
        hint += &format!(": is `{meant}` meant?");
    }
    if path.is_relative() {
        hint += &format!(
            " (a relative path begins at the package's folder, {})",
            paths::package_root().display()
        );
    }
    hint
}

fn tell_format(path: &Path, head: &[u8], name: &str) -> Result<Format, DatasetError> {
    // A mark of another encoding is refused by every parser.
    let text = &head[text::mark_length(head).unwrap_or(0)..];
    match (by_extension(path), by_content(text)) {
        // Files of an object per line are often called `.json`.
        (Some(Format::Json), Some(Format::Jsonl)) => Ok(Format::Jsonl),
        (Some(format), _) | (None, Some(format)) => Ok(format),
        (None, None) if text.trim_ascii().is_empty() => {
            Err(DatasetError::empty(name, "the file has no text"))
        }
        (None, None) => match text::mark_length(head) {
            Ok(_) => Err(DatasetError::UnknownFormat { file: name.to_owned() }),
            Err(encoding) => Err(DatasetError::Encoding { file: name.to_owned(), encoding }),
        },
    }
}

fn by_extension(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "json" => Some(Format::Json),
        "jsonl" | "ndjson" | "jsonlines" => Some(Format::Jsonl),
        "csv" => Some(Format::Csv),
        "tsv" | "tab" => Some(Format::Tsv),
        _ => None,
    }
}

fn by_content(text: &[u8]) -> Option<Format> {
    let text = text.trim_ascii_start();
    let line_end = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
    let (line, rest) = text.split_at(line_end);
    match text.first()? {
        b'{' if rest.trim_ascii_start().starts_with(b"{") && is_whole_json(line) => Some(Format::Jsonl),
        b'[' | b'{' => Some(Format::Json),
        _ if text.contains(&0) => None,
        _ if line.contains(&b',') => Some(Format::Csv),
        _ if line.contains(&b'\t') => Some(Format::Tsv),
        _ => None,
    }
}

fn is_whole_json(line: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(name: &str, text: &[u8]) -> Result<Format, String> {
        tell_format(Path::new(name), text, name).map_err(|error| error.to_string())
    }

    #[test]
    fn the_extension_tells_the_format_in_any_case() {
        for (name, expected) in [
            ("a.json", Format::Json),
            ("a.JSONL", Format::Jsonl),
            ("a.ndjson", Format::Jsonl),
            ("a.jsonlines", Format::Jsonl),
            ("b.c.csv", Format::Csv),
            ("a.tsv", Format::Tsv),
            ("a.TAB", Format::Tsv),
        ] {
            assert_eq!(format(name, b"anything"), Ok(expected), "{name}");
        }
    }

    #[test]
    fn the_content_tells_the_format_of_other_files() {
        for (text, expected) in [
            (&b"\xef\xbb\xbf\n [{}]"[..], Format::Json),
            (b"{\"items\": [{}]}", Format::Json),
            (b"{\n \"items\": [{}]}", Format::Json),
            (b"{\"a\": 1}\r\n\r\n{\"a\": 2}", Format::Jsonl),
            (b"id,input\n1,2", Format::Csv),
            (b"id\tinput\n1\t2", Format::Tsv),
        ] {
            assert_eq!(format("data", text), Ok(expected), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn an_object_per_line_called_json_is_read_as_jsonl() {
        assert_eq!(format("a.json", b"{\"items\": []}\n{\"a\": 2}"), Ok(Format::Jsonl));
        assert_eq!(format("a.json", b"{\"a\": 1}\n"), Ok(Format::Json));
        assert_eq!(format("a.json", b"{\"a\":\n{}}\n"), Ok(Format::Json));
    }

    #[test]
    fn content_that_looks_like_no_format_is_refused() {
        assert!(
            format("data.bin", b"\x7fELF\0\0,")
                .unwrap_err()
                .starts_with("data.bin: expected a JSON, JSONL or CSV")
        );
        assert!(format("data", b" \n").unwrap_err().starts_with("data: the data set is empty"));
        assert!(format("data", b"\xff\xfea").unwrap_err().contains("UTF-16"));
    }
}
