//! The journal of a run: a line that says what is run, then a line for each finished item.
//!
//! A line is appended as soon as its item is finished. A process that is killed leaves at worst a last line without its
//! end; it is dropped, and the run can be resumed from all the others.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::layout::{Layout, storage};
use super::results::read_report;
use crate::error::Error;
use crate::report::{DatasetSummary, ItemResult, RunConfig, Shard, SourcePlace, Timestamp};

/// The version of the journal's shape.
pub(crate) const JOURNAL_VERSION: u32 = 1;

/// How long the lock of a journal is waited for.
const PATIENCE: Duration = Duration::from_millis(200);

/// A journal's first line: what is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalHeader {
    /// The version of this shape.
    pub journal: u32,
    /// The run's id.
    pub id: String,
    /// The experiment's name.
    pub name: String,
    /// When the run started.
    pub timestamp: Timestamp,
    /// The experiment's tags.
    pub tags: Vec<String>,
    /// Where the experiment is declared, where an attribute does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_at: Option<SourcePlace>,
    /// The settings.
    pub config: RunConfig,
    /// The data.
    pub dataset: DatasetSummary,
    /// A hash over all that makes results incomparable, except the data.
    pub definition: String,
    /// A hash of the package's sources, where it is known and all of the run was made with the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<String>,
    /// The indexes of the items to run; absent where all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Vec<usize>>,
    /// The shard that these items are of, where the run is divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

#[derive(Serialize)]
struct EntryOut<'a> {
    /// Milliseconds since the run's start, without the time between being killed and being resumed.
    at: u64,
    item: &'a ItemResult,
}

/// A journal's other lines: a finished item each. An item that was run again stands in a later line once more, which counts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct JournalEntry {
    /// Milliseconds since the run's start, without the time between being killed and being resumed.
    pub at: u64,
    /// What came of the item.
    pub item: ItemResult,
}

/// What a journal holds.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalContents {
    /// What was run.
    pub header: JournalHeader,
    /// The items that were finished, in the order in which they were.
    pub items: Vec<ItemResult>,
    /// How long the run had gone on when the last of them was.
    pub elapsed: Duration,
    /// How many whole lines could not be understood; their items count as not run.
    pub damaged: usize,
    /// How many bytes of the file are whole lines.
    whole: u64,
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// Not even its first line was written.
    #[error("its journal ends before its first line does, so nothing of it is known; start a new run")]
    Empty,
    /// The first line is no header.
    #[error("the first line of its journal cannot be understood: {0}")]
    Header(serde_json::Error),
    /// A later version wrote it.
    #[error(
        "its journal has version {0}, and this version knows {JOURNAL_VERSION}; use the version that wrote it"
    )]
    Version(u32),
}

/// Reads a journal. Never panics, whatever the bytes.
///
/// # Errors
///
/// There is no usable first line. Damage in other lines is counted, not an error.
pub fn read_journal(bytes: &[u8]) -> Result<JournalContents, JournalError> {
    // What follows the last line's end is a line that was being written.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut lines = bytes[..whole].split_inclusive(|byte| *byte == b'\n');
    let first = lines.next().ok_or(JournalError::Empty)?;
    let header: JournalHeader = serde_json::from_slice(first).map_err(JournalError::Header)?;
    if header.journal != JOURNAL_VERSION {
        return Err(JournalError::Version(header.journal));
    }
    let (mut items, mut elapsed, mut damaged) = (Vec::new(), 0, 0);
    for line in lines {
        match serde_json::from_slice::<JournalEntry>(line) {
            Ok(entry) => {
                elapsed = elapsed.max(entry.at);
                items.push(entry.item);
            }
            Err(_) => damaged += 1,
        }
    }
    Ok(JournalContents {
        header,
        items,
        elapsed: Duration::from_millis(elapsed),
        damaged,
        whole: whole as u64,
    })
}

/// Appends to a journal, which is locked for other processes.
#[derive(Debug)]
pub(crate) struct JournalWriter {
    file: File,
    path: PathBuf,
    lines: Vec<u8>,
}

impl JournalWriter {
    /// Starts the journal of a new run.
    pub(crate) fn create(layout: &Layout, header: &JournalHeader) -> Result<Self, Error> {
        layout.create()?;
        let path = layout.journal(&header.id);
        let write = || {
            let file = OpenOptions::new().append(true).create_new(true).open(&path)?;
            file.try_lock().map_err(io::Error::from)?;
            let mut journal = Self { file, path: path.clone(), lines: Vec::new() };
            journal.push_line(header)?;
            journal.flush_lines()?;
            Ok(journal)
        };
        write().map_err(|source| storage("write", &path, source))
    }

    fn push_line(&mut self, line: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.lines, line)?;
        self.lines.push(b'\n');
        Ok(())
    }

    /// One write for all lines that have gathered. What could not be written is kept for the next try.
    fn flush_lines(&mut self) -> io::Result<()> {
        write_out(&mut self.lines, &mut self.file)
    }

    /// Adds an item; it is on disk after [`flush`](Self::flush).
    pub(crate) fn push(&mut self, at: Duration, item: &ItemResult) -> Result<(), Error> {
        let at = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
        self.push_line(&EntryOut { at, item }).map_err(|source| storage("write", &self.path, source))
    }

    /// Writes the items that were added.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        self.flush_lines().map_err(|source| storage("write", &self.path, source))
    }

    /// Removes the journal of a run whose result file is written.
    pub(crate) fn remove(self) -> Result<(), Error> {
        match fs::remove_file(&self.path) {
            // Someone may have tidied up since the run began.
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(storage("remove", &self.path, source))
            }
            _ => Ok(()),
        }
    }
}

