//! The file in which the processes of a call add up what they spend.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cobalt_core::slug::slug;

/// The beginning of the names of shared ledgers.
const LEDGER_PREFIX: &str = "budget-";
/// The age at which the ledgers of other runs are deleted.
const MAX_LEDGER_AGE: Duration = Duration::from_secs(24 * 3600);

/// What all processes spend.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// In USD.
    pub spent: f64,
    /// What is set aside for requests in flight, in USD.
    pub reserved: f64,
    /// The highest charge for a request, in USD.
    pub highest: f64,
    /// The number of requests in flight to models without a charge so far.
    pub probes: u32,
}

/// The ledger of a run of a test runner that starts many processes, by the runner's ID of the run.
pub fn shared_ledger(folder: &Path, run: &str) -> PathBuf {
    folder.join(format!("{LEDGER_PREFIX}{}", slug(run, 64)))
}

/// Creates the folder of a shared ledger, and deletes old ledgers in it.
pub fn prepare(ledger: &Path) {
    if let Some(folder) = ledger.parent().filter(|_| is_shared(ledger)) {
        // If it cannot be created, no sum can be written, which is an error later.
        let _ = fs::create_dir_all(folder);
        remove_old_ledgers(folder);
    }
}

fn is_shared(ledger: &Path) -> bool {
    ledger.file_name().is_some_and(|name| name.to_string_lossy().starts_with(LEDGER_PREFIX))
}

fn remove_old_ledgers(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let written = entry.metadata().and_then(|file| file.modified()).ok();
        let is_old = written.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > MAX_LEDGER_AGE);
        if is_old && is_shared(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Changes the totals in a file while no other process does.
///
/// # Errors
///
/// The file cannot be read or written.
pub fn update<T>(ledger: &Path, change: impl FnOnce(&mut Totals) -> T) -> io::Result<(Totals, T)> {
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(ledger)?;
    file.lock()?;
    let before = read(&mut file)?;
    let mut totals = before;
    let result = change(&mut totals);
    if totals != before {
        file.rewind()?;
        // Always of the same length: a process that is killed here leaves totals.
        let Totals { spent, reserved, highest, probes } = totals;
        write!(file, "{spent:>32.12} {reserved:>32.12} {highest:>32.12} {probes:>10}")?;
    }
    Ok((totals, result))
}

/// An empty file is a ledger in which nothing is spent yet.
fn read(file: &mut File) -> io::Result<Totals> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let mut numbers = text.split_whitespace();
    let mut amount = || {
        let amount = numbers.next().unwrap_or("0");
        amount.parse().map_err(|_| io::Error::other(format!("`{amount}` is not an amount in USD")))
    };
    let (spent, reserved, highest) = (amount()?, amount()?, amount()?);
    let probes = numbers.next().and_then(|number| number.parse().ok()).unwrap_or(0);
    Ok(Totals { spent, reserved, highest, probes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_ledgers_are_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (shared_ledger(dir.path(), "a/b"), shared_ledger(dir.path(), "c"));
        let other = dir.path().join("openai");
        for file in [&old, &new, &other] {
            fs::write(file, "").unwrap();
        }
        let long_ago = std::time::SystemTime::now() - 2 * MAX_LEDGER_AGE;
        for file in [&old, &other] {
            File::options().write(true).open(file).unwrap().set_modified(long_ago).unwrap();
        }
        remove_old_ledgers(dir.path());
        assert_eq!([old.exists(), new.exists(), other.exists()], [false, true, true]);
    }

    #[test]
    fn totals_survive_in_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = dir.path().join("spent");
        fs::write(&ledger, "0.25").unwrap();
        let change = |totals: &mut Totals| (totals.reserved, totals.probes) = (1.5, 2);
        let (totals, ()) = update(&ledger, change).unwrap();
        assert_eq!(totals, Totals { spent: 0.25, reserved: 1.5, highest: 0.0, probes: 2 });
        assert_eq!(update(&ledger, |_| ()).unwrap().0, totals);
    }
}
