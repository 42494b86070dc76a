//! The budget of agents, judges and simulated users in one invocation.
//!
//! When it is spent, no further request is sent and no further item is started; items in progress continue until they need a request.
//! The cost of a response is known after it, so the last requests may exceed the limit by their own cost. A model without a known price
//! counts as free.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use cobalt_core::reporters::format_cost_precise as format_cost;
use cobalt_core::slug::slug;

/// The beginning of the names of shared ledgers.
const LEDGER_PREFIX: &str = "budget-";
/// The age at which the ledgers of other runs are deleted.
const MAX_LEDGER_AGE: Duration = Duration::from_secs(24 * 3600);

/// The budget of this process, if it has one.
static BUDGET: OnceLock<Budget> = OnceLock::new();

/// The number of requests that were refused.
static REFUSED: AtomicUsize = AtomicUsize::new(0);

/// A budget.
#[derive(Debug)]
struct Budget {
    /// In USD.
    max: f64,
    state: Mutex<State>,
    /// The file in which the processes of a call add up what they spend.
    ledger: Option<PathBuf>,
}

#[derive(Debug, Default)]
struct State {
    /// In USD, by all processes of the call, as far as this process knows.
    spent: f64,
    /// The cost of requests that belong to no known trial, in USD. The agents report it, too.
    unattributed: f64,
    /// Why the ledger cannot be used.
    problem: Option<String>,
}

/// Limits what this process spends, together with others that have the same ledger. The first limit of a process holds.
pub fn limit(max: f64, ledger: Option<PathBuf>) {
    if let Some(folder) = ledger.as_deref().filter(|ledger| is_shared(ledger)).and_then(Path::parent) {
        // If it cannot be created, no sum can be written, which is an error later.
        let _ = fs::create_dir_all(folder);
        remove_old_ledgers(folder);
    }
    BUDGET.get_or_init(|| Budget::new(max, ledger));
}

/// The ledger of a run of a test runner that starts many processes, by the runner's ID of the run.
pub fn shared_ledger(folder: &Path, run: &str) -> PathBuf {
    folder.join(format!("{LEDGER_PREFIX}{}", slug(run, 64)))
}

/// Adds what was spent, in USD.
#[cfg(feature = "judge")]
pub fn spend(usd: f64) {
    if let Some(budget) = BUDGET.get() {
        budget.spend(usd);
    }
}

/// Adds the cost of a request that belongs to no known trial. A replayed one costs nothing, but its agent reports the cost, too.
#[cfg(feature = "record")]
pub fn spend_unattributed(usd: f64, is_replayed: bool) {
    if let Some(budget) = BUDGET.get() {
        budget.spend_unattributed(usd, is_replayed);
    }
}

/// Adds the cost that an agent reports for a trial, in USD, of which `counted` was added request by request.
pub fn spend_reported(usd: f64, counted: f64) {
    if let Some(budget) = BUDGET.get() {
        budget.spend_reported(usd, counted);
    }
}

/// Why no further request is sent; `None` if the budget is not used up, or there is none.
pub fn refusal() -> Option<String> {
    BUDGET.get()?.refusal()
}

/// An error if no further request may be sent.
#[cfg(feature = "judge")]
pub fn check() -> Result<(), String> {
    refusal().map_or(Ok(()), |why| {
        REFUSED.fetch_add(1, Ordering::SeqCst);
        Err(why)
    })
}

/// The number of requests that were refused.
pub fn refused_requests() -> usize {
    REFUSED.load(Ordering::SeqCst)
}

impl Budget {
    fn new(max: f64, ledger: Option<PathBuf>) -> Self {
        Self { max, state: Mutex::default(), ledger }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(any(feature = "judge", test))]
    fn spend(&self, usd: f64) {
        let mut state = self.lock();
        self.add(&mut state, usd);
    }

    #[cfg(any(feature = "record", test))]
    fn spend_unattributed(&self, usd: f64, is_replayed: bool) {
        let mut state = self.lock();
        state.unattributed += usd;
        if !is_replayed {
            self.add(&mut state, usd);
        }
    }

    fn spend_reported(&self, usd: f64, counted: f64) {
        let mut state = self.lock();
        let due = (usd - counted).max(0.0);
        let known = due.min(state.unattributed);
        state.unattributed -= known;
        self.add(&mut state, due - known);
    }

