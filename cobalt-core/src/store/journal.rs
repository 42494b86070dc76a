//! The journal of a run: a line that says what is run, then a line with a checksum for each finished item.
//!
//! A line is appended as soon as its item is finished. A process that is killed leaves at worst a last line without its
//! end; it is dropped, and the run can be resumed from all the others. Each line ends with a checksum.

use std::collections::{HashSet, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::error::{StoreError, storage};
use super::layout::{Layout, Lock};
use super::results::{read_report, sync_folder};
use crate::redact::redacted_document;
use crate::report::{DatasetSummary, ItemResult, RunConfig, Shard, SourcePlace, check_item};
use crate::timestamp::Timestamp;

/// The version of the journal's shape.
pub const JOURNAL_VERSION: u32 = 1;

/// How long a line may be in the journal before it is synced to the device.
const SYNC_AFTER: Duration = Duration::from_secs(1);

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
    /// Whether each line must have a checksum; earlier versions wrote none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checksums: bool,
}

impl JournalHeader {
    /// Reads a first line.
    fn read(line: &[u8]) -> Result<Self, JournalError> {
        let header: Self = serde_json::from_slice(line).map_err(JournalError::Header)?;
        if header.journal != JOURNAL_VERSION {
            return Err(JournalError::Version(header.journal));
        }
        if !header.is_whole(line) {
            return Err(JournalError::Damaged);
        }
        Ok(header)
    }

    /// Whether a line of the journal, the first one too, is as it was written, as far as its checksum tells.
    #[must_use]
    pub fn is_whole(&self, line: &[u8]) -> bool {
        match verify(line) {
            Checksum::Right => true,
            Checksum::Missing => !self.checksums,
            Checksum::Wrong => false,
        }
    }

    /// Whether an item has an index and values that one of this run can have.
    #[must_use]
    pub fn fits(&self, item: &ItemResult) -> bool {
        item.index < self.dataset.items && check_item(item, &self.config).is_ok()
    }

    /// Reads a line behind the first. `None` where it is damaged; its item counts as not run.
    #[must_use]
    pub fn read_entry(&self, line: &[u8]) -> Option<JournalEntry> {
        if !self.is_whole(line) {
            return None;
        }
        // It may have been written before a value was known to be secret.
        let line = redacted_document(line.to_vec());
        let entry: JournalEntry = serde_json::from_slice(&line).ok()?;
        self.fits(&entry.item).then_some(entry)
    }

