//! A data file, and the draft that replaces it.

use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{fs, slice};

use cobalt::DatasetError;
use cobalt::dataset::{Format, detect_format, parse_csv, parse_json, parse_jsonl};
use cobalt_core::item::{Item, item_hash};

use super::layout::apply_edits;
use super::{csv, json};
use crate::atomic_file;
use crate::error::CommandError;
use crate::terminal::one_line;

/// A data file as it was read. A missing file has an empty text.
#[derive(Debug)]
pub struct DataFile {
    path: PathBuf,
    exists: bool,
    text: String,
    format: TextFormat,
    items: Vec<Item>,
    /// The ranges of the items in the text.
    places: Vec<Range<usize>>,
    /// The first lines of the items, from 1.
    lines: Vec<usize>,
}

impl DataFile {
    /// Reads a file. The format of a missing file follows from its extension. Files in `copies`, the folder of cached copies of remote
    /// datasets, are rejected.
    pub fn read(path: &Path, copies: &Path) -> Result<Self, WriteError> {
        let typed = path.display().to_string();
        if typed.contains("://") {
            return Err(WriteError::Remote(typed));
        }
        let folder = path.canonicalize().ok().and_then(|path| Some(path.parent()?.to_owned()));
        if folder.is_some() && folder == copies.canonicalize().ok() {
            return Err(WriteError::NotEditable {
                path: path.to_owned(),
                kind: "a cached copy of a remote dataset",
                instead: "edit the source, and fetch it again",
            });
        }
        let (is_there, bytes) = match fs::metadata(path).map(|there| there.is_file()) {
            Ok(false) => return Err(WriteError::NotAFile(path.to_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound && path.is_symlink() => {
                return Err(WriteError::BrokenSymlink(path.to_owned()));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => (false, Ok(Vec::new())),
            Ok(true) | Err(_) => (true, fs::read(path)),
        };
        let bytes = bytes.map_err(|source| WriteError::Read { path: path.to_owned(), source })?;
        Self::parse(path, is_there, bytes)
    }

    /// Reads a file that must exist.
    pub fn read_existing(path: &Path, copies: &Path) -> Result<Self, WriteError> {
        let file = Self::read(path, copies)?;
        if file.exists { Ok(file) } else { Err(WriteError::NotFound(path.to_owned())) }
    }

    /// A file with these bytes.
    pub fn parse(path: &Path, is_there: bool, bytes: Vec<u8>) -> Result<Self, WriteError> {
        let format = TextFormat::of(path, &bytes)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to() + 1;
            let reason = format!("expected UTF-8, found another encoding at byte {at}: save it as UTF-8");
            WriteError::Invalid { path: path.to_owned(), reason }
        })?;
        let items = format.read(&text, &display_path(path)).map_err(WriteError::Malformed)?;
        let places = match format {
            TextFormat::Json => json::find_list(&text).map(|list| list.items).unwrap_or_default(),
            TextFormat::Jsonl => json::line_ranges(&text),
            TextFormat::Csv(delimiter) => csv::record_ranges(&text, delimiter),
        };
        let lines = line_numbers(&text, &places);
        Ok(Self { path: path.to_owned(), exists: is_there, text, format, items, places, lines })
    }

    /// The items in their order.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Whether the file exists.
    pub fn exists(&self) -> bool {
        self.exists
    }

    /// The first line of an item, from 1.
    pub fn line(&self, index: usize) -> usize {
        self.lines[index]
    }

    /// Items as they will be read back from this file (CSV cells are strings), or why an item does not fit.
    pub fn fit_items(&self, items: Vec<Item>) -> Vec<Result<Item, WriteError>> {
        let TextFormat::Csv(delimiter) = self.format else { return items.into_iter().map(Ok).collect() };
        let fit: Vec<_> = items.iter().filter(|item| csv::fits_csv(item)).cloned().collect();
        let header = csv::Header::from_text(&self.text, delimiter, &fit);
        let unfit = |reason| WriteError::Invalid { path: self.path.clone(), reason };
        items.iter().map(|item| header.read_back(item).map_err(unfit)).collect()
    }

    /// The file with these items appended, if it reads back correctly.
    pub fn append(self, items: Vec<Item>) -> Result<Draft, WriteError> {
        let edit = match self.format {
            TextFormat::Json => json::append_elements(&self.text, &items),
            TextFormat::Jsonl => json::append_lines(&self.text, &self.places, &items),
            TextFormat::Csv(delimiter) => csv::append_records(&self.text, delimiter, &items),
        };
        let expected: Vec<_> = self.items.iter().chain(&items).collect();
        let text = self.verify(apply_edits(&self.text, slice::from_ref(&edit)), &expected)?;
        Ok(Draft { file: self, text, inserted: edit.text })
    }

    /// The file without the items at these indexes, if it reads back correctly. The indexes must be sorted and must not include 0.
    pub fn remove(self, indexes: &[usize]) -> Result<Draft, WriteError> {
        let removal = match self.format {
            TextFormat::Json => json::remove_element,
            TextFormat::Jsonl => json::remove_line,
            TextFormat::Csv(_) => csv::remove_record,
        };
        let edits: Vec<_> = indexes.iter().map(|index| removal(&self.places, *index)).collect();
        let stays = |(index, _): &(usize, &Item)| indexes.binary_search(index).is_err();
        let expected: Vec<_> = self.items.iter().enumerate().filter(stays).map(|(_, item)| item).collect();
        let text = self.verify(apply_edits(&self.text, &edits), &expected)?;
        Ok(Draft { file: self, text, inserted: String::new() })
    }

    /// Checks that a new text reads as these items.
    fn verify(&self, text: String, expected: &[&Item]) -> Result<String, WriteError> {
        let not_read_back = |reason| WriteError::NotReadBack { path: self.path.clone(), reason };
        // With different content, the format may be detected differently.
        let format = TextFormat::of(&self.path, text.as_bytes())?;
        let read = format.read(&text, &display_path(&self.path));
        let read = read.map_err(|error| not_read_back(error.to_string()))?;
        let is_equal = |(one, other): (&Item, &&Item)| one == *other || item_hash(one) == item_hash(other);
        match read.len() == expected.len() && read.iter().zip(expected).all(is_equal) {
            true => Ok(text),
            false => Err(not_read_back("the values differ".to_owned())),
        }
    }
}

/// The verified new content of a data file.
#[derive(Debug)]
pub struct Draft {
    file: DataFile,
    text: String,
    inserted: String,
}

impl Draft {
    /// The inserted text, without separators.
    pub fn inserted(&self) -> &str {
        match self.file.format {
            TextFormat::Json => self.inserted.trim_start_matches([',', ' ', '\t', '\r', '\n']).trim_end(),
            TextFormat::Jsonl | TextFormat::Csv(_) => self.inserted.trim_matches(['\r', '\n']),
        }
    }

