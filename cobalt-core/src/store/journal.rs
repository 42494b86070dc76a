//! The journal of a run: a header line, then a line for each finished item and for each payment. Each line ends with a checksum.
//!
//! A line is appended as soon as its item is finished. A killed process leaves at worst an incomplete last line. It is dropped,
//! and the run can be resumed from the others.

use std::collections::{HashSet, VecDeque};
use std::fs::{self, File};
use std::io::{self, BufRead as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::checksum::{Checksum, append_checksum, verify_checksum};
use super::error::{StoreError, storage_error};
use super::journal_items::{JournalIndex, JournalItems};
use super::layout::{Layout, Lock};
use super::payment::{Payment, Payments};
use crate::atomic_write::{private_options, sync_folder};
use crate::redact::redacted_document;
use crate::report::{
    DatasetSummary, ItemResult, Rescored, RunConfig, RunVariant, Shard, SourceLocation, validate_item,
};
use crate::timestamp::Timestamp;

/// The version of the journal format.
pub const JOURNAL_VERSION: u32 = 1;

/// The maximum time before a written line is synced to disk.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// The maximum length of a line with a payment, in bytes.
const MAX_PAYMENT_LINE: usize = 200;

/// A journal's first line: what the run consists of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalHeader {
    /// The version of this format.
    pub journal: u32,
    /// The run's id.
    pub id: String,
    /// The experiment's name.
    pub name: String,
    /// When the run started.
    pub timestamp: Timestamp,
    /// The experiment's tags.
    pub tags: Vec<String>,
    /// Where the experiment is declared, if by an attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_at: Option<SourceLocation>,
    /// The variant of the experiment, if it has variants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Box<RunVariant>>,
    /// The origin of the outputs, if they are only scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rescored: Option<Box<Rescored>>,
    /// The settings.
    pub config: RunConfig,
    /// The data.
    pub dataset: DatasetSummary,
    /// A hash over everything that makes results incomparable, except the data.
    pub definition: String,
    /// A hash of the package's sources, if it is known and was the same for the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<String>,
    /// The indexes of the items to run; absent if all items are run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Vec<usize>>,
    /// The shard of these items, if the run is sharded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The hash of the plan that balanced the shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard_plan: Option<String>,
    /// The name of the shards that belong together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard_group: Option<String>,
    /// Whether each line must have a checksum; earlier versions wrote none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checksums: bool,
}

impl JournalHeader {
    /// Parses a first line.
    pub(super) fn read(line: &[u8]) -> Result<Self, JournalError> {
        let header: Self = serde_json::from_slice(line).map_err(JournalError::Header)?;
        if header.journal != JOURNAL_VERSION {
            return Err(JournalError::Version(header.journal));
        }
        if !header.is_intact(line) {
            return Err(JournalError::Damaged);
        }
        Ok(header)
    }

    /// Whether a line of the journal, including the first, matches its checksum.
    #[must_use]
    pub fn is_intact(&self, line: &[u8]) -> bool {
        match verify_checksum(line) {
            Checksum::Right => true,
            Checksum::Missing => !self.checksums,
            Checksum::Wrong => false,
        }
    }

    /// Whether an item's index and values are valid for this run.
    #[must_use]
    pub fn is_valid_item(&self, item: &ItemResult) -> bool {
        item.index < self.dataset.items && validate_item(item, &self.config).is_ok()
    }

    /// Parses a line after the first. `None` if it is damaged; its item counts as not run.
    #[must_use]
    pub fn read_entry(&self, line: &[u8]) -> Option<JournalEntry> {
        if !self.is_intact(line) {
            return None;
        }
        // The line may be older than the registration of a secret.
        let line = redacted_document(line.to_vec());
        let entry: JournalEntry = serde_json::from_slice(&line).ok()?;
        self.is_valid_item(&entry.item).then_some(entry)
    }

    /// Parses a line with a payment; `None` if it is another line, or damaged.
    pub(super) fn read_payment(&self, line: &[u8]) -> Option<Payment> {
        // Lines of items are longer: they are not parsed twice.
        if line.len() > MAX_PAYMENT_LINE {
            return None;
        }
        let PaymentEntry { paid, .. } = serde_json::from_slice(line).ok()?;
        let is_valid = paid.index < self.dataset.items && paid.usd.is_finite() && paid.usd >= 0.0;
        (is_valid && self.is_intact(line)).then_some(paid)
    }

    /// The indexes of the items to run, if not all.
    pub(super) fn selected(&self) -> Result<Option<HashSet<usize>>, JournalError> {
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
struct SerializedEntry<'a> {
    /// Milliseconds since the run's start, without the time between being killed and being resumed.
    at: u64,
    item: &'a ItemResult,
}

/// A line with a payment.
#[derive(Serialize, Deserialize)]
struct PaymentEntry {
    /// Milliseconds since the run's start, without the time between being killed and being resumed.
    at: u64,
    paid: Payment,
}

/// A journal's other lines, one per finished item. An item that was run again has a later line, which takes precedence.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct JournalEntry {
    /// Milliseconds since the run's start, without the time between being killed and being resumed.
    pub at: u64,
    /// The item's result.
    pub item: ItemResult,
}