    fn add(&self, state: &mut State, usd: f64) {
        if usd > 0.0 {
            match &self.ledger {
                Some(ledger) => match add_to_ledger(ledger, usd) {
                    Ok(total) => state.spent = total,
                    Err(error) => state.fail(ledger, &error, usd),
                },
                None => state.spent += usd,
            }
        }
    }

    /// Another process may have spent the rest.
    fn refusal(&self) -> Option<String> {
        let mut state = self.lock();
        if let Some(ledger) =
            self.ledger.as_deref().filter(|_| state.spent < self.max && state.problem.is_none())
        {
            match read_ledger(ledger) {
                Ok(total) => state.spent = total,
                Err(error) => state.fail(ledger, &error, 0.0),
            }
        }
        let max = format_cost(self.max);
        match &state.problem {
            Some(problem) => Some(format!("the budget of {max} cannot be enforced: {problem}")),
            None if state.spent < self.max => None,
            None => Some(format!(
                "the budget of {max} is used up, so no further request is sent; resume the run with a new budget"
            )),
        }
    }
}

impl State {
    /// Without the ledger, it is unknown what the other processes spend: nothing more is.
    fn fail(&mut self, ledger: &Path, error: &io::Error, usd: f64) {
        self.spent += usd;
        self.problem.get_or_insert_with(|| {
            format!(
                "cannot add up the spending of all processes in `{}`: {error}; make the file writable or delete it, and resume the run",
                ledger.display()
            )
        });
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

/// Adds to the sum in a file, and returns it.
fn add_to_ledger(ledger: &Path, usd: f64) -> io::Result<f64> {
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(ledger)?;
    file.lock()?;
    let total = read_sum(&mut file)? + usd;
    file.rewind()?;
    // Always of the same length: a process that is killed here leaves a sum.
    write!(file, "{total:>32.12}")?;
    Ok(total)
}

fn read_ledger(ledger: &Path) -> io::Result<f64> {
    match File::open(ledger) {
        Ok(mut file) => {
            file.lock_shared()?;
            read_sum(&mut file)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0.0),
        Err(error) => Err(error),
    }
}

/// An empty file is a ledger in which nothing is spent yet.
fn read_sum(file: &mut File) -> io::Result<f64> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    match text.trim() {
        "" => Ok(0.0),
        sum => sum.parse().map_err(|_| io::Error::other(format!("`{sum}` is not an amount in USD"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_cent_above_the_limit_refuses_all_that_follow() {
        let budget = Budget::new(2.0, None);
        budget.spend(1.99);
        assert_eq!(budget.refusal(), None);
        budget.spend(0.02);
        budget.spend(0.5);
        let refusal = budget.refusal().unwrap();
        assert!(refusal.starts_with("the budget of $2.00 is used up"), "{refusal}");
    }

    #[test]
    fn processes_of_one_call_spend_together() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Some(dir.path().join("spent"));
        let [one, other] = [1, 2].map(|_| Budget::new(1.0, ledger.clone()));
        one.spend(0.75);
        assert_eq!((one.refusal(), other.refusal()), (None, None));
        other.spend(0.5);
        assert!(one.refusal().is_some() && other.refusal().is_some());
        assert!(Budget::new(1.0, ledger.clone()).refusal().is_some());
        std::fs::write(ledger.as_ref().unwrap(), "much").unwrap();
        let refusal = Budget::new(1.0, ledger).refusal().unwrap();
        assert!(refusal.contains("spent`: `much` is not an amount in USD; "), "{refusal}");
    }

    #[test]
    fn ledgers_of_earlier_days_are_deleted_and_no_other_file() {
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
    fn what_an_agent_reports_is_spent_once() {
        let spent = |budget: &Budget| budget.lock().spent;
        let budget = Budget::new(100.0, None);
        budget.spend(3.0);
        budget.spend_reported(5.0, 3.0);
        assert_eq!(spent(&budget), 5.0, "of these, 3 were counted request by request");
        budget.spend_reported(1.0, 2.0);
        assert_eq!(spent(&budget), 5.0);
        budget.spend_unattributed(2.0, false);
        budget.spend_unattributed(1.0, true);
        assert_eq!(spent(&budget), 7.0, "a replayed request costs nothing");
        budget.spend_reported(4.0, 0.0);
        assert_eq!(spent(&budget), 8.0, "of these, 3 are those of the unattributed requests");
    }
}
