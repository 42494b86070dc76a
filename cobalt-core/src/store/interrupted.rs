//! Journals of runs that have not finished: which are still in progress, and the report so far.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::journal::{JournalError, JournalHeader, read_journal};
use super::layout::Lock;
use crate::prices::{PRICES_AS_OF, PriceTable};
use crate::report::{ItemResult, Report, RunMetrics, RunVerdict, SCHEMA, Summary};

impl JournalHeader {
    /// The number of items to run.
    #[must_use]
    pub fn planned_items(&self) -> usize {
        self.selection.as_ref().map_or(self.dataset.items, Vec::len)
    }

    /// The report of the finished items so far: each item once, in dataset order. Its thresholds are not evaluated, and it has not
    /// passed.
    #[must_use]
    pub fn partial_report(&self, items: Vec<ItemResult>, elapsed: Duration, prices: &PriceTable) -> Report {
        let mut report = self.report(items);
        let evaluators: Vec<_> = report.config.evaluators().collect();
        report.summary = RunMetrics::gather_by(&report.items, &evaluators, &report.config.group_by, prices)
            .summary(elapsed);
        // A failure is final; the rest may still fail.
        report.verdict =
            RunVerdict::evaluate(&report.config, &report.summary, None).max(RunVerdict::NotEvaluated);
        report
    }

    /// A report of these items, without a summary and not evaluated.
    #[doc(hidden)]
    pub fn report(&self, mut items: Vec<ItemResult>) -> Report {
        // Older journals mark every item without an error as passed if thresholds decide.
        items.iter_mut().for_each(|item| item.passed = self.config.passes(item));
        Report {
            schema: SCHEMA,
            run_name: None,
            note: None,
            id: self.id.clone(),
            name: self.name.clone(),
            timestamp: self.timestamp,
            tags: self.tags.clone(),
            declared_at: self.declared_at.clone(),
            variant: self.variant.clone(),
            rescored: self.rescored.clone(),
            config: self.config.clone(),
            ci_status: None,
            passed: false,
            verdict: RunVerdict::NotEvaluated,
            summary: Summary::default(),
            // Some of the items do not measure the agent.
            partial: self.selection.is_some(),
            shard: self.shard,
            shard_plan: self.shard_plan.clone(),
            shard_group: self.shard_group.clone(),
            shards: Vec::new(),
            pooled: Vec::new(),
            dataset: Some(self.dataset.clone()),
            git: None,
            sources: self.sources.clone(),
            baseline: None,
            prices_as_of: Some(PRICES_AS_OF.to_owned()),
            redacted: false,
            items,
        }
    }
}

/// How long an empty journal counts as in progress even if it is not locked: the process that created it may be about to lock it.
const EMPTY_GRACE_PERIOD: Duration = Duration::from_secs(5);

/// How long a journal counts as in progress after its last write, if files cannot be locked.
const UNLOCKED_GRACE_PERIOD: Duration = Duration::from_secs(60 * 60);

/// The journal of an interrupted run. It is locked while this value exists, which prevents resuming the run.
#[derive(Debug)]
pub struct InterruptedJournal {
    path: PathBuf,
    /// The header; absent if the process ended before writing it.
    pub header: Option<JournalHeader>,
    /// Holds the lock.
    _file: File,
}