/// The contents of a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalContents {
    /// What was run.
    pub header: JournalHeader,
    /// The finished items, in the order in which they finished.
    pub items: Vec<ItemResult>,
    /// The run time up to the last finished item.
    pub elapsed: Duration,
    /// What was paid, also for items that did not finish.
    pub payments: Payments,
    /// The number of damaged complete lines: invalid JSON, a wrong checksum, or invalid values. Their items count as not run.
    pub damaged: usize,
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The first line is incomplete.
    #[error("its journal ends within the first line, so it cannot be restored; start a new run")]
    Empty,
    /// The first line is not a header.
    #[error("the first line of its journal cannot be parsed: {0}")]
    Header(serde_json::Error),
    /// The first line does not match its checksum.
    #[error("the first line of its journal does not match its checksum; start a new run")]
    Damaged,
    /// The selection has an item that does not exist, or one twice.
    #[error(
        "the first line of its journal is damaged: it selects item {index} twice, or the item does not exist in the dataset \
         of {items} items; start a new run"
    )]
    Selection {
        /// The item's index, from 0.
        index: usize,
        /// The number of items in the dataset.
        items: usize,
    },
    /// The journal has another version.
    #[error(
        "its journal has version {0}, but only version {JOURNAL_VERSION} is supported; use the Cobalt version that wrote it"
    )]
    Version(u32),
}

/// Parses a journal. Never panics on any input.
///
/// # Errors
///
/// There is no usable first line. Damage in other lines is counted, not an error.
pub fn read_journal(bytes: &[u8]) -> Result<JournalContents, JournalError> {
    // Anything after the last line break is an incomplete line.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut lines = bytes[..whole].split_inclusive(|byte| *byte == b'\n');
    let first = lines.next().ok_or(JournalError::Empty)?;
    let header = JournalHeader::read(first)?;
    let selected = header.selected()?;
    let is_selected =
        |entry: &JournalEntry| selected.as_ref().is_none_or(|selected| selected.contains(&entry.item.index));
    let (mut items, mut payments, mut elapsed, mut damaged) = (Vec::new(), Payments::default(), 0, 0);
    for line in lines {
        match header.read_entry(line).filter(is_selected) {
            Some(JournalEntry { at, mut item }) => {
                elapsed = elapsed.max(at);
                item.passed = header.config.passes(&item);
                items.push(item);
            }
            None => match header.read_payment(line) {
                Some(payment) => payments.add(payment),
                None => damaged += 1,
            },
        }
    }
    Ok(JournalContents { header, items, payments, elapsed: Duration::from_millis(elapsed), damaged })
}

/// Appends to a journal, which is locked against other processes if the file system supports it. A journal without items and payments
/// is removed on drop: there is nothing to resume.
#[derive(Debug)]
pub struct JournalWriter {
    file: File,
    path: PathBuf,
    /// Lines not written yet.
    lines: Vec<u8>,
    /// What each of these lines is: an item's index and where its line starts, or `None` for another line.
    queued: VecDeque<Option<(usize, u64)>>,
    /// Where the next line starts.
    end: u64,
    /// The items with a complete line in the file.
    index: Arc<JournalIndex>,
    /// Whether the file also has lines that do not count.
    has_more: bool,
    /// Whether the file name is synced.
    is_named: bool,
    /// When the oldest unsynced line was written.
    unsynced_since: Option<Instant>,
}

impl JournalWriter {
    /// Starts the journal of a new run.
    pub fn create(layout: &Layout, header: &JournalHeader) -> Result<Self, StoreError> {
        layout.create()?;
        let path = layout.journal(&header.id);
        let write = || {
            let file = private_options().append(true).create_new(true).open(&path)?;
            let mut journal = Self::of(file, &path, 0, JournalIndex::default(), false);
            // The run ID is new, so no other process writes to this file. A reader may have it open briefly.
            if Lock::acquire(&journal.file)? == Lock::Busy {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            journal.push_line(None, header)?;
            journal.write_lines()?;
            Ok(journal)
        };
        write().map_err(|source| storage_error("write", &path, source))
    }

    /// Of an existing journal, at its end.
    pub fn of(file: File, path: &Path, end: u64, index: JournalIndex, has_more: bool) -> Self {
        let (path, lines, queued) = (path.to_owned(), Vec::new(), VecDeque::new());
        let index = Arc::new(index);
        Self { file, path, lines, queued, end, index, has_more, is_named: false, unsynced_since: None }
    }

    fn push_line(&mut self, item: Option<usize>, line: &impl Serialize) -> io::Result<()> {
        let start = self.lines.len();
        serde_json::to_writer(&mut self.lines, line)?;
        append_checksum(&mut self.lines, start);
        self.lines.push(b'\n');
        self.queued.push_back(item.map(|index| (index, self.end)));
        self.end += (self.lines.len() - start) as u64;
        Ok(())
    }

    /// Writes all pending lines at once. What could not be written is kept for the next attempt.
    fn write_lines(&mut self) -> io::Result<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        self.unsynced_since.get_or_insert_with(Instant::now);
        let (whole, outcome) = write_available(&mut self.lines, &mut self.file);
        let index = Arc::make_mut(&mut self.index);
        self.queued.drain(..whole).flatten().for_each(|(item, start)| index.set(item, start));
        outcome
    }

