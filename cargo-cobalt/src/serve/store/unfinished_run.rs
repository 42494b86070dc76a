//! Reads an unfinished run from its journal.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind};
use std::ops::Range;
use std::time::Duration;

use cobalt_core::prices::PriceTable;
use cobalt_core::redact::redacted_document;
use cobalt_core::report::{ItemResult, Report};
use cobalt_core::store::{JournalHeader, read_journal};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::loaded_run::{LoadedRun, RunBuilder};
use super::run_file::{RunFile, RunFileError};
use crate::runs::{MAX_JOURNAL_BYTES, check_journal_size};
use crate::serve::error::ApiError;

/// The finished part of a run.
pub struct UnfinishedRun {
    header: JournalHeader,
    elapsed: Duration,
    /// The items by index, each with its byte range in the journal. For a rerun item, the later line counts.
    items: BTreeMap<usize, (Range<u64>, ItemResult)>,
}

/// A line of a journal; the item stays raw to get its byte range.
#[derive(Deserialize)]
struct JournalLine<'a> {
    at: u64,
    #[serde(borrow)]
    item: &'a RawValue,
}

impl UnfinishedRun {
    /// Reads the complete lines of a journal, unless it is too large.
    pub fn read(file: &RunFile) -> Result<Self, RunFileError> {
        Self::read_up_to(file, MAX_JOURNAL_BYTES)
    }

    fn read_up_to(file: &RunFile, most: u64) -> Result<Self, RunFileError> {
        check_journal_size(file.size(), most).map_err(|error| ApiError::conflict(error.to_string()))?;
        let bytes = file.read()?;
        let whole = memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1);
        let mut lines = bytes[..whole].split_inclusive(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        let header =
            read_journal(first).map_err(|error| file.to_error(Error::new(ErrorKind::InvalidData, error)))?;
        let header = header.header;
        let (mut elapsed, mut items, mut start) = (0, BTreeMap::new(), first.len());
        for line in lines {
            // The item of a damaged line will be run again.
            if let Some((at, place, item)) = parse_entry(&header, line, start) {
                elapsed = elapsed.max(at);
                items.insert(item.index, (place, item));
            }
            start += line.len();
        }
        Ok(Self { header, elapsed: Duration::from_millis(elapsed), items })
    }

    /// The report of the finished items.
    pub fn report(self, prices: &PriceTable) -> Report {
        let items = self.items.into_values().map(|(_, item)| item).collect();
        self.header.partial_report(items, self.elapsed, prices)
    }
}

/// Parses a line that starts at `start`: the time, and the item with its byte range.
fn parse_entry(header: &JournalHeader, line: &[u8], start: usize) -> Option<(u64, Range<u64>, ItemResult)> {
    if !header.is_intact(line) {
        return None;
    }
    let JournalLine { at, item } = serde_json::from_slice(line).ok()?;
    let text = item.get();
    let begin = start + (text.as_ptr().addr() - line.as_ptr().addr());
    let place = begin as u64..(begin + text.len()) as u64;
    // Same redaction as in `ItemReader::item`.
    let item = redacted_document(text.as_bytes().to_vec());
    let item = serde_json::from_slice(&item).ok().filter(|item| header.is_valid_item(item))?;
    Some((at, place, item))
}

impl LoadedRun {
    /// Reads the journal of an unfinished run.
    pub fn read_journal(file: &RunFile, prices: &PriceTable) -> Result<Self, RunFileError> {
        let unfinished = UnfinishedRun::read(file)?;
        // Treat as partial: items that are still missing may have the same ids.
        let mut loading = RunBuilder::new(unfinished.header.config.clone(), true, prices);
        for (place, item) in unfinished.items.values() {
            loading.add(place.clone(), item);
        }
        let head = unfinished.report(prices).without_items();
        Ok(loading.finish(head, file.clone()))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use cobalt_core::redact::register_secret;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_item_is_read_without_the_secrets_that_are_known_now() {
        let header = json!({
            "journal": 1, "id": "aaaabbbbcccc", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "tags": [],
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": [], "passMarks": [] },
            "dataset": { "source": "inline", "items": 1, "hash": "d" }, "definition": "f",
        });
        let item = json!({
            "index": 0, "key": "item-0", "status": "ok", "passed": true, "latencyMs": 1, "input": {},
            "output": { "output": "it is kn0wn-of-the-unfinished" }, "evaluations": {},
        });
        let header = read_journal(format!("{header}\n").as_bytes()).unwrap().header;
        let line = json!({ "at": 1, "item": item }).to_string();
        register_secret("UNFINISHED_KEY", "kn0wn-of-the-unfinished");
        let (_, _, item) = parse_entry(&header, line.as_bytes(), 0).unwrap();
        let item = serde_json::to_value(&item).unwrap();
        assert_eq!(item["output"]["output"], "it is [redacted:UNFINISHED_KEY]");
    }

    #[test]
    fn a_journal_that_is_too_large_is_not_read() {
        let file = tempfile::NamedTempFile::with_suffix(".jsonl").unwrap();
        std::fs::write(file.path(), "not a journal").unwrap();
        let file = RunFile::current(file.path()).unwrap();
        let refused = |most| match UnfinishedRun::read_up_to(&file, most) {
            Err(RunFileError::Permanent(error)) => error.status(),
            _ => unreachable!("it is not a journal"),
        };
        assert_eq!(refused(12), StatusCode::CONFLICT);
        assert_ne!(refused(13), StatusCode::CONFLICT, "it is read");
    }
}
