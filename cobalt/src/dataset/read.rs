//! The items of a file on disk, by whatever tells its format.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use super::compressed::Compression;
use super::rows::files;
use super::{Dataset, DatasetError, Format, Item, Told, columnar, parse_csv, parse_json, parse_jsonl, text};
use crate::{paths, wording};

/// How much of a file its format is told by.
const HEAD_BYTES: u64 = 64 * 1024;
/// How much of it where a first line that may be an object is longer.
const LONGEST_HEAD: usize = 16 * 1024 * 1024;

/// The items of the file at `path`, which errors call `shown`.
pub fn read(path: &Path, shown: &str, told: &Told) -> Result<Vec<Item>, DatasetError> {
    let (content, format) = open(path, shown, told)?;
    content.items(format, shown, told.max_bytes)
}

/// The content of the file at `path`, without its compression, and its format.
pub fn open(path: &Path, shown: &str, told: &Told) -> Result<(Content, Format), DatasetError> {
    let content = content(path, shown, told)?;
    let format = told.format(&content.head, shown)?;
    Ok((content, format))
}

/// The content of the file at `path`, without its compression.
pub fn content(path: &Path, shown: &str, told: &Told) -> Result<Content, DatasetError> {
    let unread = |error| DatasetError::read(shown, error);
    let mut file = File::open(path).map_err(unread)?;
    let start = head(&mut file).map_err(unread)?;
    Ok(match Compression::of(&start) {
        None => Content { head: start, rest: Rest::File(file) },
        Some(compression) => {
            let packed = BufReader::new(Cursor::new(start).chain(file));
            let mut unpacked = compression.decoder(packed, told.max_bytes, shown)?;
            Content { head: head(&mut unpacked).map_err(unread)?, rest: Rest::Unpacked(unpacked) }
        }
    })
}

/// The format of a file of this name with these bytes, as it is read by.
#[doc(hidden)]
pub fn format_of(name: &str, bytes: &[u8]) -> Result<Format, DatasetError> {
    let head = head(&mut &*bytes).map_err(|error| DatasetError::read(name, error))?;
    Told::by_name(name).format(&head, name)
}

/// The beginning of what a reader has. Where it may be an object per line, it goes on until something follows the first line, as
/// far as is bearable.
fn head(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    loop {
        // In larger and larger parts, as each is looked through from its beginning.
        let part = HEAD_BYTES.max(head.len() as u64);
        let read = reader.by_ref().take(part).read_to_end(&mut head)?;
        let goes_on = read > 0 && head.len() < LONGEST_HEAD && starts_long_line(&head);
        if !goes_on {
            return Ok(head);
        }
    }
}

/// Whether an object begins here, and the text ends before the next line says anything.
fn starts_long_line(head: &[u8]) -> bool {
    let text = head[text::mark_length(head).unwrap_or(0)..].trim_ascii_start();
    let line_end = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
    text.starts_with(b"{") && text[line_end..].trim_ascii_start().is_empty()
}

/// What a file holds, without its compression.
pub struct Content {
    /// The beginning, which was read already.
    pub(in crate::dataset) head: Vec<u8>,
    pub(in crate::dataset) rest: Rest,
}

/// What follows the beginning.
pub enum Rest {
    /// As the file has it.
    File(File),
    /// As it comes out of a decoder.
    Unpacked(Box<dyn Read>),
}

impl Content {
    /// The items.
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

    /// All of it, from its beginning to its end.
    pub fn text(self) -> impl BufRead {
        BufReader::new(Cursor::new(self.head).chain(self.rest))
    }
}

impl Read for Rest {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Rest::File(file) => file.read(buffer),
            Rest::Unpacked(reader) => reader.read(buffer),
        }
    }
}

impl Dataset {
    /// [`read_package_file`] for a path that begins at the root of the workspace.
    pub(crate) fn from_workspace(workspace: &Path, path: &Path) -> Result<Dataset, DatasetError> {
        load_from(&Root { folder: workspace, called: "the root of the workspace" }, path, None)
    }
}

/// Where relative paths begin.
struct Root<'a> {
    folder: &'a Path,
    called: &'static str,
}

/// The items of a file, or of all files that a pattern stands for; a relative path begins at the package's folder. Without a
/// format, it is told by the file.
pub(crate) fn read_package_file(path: &Path, format: Option<Format>) -> Result<Dataset, DatasetError> {
    let root = Root { folder: &paths::package_root(), called: "the package's folder" };
    load_from(&root, path, format)
}

fn load_from(root: &Root<'_>, path: &Path, format: Option<Format>) -> Result<Dataset, DatasetError> {
    let shown = path.display().to_string();
    let mut items = Vec::new();
    for file in files(root.folder, path, &shown).map_err(|error| with_hint(error, path, root))? {
        let name = file.display().to_string();
        let told = Told { format, ..Told::by_name(&name) };
        items.extend(
            read(&root.folder.join(&file), &name, &told).map_err(|error| with_hint(error, &file, root))?,
        );
    }
    Ok(Dataset::new(shown, items))
}

/// Adds to an error what helps to find a file that is not there.
fn with_hint(error: DatasetError, path: &Path, root: &Root<'_>) -> DatasetError {
    match with_similar_name(error, &root.folder.join(path)) {
        DatasetError::Read { file, cause, hint } if cause.kind() == io::ErrorKind::NotFound => {
            DatasetError::Read { file, cause, hint: hint + &beginning(path, root) }
        }
        DatasetError::Read { file, cause, .. } if cause.kind() == io::ErrorKind::IsADirectory => {
            let hint = format!(": name its files by a pattern, such as `{file}/*.jsonl`");
            DatasetError::Read { file, cause, hint }
        }
        other => other,
    }
}

/// Adds to an error about a file that is not there the name of one that may be meant.
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
    meant.map(|meant| format!(": is `{meant}` meant?")).unwrap_or_default()
}

/// Where a relative path begins.
fn beginning(path: &Path, root: &Root<'_>) -> String {
    if path.is_absolute() {
        return String::new();
    }
    format!(" (a relative path begins at {}, {})", root.called, root.folder.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_called_json_are_told_by_what_follows_the_first_however_long_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        for length in [0, HEAD_BYTES as usize - 14, HEAD_BYTES as usize, 300_000] {
            let line = format!("{{\"input\": \"{}\"}}\n", "x".repeat(length));
            std::fs::write(&path, line.repeat(2)).unwrap();
            assert_eq!(format_of("a.json", line.repeat(2).as_bytes()).unwrap(), Format::Jsonl, "{length}");
            assert_eq!(read(&path, "a.json", &Told::by_name("a.json")).unwrap().len(), 2, "{length}");
        }
    }
}
