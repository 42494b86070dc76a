//! Reports of unfinished runs, from their journals. The items of a journal are in memory: a very large one is not read.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use cobalt::command::config::Config;
use cobalt_core::report::Report;
use cobalt_core::store::{JournalContents, read_journal};

/// The maximum size of a journal whose items are read, until the run is finished and has columns.
pub const MAX_JOURNAL_BYTES: u64 = 256 << 20;

/// Checks that a journal of this size is at most `most` bytes large.
pub fn check_journal_size(size: u64, most: u64) -> io::Result<()> {
    if size <= most {
        return Ok(());
    }
    let reason = format!(
        "the run is too large to be shown before it has finished: its journal has {} MiB, and at most {} are read",
        size.div_ceil(1 << 20),
        most >> 20
    );
    Err(io::Error::new(io::ErrorKind::FileTooLarge, reason))
}

/// The report of the finished items of a run, from its journal.
///
/// # Errors
///
/// The file cannot be read, is not a journal, or is too large.
pub fn unfinished_report(journal: &Path, settings: &Config) -> io::Result<Report> {
    Ok(partial_report(read_up_to(journal, MAX_JOURNAL_BYTES)?, settings))
}

fn read_up_to(journal: &Path, most: u64) -> io::Result<JournalContents> {
    check_journal_size(File::open(journal)?.metadata()?.len(), most)?;
    read_journal(&fs::read(journal)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The latest line of an item counts.
fn partial_report(contents: JournalContents, settings: &Config) -> Report {
    let JournalContents { header, items, elapsed, .. } = contents;
    let items: BTreeMap<_, _> = items.into_iter().map(|item| (item.index, item)).collect();
    header.partial_report(items.into_values().collect(), elapsed, settings.prices())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_that_is_too_large_is_not_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), vec![b' '; 3 << 20]).unwrap();
        let kind = |most| read_up_to(file.path(), most).unwrap_err().kind();
        assert_eq!(kind(3 << 20), io::ErrorKind::InvalidData, "it is read");
        assert_eq!(kind((3 << 20) - 1), io::ErrorKind::FileTooLarge);
        let told = read_up_to(file.path(), 2 << 20).unwrap_err().to_string();
        assert!(told.ends_with("its journal has 3 MiB, and at most 2 are read"), "{told}");
    }
}
