//! The error of a damaged frame of an items file.

use std::fmt;
use std::io;
use std::path::Path;

use crate::store::error::{StoreError, storage_error};

/// What a frame of the file has.
#[derive(Clone, Copy, Debug)]
pub enum FrameKind {
    Part,
    Columns,
}

impl fmt::Display for FrameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Part => "part",
            Self::Columns => "block of columns",
        })
    }
}

/// The error of a frame of a file, by its number from 0 among `count` of its kind.
pub fn damaged(path: &Path, kind: FrameKind, number: usize, count: usize, reason: &str) -> StoreError {
    let reason = format!("{kind} {} of {count} is damaged: {reason}", number + 1);
    storage_error("read", path, io::Error::new(io::ErrorKind::InvalidData, reason))
}
