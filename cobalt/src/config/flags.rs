//! What was asked for on the command line of `cargo cobalt`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::only::Only;
use super::variables::{CI, CONCURRENCY, CONFIG, ONLY, RESUME};

/// Settings from flags of the command, which come before all others.
///
/// The test binaries get them as [`variables`](Self::variables), so that they come before what experiments declare.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--config`: the file to read; a relative path begins at the current folder.
    pub config: Option<PathBuf>,
    /// `--concurrency`: how many items of an experiment are worked on at a time.
    pub concurrency: Option<NonZeroUsize>,
    /// `--ci`: whether `[ci]` is in force.
    pub ci: bool,
    /// `--resume`: the ids of the runs to take up again.
    pub resume: Vec<String>,
    /// `--rerun-failed` or `--changed`: which items are run, in place of all.
    pub only: Option<Only>,
}

impl Flags {
    /// The variables that tell a test binary of these flags.
    #[must_use]
    pub fn variables(&self) -> Vec<(&'static str, OsString)> {
        let config = self.config().map(|path| (CONFIG, path.into_os_string()));
        let concurrency = self.concurrency.map(|items| (CONCURRENCY, items.to_string().into()));
        let ci = self.ci.then(|| (CI, "1".into()));
        let resume = (!self.resume.is_empty()).then(|| (RESUME, self.resume.join(",").into()));
        let only = self.only.map(|only| (ONLY, only.to_string().into()));
        [config, concurrency, ci, resume, only].into_iter().flatten().collect()
    }

    /// The file to read, as an absolute path.
    pub(super) fn config(&self) -> Option<PathBuf> {
        let path = self.config.clone()?;
        Some(std::path::absolute(&path).unwrap_or(path))
    }
}