/// Writes `bytes` and takes away what was written, so that after an error, as on a full disk, the next try goes on
/// in the middle of the line.
fn write_out(bytes: &mut Vec<u8>, to: &mut impl Write) -> io::Result<()> {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => drop(bytes.drain(..written)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A run taken up again: what it had done, and its journal to go on with.
#[derive(Debug)]
pub(crate) struct Resumed {
    pub(crate) contents: JournalContents,
    pub(crate) journal: JournalWriter,
}

impl Resumed {
    /// Takes up the run with this id.
    pub(crate) fn open(layout: &Layout, id: &str) -> Result<Self, Error> {
        let refuse = |reason: String| Error::Resume { id: id.to_owned(), reason };
        let path = layout.journal(id);
        let file = match OpenOptions::new().read(true).append(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(refuse(missing(layout, id))),
            Err(source) => return Err(storage("open", &path, source)),
        };
        match lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(refuse("it is still going on in another process; wait for it to end".to_owned()));
            }
            Err(TryLockError::Error(source)) => return Err(storage("lock", &path, source)),
        }
        // The process that held it until this moment has removed it: that run is finished.
        if !path.exists() {
            return Err(refuse(missing(layout, id)));
        }
        let contents = read_locked(&path, &file, refuse)?;
        Ok(Self { contents, journal: JournalWriter { file, path, lines: Vec::new() } })
    }
}

/// Locks a file, and waits a little for that. A process that was killed as it started another one leaves the lock to
/// that until it is under way.
fn lock(file: &File) -> Result<(), TryLockError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(PATIENCE / 20),
            outcome => return outcome,
        }
    }
}

/// A run that is to be taken up again. It may have been finished since it was cut off.
#[derive(Debug)]
pub(crate) struct CutOff {
    pub(crate) id: String,
    pub(crate) experiment: String,
    /// The indexes of the items that it is about, where these are not all.
    pub(crate) selection: Option<Vec<usize>>,
}

impl CutOff {
    /// The run of this id.
    pub(crate) fn find(layout: &Layout, id: &str) -> Result<Self, Error> {
        let refuse = |reason: String| Error::Resume { id: id.to_owned(), reason };
        let path = layout.journal(id);
        let (experiment, selection) = match fs::read(&path) {
            Ok(journal) => {
                let header = read_journal(&journal).map_err(|error| refuse(error.to_string()))?.header;
                (header.name, header.selection)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => match layout.result_of(id) {
                Some(result) => {
                    let report = read_report(&result)?;
                    let selection = report.selection();
                    (report.name, selection)
                }
                None => return Err(refuse(missing(layout, id))),
            },
            Err(source) => return Err(storage("read", &path, source)),
        };
        Ok(Self { id: id.to_owned(), experiment, selection })
    }
}

/// Reads a journal that is ours alone, and cuts off the line that was being written when its process ended.
fn read_locked(path: &Path, file: &File, refuse: impl Fn(String) -> Error) -> Result<JournalContents, Error> {
    let bytes = fs::read(path).map_err(|source| storage("read", path, source))?;
    let contents = read_journal(&bytes).map_err(|error| refuse(error.to_string()))?;
    file.set_len(contents.whole).map_err(|source| storage("write", path, source))?;
    Ok(contents)
}

/// Why there is no journal, as far as the other files tell.
fn missing(layout: &Layout, id: &str) -> String {
    if let Some(path) = layout.result_of(id) {
        return format!("it is finished; its results are in `{}`", path.display());
    }
    let entries = fs::read_dir(layout.journals()).into_iter().flatten().flatten();
    let mut open: Vec<_> = entries
        .filter_map(|entry| entry.file_name().to_string_lossy().strip_suffix(".jsonl").map(str::to_owned))
        .collect();
    open.sort();
    let known = if open.is_empty() { "none was cut short".to_owned() } else { open.join(", ") };
    format!("there is no such run in `{}`; runs that can be resumed: {known}", layout.journals().display())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a few bytes, then none, then all.
    struct FullForAWhile {
        written: Vec<u8>,
        calls: usize,
    }

    impl Write for FullForAWhile {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.calls += 1;
            let taken = match self.calls {
                1 => bytes.len().min(5),
                2 => return Err(io::ErrorKind::StorageFull.into()),
                _ => bytes.len(),
            };
            self.written.extend(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_that_was_cut_by_a_full_disk_is_completed_later() {
        let mut disk = FullForAWhile { written: Vec::new(), calls: 0 };
        let mut lines = b"first line\n".to_vec();
        assert_eq!(write_out(&mut lines, &mut disk).unwrap_err().kind(), io::ErrorKind::StorageFull);
        lines.extend(b"second line\n");
        write_out(&mut lines, &mut disk).unwrap();
        assert_eq!(disk.written, b"first line\nsecond line\n");
    }
}
