//! The state of a rule in files, shared by the processes that have the same folder and the same rule.
//!
//! `<rule>.json` has the levels of the buckets; it is locked while they are read and written. A file `<rule>.slot-<n>` is locked as long
//! as a request has this slot of those at a time. The system releases the locks of a process that dies. No lock is waited for: callers
//! try again.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::bucket::{Cost, Levels, Rates};

/// Why limits are not shared.
#[derive(Debug, thiserror::Error)]
#[error(
    "failed to share limits between processes in `{}`: {source}; each process applies them separately, so lower the limits or make the \
     folder writable",
    .folder.display()
)]
pub struct SharingError {
    /// The folder.
    pub folder: PathBuf,
    /// The system's reason.
    pub source: io::Error,
}

/// The files of a rule.
#[derive(Debug)]
pub struct SharedRule {
    folder: PathBuf,
    name: String,
    /// The file of the buckets.
    buckets: Arc<File>,
    rates: Rates,
    /// Requests at a time, if limited.
    slots: Option<usize>,
    /// The slots of this process.
    held: BTreeSet<usize>,
    /// What is to be given back to the buckets: their file was locked.
    to_give_back: Cost,
}

/// What a request needs of a rule, ready to be taken. Dropped, it takes nothing.
#[derive(Debug)]
pub struct Prepared {
    slot: Option<Slot>,
    buckets: Option<(BucketLock, Levels)>,
}

/// Whether a request may start.
#[derive(Debug)]
pub enum Readiness {
    /// It may.
    Ready(Prepared),
    /// It may not; try again after this wait.
    Wait(Duration),
}

/// One of the requests at a time, over all processes.
#[derive(Debug)]
pub struct Slot {
    index: usize,
    file: File,
}

/// The exclusive right to the buckets.
#[derive(Debug)]
struct BucketLock(Arc<File>);

/// A time around this one, such that processes do not try at the same times.
fn around(time: Duration) -> Duration {
    time.mul_f64(0.5 + fastrand::f64())
}

/// The wait for another process that reads and writes the buckets, which takes less than a millisecond.
const BUCKETS_IN_USE: Duration = Duration::from_millis(2);
/// The wait for a slot of another process.
const SLOTS_IN_USE: Duration = Duration::from_millis(50);
/// The longest wait for the buckets: another process may give something back.
const MAX_WAIT: Duration = Duration::from_millis(500);

impl SharedRule {
    /// The rule of this file name.
    pub fn open(folder: &Path, name: String, rates: Rates, slots: Option<usize>) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let buckets = Arc::new(open(&folder.join(format!("{name}.json")))?);
        let folder = folder.to_owned();
        Ok(Self { folder, name, buckets, rates, slots, held: BTreeSet::new(), to_give_back: Cost::default() })
    }

    /// The folder that processes share.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether a request of this cost may start now.
    pub fn prepare(&mut self, cost: Cost, now: Duration) -> io::Result<Readiness> {
        let slot = match self.slots {
            None => None,
            Some(slots) => match self.free_slot(slots)? {
                None => return Ok(Readiness::Wait(around(SLOTS_IN_USE))),
                slot => slot,
            },
        };
        let mut prepared = Prepared { slot, buckets: None };
        if self.rates.is_empty() {
            return Ok(Readiness::Ready(prepared));
        }
        let Some((lock, levels)) = self.lock_buckets(now)? else {
            return Ok(Readiness::Wait(around(BUCKETS_IN_USE)));
        };
        match self.rates.wait(&levels, cost) {
            Duration::ZERO => {
                prepared.buckets = Some((lock, levels));
                Ok(Readiness::Ready(prepared))
            }
            wait => Ok(Readiness::Wait(wait.min(MAX_WAIT))),
        }
    }

    /// Takes what was prepared for a request of this cost.
    pub fn take(&mut self, prepared: Prepared, cost: Cost) -> io::Result<Option<Slot>> {
        if let Some((lock, mut levels)) = prepared.buckets {
            levels.take(cost);
            lock.write(&levels)?;
        }
        self.held.extend(prepared.slot.as_ref().map(|slot| slot.index));
        Ok(prepared.slot)
    }

    /// Notes that a slot is free, and gives back what was not used; what was used beyond the cost is negative.
    pub fn release(&mut self, slot: Option<Slot>, unused: Cost, now: Duration) -> io::Result<()> {
        if let Some(slot) = slot {
            self.held.remove(&slot.index);
        }
        if unused == Cost::default() || self.rates.is_empty() {
            return Ok(());
        }
        self.to_give_back.requests += unused.requests;
        self.to_give_back.tokens += unused.tokens;
        // If it is locked, this is done the next time.
        self.lock_buckets(now).map(|_| ())
    }

    /// The refilled buckets, unless another process has them.
    fn lock_buckets(&mut self, now: Duration) -> io::Result<Option<(BucketLock, Levels)>> {
        if !is_locked_by_us(&self.buckets)? {
            return Ok(None);
        }
        let lock = BucketLock(Arc::clone(&self.buckets));
        let mut levels = lock.read()?.unwrap_or_else(|| self.rates.full(now));
        self.rates.refill(&mut levels, now);
        let unused = std::mem::take(&mut self.to_give_back);
        if unused != Cost::default() {
            levels.give_back(unused);
            lock.write(&levels)?;
        }
        Ok(Some((lock, levels)))
    }

    /// Locks a free slot, if there is one. Processes start at different slots, so most find one at once.
    fn free_slot(&self, slots: usize) -> io::Result<Option<Slot>> {
        let start = fastrand::usize(..slots);
        for index in (start..slots).chain(0..start).filter(|index| !self.held.contains(index)) {
            let file = open(&self.folder.join(format!("{}.slot-{index}", self.name)))?;
            if is_locked_by_us(&file)? {
                return Ok(Some(Slot { index, file }));
            }
        }
        Ok(None)
    }
}