    /// Replaces the file, unless it has changed in the meantime.
    pub fn save(&self) -> Result<(), WriteError> {
        let DataFile { path, exists: is_there, text: before, .. } = &self.file;
        let written = match is_there {
            true => atomic_file::replace_unchanged(path, before.as_bytes(), &self.text),
            false => atomic_file::create(path, &self.text),
        };
        written.map_err(|source| match source.kind() {
            ErrorKind::AlreadyExists => WriteError::Changed(path.clone()),
            _ => WriteError::Write { path: path.clone(), source },
        })
    }

    /// Writes it to another file, replacing an existing one.
    pub fn save_as(&self, path: &Path) -> Result<(), WriteError> {
        let [this, other] = [&*self.file.path, path].map(|path| path.canonicalize().ok());
        if this.is_some() && this == other {
            return self.save();
        }
        if TextFormat::of(path, self.text.as_bytes())? != self.file.format {
            let reason = "it would be read as a different format: use the same extension";
            return Err(WriteError::Invalid { path: path.to_owned(), reason: reason.to_owned() });
        }
        atomic_file::write_like(&self.file.path, path, &self.text)
            .map_err(|source| WriteError::Write { path: path.to_owned(), source })
    }
}

/// The line numbers of these sorted ranges.
fn line_numbers(text: &str, places: &[Range<usize>]) -> Vec<usize> {
    let (mut line, mut at) = (1, 0);
    let mut count = |place: &Range<usize>| {
        line += text[at..place.start].matches('\n').count();
        at = place.start;
        line
    };
    places.iter().map(&mut count).collect()
}

/// A text format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextFormat {
    Json,
    Jsonl,
    /// With this delimiter.
    Csv(u8),
}

