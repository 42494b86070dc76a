//! The money that may be spent on models in one call: by agents and judges together.
//!
//! What was spent is known after each response, so the last requests may exceed the limit by their own cost. A model without a known
//! price counts as free.

use std::fs::OpenOptions;
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use cobalt_core::reporters::format_cost_precise as format_cost;

/// The budget of this process, if it has one.
static BUDGET: OnceLock<Budget> = OnceLock::new();

/// What is done when the money is spent.
type OnSpent = Box<dyn Fn() + Send>;

/// A budget.
pub struct Budget {
    /// In USD.
    max: f64,
    /// In USD, by all processes of the call.
    spent: Mutex<f64>,
    /// The file in which the processes of a call add up what they spend.
    ledger: Option<PathBuf>,
    is_spent: AtomicBool,
    on_spent: Mutex<Vec<OnSpent>>,
}

impl std::fmt::Debug for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Budget").field("max", &self.max).field("spent", &self.spent).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Limits what this process spends, together with others that have the same ledger. The first limit of a process holds.
pub fn limit(max: f64, ledger: Option<PathBuf>) {
    BUDGET.get_or_init(|| Budget::new(max, ledger));
}

/// Adds what was spent, in USD.
pub fn spend(usd: f64) {
    if let Some(budget) = BUDGET.get() {
        budget.spend(usd);
    }
}

/// Why no further request is sent; `None` if there is money left, or no limit.
pub fn refusal() -> Option<String> {
    BUDGET.get()?.refusal()
}

/// Calls a function when the money is spent.
pub fn on_spent(function: impl Fn() + Send + 'static) {
    if let Some(budget) = BUDGET.get() {
        budget.on_spent(Box::new(function));
    }
}

impl Budget {
    fn new(max: f64, ledger: Option<PathBuf>) -> Self {
        let spent = Mutex::new(0.0);
        let budget =
            Self { max, spent, ledger, is_spent: AtomicBool::new(false), on_spent: Mutex::default() };
        // Another process may have spent it already.
        budget.spend(0.0);
        budget
    }

    fn spend(&self, usd: f64) {
        let mut spent = lock(&self.spent);
        let total = self.ledger.as_deref().and_then(|ledger| add_to_ledger(ledger, usd).ok());
        *spent = total.unwrap_or(*spent + usd);
        let is_spent = *spent >= self.max;
        drop(spent);
        if is_spent && !self.is_spent.swap(true, Ordering::SeqCst) {
            lock(&self.on_spent).iter().for_each(|function| function());
        }
    }

    fn refusal(&self) -> Option<String> {
        self.is_spent.load(Ordering::SeqCst).then(|| {
            let (spent, max) = (format_cost(*lock(&self.spent)), format_cost(self.max));
            format!("{spent} of {max} are spent, so no further request is sent; raise --max-cost, and resume the run")
        })
    }

    fn on_spent(&self, function: OnSpent) {
        let mut functions = lock(&self.on_spent);
        if self.is_spent.load(Ordering::SeqCst) {
            function();
        }
        functions.push(function);
    }
}

/// Adds to the sum in a file, and returns it.
fn add_to_ledger(ledger: &Path, usd: f64) -> std::io::Result<f64> {
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(ledger)?;
    file.lock()?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let total = text.trim().parse().unwrap_or(0.0) + usd;
    file.rewind()?;
    file.set_len(0)?;
    write!(file, "{total}")?;
    Ok(total)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn the_first_cent_above_the_limit_stops_everything_once() {
        let calls = Arc::new(AtomicUsize::new(0));
        let budget = Budget::new(2.0, None);
        let counted = Arc::clone(&calls);
        budget.on_spent(Box::new(move || {
            counted.fetch_add(1, Ordering::SeqCst);
        }));
        budget.spend(1.99);
        assert_eq!((budget.refusal(), calls.load(Ordering::SeqCst)), (None, 0));
        budget.spend(0.02);
        budget.spend(0.5);
        assert_eq!(calls.load(Ordering::SeqCst), 1);
        assert!(budget.refusal().unwrap().starts_with("$2.51 of $2.00 are spent"));
        let counted = Arc::clone(&calls);
        budget.on_spent(Box::new(move || {
            counted.fetch_add(1, Ordering::SeqCst);
        }));
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn processes_of_one_call_spend_together() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Some(dir.path().join("spent"));
        let (one, other) = (Budget::new(1.0, ledger.clone()), Budget::new(1.0, ledger.clone()));
        one.spend(0.75);
        assert_eq!(one.refusal(), None);
        other.spend(0.5);
        assert!(other.refusal().is_some());
        assert!(Budget::new(1.0, ledger).refusal().is_some());
    }
}
