//! One process at a time fetches a data set: the others wait, and then use what it has kept.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

/// The right to fetch a data set and to write its copy, until it is dropped.
#[derive(Debug)]
pub(in super::super) struct Lock {
    /// Closed with it, which gives the lock back, also where the process is killed.
    _file: File,
    /// Whether nobody else can have it, which is not so on file systems without locks.
    pub(super) is_exclusive: bool,
}

impl Lock {
    /// Waits until nobody else has it.
    pub(super) fn take(path: &Path) -> io::Result<Self> {
        let file = File::options().create(true).write(true).truncate(false).open(path)?;
        match file.lock() {
            Ok(()) => Ok(Self { _file: file, is_exclusive: true }),
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                Ok(Self { _file: file, is_exclusive: false })
            }
            Err(error) => Err(error),
        }
    }
}
