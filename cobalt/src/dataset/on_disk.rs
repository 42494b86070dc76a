//! The items of large JSONL files. They stay on disk: of each item, only where its line starts is in memory.

use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use cobalt_core::item::{CanonicalHasher, Identities, Item};
use cobalt_core::nesting::is_too_deep;

use super::DatasetError;
use super::jsonl::{each_text_line, parse_line};

/// From this size on, in bytes, JSONL files stay on disk.
pub const MIN_BYTES: u64 = 64 * 1024 * 1024;
/// The maximum number of files of a dataset that stay open: processes may open few, on many systems 256 or 1,024.
pub const MAX_OPEN_FILES: usize = 64;

/// Items in files. Clones share them.
#[derive(Clone, Debug)]
pub struct ItemsOnDisk {
    rows: Arc<Rows>,
    /// The rows that are the items, in order; `None` if all are.
    places: Option<Vec<u32>>,
}

/// The rows of all files, one after another.
#[derive(Debug)]
struct Rows {
    files: Vec<LineFile>,
    /// Where each row starts in its file, in bytes.
    starts: Vec<u64>,
    identities: Arc<Identities>,
    hash: String,
    /// The rows that are nested too deeply to be kept.
    too_deep: Vec<u32>,
}

/// A file to be indexed.
#[derive(Debug)]
pub struct SourceFile {
    pub path: PathBuf,
    /// The name in errors.
    pub name: String,
}

/// A file with an item per line.
#[derive(Debug)]
struct LineFile {
    handle: Handle,
    /// The name in errors.
    name: String,
    length: u64,
    modified: Option<SystemTime>,
    /// The number of its first row.
    first: usize,
    /// Removed with it, if it is a temporary file that could not be removed while it is open.
    _temporary: Option<RemovedOnDrop>,
}

/// How a file is read.
#[derive(Debug)]
enum Handle {
    /// It stays open, so that another file of its name is not read.
    Open(File),
    /// One of many: it is opened for each item. Another file of its name is recognized as a changed one.
    Path(PathBuf),
}

impl Handle {
    /// Calls a function with the opened file.
    fn with<T>(&self, read: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        match self {
            Self::Open(file) => read(file),
            Self::Path(path) => read(&File::open(path)?),
        }
    }
}

impl ItemsOnDisk {
    /// Reads files once, and notes where each item is. They stay open if there are at most `max_open`. A line that is not an item is an
    /// error.
    pub fn index(files: Vec<SourceFile>, max_open: usize) -> Result<Self, DatasetError> {
        let stay_open = files.len() <= max_open;
        let mut rows = Rows {
            files: Vec::with_capacity(files.len()),
            starts: Vec::new(),
            identities: Arc::default(),
            hash: String::new(),
            too_deep: Vec::new(),
        };
        for SourceFile { path, name } in files {
            let file = File::open(&path).map_err(|error| DatasetError::read(&name, error))?;
            rows.add_file(file, name, None)?;
            if !stay_open && let Some(added) = rows.files.last_mut() {
                added.handle = Handle::Path(path);
            }
        }
        rows.read_all()?;
        Ok(Self { rows: Arc::new(rows), places: None })
    }

    /// Writes items to a temporary file.
    ///
    /// # Panics
    ///
    /// If the file cannot be written, or not be read again: there is no memory for the items.
    pub fn write<E>(name: &str, items: impl Iterator<Item = Result<Item, E>>) -> Result<Self, E> {
        let failed = |error: io::Error| -> ! {
            let folder = std::env::temp_dir();
            panic!(
                "failed to write the changed items of {name} to `{}`: {error}; make room there, or set TMPDIR to another folder",
                folder.display()
            )
        };
        let (file, temporary) = temporary_file().unwrap_or_else(|error| failed(error));
        let mut lines = BufWriter::with_capacity(1 << 18, file);
        for item in items {
            let item = item?;
            let written = serde_json::to_writer(&mut lines, &item).map_err(io::Error::from);
            written.and_then(|()| lines.write_all(b"\n")).unwrap_or_else(|error| failed(error));
        }
        let file = lines.into_inner().unwrap_or_else(|error| failed(error.into_error()));
        let mut rows = Rows {
            files: Vec::new(),
            starts: Vec::new(),
            identities: Arc::default(),
            hash: String::new(),
            too_deep: Vec::new(),
        };
        let added = match rows.add_file(file, name.to_owned(), temporary) {
            // There may be no item.
            Err(DatasetError::Empty { .. }) => Ok(()),
            added => added,
        };
        // What was written as an item is one.
        added.and_then(|()| rows.read_all()).unwrap_or_else(|error| panic!("{error}"));
        Ok(Self { rows: Arc::new(rows), places: None })
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.places.as_ref().map_or(self.rows.starts.len(), Vec::len)
    }