impl TextFormat {
    /// The format of a file, detected as in the library; the bytes may be empty.
    pub fn of(path: &Path, bytes: &[u8]) -> Result<Self, WriteError> {
        if is_compressed(path, bytes) {
            let instead = "decompress it, edit it and compress it again";
            return Err(WriteError::NotEditable { path: path.to_owned(), kind: "compressed", instead });
        }
        match detect_format(&display_path(path), bytes) {
            Ok(Format::Json) => Ok(Self::Json),
            Ok(Format::Jsonl) => Ok(Self::Jsonl),
            Ok(Format::Csv) => Ok(Self::Csv(b',')),
            Ok(Format::Tsv) => Ok(Self::Csv(b'\t')),
            Ok(_) => Err(WriteError::NotEditable {
                path: path.to_owned(),
                kind: "a columnar file",
                instead: "keep these items in a `.jsonl` file next to it",
            }),
            Err(DatasetError::Empty { .. }) => Err(WriteError::UnknownFormat(path.to_owned())),
            Err(error) => Err(WriteError::Malformed(error)),
        }
    }

    /// Reads the items of a text as the library does; an empty text has none.
    pub fn read(self, text: &str, file: &str) -> Result<Vec<Item>, DatasetError> {
        let read = match self {
            Self::Json => parse_json(text.as_bytes(), file),
            Self::Jsonl => parse_jsonl(text.as_bytes(), file),
            Self::Csv(delimiter) => parse_csv(text.as_bytes(), file, delimiter),
        };
        match read {
            Err(DatasetError::Empty { .. }) => Ok(Vec::new()),
            read => read,
        }
    }
}

/// By extension or magic bytes.
fn is_compressed(path: &Path, bytes: &[u8]) -> bool {
    const ENDINGS: [&str; 4] = ["gz", "gzip", "zst", "zstd"];
    const BEGINNINGS: [&[u8]; 2] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd"];
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending))
        || BEGINNINGS.iter().any(|beginning| bytes.starts_with(beginning))
}

/// Why a data file was not read or not written; the file is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error("failed to read `{}`: {source}", display_path(.path))]
    Read { path: PathBuf, source: io::Error },

    #[error("`{}` does not exist: check the path", display_path(.0))]
    NotFound(PathBuf),

    #[error("`{}` is not a file: name a data file", display_path(.0))]
    NotAFile(PathBuf),

    #[error("`{}` is a broken symlink: name the data file itself", display_path(.0))]
    BrokenSymlink(PathBuf),

    #[error("`{}` is a remote dataset, which cannot be edited here: name a file", one_line(.0))]
    Remote(String),

    #[error("`{}` is {kind}, which cannot be edited in place: {instead}", display_path(.path))]
    NotEditable { path: PathBuf, kind: &'static str, instead: &'static str },

    #[error("the extension of `{}` is not a data format: use `.jsonl`, `.json`, `.csv` or `.tsv`", display_path(.0))]
    UnknownFormat(PathBuf),

    #[error("{0}")]
    Malformed(DatasetError),

    #[error("`{}`: {reason}", display_path(.path))]
    Invalid { path: PathBuf, reason: String },

    #[error("`{}` was changed by another program in the meantime, and is left untouched: run the command again", display_path(.0))]
    Changed(PathBuf),

    #[error("failed to write `{}`: {source}; the file is unchanged", display_path(.path))]
    Write { path: PathBuf, source: io::Error },

    #[error(
        "`{}` is unchanged, as it would not read back as the same items: {reason}",
        display_path(.path)
    )]
    NotReadBack { path: PathBuf, reason: String },
}

impl CommandError for WriteError {}

/// A path for messages.
fn display_path(path: &Path) -> String {
    one_line(&path.display().to_string())
}
