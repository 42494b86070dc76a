//! The items of a journal, which stay on disk: of each, only where its line starts is in memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::{StoreError, storage_error};
use super::journal::{JournalEntry, JournalError, JournalHeader};
use crate::report::{ItemResult, RunConfig};

/// How much of the file is read at once, in bytes: items finish nearly in their order.
const BUFFER: usize = 1 << 18;

/// Where the line of each item starts, by the item's index. Of several lines of an item, the last one counts.
#[derive(Clone, Debug, Default)]
pub struct JournalIndex {
    /// `NONE` for an item without a line.
    starts: Vec<u64>,
    items: usize,
}

const NONE: u64 = u64::MAX;

impl JournalIndex {
    /// Sets where the line of an item starts.
    pub(super) fn set(&mut self, index: usize, start: u64) {
        if index >= self.starts.len() {
            self.starts.resize(index + 1, NONE);
        }
        self.items += usize::from(self.starts[index] == NONE);
        self.starts[index] = start;
    }

    /// Forgets an item's line.
    pub(super) fn remove(&mut self, index: usize) {
        self.items -= usize::from(self.starts[index] != NONE);
        self.starts[index] = NONE;
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
        self.starts.get(index).is_some_and(|start| *start != NONE)
    }

    /// The indexes of the items with a line, in order, each with its start.
    fn iter(&self) -> impl Iterator<Item = (usize, u64)> {
        let starts = self.starts.iter().copied().enumerate();
        starts.filter(|(_, start)| *start != NONE)
    }
}

/// Reads the items of a journal in dataset order.
#[derive(Debug)]
pub struct JournalItems<'j> {
    index: &'j JournalIndex,
    config: &'j RunConfig,
    path: PathBuf,
    file: BufReader<File>,
    position: u64,
    line: Vec<u8>,
}

impl<'j> JournalItems<'j> {
    pub(super) fn open(
        path: &Path,
        index: &'j JournalIndex,
        config: &'j RunConfig,
    ) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(|source| storage_error("read", path, source))?;
        let file = BufReader::with_capacity(BUFFER, file);
        Ok(Self { index, config, path: path.to_owned(), file, position: 0, line: Vec::new() })
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
        for (index, start) in self.index.iter() {
            let item = self.read(index, start).map_err(|source| storage_error("read", &self.path, source))?;
            each(item)?;
        }
        Ok(())
    }

    fn read(&mut self, index: usize, start: u64) -> io::Result<ItemResult> {
        let distance = i64::try_from(start).and_then(|to| Ok(to - i64::try_from(self.position)?));
        self.file.seek_relative(distance.map_err(io::Error::other)?)?;
        self.line.clear();
        self.position = start + self.file.read_until(b'\n', &mut self.line)? as u64;
        let entry: JournalEntry = serde_json::from_slice(&self.line)?;
        let mut item = entry.item;
        if item.index != index {
            let reason = format!("the line of item {index} was changed during the run");
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        // Older journals mark every item without an error as passed if thresholds decide.
        item.passed = self.config.passes(&item);
        Ok(item)
    }
}

/// What a journal contains, without its items.
#[derive(Debug)]
pub struct JournalOutline {
    pub header: JournalHeader,
    pub index: JournalIndex,
    /// The run time up to the last finished item.
    pub elapsed: Duration,
    /// The number of damaged complete lines.
    pub damaged: usize,
    /// The length of the complete lines in bytes.
    pub whole: u64,
}

/// Reads a journal line by line.
pub fn outline(file: impl io::Read) -> io::Result<Result<JournalOutline, JournalError>> {
    let mut file = BufReader::with_capacity(BUFFER, file);
    let (mut line, mut start) = (Vec::new(), 0);
    let mut outline: Option<JournalOutline> = None;
    let mut selected = None;
    loop {
        line.clear();
        let length = file.read_until(b'\n', &mut line)? as u64;
        // Anything after the last line break is an incomplete line.
        if !line.ends_with(b"\n") {
            break;
        }
        match &mut outline {
            None => {
                let header = match JournalHeader::read(&line).and_then(|it| Ok((it.selected()?, it))) {
                    Ok((indexes, header)) => {
                        selected = indexes;
                        header
                    }
                    Err(error) => return Ok(Err(error)),
                };
                let (index, elapsed) = (JournalIndex::default(), Duration::ZERO);
                outline = Some(JournalOutline { header, index, elapsed, damaged: 0, whole: 0 });
            }
            Some(known) => {
                let is_selected = |entry: &JournalEntry| {
                    selected.as_ref().is_none_or(|selected| selected.contains(&entry.item.index))
                };
                match known.header.read_entry(&line).filter(is_selected) {
                    Some(JournalEntry { at, item }) => {
                        known.elapsed = known.elapsed.max(Duration::from_millis(at));
                        known.index.set(item.index, start);
                    }
                    None => known.damaged += 1,
                }
            }
        }
        start += length;
    }
    Ok(outline.map(|outline| JournalOutline { whole: start, ..outline }).ok_or(JournalError::Empty))
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
        let mut outline = outline(File::open(&path).unwrap()).unwrap().unwrap();
        let whole = read_journal(text.as_bytes()).unwrap();
        assert_eq!((outline.damaged, outline.elapsed), (whole.damaged, whole.elapsed));
        assert_eq!((outline.damaged, outline.whole), (1, text.rfind('\n').unwrap() as u64 + 1));
        let read = |index: &JournalIndex| {
            let mut read = Vec::new();
            let items = JournalItems::open(&path, index, &outline.header.config).unwrap();
            let each = items.for_each(|item| {
                read.push((item.index, item.scores("right").next().unwrap()));
                Ok::<_, StoreError>(())
            });
            each.unwrap();
            read
        };
        assert_eq!(outline.index.len(), 3);
        assert_eq!(read(&outline.index), [(0, 0.75), (3, 1.0), (4, 1.0)]);
        let mut fewer = outline.index.clone();
        fewer.remove(3);
        assert_eq!((read(&fewer), fewer.len(), fewer.contains(3)), (vec![(0, 0.75), (4, 1.0)], 2, false));
        outline.index.set(1, 0);
        let items = JournalItems::open(&path, &outline.index, &outline.header.config).unwrap();
        let error = items.for_each(|_| Ok::<_, StoreError>(())).unwrap_err().to_string();
        assert!(error.contains("a.jsonl"), "{error}");
    }
}
