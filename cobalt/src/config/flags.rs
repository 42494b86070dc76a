//! What was asked for on the command line of `cargo cobalt`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::SystemTime;

use super::baseline::{OnInconclusive, absolute};
use super::error::ConfigError;
use super::only::Only;
use super::reporter::Reporter;
use super::variables::{
    BASELINE, CI, CONCURRENCY, CONFIG, OFFLINE, ON_INCONCLUSIVE, ONLY, REFRESH, RESUME, RUNS, SHARD,
};
use crate::report::Shard;

/// Settings from flags of the command, which come before all others.
///
/// The test binaries get them as [`variables`](Self::variables), so that they come before what experiments declare.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--config`: the file to read; a relative path begins at the current folder.
    pub config: Option<PathBuf>,
    /// `--concurrency`: how many items of an experiment are worked on at a time.
    pub concurrency: Option<NonZeroUsize>,
    /// `--runs`: how often each item is run.
    pub runs: Option<NonZeroUsize>,
    /// `--ci`: whether `[ci]` is in force.
    pub ci: bool,
    /// `--resume`: the ids of the runs to take up again.
    pub resume: Vec<String>,
    /// `--rerun-failed` or `--changed`: which items are run, in place of all.
    pub only: Option<Only>,
    /// `--shard`: the share of the items that is run.
    pub shard: Option<Shard>,
    /// `--baseline`: baseline files and result files, of which the one of an experiment's name is what it is held against.
    /// Relative paths begin at the current folder.
    pub baseline: Vec<PathBuf>,
    /// `--reporter`: what shows the run, in place of what the file says. Relative paths begin at the current folder.
    pub reporters: Vec<Reporter>,
    /// `--offline`: whether copies of data sets are used however old they are, and nothing is fetched.
    pub offline: bool,
    /// `--refresh`: since when copies of data sets must have been fetched, the start of the command.
    pub refresh: Option<SystemTime>,
    /// `--on-inconclusive`: what becomes of a threshold that noise may hide.
    pub on_inconclusive: Option<OnInconclusive>,
}

impl Flags {
    /// The variables that tell a test binary of these flags.
    ///
    /// # Errors
    ///
    /// The path of a baseline cannot stand in a list of paths, as it holds what separates them.
    pub fn variables(&self) -> Result<Vec<(&'static str, OsString)>, ConfigError> {
        let config = self.config().map(|path| (CONFIG, path.into_os_string()));
        let concurrency = self.concurrency.map(|items| (CONCURRENCY, items.to_string().into()));
        let runs = self.runs.map(|runs| (RUNS, runs.to_string().into()));
        let ci = self.ci.then(|| (CI, "1".into()));
        let resume = (!self.resume.is_empty()).then(|| (RESUME, self.resume.join(",").into()));
        let only = self.only.map(|only| (ONLY, only.to_string().into()));
        let shard = self.shard.map(|shard| (SHARD, shard.to_string().into()));
        let baseline = (!self.baseline.is_empty()).then(|| self.baseline_list()).transpose()?;
        let baseline = baseline.map(|list| (BASELINE, list));
        let on_inconclusive =
            self.on_inconclusive.map(|outcome| (ON_INCONCLUSIVE, outcome.to_string().into()));
        let all = [config, concurrency, runs, ci, resume, only, shard, baseline, on_inconclusive];
        Ok(all.into_iter().flatten().chain(self.fetching()).collect())
    }

    /// The variables for data sets that are fetched. Of these flags, each takes back what a variable says of the other.
    fn fetching(&self) -> Vec<(&'static str, OsString)> {
        match (self.offline, self.refresh) {
            (true, _) => vec![(OFFLINE, "1".into()), (REFRESH, "0".into())],
            (false, Some(since)) => {
                let since = humantime::format_rfc3339_millis(since).to_string();
                vec![(OFFLINE, "0".into()), (REFRESH, since.into())]
            }
            (false, None) => Vec::new(),
        }
    }

    /// The file to read, as an absolute path.
    pub(super) fn config(&self) -> Option<PathBuf> {
        self.config.as_deref().map(absolute)
    }
}
