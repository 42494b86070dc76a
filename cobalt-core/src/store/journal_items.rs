//! The items of a journal, which stay on disk: of each, only where its line starts is in memory.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::error::{StoreError, storage_error};
use super::journal::{JournalEntry, JournalError, JournalHeader};
use super::payment::Payments;
use crate::redact::redacted_document;
use crate::report::{ItemResult, RunConfig};

/// How much of the file is read at once if it is read from its start to its end, in bytes.
const SCAN_BUFFER: usize = 1 << 18;
/// The same for single lines: items finish nearly in their order, but those of a balanced shard from the slowest on.
const LINE_BUFFER: usize = 1 << 14;

/// Where the line of each item starts, by the item's index. Of several lines of an item, the last one counts.
///
/// Consecutive items share a chunk, so that the memory follows the number of lines, whatever the indexes in them.
#[derive(Clone, Debug, Default)]
pub struct JournalIndex {
    /// By the items' indexes divided by `CHUNK`.
    chunks: BTreeMap<usize, Box<[u64; CHUNK]>>,
    items: usize,
}

const CHUNK: usize = 64;
/// The start of an item without a line.
const NONE: u64 = u64::MAX;

impl JournalIndex {
    /// Sets where the line of an item starts.
    pub(super) fn set(&mut self, index: usize, start: u64) {
        let chunk = self.chunks.entry(index / CHUNK).or_insert_with(|| Box::new([NONE; CHUNK]));
        let before = std::mem::replace(&mut chunk[index % CHUNK], start);
        self.items += usize::from(before == NONE);
    }

    /// Forgets an item's line.
    pub(super) fn remove(&mut self, index: usize) {
        if let Some(chunk) = self.chunks.get_mut(&(index / CHUNK)) {
            let before = std::mem::replace(&mut chunk[index % CHUNK], NONE);
            self.items -= usize::from(before != NONE);
        }
    }

    /// The number of items with a line.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items
    }

    /// Whether no item has a line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// Whether an item has a line.
    #[must_use]
    pub fn contains(&self, index: usize) -> bool {
        self.chunks.get(&(index / CHUNK)).is_some_and(|chunk| chunk[index % CHUNK] != NONE)
    }

    /// The indexes of the items with a line, in order, each with its start.
    fn iter(&self) -> impl Iterator<Item = (usize, u64)> {
        let starts = self.chunks.iter().flat_map(|(number, chunk)| {
            chunk.iter().enumerate().map(move |(place, start)| (number * CHUNK + place, *start))
        });
        starts.filter(|(_, start)| *start != NONE)
    }
}

/// Reads the items of a journal in dataset order.
#[derive(Debug)]
pub struct JournalItems {
    index: Arc<JournalIndex>,
    config: RunConfig,
    path: PathBuf,
    file: BufReader<File>,
    position: u64,
    line: Vec<u8>,
}

impl JournalItems {
    pub(super) fn open(
        path: &Path,
        index: Arc<JournalIndex>,
        config: &RunConfig,
    ) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(|source| storage_error("read", path, source))?;
        let file = BufReader::with_capacity(LINE_BUFFER, file);
        let (path, config) = (path.to_owned(), config.clone());
        Ok(Self { index, config, path, file, position: 0, line: Vec::new() })
    }

    /// Calls a function with each item, until it fails.
    ///
    /// # Errors
    ///
    /// A line cannot be read, or the function failed.
    pub fn for_each<E: From<StoreError>>(
        mut self,
        mut each: impl FnMut(ItemResult) -> Result<(), E>,
    ) -> Result<(), E> {
        let all = Arc::clone(&self.index);
        for (index, start) in all.iter() {
            let item = self.read(index, start).map_err(|source| storage_error("read", &self.path, source))?;
            each(item)?;
        }
        Ok(())
    }

    fn read(&mut self, index: usize, start: u64) -> io::Result<ItemResult> {
        let distance = i64::try_from(start).and_then(|to| Ok(to - i64::try_from(self.position)?));
        self.file.seek_relative(distance.map_err(io::Error::other)?)?;
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        self.position = start + self.file.read_until(b'\n', &mut line)? as u64;
        // The line may be older than the registration of a secret.
        self.line = redacted_document(line);
        let changed = |reason: &str| {
            let reason = format!(
                "the line of item {index}, at byte {start}, {reason}; do not change the file during the run"
            );
            io::Error::new(io::ErrorKind::InvalidData, reason)
        };
        let entry: JournalEntry = serde_json::from_slice(&self.line)
            .map_err(|error| changed(&format!("can no longer be parsed: {error}")))?;
        let mut item = entry.item;
        if item.index != index {
            return Err(changed(&format!("now has item {}", item.index)));
        }
        // Older journals mark every item without an error as passed if thresholds decide.
        item.passed = self.config.passes(&item);
        Ok(item)
    }
}