impl InterruptedJournal {
    /// Opens a journal. `None` if its run is in progress or may be.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a journal.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let Some(file) = lock(path, Lock::try_exclusive)? else { return Ok(None) };
        let header = header(&file)?;
        Ok(Some(Self { path: path.to_owned(), header, _file: file }))
    }

    /// Removes the journal.
    ///
    /// # Errors
    ///
    /// The file cannot be removed.
    pub fn remove(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

/// Whether the run of a journal is in progress or may be.
///
/// # Errors
///
/// The file cannot be read.
pub fn is_in_progress(path: &Path) -> io::Result<bool> {
    Ok(lock(path, Lock::try_shared)?.is_none())
}

/// The journal of an experiment's interrupted run, according to its lock. `None` for a run in progress, and for one of another
/// experiment.
pub fn open_interrupted(path: &Path, experiment: &str) -> io::Result<Option<File>> {
    let mut file = File::open(path)?;
    // The writer may be about to lock it.
    if file.metadata()?.len() == 0 {
        return Ok(None);
    }
    // Without locks, the current contents are all that is known.
    if Lock::try_shared(&file)? == Lock::Busy || header(&file)?.is_none_or(|it| it.name != experiment) {
        return Ok(None);
    }
    file.rewind()?;
    Ok(Some(file))
}

/// The first line of a journal; `None` if it is incomplete.
fn header(file: &File) -> io::Result<Option<JournalHeader>> {
    let mut first = Vec::new();
    BufReader::new(file).read_until(b'\n', &mut first)?;
    match read_journal(&first) {
        Ok(contents) => Ok(Some(contents.header)),
        Err(JournalError::Empty) => Ok(None),
        Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
    }
}

/// A locked journal, or `None` if its run is in progress or may be.
fn lock(path: &Path, try_lock: fn(&File) -> io::Result<Lock>) -> io::Result<Option<File>> {
    // Network file systems need write access for an exclusive lock.
    let file = OpenOptions::new().read(true).write(true).open(path).or_else(|_| File::open(path))?;
    let metadata = file.metadata()?;
    let age = SystemTime::now().duration_since(metadata.modified()?).unwrap_or_default();
    let is_about_to_be_locked = metadata.len() == 0 && age < EMPTY_GRACE_PERIOD;
    let is_free = !is_about_to_be_locked
        && match try_lock(&file) {
            Ok(Lock::Held) => true,
            Ok(Lock::Unsupported) => age > UNLOCKED_GRACE_PERIOD,
            Ok(Lock::Busy) | Err(_) => false,
        };
    Ok(is_free.then_some(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{JournalContents, read_journal};

    #[test]
    fn what_is_finished_is_summed_up_and_has_not_passed() {
        let header = serde_json::json!({
            "journal": 1, "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "tags": ["smoke"],
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["right"], "passMarks": [0.5],
                "thresholds": ["right.avg>=0.5"] },
            "dataset": { "source": "inline", "items": 3, "hash": "d" }, "definition": "f",
        });
        let entry = |index: usize, score: f64| {
            let item = serde_json::json!({
                "index": index, "key": index.to_string(), "status": "ok", "passed": score > 0.5, "latencyMs": 1,
                "input": {}, "output": { "output": "a" }, "evaluations": { "right": { "score": score } },
            });
            serde_json::json!({ "at": 12, "item": item })
        };
        let lines = [header, entry(0, 1.0), entry(2, 0.5)];
        let journal: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let JournalContents { header, items, elapsed, .. } = read_journal(journal.as_bytes()).unwrap();
        assert_eq!(header.planned_items(), 3);
        let report = header.partial_report(items, elapsed, &PriceTable::default());
        let summary = &report.summary;
        assert_eq!((summary.total_items, summary.passed_items, summary.eval_errors), (2, 2, 0));
        assert_eq!((summary.scores["right"].avg, summary.total_duration_ms), (0.75, 12));
        assert!(!report.passed && !report.partial && report.ci_status.is_none());
        assert_eq!(report.verdict, RunVerdict::NotEvaluated);
        assert_eq!(report.tags, ["smoke"]);
    }

    /// A journal that was written long ago.
    fn journal(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        file.as_file().set_modified(SystemTime::now() - 10 * EMPTY_GRACE_PERIOD).unwrap();
        file
    }

    #[test]
    fn a_journal_that_is_locked_or_just_made_is_that_of_a_run_that_is_going_on() {
        let file = journal("");
        let writer = File::open(file.path()).unwrap();
        writer.lock().unwrap();
        assert!(InterruptedJournal::open(file.path()).unwrap().is_none());
        drop(writer);
        assert!(InterruptedJournal::open(file.path()).unwrap().is_some());
        file.as_file().set_modified(SystemTime::now()).unwrap();
        assert!(InterruptedJournal::open(file.path()).unwrap().is_none());
    }

    #[test]
    fn a_run_whose_process_has_just_been_killed_is_not_going_on() {
        let file = journal("{\"journal\": 1");
        file.as_file().set_modified(SystemTime::now()).unwrap();
        let writer = File::open(file.path()).unwrap();
        writer.lock().unwrap();
        assert!(is_in_progress(file.path()).unwrap());
        drop(writer);
        assert!(!is_in_progress(file.path()).unwrap());
    }

    #[test]
    fn readers_of_a_journal_do_not_take_each_other_for_its_writer() {
        let file = journal("{\"journal\": 1");
        let reader = File::open(file.path()).unwrap();
        reader.lock_shared().unwrap();
        assert!(!is_in_progress(file.path()).unwrap());
        assert!(
            InterruptedJournal::open(file.path()).unwrap().is_none(),
            "a journal with another reader must not be removed"
        );
    }

    #[test]
    fn what_is_no_journal_is_an_error_and_one_without_its_first_line_is_none() {
        let torn = journal("{\"journal\": 1, \"id\"");
        let opened = InterruptedJournal::open(torn.path()).unwrap().unwrap();
        assert_eq!(opened.header, None);
        opened.remove().unwrap();
        assert!(!torn.path().exists());
        assert!(InterruptedJournal::open(journal("[1]\n").path()).is_err());
    }
}