impl BucketLock {
    /// The levels; `None` if the file is new, or was written by a process that died meanwhile.
    fn read(&self) -> io::Result<Option<Levels>> {
        let mut file = &*self.0;
        let mut text = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut text)?;
        Ok(serde_json::from_slice(&text).ok())
    }

    fn write(&self, levels: &Levels) -> io::Result<()> {
        let mut file = &*self.0;
        let text = serde_json::to_vec(levels).expect("numbers can be serialized");
        file.rewind()?;
        file.write_all(&text)?;
        file.set_len(text.len() as u64)
    }
}

impl Drop for BucketLock {
    fn drop(&mut self) {
        // If this fails, the lock is released at the end of the process at the latest.
        let _ = self.0.unlock();
    }
}

/// Unlocks explicitly: a program that is being started may still have a copy of the handle, and Windows may be late.
impl Drop for Slot {
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

/// Locks a file, unless someone else has it locked.
fn is_locked_by_us(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(folder: &Path, rates: Rates, slots: Option<usize>) -> SharedRule {
        SharedRule::open(folder, "rule".to_owned(), rates, slots).unwrap()
    }

    /// Starts a request at this time.
    fn start(rule: &mut SharedRule, tokens: u64, now: Duration) -> Result<Option<Slot>, Duration> {
        match rule.prepare(Cost::request(tokens), now).unwrap() {
            Readiness::Ready(prepared) => Ok(rule.take(prepared, Cost::request(tokens)).unwrap()),
            Readiness::Wait(wait) => Err(wait),
        }
    }

    #[test]
    fn processes_share_the_buckets() {
        let folder = tempfile::tempdir().unwrap();
        let rates = Rates::per_minute(Some(180), None);
        let mut rules = [(); 2].map(|()| rule(folder.path(), rates, None));
        let now = Duration::from_secs(1000);
        let mut started = 0;
        for turn in 0..10 {
            started += usize::from(start(&mut rules[turn % 2], 0, now).is_ok());
        }
        assert_eq!(started, 3);
        assert!(start(&mut rules[0], 0, now + Duration::from_secs(1)).is_ok());
    }

    #[test]
    fn processes_share_the_slots_and_those_of_a_dead_one_are_free() {
        let folder = tempfile::tempdir().unwrap();
        let rates = Rates::per_minute(None, None);
        let mut rules = [(); 2].map(|()| rule(folder.path(), rates, Some(3)));
        let now = Duration::ZERO;
        let slot = start(&mut rules[0], 0, now).unwrap();
        let slots = [(); 2].map(|()| start(&mut rules[1], 0, now).unwrap());
        assert!(start(&mut rules[0], 0, now).is_err() && start(&mut rules[1], 0, now).is_err());
        rules[0].release(slot, Cost::default(), now).unwrap();
        let slot = start(&mut rules[1], 0, now).unwrap();
        assert!(start(&mut rules[0], 0, now).is_err());
        // As at the end of a process, the files are closed.
        drop((slot, slots));
        let slots = [(); 3].map(|()| start(&mut rules[0], 0, now));
        assert!(slots.iter().all(Result::is_ok), "{slots:?}");
    }

    #[test]
    fn buckets_that_are_in_use_are_tried_again_and_corrected_later() {
        let folder = tempfile::tempdir().unwrap();
        let rates = Rates::per_minute(None, Some(60));
        let mut rules = [(); 2].map(|()| rule(folder.path(), rates, None));
        let now = Duration::from_secs(1000);
        assert!(start(&mut rules[0], 100, now).is_ok());
        let taken = rules[1].lock_buckets(now).unwrap();
        assert!(taken.is_some());
        let wait = start(&mut rules[0], 1, now).unwrap_err();
        assert!(wait < Duration::from_millis(10), "{wait:?}");
        rules[0].release(None, Cost { requests: 0.0, tokens: 99.0 }, now).unwrap();
        drop(taken);
        assert_eq!(start(&mut rules[1], 1, now).unwrap_err(), MAX_WAIT);
        assert!(start(&mut rules[0], 1, now + Duration::from_secs(1)).is_ok());
    }

    #[test]
    fn a_damaged_file_counts_as_full_buckets() {
        let folder = tempfile::tempdir().unwrap();
        let mut rule = rule(folder.path(), Rates::per_minute(Some(1), None), None);
        let now = Duration::from_secs(1000);
        assert!(start(&mut rule, 0, now).is_ok() && start(&mut rule, 0, now).is_err());
        std::fs::write(folder.path().join("rule.json"), "{\"requests\":0.").unwrap();
        assert!(start(&mut rule, 0, now).is_ok() && start(&mut rule, 0, now).is_err());
    }
}
