//! An unfinished run, followed through its journal: only new lines are read.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cobalt_core::report::ItemResult;
use cobalt_core::store::{JournalEntry, JournalHeader, is_in_progress, read_journal};
use schemars::JsonSchema;
use serde::Serialize;

use crate::runs::{self, RunView, VariantView};

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "RunState")]
pub enum LiveRunState {
    /// Finished; its result file exists.
    Finished,
    /// In progress.
    Running,
    /// Interrupted: its process ended early; resume with `cargo cobalt run --resume ID`.
    #[serde(rename = "cut-off")]
    Interrupted,
}

impl From<runs::RunPhase> for LiveRunState {
    fn from(state: runs::RunPhase) -> Self {
        match state {
            runs::RunPhase::Finished => Self::Finished,
            runs::RunPhase::Running => Self::Running,
            runs::RunPhase::Interrupted => Self::Interrupted,
        }
    }
}

/// An unfinished run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LiveRun {
    pub id: String,
    /// The run's name: the experiment's, or `<experiment>::<variant>`.
    pub name: String,
    /// The variant, if the experiment has variants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<VariantView>,
    /// The start, ISO 8601 in UTC.
    pub timestamp: String,
    pub tags: Vec<String>,
    pub state: LiveRunState,
    /// Whether only some of the items are run.
    pub partial: bool,
    /// The number of items to run.
    pub total_items: usize,
    pub finished_items: usize,
    /// The finished items that passed.
    pub passed_items: usize,
    /// The finished items whose agent or an evaluator failed.
    pub error_items: usize,
    /// Each evaluator's mean so far.
    pub avg_scores: BTreeMap<String, f64>,
    /// The elapsed time in milliseconds.
    pub elapsed_ms: u64,
}

/// A journal and its read position.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// The creation time of the file, to detect a replacement.
    created: Option<SystemTime>,
    modified: SystemTime,
    /// The number of bytes read, in complete lines.
    read: u64,
    /// The header; absent until the first line is complete, and if the file is not a journal.
    header: Option<JournalHeader>,
    /// The run's elapsed time at its last finished item, in milliseconds.
    elapsed_ms: u64,
    /// The finished items by index: a rerun item counts once.
    finished: BTreeMap<usize, FinishedItem>,
    is_running: bool,
}

/// The counted fields of an item.
#[derive(Debug)]
struct FinishedItem {
    passed: bool,
    is_in_error: bool,
    /// For each evaluator in order, the sum and the number of its scores.
    scores: Vec<(f64, usize)>,
}

impl Journal {
    /// An unread journal.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            created: None,
            modified: SystemTime::UNIX_EPOCH,
            read: 0,
            header: None,
            elapsed_ms: 0,
            finished: BTreeMap::new(),
            is_running: false,
        }
    }

    /// Reads new lines and returns their items. An incomplete line is left for the next call; a truncated or replaced file is read from
    /// its start.
    ///
    /// # Errors
    ///
    /// The file is gone or unreadable.
    pub fn follow(&mut self) -> io::Result<Vec<ItemResult>> {
        let mut file = File::open(&self.path)?;
        let metadata = file.metadata()?;
        if metadata.len() < self.read || (self.read > 0 && created_at(&metadata) != self.created) {
            *self = Self::new(&self.path);
        }
        (self.created, self.modified) = (created_at(&metadata), metadata.modified()?);
        // Before reading the rest, so that everything written before the process ends is seen.
        self.is_running = is_in_progress(&self.path)?;
        if metadata.len() == self.read {
            return Ok(Vec::new());
        }
        let mut added = Vec::new();
        file.seek(SeekFrom::Start(self.read))?;
        file.read_to_end(&mut added)?;
        Ok(self.apply_lines(&added))
    }

    fn apply_lines(&mut self, added: &[u8]) -> Vec<ItemResult> {
        let whole = memchr::memrchr(b'\n', added).map_or(0, |end| end + 1);
        let mut lines = added[..whole].split_inclusive(|byte| *byte == b'\n');
        if self.read == 0 {
            self.header = lines.next().and_then(|first| self.read_header(first));
        }
        self.read += whole as u64;
        let Some(header) = &self.header else { return Vec::new() };
        // The item of a damaged line will be run again.
        let entries: Vec<_> = lines.filter_map(|line| header.read_entry(line)).collect();
        entries.into_iter().map(|entry| self.record_item(entry)).collect()
    }

    /// The header; `None` if the file is not a journal, or is a copy under another name.
    fn read_header(&self, first: &[u8]) -> Option<JournalHeader> {
        let header = read_journal(first).ok()?.header;
        (self.path.file_stem()? == &*header.id).then_some(header)
    }

    fn record_item(&mut self, JournalEntry { at, mut item }: JournalEntry) -> ItemResult {
        if let Some(header) = &self.header {
            item.passed = header.config.passes(&item);
        }
        let evaluators = self.header.iter().flat_map(|header| &header.config.evaluators);
        let scores = |name| item.scores(name).fold((0.0, 0), |(sum, count), score| (sum + score, count + 1));
        let finished = FinishedItem {
            passed: item.passed,
            is_in_error: item.is_in_error(),
            scores: evaluators.map(|name| scores(name)).collect(),
        };
        self.elapsed_ms = self.elapsed_ms.max(at);
        self.finished.insert(item.index, finished);
        item
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The run's id; `None` until the header is known.
    pub fn id(&self) -> Option<&str> {
        Some(&self.header.as_ref()?.id)
    }

    /// The current state of the run; `None` until the header is known.
    pub fn live_run(&self) -> Option<LiveRun> {
        let header = self.header.as_ref()?;
        let count = |is: fn(&FinishedItem) -> bool| self.finished.values().filter(|item| is(item)).count();
        let state = if self.is_running { runs::RunPhase::Running } else { runs::RunPhase::Interrupted };
        let run = RunView::unfinished(header, state, self.finished.len());
        Some(LiveRun {
            id: run.id,
            name: run.experiment,
            variant: run.variant,
            timestamp: run.timestamp,
            tags: run.tags,
            state: run.state.into(),
            partial: run.is_partial,
            total_items: run.items.total,
            finished_items: run.items.finished,
            passed_items: count(|item| item.passed),
            error_items: count(|item| item.is_in_error),
            avg_scores: self.mean_scores(header),
            elapsed_ms: self.elapsed_ms(),
        })
    }

    fn mean_scores(&self, header: &JournalHeader) -> BTreeMap<String, f64> {
        let average = |(place, name): (usize, &String)| {
            let scores = self.finished.values().map(|item| item.scores[place]);
            let (sum, count) = scores.fold((0.0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
            (count > 0).then(|| (name.clone(), sum / count as f64))
        };
        header.config.evaluators.iter().enumerate().filter_map(average).collect()
    }

    /// For a running run, adds the time since the last write to the journal: its start, its resumption, or its last finished item.
    fn elapsed_ms(&self) -> u64 {
        let since =
            if self.is_running { self.modified.elapsed().unwrap_or_default() } else { Duration::ZERO };
        self.elapsed_ms + u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

/// Not available on every file system.
fn created_at(metadata: &Metadata) -> Option<SystemTime> {
    metadata.created().ok()
}
