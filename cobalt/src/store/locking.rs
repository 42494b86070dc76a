//! Locks of files, also where the file system has none: network file systems often do not.

use std::fs::{File, TryLockError};
use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// How long a lock is waited for. A process that was killed as it started another one leaves its locks to that until it is
/// under way.
const PATIENCE: Duration = Duration::from_millis(200);

/// Whether this process has a file to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lock {
    /// It has, until the file is closed.
    Held,
    /// Another process has.
    Busy,
    /// Nobody can tell: files cannot be locked there.
    Impossible,
}

impl Lock {
    /// Locks a file if no other process has it.
    pub(super) fn try_on(file: &File) -> io::Result<Self> {
        Self::of(file.try_lock())
    }

    /// Shares a file with other readers, if no process has it to itself.
    pub(super) fn try_shared_on(file: &File) -> io::Result<Self> {
        Self::of(file.try_lock_shared())
    }

    /// The same as [`try_on`](Self::try_on), and waits a little for a process that has just ended.
    pub(super) fn on(file: &File) -> io::Result<Self> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match Self::try_on(file)? {
                Self::Busy if Instant::now() < deadline => thread::sleep(PATIENCE / 20),
                lock => return Ok(lock),
            }
        }
    }

    fn of(outcome: Result<(), TryLockError>) -> io::Result<Self> {
        match outcome {
            Ok(()) => Ok(Self::Held),
            Err(TryLockError::WouldBlock) => Ok(Self::Busy),
            Err(TryLockError::Error(error)) if is_impossible(&error) => Ok(Self::Impossible),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Whether the system says that it has no locks for the file: `ENOLCK`, `ENOSYS` or `EOPNOTSUPP`.
fn is_impossible(error: &io::Error) -> bool {
    let numbers: &[i32] = match std::env::consts::OS {
        "linux" | "android" => &[37, 38, 95],
        "macos" | "ios" | "freebsd" | "netbsd" | "openbsd" => &[77, 78, 45],
        _ => &[],
    };
    error.kind() == io::ErrorKind::Unsupported
        || error.raw_os_error().is_some_and(|number| numbers.contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_owner_at_a_time() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let second = File::open(file.path()).unwrap();
        assert_eq!(Lock::try_on(file.as_file()).unwrap(), Lock::Held);
        assert_eq!(Lock::on(&second).unwrap(), Lock::Busy);
        file.as_file().unlock().unwrap();
        assert_eq!(Lock::on(&second).unwrap(), Lock::Held);
    }

    #[test]
    fn readers_share_a_file_that_no_process_has_to_itself() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let [second, third] = [(); 2].map(|()| File::open(file.path()).unwrap());
        assert_eq!(Lock::try_shared_on(&second).unwrap(), Lock::Held);
        assert_eq!(Lock::try_shared_on(&third).unwrap(), Lock::Held);
        assert_eq!(Lock::try_on(file.as_file()).unwrap(), Lock::Busy);
        drop((second, third));
        assert_eq!(Lock::try_on(file.as_file()).unwrap(), Lock::Held);
        assert_eq!(Lock::try_shared_on(&File::open(file.path()).unwrap()).unwrap(), Lock::Busy);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn where_there_are_no_locks_is_no_error_and_any_other_reason_is_one() {
        let refused = |number| Lock::of(Err(TryLockError::Error(io::Error::from_raw_os_error(number))));
        for number in [37, 38, 95] {
            assert_eq!(refused(number).unwrap(), Lock::Impossible, "{number}");
        }
        assert_eq!(refused(5).unwrap_err().raw_os_error(), Some(5), "an error of the device");
    }
}
