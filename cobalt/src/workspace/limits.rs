//! What a workspace may contain, so that an agent cannot stop a run by what it leaves: a deep folder, a huge file, endless files.

use std::path::Path;
use std::time::{Duration, Instant};

use super::error::WorkspaceError;

/// How many folders may be in each other. Deeper paths are longer than systems allow, or cannot be removed by usual means.
const MAX_DEPTH: usize = 128;
/// The maximum number of files, folders and symlinks.
const MAX_FILES: usize = 250_000;
/// The maximum size of all files together, in bytes. The holes of sparse files count.
const MAX_BYTES: u64 = 16 << 30;
/// How long copying or comparing may take.
const MAX_TIME: Duration = Duration::from_secs(120);

/// What is left of the limits, while a workspace is copied or compared.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    files: usize,
    bytes: u64,
    deadline: Instant,
}

impl Limits {
    /// The limits of a copy or a comparison that starts now.
    pub fn start() -> Self {
        Self { files: MAX_FILES, bytes: MAX_BYTES, deadline: Instant::now() + MAX_TIME }
    }

    /// Counts a file or folder, given its path in the workspace and its size in bytes.
    pub fn add(&mut self, inside: &Path, bytes: u64) -> Result<(), WorkspaceError> {
        self.check_time()?;
        if inside.iter().count() > MAX_DEPTH {
            return Err(WorkspaceError::TooDeep { path: inside.to_owned(), limit: MAX_DEPTH });
        }
        self.files = self.files.checked_sub(1).ok_or(WorkspaceError::TooManyFiles { limit: MAX_FILES })?;
        let too_large = || WorkspaceError::TooLarge {
            path: inside.to_owned(),
            bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
            limit: MAX_BYTES >> 30,
        };
        self.bytes = self.bytes.checked_sub(bytes).ok_or_else(too_large)?;
        Ok(())
    }

    /// Checks the time, for what takes long with a single file.
    pub fn check_time(&self) -> Result<(), WorkspaceError> {
        let is_over = Instant::now() >= self.deadline;
        if is_over { Err(WorkspaceError::TooSlow { limit: MAX_TIME }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn too_many_files_are_an_error() {
        let mut limits = Limits { files: 2, ..Limits::start() };
        assert!(limits.add(Path::new("a"), 0).is_ok() && limits.add(Path::new("b"), 0).is_ok());
        let error = limits.add(Path::new("c"), 0).unwrap_err().to_string();
        assert!(error.starts_with("the workspace has more than 250,000 files"), "{error}");
    }

    #[test]
    fn sizes_add_up_to_the_limit() {
        let mut limits = Limits::start();
        limits.add(Path::new("a"), MAX_BYTES - 1).unwrap();
        limits.add(Path::new("b"), 1).unwrap();
        let error = limits.add(Path::new("c/d"), 1).unwrap_err().to_string();
        assert!(error.starts_with("the files of the workspace exceed 16 GiB with `c/d` (1 byte)"), "{error}");
        assert!(Limits::start().add(Path::new("a"), u64::MAX).is_err());
    }

    #[test]
    fn deep_folders_are_an_error() {
        let nested = |depth| std::iter::repeat_n("d", depth).collect::<PathBuf>();
        assert!(Limits::start().add(&nested(MAX_DEPTH), 0).is_ok());
        let error = Limits::start().add(&nested(MAX_DEPTH + 1), 0).unwrap_err().to_string();
        assert!(error.starts_with("folder `d/d/d/") && error.len() < 500, "{error}");
    }

    #[test]
    fn time_is_limited() {
        let mut limits = Limits { deadline: Instant::now(), ..Limits::start() };
        let error = limits.add(Path::new("a"), 0).unwrap_err().to_string();
        assert!(error.starts_with("copying or comparing the workspace took longer than 2m"), "{error}");
    }
}