    /// Reads an item.
    pub fn read(&self, index: usize) -> Result<Item, DatasetError> {
        self.rows.read(self.row(index))
    }

    fn row(&self, index: usize) -> usize {
        self.places.as_ref().map_or(index, |places| places[index] as usize)
    }

    /// Changes which rows are the items.
    pub fn change(mut self, change: impl FnOnce(&mut Vec<u32>)) -> Self {
        let number = u32::try_from(self.rows.starts.len()).expect("a dataset has fewer than 2^32 items");
        change(self.places.get_or_insert_with(|| (0..number).collect()));
        self
    }

    /// What the items' keys are made of.
    pub fn identities(&self) -> Arc<Identities> {
        match &self.places {
            None => Arc::clone(&self.rows.identities),
            Some(places) => Arc::new(self.rows.identities.select(places.iter().map(|place| *place as usize))),
        }
    }

    /// The hash of the items, if it is known.
    pub fn hash(&self) -> Option<&str> {
        self.places.is_none().then_some(&*self.rows.hash)
    }

    /// The first item that is nested too deeply to be kept.
    pub fn first_too_deep(&self) -> Option<usize> {
        let is_too_deep = |row: u32| self.rows.too_deep.binary_search(&row).is_ok();
        match &self.places {
            None => self.rows.too_deep.first().map(|row| *row as usize),
            Some(places) => places.iter().position(|row| is_too_deep(*row)),
        }
    }
}

impl Rows {
    /// Adds a file, and finds its rows.
    fn add_file(
        &mut self,
        file: File,
        name: String,
        temporary: Option<RemovedOnDrop>,
    ) -> Result<(), DatasetError> {
        let first = self.starts.len();
        let unread = |error| DatasetError::read(&name, error);
        let metadata = file.metadata().map_err(unread)?;
        let (length, modified) = (metadata.len(), metadata.modified().ok());
        (&file).seek(SeekFrom::Start(0)).map_err(unread)?;
        each_text_line(BufReader::with_capacity(1 << 18, &file), &name, |line| {
            self.starts.push(line.start);
            Ok(())
        })?;
        let handle = Handle::Open(file);
        self.files.push(LineFile { handle, name, length, modified, first, _temporary: temporary });
        Ok(())
    }

    /// Reads every item once, for what must be known of all of them.
    fn read_all(&mut self) -> Result<(), DatasetError> {
        self.starts.shrink_to_fit();
        let (mut identities, mut hash) = (Identities::default(), CanonicalHasher::default());
        hash.list(self.starts.len());
        for LineFile { handle, name, first, .. } in &self.files {
            let mut index = *first;
            let read = |mut file: &File| {
                file.seek(SeekFrom::Start(0))?;
                Ok(each_text_line(BufReader::with_capacity(1 << 18, file), name, |line| {
                    let malformed = |reason| {
                        let reason = format!("{reason} (items[{}])", index - first);
                        DatasetError::malformed(name, line.number, reason)
                    };
                    let item = parse_line(line.text).map_err(malformed)?;
                    hash.item(&item);
                    identities.push(&item);
                    if item.values().any(is_too_deep) {
                        self.too_deep.extend(u32::try_from(index));
                    }
                    index += 1;
                    Ok(())
                }))
            };
            handle.with(read).map_err(|error| DatasetError::read(name, error))??;
        }
        identities.shrink();
        (self.identities, self.hash) = (Arc::new(identities), hash.finish());
        self.files.iter().try_for_each(LineFile::require_unchanged)
    }

