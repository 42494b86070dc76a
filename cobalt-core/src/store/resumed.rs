//! Resuming a run from its journal.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::time::Duration;

use super::error::{StoreError, storage_error};
use super::journal::{JournalHeader, JournalWriter, read_journal};
use super::journal_items::{JournalOutline, JournalReader, LineUse};
use super::layout::{Layout, Lock};
use super::payment::Payments;
use super::report_file::ReportFile;
use crate::report::{ItemResult, Rescored};

/// The journal of a run to resume, of which the first line is read.
#[derive(Debug)]
pub struct LockedJournal {
    reader: JournalReader<File>,
    /// The same file.
    file: File,
    path: PathBuf,
    is_locked: bool,
}

/// A resumed run: its journal for appending, which has the finished items.
#[derive(Debug)]
pub struct ResumedRun {
    /// What is run.
    pub header: JournalHeader,
    /// The run time up to the last finished item.
    pub elapsed: Duration,
    /// The number of damaged lines, whose items count as not run.
    pub damaged: usize,
    /// What was paid, also for items that did not finish.
    pub payments: Payments,
    /// The journal, positioned at its end.
    pub journal: JournalWriter,
    /// The file, for messages.
    pub path: PathBuf,
    /// Whether the journal is locked against other processes.
    pub is_locked: bool,
}

impl LockedJournal {
    /// Opens the journal of the run with this ID, and locks it.
    pub fn open(layout: &Layout, id: &str) -> Result<Self, StoreError> {
        let refuse = |reason: String| StoreError::Resume { id: id.to_owned(), reason };
        let path = layout.journal(id);
        let file = match OpenOptions::new().read(true).append(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(refuse(missing_reason(layout, id)));
            }
            Err(source) => return Err(storage_error("open", &path, source)),
        };
        let lock = Lock::acquire(&file).map_err(|source| storage_error("lock", &path, source))?;
        if lock == Lock::Busy {
            return Err(refuse("it is in progress in another process; wait for it to finish".to_owned()));
        }
        // The process that held the lock has just removed it: the run is finished.
        if !path.exists() {
            return Err(refuse(missing_reason(layout, id)));
        }
        let read = file.try_clone().and_then(JournalReader::start);
        let read = read.map_err(|source| storage_error("read", &path, source))?;
        let reader = read.map_err(|error| refuse(error.to_string()))?;
        Ok(Self { reader, file, path, is_locked: lock == Lock::Held })
    }

    /// The first line.
    #[must_use]
    pub fn header(&self) -> &JournalHeader {
        self.reader.header()
    }

    /// Reads the items once, of which `line_use` decides whether they count, and removes an incomplete last line.
    pub fn read(self, line_use: impl Fn(&ItemResult) -> LineUse) -> Result<ResumedRun, StoreError> {
        let Self { reader, file, path, is_locked } = self;
        let header = reader.header().clone();
        let outline = reader.read(line_use).map_err(|source| storage_error("read", &path, source))?;
        let JournalOutline { index, elapsed, damaged, payments, has_more, whole } = outline;
        file.set_len(whole).map_err(|source| storage_error("write", &path, source))?;
        let journal = JournalWriter::of(file, &path, whole, index, has_more);
        Ok(ResumedRun { header, elapsed, damaged, payments, journal, path, is_locked })
    }
}

/// A run to resume. It may have finished since it was interrupted.
#[derive(Debug)]
pub struct InterruptedRun {
    /// The run's id.
    pub id: String,
    /// The experiment's name.
    pub experiment: String,
    /// The indexes of its items, if not all.
    pub selection: Option<Vec<usize>>,
    /// The origin of its outputs, if they are only scored.
    pub rescored: Option<Box<Rescored>>,
}

impl InterruptedRun {
    /// Finds the run with this ID.
    pub fn find(layout: &Layout, id: &str) -> Result<Self, StoreError> {
        let refuse = |reason: String| StoreError::Resume { id: id.to_owned(), reason };
        let path = layout.journal(id);
        let first_line = || {
            let mut line = Vec::new();
            BufReader::new(File::open(&path)?).read_until(b'\n', &mut line)?;
            Ok::<_, io::Error>(line)
        };
        let (experiment, selection, rescored) = match first_line() {
            Ok(line) => {
                let header = read_journal(&line).map_err(|error| refuse(error.to_string()))?.header;
                (header.name, header.selection, header.rescored)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => match layout.result_of(id) {
                Some(result) => {
                    let file = ReportFile::open(&result)?;
                    let selection = file.selected_indexes()?;
                    (file.report().name.clone(), selection, file.report().rescored.clone())
                }
                None => return Err(refuse(missing_reason(layout, id))),
            },
            Err(source) => return Err(storage_error("read", &path, source)),
        };
        Ok(Self { id: id.to_owned(), experiment, selection, rescored })
    }
}

/// Why there is no journal, according to the other files.
fn missing_reason(layout: &Layout, id: &str) -> String {
    if let Some(path) = layout.result_of(id) {
        return format!("it is finished; its results are in `{}`", path.display());
    }
    let entries = fs::read_dir(layout.journals()).into_iter().flatten().flatten();
    let mut open: Vec<_> = entries
        .filter_map(|entry| entry.file_name().to_string_lossy().strip_suffix(".jsonl").map(str::to_owned))
        .collect();
    open.sort();
    let known = if open.is_empty() { "none".to_owned() } else { open.join(", ") };
    format!("no such run in `{}`; runs that can be resumed: {known}", layout.journals().display())
}