/// What a journal contains, without its items.
#[derive(Debug)]
pub struct JournalOutline {
    pub index: JournalIndex,
    /// The run time up to the last finished item.
    pub elapsed: Duration,
    /// The number of damaged complete lines.
    pub damaged: usize,
    /// What was paid, also for items that did not finish.
    pub payments: Payments,
    /// Whether it has payments, or lines of items that count as not run.
    pub has_more: bool,
    /// The length of the complete lines in bytes.
    pub whole: u64,
}

/// Whether the line of an item counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineUse {
    /// It is a result of its item.
    Keep,
    /// The item counts as not run, whatever an earlier line says.
    RunAgain,
    /// It cannot be a line of this run.
    Damaged,
}

/// Reads a journal line by line.
#[derive(Debug)]
pub struct JournalReader<R> {
    header: JournalHeader,
    selected: Option<HashSet<usize>>,
    file: BufReader<R>,
    /// The length of the lines that were read.
    whole: u64,
}

impl<R: io::Read> JournalReader<R> {
    /// Reads the first line.
    pub fn start(file: R) -> io::Result<Result<Self, JournalError>> {
        let mut file = BufReader::with_capacity(SCAN_BUFFER, file);
        let mut line = Vec::new();
        let whole = file.read_until(b'\n', &mut line)? as u64;
        if !line.ends_with(b"\n") {
            return Ok(Err(JournalError::Empty));
        }
        let header = JournalHeader::read(&line).and_then(|header| Ok((header.selected()?, header)));
        Ok(header.map(|(selected, header)| Self { header, selected, file, whole }))
    }

    pub fn header(&self) -> &JournalHeader {
        &self.header
    }

