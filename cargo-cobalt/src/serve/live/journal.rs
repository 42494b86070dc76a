//! An unfinished run, followed through its journal: only new lines are read.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cobalt_core::report::ItemResult;
use cobalt_core::store::{JournalEntry, JournalHeader, is_in_progress, read_journal};
use schemars::JsonSchema;
use serde::Serialize;

use crate::runs::{self, RunView, VariantView};

/// How much of a journal is read at once, in bytes.
const BUFFER: usize = 1 << 16;

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
    /// Where the line of each finished item starts, by the item's index.
    lines: BTreeMap<usize, u64>,
    counts: Counts,
    is_running: bool,
}

/// What is counted of the finished items. An item that was run again counts once.
#[derive(Debug, Default)]
struct Counts {
    passed: usize,
    in_error: usize,
    /// For each evaluator in order, the sum and the number of its scores.
    scores: Vec<(f64, usize)>,
}

impl Counts {
    fn add(&mut self, item: &ItemResult, header: &JournalHeader) {
        self.passed += usize::from(item.passed);
        self.in_error += usize::from(item.is_in_error());
        self.scores.resize(header.config.evaluators.len(), (0.0, 0));
        for (total, scores) in self.scores.iter_mut().zip(scores(item, header)) {
            *total = (total.0 + scores.0, total.1 + scores.1);
        }
    }

    /// Takes an item out that was added before.
    fn remove(&mut self, item: &ItemResult, header: &JournalHeader) {
        self.passed -= usize::from(item.passed);
        self.in_error -= usize::from(item.is_in_error());
        for (total, scores) in self.scores.iter_mut().zip(scores(item, header)) {
            *total = (total.0 - scores.0, total.1 - scores.1);
        }
    }
}

/// For each evaluator in order, the sum and the number of an item's scores.
fn scores(item: &ItemResult, header: &JournalHeader) -> impl Iterator<Item = (f64, usize)> {
    let sum = |name| item.scores(name).fold((0.0, 0), |(sum, count), score| (sum + score, count + 1));
    header.config.evaluators.iter().map(move |name| sum(name))
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
            lines: BTreeMap::new(),
            counts: Counts::default(),
            is_running: false,
        }
    }

    /// Reads new lines one by one, and calls a function with the run's id and each item. An incomplete line is left for the next call; a
    /// truncated or replaced file is read from its start.
    ///
    /// # Errors
    ///
    /// The file is gone or unreadable.
    pub fn follow(&mut self, mut each: impl FnMut(&str, ItemResult)) -> io::Result<()> {
        let mut file = File::open(&self.path)?;
        let metadata = file.metadata()?;
        if metadata.len() < self.read || (self.read > 0 && created_at(&metadata) != self.created) {
            *self = Self::new(&self.path);
        }
        (self.created, self.modified) = (created_at(&metadata), metadata.modified()?);
        // Before reading the rest, so that everything written before the process ends is seen.
        self.is_running = is_in_progress(&self.path)?;
        if metadata.len() == self.read {
            return Ok(());
        }
        file.seek(SeekFrom::Start(self.read))?;
        let (mut file, mut line) = (BufReader::with_capacity(BUFFER, file), Vec::new());
        loop {
            line.clear();
            file.read_until(b'\n', &mut line)?;
            if !line.ends_with(b"\n") {
                return Ok(());
            }
            let start = self.read;
            self.read += line.len() as u64;
            match &self.header {
                None if start == 0 => self.header = self.read_header(&line),
                None => {}
                Some(header) => {
                    // The item of a damaged line will be run again.
                    let Some(entry) = header.read_entry(&line) else { continue };
                    let id = header.id.clone();
                    if let Some(item) = self.record_item(entry, start) {
                        each(&id, item);
                    }
                }
            }
        }
    }

    /// The header; `None` if the file is not a journal, or is a copy under another name.
    fn read_header(&self, first: &[u8]) -> Option<JournalHeader> {
        let header = read_journal(first).ok()?.header;
        (self.path.file_stem()? == &*header.id).then_some(header)
    }

    /// Counts the item of the line that starts at `start`.
    fn record_item(&mut self, JournalEntry { at, mut item }: JournalEntry, start: u64) -> Option<ItemResult> {
        let header = self.header.as_ref()?;
        item.passed = header.config.passes(&item);
        if let Some(before) = self.lines.insert(item.index, start)
            && let Some(before) = read_item(&self.path, before, header)
        {
            self.counts.remove(&before, header);
        }
        self.counts.add(&item, header);
        self.elapsed_ms = self.elapsed_ms.max(at);
        Some(item)
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
        let state = if self.is_running { runs::RunPhase::Running } else { runs::RunPhase::Interrupted };
        let run = RunView::unfinished(header, state, self.lines.len());
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
            passed_items: self.counts.passed,
            error_items: self.counts.in_error,
            avg_scores: self.mean_scores(header),
            elapsed_ms: self.elapsed_ms(),
        })
    }

    fn mean_scores(&self, header: &JournalHeader) -> BTreeMap<String, f64> {
        let average = |(name, (sum, count)): (&String, &(f64, usize))| {
            (*count > 0).then(|| (name.clone(), sum / *count as f64))
        };
        header.config.evaluators.iter().zip(&self.counts.scores).filter_map(average).collect()
    }

    /// For a running run, adds the time since the last write to the journal: its start, its resumption, or its last finished item.
    fn elapsed_ms(&self) -> u64 {
        let since =
            if self.is_running { self.modified.elapsed().unwrap_or_default() } else { Duration::ZERO };
        self.elapsed_ms + u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

/// The item of the line that starts at `start`, which was counted before.
fn read_item(path: &Path, start: u64, header: &JournalHeader) -> Option<ItemResult> {
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut line = Vec::new();
    BufReader::new(file).read_until(b'\n', &mut line).ok()?;
    let mut item = header.read_entry(&line)?.item;
    item.passed = header.config.passes(&item);
    Some(item)
}

/// Not available on every file system.
fn created_at(metadata: &Metadata) -> Option<SystemTime> {
    metadata.created().ok()
}
