//! Journals that no process writes to any more, told apart from those of runs that are going on.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::journal::{JournalError, JournalHeader, read_journal};

/// How long an empty journal counts as that of a run that is going on, whether it is locked or not: the process that has made
/// it may be about to lock it, and writes only then.
const FRESH: Duration = Duration::from_secs(5);

/// The journal of a run that is not going on. It is locked while this lives, so that none takes the run up.
#[derive(Debug)]
pub struct CutOffJournal {
    path: PathBuf,
    /// What was run; absent where the process ended before it had said so.
    pub header: Option<JournalHeader>,
    /// Holds the lock.
    _file: File,
}

impl CutOffJournal {
    /// Opens a journal. `None` where its run is going on, or may be.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no journal.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let Some(file) = lock(path)? else { return Ok(None) };
        let mut first = Vec::new();
        BufReader::new(&file).read_until(b'\n', &mut first)?;
        let header = match read_journal(&first) {
            Ok(contents) => Some(contents.header),
            Err(JournalError::Empty) => None,
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        };
        Ok(Some(Self { path: path.to_owned(), header, _file: file }))
    }

    /// Removes it.
    ///
    /// # Errors
    ///
    /// The system does not let it.
    pub fn remove(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

/// Whether the run of a journal is going on, or may be.
///
/// # Errors
///
/// The file cannot be read.
pub fn is_going_on(path: &Path) -> io::Result<bool> {
    Ok(lock(path)?.is_none())
}

/// A journal locked, or `None` where its run is going on, or may be.
fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let age = SystemTime::now().duration_since(metadata.modified()?).unwrap_or_default();
    let is_about_to_be_locked = metadata.len() == 0 && age < FRESH;
    // Where files cannot be locked, nobody knows.
    Ok((!is_about_to_be_locked && file.try_lock().is_ok()).then_some(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A journal that was written long ago.
    fn journal(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        file.as_file().set_modified(SystemTime::now() - 10 * FRESH).unwrap();
        file
    }

    #[test]
    fn a_journal_that_is_locked_or_just_made_is_that_of_a_run_that_is_going_on() {
        let file = journal("");
        let writer = File::open(file.path()).unwrap();
        writer.lock().unwrap();
        assert!(CutOffJournal::open(file.path()).unwrap().is_none());
        drop(writer);
        assert!(CutOffJournal::open(file.path()).unwrap().is_some());
        file.as_file().set_modified(SystemTime::now()).unwrap();
        assert!(CutOffJournal::open(file.path()).unwrap().is_none());
    }

    #[test]
    fn a_run_whose_process_has_just_been_killed_is_not_going_on() {
        let file = journal("{\"journal\": 1");
        file.as_file().set_modified(SystemTime::now()).unwrap();
        let writer = File::open(file.path()).unwrap();
        writer.lock().unwrap();
        assert!(is_going_on(file.path()).unwrap());
        drop(writer);
        assert!(!is_going_on(file.path()).unwrap());
    }

    #[test]
    fn what_is_no_journal_is_an_error_and_one_without_its_first_line_is_none() {
        let torn = journal("{\"journal\": 1, \"id\"");
        let opened = CutOffJournal::open(torn.path()).unwrap().unwrap();
        assert_eq!(opened.header, None);
        opened.remove().unwrap();
        assert!(!torn.path().exists());
        assert!(CutOffJournal::open(journal("[1]\n").path()).is_err());
    }
}