    /// The indexes of the items to run, where these are not all.
    fn selected(&self) -> Result<Option<HashSet<usize>>, JournalError> {
        let Some(selection) = &self.selection else { return Ok(None) };
        let mut selected = HashSet::with_capacity(selection.len());
        for &index in selection {
            if index >= self.dataset.items || !selected.insert(index) {
                return Err(JournalError::Selection { index, items: self.dataset.items });
            }
        }
        Ok(Some(selected))
    }
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
    /// How many whole lines are damaged: they cannot be read, differ from their checksums, or have values that no run gives.
    /// Their items count as not run.
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
    /// The first line is not what was written.
    #[error("the first line of its journal is damaged, as its checksum tells; start a new run")]
    Damaged,
    /// The first line names items that are not there, or one of them twice.
    #[error(
        "the first line of its journal is damaged: its selection has item {index} twice, or the data set, with {items} items, \
         does not have it; start a new run"
    )]
    Selection {
        /// The item's place, from 0.
        index: usize,
        /// How many items the data set has.
        items: usize,
    },
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
    let header = JournalHeader::read(first)?;
    let selected = header.selected()?;
    let is_selected =
        |entry: &JournalEntry| selected.as_ref().is_none_or(|selected| selected.contains(&entry.item.index));
    let (mut items, mut elapsed, mut damaged) = (Vec::new(), 0, 0);
    for line in lines {
        match header.read_entry(line).filter(is_selected) {
            Some(JournalEntry { at, mut item }) => {
                elapsed = elapsed.max(at);
                item.passed = header.config.passes(&item);
                items.push(item);
            }
            None => damaged += 1,
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

/// Appends to a journal, which is locked for other processes where the file system can do that. One that is dropped without
/// an item in it is removed: there is nothing to resume.
#[derive(Debug)]
pub struct JournalWriter {
    file: File,
    path: PathBuf,
    /// Lines that are not written yet.
    lines: Vec<u8>,
    /// Which line each of them is: an item's, by its index, or the first.
    queued: VecDeque<Option<usize>>,
    /// The items of the run that have a whole line in the file, by their indexes.
    kept: HashSet<usize>,
    /// Whether the file holds more than the header and those: damaged lines.
    has_more: bool,
    /// Whether the file's name is synced, too.
    is_named: bool,
    /// When the first of the lines was written that are not synced yet.
    unsynced_since: Option<Instant>,
}

impl JournalWriter {
    /// Starts the journal of a new run.
    pub fn create(layout: &Layout, header: &JournalHeader) -> Result<Self, StoreError> {
        layout.create()?;
        let path = layout.journal(&header.id);
        let write = || {
            let file = OpenOptions::new().append(true).create_new(true).open(&path)?;
            let mut journal = Self::of(file, &path, HashSet::new(), false);
            // The run's id is new, so that no other process writes to this file. A reader may look at it for a moment.
            if Lock::on(&journal.file)? == Lock::Busy {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            journal.push_line(None, header)?;
            journal.write_lines()?;
            Ok(journal)
        };
        write().map_err(|source| storage("write", &path, source))
    }

    fn of(file: File, path: &Path, kept: HashSet<usize>, has_more: bool) -> Self {
        let (path, lines, queued) = (path.to_owned(), Vec::new(), VecDeque::new());
        Self { file, path, lines, queued, kept, has_more, is_named: false, unsynced_since: None }
    }

    fn push_line(&mut self, item: Option<usize>, line: &impl Serialize) -> io::Result<()> {
        let start = self.lines.len();
        serde_json::to_writer(&mut self.lines, line)?;
        add(&mut self.lines, start);
        self.lines.push(b'\n');
        self.queued.push_back(item);
        Ok(())
    }

    /// One write for all lines that have gathered. What could not be written is kept for the next try.
    fn write_lines(&mut self) -> io::Result<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        self.unsynced_since.get_or_insert_with(Instant::now);
        let (whole, outcome) = write_out(&mut self.lines, &mut self.file);
        self.kept.extend(self.queued.drain(..whole).flatten());
        outcome
    }

    /// Adds an item; it is in the file after [`flush`](Self::flush).
    pub fn push(&mut self, at: Duration, item: &ItemResult) -> Result<(), StoreError> {
        let at = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
        self.push_line(Some(item.index), &EntryOut { at, item })
            .map_err(|source| storage("write", &self.path, source))
    }

    /// Writes the items that were added.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        self.write_lines().map_err(|source| storage("write", &self.path, source))
    }

    /// How many items of the run are in the file.
    pub fn kept(&self) -> usize {
        self.kept.len()
    }

    /// When [`sync`](Self::sync) is to be called; `None` where everything is synced.
    pub fn sync_due(&self) -> Option<Instant> {
        self.unsynced_since.map(|since| since + SYNC_AFTER)
    }

    /// Waits until what is written is on the device.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        if self.unsynced_since.take().is_none() {
            return Ok(());
        }
        match self.file.sync_data() {
            // Not every kind of file can be synced.
            Err(source)
                if !matches!(source.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
            {
                return Err(storage("write", &self.path, source));
            }
            _ => {}
        }
        if !std::mem::replace(&mut self.is_named, true) {
            sync_folder(&self.path);
        }
        Ok(())
    }

    /// Removes the journal of a run whose result file is written.
    pub fn remove(mut self) -> Result<(), StoreError> {
        // Dropping it does not try again: an error is reported from here.
        self.has_more = true;
        match fs::remove_file(&self.path) {
            // Someone may have tidied up since the run began.
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(storage("remove", &self.path, source))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for JournalWriter {
    fn drop(&mut self) {
        if self.kept.is_empty() && !self.has_more {
            // One that cannot be removed is listed by `cargo cobalt clean`.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes `bytes` and takes away what was written, so that after an error, as on a full disk, the next try continues in the
/// middle of the line. Answers with the number of lines that were ended, too.
fn write_out(bytes: &mut Vec<u8>, to: &mut impl Write) -> (usize, io::Result<()>) {
    let mut ended = 0;
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(0) => return (ended, Err(io::ErrorKind::WriteZero.into())),
            Ok(written) => ended += bytes.drain(..written).filter(|byte| *byte == b'\n').count(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (ended, Err(error)),
        }
    }
    (ended, Ok(()))
}

/// A run taken up again: what it had done, and its journal to go on with.
#[derive(Debug)]
pub struct Resumed {
    /// What it had done.
    pub contents: JournalContents,
    /// The journal, at its end.
    pub journal: JournalWriter,
    /// The file, for messages.
    pub path: PathBuf,
    /// Whether no other process can have it.
    pub is_locked: bool,
}

impl Resumed {
    /// Takes up the run with this id.
    pub fn open(layout: &Layout, id: &str) -> Result<Self, StoreError> {
        let refuse = |reason: String| StoreError::Resume { id: id.to_owned(), reason };
        let path = layout.journal(id);
        let file = match OpenOptions::new().read(true).append(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(refuse(missing(layout, id))),
            Err(source) => return Err(storage("open", &path, source)),
        };
        let lock = Lock::on(&file).map_err(|source| storage("lock", &path, source))?;
        if lock == Lock::Busy {
            return Err(refuse("it is in progress in another process; wait for it to finish".to_owned()));
        }
        // The process that held it until this moment has removed it: that run is finished.
        if !path.exists() {
            return Err(refuse(missing(layout, id)));
        }
        let contents = read_locked(&path, &file, refuse)?;
        let kept = contents.items.iter().map(|item| item.index).collect();
        let journal = JournalWriter::of(file, &path, kept, contents.damaged > 0);
        Ok(Self { contents, journal, path, is_locked: lock == Lock::Held })
    }
}

/// A run that is to be taken up again. It may have been finished since it was cut off.
#[derive(Debug)]
pub struct CutOff {
    /// The run's id.
    pub id: String,
    /// The name of its experiment.
    pub experiment: String,
    /// The indexes of the items that it is about, where these are not all.
    pub selection: Option<Vec<usize>>,
}

impl CutOff {
    /// The run of this id.
    pub fn find(layout: &Layout, id: &str) -> Result<Self, StoreError> {
        let refuse = |reason: String| StoreError::Resume { id: id.to_owned(), reason };
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
fn read_locked(
    path: &Path,
    file: &File,
    refuse: impl Fn(String) -> StoreError,
) -> Result<JournalContents, StoreError> {
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

/// What stands before the digits.
const FIELD: &[u8] = b",\"crc32\":\"";
const DIGITS: usize = 8;
/// What stands behind the digits: the ends of the text and of the object.
const END: &[u8] = b"\"}";
const LENGTH: usize = FIELD.len() + DIGITS + END.len();

/// What a line says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    Right,
    /// The line has none, as in journals of earlier versions.
    Missing,
    Wrong,
}

/// Adds its checksum to the object that begins at `start` and ends with the text.
pub fn add(text: &mut Vec<u8>, start: usize) {
    let checksum = crc32fast::hash(&text[start..]);
    debug_assert_eq!(text.last(), Some(&b'}'), "only objects have a checksum");
    text.pop();
    text.extend_from_slice(FIELD);
    write!(text, "{checksum:08x}").expect("a vector takes everything");
    text.extend_from_slice(END);
}

/// Compares a line with its checksum, which is that of the object without it.
pub fn verify(line: &[u8]) -> Checksum {
    let line = line.trim_ascii_end();
    let Some((object, field)) = line.len().checked_sub(LENGTH).map(|end| line.split_at(end)) else {
        return Checksum::Missing;
    };
    let digits = field.strip_prefix(FIELD).and_then(|rest| rest.strip_suffix(END));
    let Some(digits) = digits else { return Checksum::Missing };
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(object);
    hasher.update(b"}");
    if format!("{:08x}", hasher.finalize()).as_bytes() == digits { Checksum::Right } else { Checksum::Wrong }
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
        let (ended, outcome) = write_out(&mut lines, &mut disk);
        assert_eq!((ended, outcome.unwrap_err().kind()), (0, io::ErrorKind::StorageFull));
        lines.extend(b"second line\n");
        let (ended, outcome) = write_out(&mut lines, &mut disk);
        assert_eq!((ended, outcome.is_ok()), (2, true));
        assert_eq!(disk.written, b"first line\nsecond line\n");
    }

    #[test]
    fn an_item_is_read_without_the_secrets_that_are_known_now() {
        let header = serde_json::json!({
            "journal": 1, "id": "aaaabbbbcccc", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "tags": [],
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": [], "passMarks": [] },
            "dataset": { "source": "inline", "items": 1, "hash": "d" }, "definition": "f", "checksums": true,
        });
        let item = serde_json::json!({
            "index": 0, "key": "item-0", "status": "ok", "passed": true, "latencyMs": 1, "input": {},
            "output": { "output": "it is kn0wn-of-the-journal" }, "evaluations": {},
        });
        let mut lines = Vec::new();
        for line in [header, serde_json::json!({ "at": 1, "item": item })] {
            let start = lines.len();
            lines.extend(line.to_string().bytes());
            super::add(&mut lines, start);
            lines.push(b'\n');
        }
        crate::redact::register_secret("JOURNAL_KEY", "kn0wn-of-the-journal");
        let contents = read_journal(&lines).unwrap();
        assert_eq!(contents.damaged, 0);
        let item = serde_json::to_value(&contents.items[0]).unwrap();
        assert_eq!(item["output"]["output"], "it is [redacted:JOURNAL_KEY]");
    }

    #[test]
    fn a_line_is_known_by_its_checksum_and_every_flipped_bit_of_it_is_found() {
        let mut text = b"before {\"at\":1,\"item\":{}}".to_vec();
        add(&mut text, 7);
        let line = text[7..].to_vec();
        assert_eq!(line, b"{\"at\":1,\"item\":{},\"crc32\":\"9694941c\"}".as_slice());
        assert!(serde_json::from_slice::<serde_json::Value>(&line).is_ok());
        assert_eq!(verify(&line), Checksum::Right);
        assert_eq!(verify(&[&line[..], b"\n"].concat()), Checksum::Right);
        for bit in 0..line.len() * 8 {
            let mut damaged = line.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(verify(&damaged), Checksum::Right, "bit {bit}");
        }
    }

    #[test]
    fn a_line_of_an_earlier_version_has_no_checksum() {
        for line in ["", "{}", "{\"at\":1,\"item\":{\"index\":0}}\n"] {
            assert_eq!(verify(line.as_bytes()), Checksum::Missing, "{line}");
        }
    }
}
