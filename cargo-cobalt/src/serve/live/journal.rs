//! A run that has not ended, by its journal, of which only what was added since the last time is read.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cobalt_core::report::ItemResult;
use cobalt_core::store::{JournalEntry, JournalHeader, is_going_on, read_journal};
use schemars::JsonSchema;
use serde::Serialize;

use crate::runs::{self, RunView};

/// Whether a run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "RunState")]
pub enum LiveRunState {
    /// It has ended, and its result file is there.
    Finished,
    /// It is going on.
    Running,
    /// Its process has ended before it had: `cargo cobalt run --resume ID` runs what is missing.
    CutOff,
}

impl From<runs::RunPhase> for LiveRunState {
    fn from(state: runs::RunPhase) -> Self {
        match state {
            runs::RunPhase::Ended => Self::Finished,
            runs::RunPhase::GoingOn => Self::Running,
            runs::RunPhase::CutOff => Self::CutOff,
        }
    }
}

/// A run that has not ended.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LiveRun {
    pub id: String,
    /// The experiment's name.
    pub name: String,
    /// The start, ISO 8601 in UTC.
    pub timestamp: String,
    pub tags: Vec<String>,
    pub state: LiveRunState,
    /// Whether it is a run of some of the items.
    pub partial: bool,
    /// How many items there are to run.
    pub total_items: usize,
    pub finished_items: usize,
    /// Those of the finished items that passed.
    pub passed_items: usize,
    /// Those of the finished items whose agent, or an evaluator, failed.
    pub error_items: usize,
    /// Each evaluator's mean so far.
    pub avg_scores: BTreeMap<String, f64>,
    /// How long it has gone on, in milliseconds.
    pub elapsed_ms: u64,
}

/// A journal as far as it was read.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// When the file was made: one that takes its place was made later.
    made: Option<SystemTime>,
    modified: SystemTime,
    /// How many bytes were read, all of them whole lines.
    read: u64,
    /// What is run; absent until the first line is whole, and where it is no journal's.
    header: Option<JournalHeader>,
    /// How long the run had gone on when its last item was finished, in milliseconds.
    elapsed_ms: u64,
    /// What came of the finished items, by their index: one that was run again counts once.
    finished: BTreeMap<usize, Finished>,
    is_going_on: bool,
}

/// What is counted of an item.
#[derive(Debug)]
struct Finished {
    passed: bool,
    is_in_error: bool,
    /// Of each evaluator, in their order, the sum of its scores and how many they are.
    scores: Vec<(f64, usize)>,
}

impl Journal {
    /// A journal of which nothing has been read.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            made: None,
            modified: SystemTime::UNIX_EPOCH,
            read: 0,
            header: None,
            elapsed_ms: 0,
            finished: BTreeMap::new(),
            is_going_on: false,
        }
    }

    /// Reads what was added, and answers with the items that were finished. A line that is being written is left for the next
    /// time; a file that is shorter than before, or another one, is read from its beginning.
    ///
    /// # Errors
    ///
    /// The file is gone, or cannot be read.
    pub fn follow(&mut self) -> io::Result<Vec<ItemResult>> {
        let mut file = File::open(&self.path)?;
        let metadata = file.metadata()?;
        if metadata.len() < self.read || (self.read > 0 && made(&metadata) != self.made) {
            *self = Self::new(&self.path);
        }
        (self.made, self.modified) = (made(&metadata), metadata.modified()?);
        // Before the rest is read: what a process writes before it ends is seen in any case.
        self.is_going_on = is_going_on(&self.path)?;
        if metadata.len() == self.read {
            return Ok(Vec::new());
        }
        let mut added = Vec::new();
        file.seek(SeekFrom::Start(self.read))?;
        file.read_to_end(&mut added)?;
        Ok(self.take(&added))
    }

    fn take(&mut self, added: &[u8]) -> Vec<ItemResult> {
        let whole = memchr::memrchr(b'\n', added).map_or(0, |end| end + 1);
        let mut lines = added[..whole].split_inclusive(|byte| *byte == b'\n');
        if self.read == 0 {
            self.header = lines.next().and_then(|first| self.read_header(first));
        }
        self.read += whole as u64;
        let Some(header) = &self.header else { return Vec::new() };
        // A line that is damaged is that of an item that will be run again.
        let entries: Vec<_> = lines.filter_map(|line| header.read_entry(line)).collect();
        entries.into_iter().map(|entry| self.count(entry)).collect()
    }

    /// What is run; `None` where the file is no journal, or a copy of one under another name.
    fn read_header(&self, first: &[u8]) -> Option<JournalHeader> {
        let header = read_journal(first).ok()?.header;
        (self.path.file_stem()? == &*header.id).then_some(header)
    }

    fn count(&mut self, JournalEntry { at, mut item }: JournalEntry) -> ItemResult {
        if let Some(header) = &self.header {
            item.passed = header.config.passes(&item);
        }
        let evaluators = self.header.iter().flat_map(|header| &header.config.evaluators);
        let scores = |name| item.scores(name).fold((0.0, 0), |(sum, count), score| (sum + score, count + 1));
        let finished = Finished {
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

    /// The run's id; `None` as long as nothing is known of it.
    pub fn id(&self) -> Option<&str> {
        Some(&self.header.as_ref()?.id)
    }

    /// The run as it stands; `None` as long as nothing is known of it.
    pub fn run(&self) -> Option<LiveRun> {
        let header = self.header.as_ref()?;
        let count = |is: fn(&Finished) -> bool| self.finished.values().filter(|item| is(item)).count();
        let state = if self.is_going_on { runs::RunPhase::GoingOn } else { runs::RunPhase::CutOff };
        let run = RunView::unfinished(header, state, self.finished.len());
        Some(LiveRun {
            id: run.id,
            name: run.experiment,
            timestamp: run.timestamp,
            tags: run.tags,
            state: run.state.into(),
            partial: run.is_partial,
            total_items: run.items.total,
            finished_items: run.items.finished,
            passed_items: count(|item| item.passed),
            error_items: count(|item| item.is_in_error),
            avg_scores: self.averages(header),
            elapsed_ms: self.elapsed_ms(),
        })
    }

    fn averages(&self, header: &JournalHeader) -> BTreeMap<String, f64> {
        let average = |(place, name): (usize, &String)| {
            let scores = self.finished.values().map(|item| item.scores[place]);
            let (sum, count) = scores.fold((0.0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
            (count > 0).then(|| (name.clone(), sum / count as f64))
        };
        header.config.evaluators.iter().enumerate().filter_map(average).collect()
    }

    /// A run that is going on has done so since its last item was finished, or since it was begun or taken up, all of which
    /// its file tells by its time.
    fn elapsed_ms(&self) -> u64 {
        let since =
            if self.is_going_on { self.modified.elapsed().unwrap_or_default() } else { Duration::ZERO };
        self.elapsed_ms + u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

/// Not every file system tells.
fn made(metadata: &Metadata) -> Option<SystemTime> {
    metadata.created().ok()
}