    fn read(&self, row: usize) -> Result<Item, DatasetError> {
        let number = self.files.partition_point(|file| file.first <= row) - 1;
        let file = &self.files[number];
        let start = self.starts[row];
        let is_last = self.files.get(number + 1).map_or(self.starts.len(), |next| next.first) == row + 1;
        let end = if is_last { file.length } else { self.starts[row + 1] };
        let read = |opened: &File| {
            if file.is_changed(&opened.metadata()?) {
                return Ok(None);
            }
            let mut line = vec![0; usize::try_from(end - start).unwrap_or(usize::MAX)];
            read_at(opened, &mut line, start)?;
            Ok(Some(line))
        };
        let line = file.handle.with(read).map_err(|error| DatasetError::read(&file.name, error))?;
        // Blank lines may follow.
        let item = line.and_then(|line| parse_line(line.trim_ascii_end()).ok());
        item.ok_or_else(|| file.has_changed())
    }
}

impl LineFile {
    fn require_unchanged(&self) -> Result<(), DatasetError> {
        let metadata = self.handle.with(File::metadata);
        let metadata = metadata.map_err(|error| DatasetError::read(&self.name, error))?;
        if self.is_changed(&metadata) { Err(self.has_changed()) } else { Ok(()) }
    }

    fn is_changed(&self, now: &Metadata) -> bool {
        now.len() != self.length || now.modified().ok() != self.modified
    }

    fn has_changed(&self) -> DatasetError {
        let reason = "it was changed after its items were counted; do not change the file during a run";
        DatasetError::read(&self.name, io::Error::other(reason))
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], start: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, start)
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut start: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, start)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => (bytes, start) = (&mut bytes[read..], start + read as u64),
        }
    }
    Ok(())
}

/// A file to be removed.
#[derive(Debug)]
struct RemovedOnDrop(PathBuf);

impl Drop for RemovedOnDrop {
    fn drop(&mut self) {
        // It is a temporary file; there is nobody to tell.
        let _ = fs::remove_file(&self.0);
    }
}