    /// Adds an item; [`flush`](Self::flush) writes it.
    pub fn push(&mut self, at: Duration, item: &ItemResult) -> Result<(), StoreError> {
        let at = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
        self.push_line(Some(item.index), &SerializedEntry { at, item })
            .map_err(|source| storage_error("write", &self.path, source))
    }

    /// Adds a payment; [`flush`](Self::flush) writes it.
    pub fn push_payment(&mut self, at: Duration, paid: Payment) -> Result<(), StoreError> {
        let at = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
        self.has_more = true;
        self.push_line(None, &PaymentEntry { at, paid })
            .map_err(|source| storage_error("write", &self.path, source))
    }

    /// Writes the added items and payments.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        self.write_lines().map_err(|source| storage_error("write", &self.path, source))
    }

    /// The number of items in the file.
    pub fn saved_items(&self) -> usize {
        self.index.len()
    }

    /// The mean length of its lines, in bytes.
    pub fn mean_line(&self) -> u64 {
        self.end / (self.index.len() as u64 + 1)
    }

    /// The items in the file.
    pub fn index(&self) -> &JournalIndex {
        &self.index
    }

    /// Reads the items in the file, of a run with these settings.
    pub fn items(&self, config: &RunConfig) -> Result<JournalItems, StoreError> {
        JournalItems::open(&self.path, Arc::clone(&self.index), config)
    }

    /// When [`sync`](Self::sync) must be called; `None` if everything is synced.
    pub fn sync_deadline(&self) -> Option<Instant> {
        self.unsynced_since.map(|since| since + SYNC_INTERVAL)
    }

    /// Syncs the written lines to disk.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        if self.unsynced_since.take().is_none() {
            return Ok(());
        }
        match self.file.sync_data() {
            // Some kinds of files cannot be synced.
            Err(source)
                if !matches!(source.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
            {
                return Err(storage_error("write", &self.path, source));
            }
            _ => {}
        }
        if !std::mem::replace(&mut self.is_named, true) {
            sync_folder(&self.path);
        }
        Ok(())
    }

    /// Removes the journal after the result file has been written.
    pub fn remove(mut self) -> Result<(), StoreError> {
        // Prevents a second attempt on drop: errors are reported here.
        self.has_more = true;
        match fs::remove_file(&self.path) {
            // Another process may have removed it.
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(storage_error("remove", &self.path, source))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for JournalWriter {
    fn drop(&mut self) {
        if self.index.is_empty() && !self.has_more {
            // `cargo cobalt clean` lists it if it cannot be removed.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The number of line feeds, found by the standard library's search, which is fast even if this crate is not optimized.
fn line_feeds(mut bytes: &[u8]) -> usize {
    let mut count = 0;
    while let Some(last) = bytes.last().copied() {
        // Reading from memory does not fail.
        let _ = bytes.skip_until(b'\n');
        count += usize::from(!bytes.is_empty() || last == b'\n');
    }
    count
}

/// Writes `bytes` and removes what was written: after an error, such as a full disk, the next attempt continues in the middle of
/// the line. Also returns the number of completed lines.
fn write_available(bytes: &mut Vec<u8>, to: &mut impl Write) -> (usize, io::Result<()>) {
    let mut ended = 0;
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(0) => return (ended, Err(io::ErrorKind::WriteZero.into())),
            Ok(written) => {
                ended += line_feeds(&bytes[..written]);
                bytes.drain(..written);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (ended, Err(error)),
        }
    }
    (ended, Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accepts a few bytes, then none, then all.
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
        let (ended, outcome) = write_available(&mut lines, &mut disk);
        assert_eq!((ended, outcome.unwrap_err().kind()), (0, io::ErrorKind::StorageFull));
        lines.extend(b"second line\n");
        let (ended, outcome) = write_available(&mut lines, &mut disk);
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
            append_checksum(&mut lines, start);
            lines.push(b'\n');
        }
        crate::redact::register_secret("JOURNAL_KEY", "kn0wn-of-the-journal");
        let contents = read_journal(&lines).unwrap();
        assert_eq!(contents.damaged, 0);
        let item = serde_json::to_value(&contents.items[0]).unwrap();
        assert_eq!(item["output"]["output"], "it is [redacted:JOURNAL_KEY]");
    }
}