    /// Reads the other lines. `line_use` decides on those that are not damaged.
    pub fn read(mut self, line_use: impl Fn(&ItemResult) -> LineUse) -> io::Result<JournalOutline> {
        let (index, elapsed) = (JournalIndex::default(), Duration::ZERO);
        let payments = Payments::default();
        let mut outline =
            JournalOutline { index, elapsed, damaged: 0, payments, has_more: false, whole: self.whole };
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = self.file.read_until(b'\n', &mut line)? as u64;
            // Anything after the last line break is an incomplete line.
            if !line.ends_with(b"\n") {
                return Ok(outline);
            }
            if let Some(payment) = self.header.read_payment(&line) {
                outline.payments.add(payment);
                outline.has_more = true;
                outline.whole += length;
                continue;
            }
            let entry = self.header.read_entry(&line).filter(|entry| self.is_selected(entry));
            let line_use = entry.as_ref().map_or(LineUse::Damaged, |entry| line_use(&entry.item));
            if let Some(JournalEntry { at, item }) = entry {
                outline.elapsed = outline.elapsed.max(Duration::from_millis(at));
                match line_use {
                    LineUse::Keep => outline.index.set(item.index, outline.whole),
                    LineUse::RunAgain => outline.index.remove(item.index),
                    LineUse::Damaged => {}
                }
            }
            outline.damaged += usize::from(line_use == LineUse::Damaged);
            outline.has_more |= line_use != LineUse::Keep;
            outline.whole += length;
        }
    }

    fn is_selected(&self, entry: &JournalEntry) -> bool {
        self.selected.as_ref().is_none_or(|selected| selected.contains(&entry.item.index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::read_journal;

    fn journal(items: &[(usize, f64)]) -> String {
        let header = serde_json::json!({
            "journal": 1, "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "tags": [],
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["right"], "passMarks": [0.5] },
            "dataset": { "source": "inline", "items": 5, "hash": "d" }, "definition": "f",
        });
        let entry = |(at, (index, score)): (usize, &(usize, f64))| {
            let item = serde_json::json!({
                "index": index, "key": index.to_string(), "status": "ok", "passed": true, "latencyMs": 1, "input": {},
                "output": { "output": "a" }, "evaluations": { "right": { "score": score } },
            });
            serde_json::json!({ "at": at, "item": item })
        };
        let lines = std::iter::once(header).chain(items.iter().enumerate().map(entry));
        lines.map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn items_are_read_in_dataset_order_and_the_last_line_of_each_counts() {
        let text = journal(&[(3, 1.0), (0, 0.25), (9, 1.0), (4, 1.0), (0, 0.75)]) + "{\"at\": 9, \"it";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        std::fs::write(&path, &text).unwrap();
        let start = || JournalReader::start(File::open(&path).unwrap()).unwrap().unwrap();
        let config = start().header().config.clone();
        let mut outline = start().read(|_| LineUse::Keep).unwrap();
        let whole = read_journal(text.as_bytes()).unwrap();
        assert_eq!((outline.damaged, outline.elapsed), (whole.damaged, whole.elapsed));
        assert_eq!((outline.damaged, outline.whole), (1, text.rfind('\n').unwrap() as u64 + 1));
        let read = |index: &JournalIndex| {
            let mut read = Vec::new();
            let items = JournalItems::open(&path, Arc::new(index.clone()), &config).unwrap();
            let each = items.for_each(|item| {
                read.push((item.index, item.scores("right").next().unwrap()));
                Ok::<_, StoreError>(())
            });
            each.unwrap();
            read
        };
        assert_eq!(outline.index.len(), 3);
        assert_eq!(read(&outline.index), [(0, 0.75), (3, 1.0), (4, 1.0)]);
        let again = |item: &ItemResult| match item.index {
            0 if item.scores("right").next() == Some(0.75) => LineUse::Damaged,
            3 => LineUse::RunAgain,
            _ => LineUse::Keep,
        };
        let fewer = start().read(again).unwrap();
        assert_eq!((read(&fewer.index), fewer.damaged), (vec![(0, 0.25), (4, 1.0)], 2));
        assert!(fewer.has_more && fewer.index.len() == 2 && !fewer.index.contains(3));
        outline.index.set(1, 0);
        let items = JournalItems::open(&path, Arc::new(outline.index), &config).unwrap();
        let error = items.for_each(|_| Ok::<_, StoreError>(())).unwrap_err().to_string();
        assert!(
            error.contains("a.jsonl`: the line of item 1, at byte 0, can no longer be parsed"),
            "{error}"
        );
    }

    #[test]
    fn an_item_far_behind_the_others_takes_no_memory_for_those_between() {
        let mut index = JournalIndex::default();
        for (item, start) in [(usize::MAX, 7), (3, 9), (64, 11), (3, 13)] {
            index.set(item, start);
        }
        index.remove(1 << 40);
        assert!(index.iter().eq([(3, 13), (64, 11), (usize::MAX, 7)]));
        assert_eq!((index.len(), index.chunks.len()), (3, 3));
        assert!(index.contains(usize::MAX) && !index.contains(usize::MAX - 1));
    }
}
