//! The environment variables: strict, so that a misspelt value is not taken for none.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use super::baseline::OnInconclusive;
use super::error::ConfigError;
use super::only::Only;
use crate::redact::redacted;
use crate::report::{Shard, duration};

/// The path of the file to read.
pub(super) const CONFIG: &str = "COBALT_CONFIG";
/// Whether `[ci]` is in force.
pub(super) const CI: &str = "COBALT_CI";
/// How many items of an experiment are worked on at a time.
pub(super) const CONCURRENCY: &str = "COBALT_CONCURRENCY";
/// How often each item is run.
pub(super) const RUNS: &str = "COBALT_RUNS";
/// How long a run of an item may take.
pub(super) const TIMEOUT: &str = "COBALT_TIMEOUT";
/// Baseline files and result files to be held against, as a list in the form of `PATH`.
pub(super) const BASELINE: &str = "COBALT_BASELINE";
/// What becomes of a threshold that noise may hide.
pub(super) const ON_INCONCLUSIVE: &str = "COBALT_ON_INCONCLUSIVE";
/// The runs to take up again, by their ids, separated by commas.
pub(crate) const RESUME: &str = "COBALT_RESUME";
/// Which items are run, in place of all.
pub(super) const ONLY: &str = "COBALT_ONLY";
/// The share of the items that is run.
pub(super) const SHARD: &str = "COBALT_SHARD";
/// The variable in which `cargo cobalt run` hands over a hash of the package's sources.
pub const SOURCES: &str = "COBALT_SOURCES";
/// Whether data sets are never fetched.
pub(super) const OFFLINE: &str = "COBALT_OFFLINE";
/// Since when a copy of a data set must have been fetched: a time, or `1` for the start of this process.
pub(super) const REFRESH: &str = "COBALT_REFRESH";
/// The folder to use instead of `.cobalt`.
pub(super) const DIR: &str = "COBALT_DIR";
/// The folder of the result files.
pub(super) const RESULTS_DIR: &str = "COBALT_RESULTS_DIR";
/// The index of past runs.
pub(super) const HISTORY_DB: &str = "COBALT_HISTORY_DB";
/// The folder of the answers of models.
pub(super) const CACHE_DIR: &str = "COBALT_CACHE_DIR";
/// Whether answers of models are kept.
pub(super) const CACHE: &str = "COBALT_CACHE";

/// When this process first asked, which is near its start.
fn started() -> SystemTime {
    static STARTED: OnceLock<SystemTime> = OnceLock::new();
    *STARTED.get_or_init(SystemTime::now)
}

/// The variables that are set, and where they come from.
pub(super) struct Variables<F>(pub(super) F);

impl<F: Fn(&str) -> Option<OsString>> Variables<F> {
    /// A path; an empty one counts as unset.
    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        (self.0)(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// The text of any variable that is set, were it empty.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        (self.0)(name).map(|value| value.to_string_lossy().into_owned())
    }

    pub(super) fn concurrency(&self) -> Result<Option<usize>, ConfigError> {
        self.count(CONCURRENCY)
    }

    pub(super) fn runs(&self) -> Result<Option<usize>, ConfigError> {
        self.count(RUNS)
    }

    pub(super) fn timeout(&self) -> Result<Option<Duration>, ConfigError> {
        self.read(TIMEOUT, "a duration such as `30s` or `500ms`", |text| duration(text).ok())
    }

    pub(super) fn ci(&self) -> Result<Option<bool>, ConfigError> {
        self.switch(CI)
    }

    pub(super) fn only(&self) -> Result<Option<Only>, ConfigError> {
        self.read(ONLY, "`failed` or `changed`", |text| text.parse().ok())
    }

    pub(super) fn shard(&self) -> Result<Option<Shard>, ConfigError> {
        let expected = "a shard such as `2/4`, from `1/4` to `4/4`";
        self.read(SHARD, expected, |text| text.parse().ok())
    }

    pub(super) fn on_inconclusive(&self) -> Result<Option<OnInconclusive>, ConfigError> {
        self.read(ON_INCONCLUSIVE, "`pass` or `fail`", |text| text.parse().ok())
    }

    pub(super) fn cache(&self) -> Result<Option<bool>, ConfigError> {
        self.switch(CACHE)
    }

    pub(super) fn offline(&self) -> Result<Option<bool>, ConfigError> {
        self.switch(OFFLINE)
    }

    /// Since when copies of data sets must have been fetched, if that is asked for.
    pub(super) fn refresh(&self) -> Result<Option<SystemTime>, ConfigError> {
        /// How far the clock of whoever gives the time may be ahead.
        const AHEAD: Duration = Duration::from_secs(60);
        let expected = "`1`, `0` or a time that has come, in UTC, such as `2026-11-20T08:00:00Z`";
        let latest = SystemTime::now() + AHEAD;
        let since = self.read(REFRESH, expected, |text| match text {
            "1" | "true" => Some(Some(started())),
            "0" | "false" => Some(None),
            // No copy is ever younger than a time that is yet to come.
            time => humantime::parse_rfc3339(time).ok().filter(|time| *time <= latest).map(Some),
        })?;
        Ok(since.flatten())
    }

    fn count(&self, name: &'static str) -> Result<Option<usize>, ConfigError> {
        let count = |text: &str| text.parse().ok().filter(|number| *number > 0);
        self.read(name, "a whole number of at least 1", count)
    }

    fn switch(&self, name: &'static str) -> Result<Option<bool>, ConfigError> {
        self.read(name, "`1` or `0`", |text| match text {
            "1" | "true" => Some(true),
            "0" | "false" => Some(false),
            _ => None,
        })
    }

    /// A variable's value, if it is set; an empty one counts as unset.
    fn read<T>(
        &self,
        name: &'static str,
        expected: &'static str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, ConfigError> {
        let Some(value) = (self.0)(name).filter(|value| !value.is_empty()) else { return Ok(None) };
        let value = value.to_string_lossy();
        let refused = || ConfigError::Variable { name, value: redacted(&value).into_owned(), expected };
        read(value.trim()).map(Some).ok_or_else(refused)
    }
}