/// A temporary file that only this user can read. Where the system allows it, it has no name any more.
fn temporary_file() -> io::Result<(File, Option<RemovedOnDrop>)> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("cobalt-items-{}-{number}.jsonl", std::process::id()));
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&path) {
            Ok(file) => {
                let removed = fs::remove_file(&path);
                return Ok((file, removed.is_err().then_some(RemovedOnDrop(path))));
            }
            // Left by another process with this number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item;

    fn open(texts: &[&str]) -> (tempfile::TempDir, Result<ItemsOnDisk, DatasetError>) {
        open_with(texts, MAX_OPEN_FILES)
    }

    fn open_with(texts: &[&str], max_open: usize) -> (tempfile::TempDir, Result<ItemsOnDisk, DatasetError>) {
        let folder = tempfile::tempdir().unwrap();
        let file = |(number, text): (usize, &&str)| {
            let name = format!("{number}.jsonl");
            let path = folder.path().join(&name);
            fs::write(&path, text).unwrap();
            SourceFile { path, name }
        };
        let files = texts.iter().enumerate().map(file).collect();
        let items = ItemsOnDisk::index(files, max_open);
        (folder, items)
    }

    fn read(items: &ItemsOnDisk) -> Vec<Item> {
        (0..items.len()).map(|index| items.read(index).unwrap()).collect()
    }

    #[test]
    fn items_are_read_from_their_lines_in_any_order() {
        let (_folder, items) =
            open(&["\u{feff}{\"n\": 0}\r\n\r\n \t\n{\"n\": 1}\n", "\n{\"n\": 2}\n{\"n\": 3}"]);
        let items = items.unwrap();
        assert_eq!(read(&items), (0..4).map(|n| item! { "n": n }).collect::<Vec<_>>());
        assert_eq!(items.read(2).unwrap(), item! { "n": 2 });
        let turned = items.change(|rows| rows.reverse());
        assert_eq!(read(&turned), (0..4).rev().map(|n| item! { "n": n }).collect::<Vec<_>>());
        assert_eq!(turned.hash(), None);
    }

    #[test]
    fn a_line_that_is_no_item_is_named_when_the_file_is_opened() {
        let (_folder, items) = open(&["{}\n", "\n{}\n\n{\"a\": \n"]);
        let expected =
            "1.jsonl:4: expected one complete JSON object: EOF while parsing a value at column 5 (items[1])";
        assert_eq!(items.unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_file_that_changes_is_an_error_and_no_other_item() {
        let (folder, items) = open(&["{\"n\": 0}\n{\"n\": 1}\n"]);
        let items = items.unwrap();
        let path = folder.path().join("0.jsonl");
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"{\"n\": 2}\n").unwrap();
        let error = items.read(1).unwrap_err().to_string();
        assert!(error.starts_with("failed to read 0.jsonl: it was changed after its items"), "{error}");
    }

    #[test]
    fn another_file_of_the_same_name_is_not_read() {
        let (folder, items) = open(&["{\"n\": 0}\n"]);
        let other = folder.path().join("other");
        fs::write(&other, "{\"n\": 7}\n").unwrap();
        fs::rename(other, folder.path().join("0.jsonl")).unwrap();
        assert_eq!(read(&items.unwrap()), [item! { "n": 0 }]);
    }

    /// The number of files that this process has open.
    #[cfg(target_os = "linux")]
    fn open_files() -> usize {
        fs::read_dir("/proc/self/fd").unwrap().count()
    }

    #[test]
    fn of_many_files_none_stays_open() {
        let texts: Vec<_> = (0..2_000).map(|n| format!("{{\"n\": {n}}}\n")).collect();
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        let (folder, items) = open_with(&texts, 1_999);
        let items = items.unwrap();
        // Other tests of this process open some, too.
        #[cfg(target_os = "linux")]
        assert!(open_files() < 1_000, "{}", open_files());
        assert_eq!(read(&items), (0..2_000).map(|n| item! { "n": n }).collect::<Vec<_>>());
        fs::write(folder.path().join("7.jsonl"), "{\"n\": 70}\n").unwrap();
        let error = items.read(7).unwrap_err().to_string();
        assert!(error.starts_with("failed to read 7.jsonl: it was changed after its items"), "{error}");
        fs::remove_file(folder.path().join("8.jsonl")).unwrap();
        assert!(items.read(8).unwrap_err().to_string().contains("8.jsonl"));
        assert_eq!(items.read(9).unwrap(), item! { "n": 9 });
    }

    #[test]
    fn written_items_are_read_again_and_their_file_is_gone() {
        let items = (0..3).map(|n| Ok::<_, ()>(item! { "n": n, "x": 0.1 + 0.2 }));
        let items = ItemsOnDisk::write("numbers", items).unwrap();
        assert_eq!(items.read(2).unwrap(), item! { "n": 2, "x": 0.1 + 0.2 });
        let prefix = format!("cobalt-items-{}-", std::process::id());
        let left = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        #[cfg(unix)]
        assert!(!left.into_iter().any(|it| it.file_name().to_string_lossy().starts_with(&prefix)));
        assert_eq!(ItemsOnDisk::write("none", std::iter::empty::<Result<_, ()>>()).unwrap().len(), 0);
        assert_eq!(ItemsOnDisk::write("bad", [Err(1)].into_iter()).unwrap_err(), 1);
    }

    #[test]
    fn items_nested_too_deeply_are_found_among_those_selected() {
        let deep = format!("{{\"a\": {}1{}}}\n", "[".repeat(101), "]".repeat(101));
        let (_folder, items) = open(&[&format!("{{}}\n{deep}{{}}\n")]);
        let items = items.unwrap();
        assert_eq!(items.first_too_deep(), Some(1));
        assert_eq!(items.clone().change(|rows| rows.reverse()).first_too_deep(), Some(1));
        assert_eq!(items.change(|rows| rows.truncate(1)).first_too_deep(), None);
    }
}
