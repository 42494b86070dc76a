//! Overrides of the file: the command's flags and the environment variables. Variables are strict: an invalid value is an error, not
//! ignored.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use cobalt_core::redact::redacted;
use cobalt_core::report::{ShardPlans, parse_duration};

use super::error::ConfigError;
use super::remote_url::RemoteUrl;
use super::reporter::Reporter;
use super::settings::{KeepWorkspaces, OnInconclusive, RerunMode};
use super::shard_choice::{ShardChoice, ShardGroup};
use super::variables::{
    BASELINE, CACHE, CI, CONCURRENCY, CONFIG, FAULTS, KEEP_WORKSPACES, LEDGER, MAX_COST, OFFLINE,
    ON_INCONCLUSIVE, ONLY, RECORD, RECORD_STALE, REDACTION_FORMS, REFRESH, REMOTE, RESUME, RUNS, SCORE,
    SCORE_EVALUATORS, SET, SHARD, SHARD_GROUP, SHARD_PLANS, STORAGE_ROOT, TIMEOUT, VARIANT,
};
use super::variants::{SEPARATOR, SettingChange, VariantSelection};
use crate::recording::RecordMode;
use crate::settings::{MAX_RUNS, MAX_TIMEOUT};
use crate::tools::Faults;

/// What may be spent on models, in millionths of a USD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxCost(u64);

impl MaxCost {
    pub(crate) fn usd(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

/// In USD.
impl std::fmt::Display for MaxCost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.usd())
    }
}

impl std::str::FromStr for MaxCost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let usd = text.trim().trim_start_matches('$').parse::<f64>().ok();
        let usd = usd.filter(|usd| (0.000_001..=1e9).contains(usd));
        let usd = usd.ok_or_else(|| {
            format!("expected an amount in USD above 0, such as `2` or `0.50`, not `{text}`")
        })?;
        Ok(Self((usd * 1e6).round() as u64))
    }
}

/// Settings from the command's flags, which override all others.
///
/// Test binaries receive them as [`variables`](Self::variables), which override what experiments declare.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--config`: the file to read. Relative paths start at the current directory.
    pub config: Option<PathBuf>,
    /// Of an archive: the folder at which relative paths of stored files start, instead of the workspace root. The baselines are
    /// those of the archive.
    pub storage_root: Option<PathBuf>,
    /// `--concurrency`: maximum items of an experiment in parallel.
    pub concurrency: Option<NonZeroUsize>,
    /// `--runs`: trials per item.
    pub runs: Option<NonZeroUsize>,
    /// `--ci`: whether `[ci]` is active.
    pub ci: bool,
    /// `--resume`: IDs of the runs to resume.
    pub resume: Vec<String>,
    /// The runs of `score`: their result files.
    pub score: Vec<PathBuf>,
    /// `--evaluator` of `score`: the evaluators to run.
    pub score_evaluators: Vec<String>,
    /// `--rerun-failed` or `--changed`: which items to run instead of all.
    pub rerun: Option<RerunMode>,
    /// `--shard`: the shard of the items to run.
    pub shard: Option<ShardChoice>,
    /// `--shard-group`: the name of the shard group.
    pub shard_group: Option<ShardGroup>,
    /// The file with the plans that balance shards.
    pub shard_plans: Option<PathBuf>,
    /// `--variant`, `--set`: the variants to run, and changes of their settings.
    pub variants: VariantSelection,
    /// `--baseline`: baseline files and result files; each experiment is compared with the one of its name. Relative paths start at
    /// the current directory.
    pub baseline: Vec<PathBuf>,
    /// `--reporter`: output formats, instead of the file's. Relative paths start at the current directory.
    pub reporters: Vec<Reporter>,
    /// `--offline`: use cached datasets of any age, and fetch nothing.
    pub offline: bool,
    /// `--refresh`: re-fetch cached datasets older than this, the start of the command.
    pub refresh: Option<SystemTime>,
    /// `--max-cost`: what may be spent on models.
    pub max_cost: Option<MaxCost>,
    /// The file in which the test binaries add up what they spend.
    pub ledger: Option<PathBuf>,
    /// `--record`: how to use recordings of model traffic.
    pub record: Option<RecordMode>,
    /// `--record-stale`: record again what is older.
    pub record_stale: Option<Duration>,
    /// `--on-inconclusive`: how to treat inconclusive thresholds.
    pub on_inconclusive: Option<OnInconclusive>,
    /// `--remote`: the remote store, as typed. It is parsed with the other settings: an error must not repeat it, as it may hold a key.
    pub remote: Option<String>,
    /// `--push`: push finished runs to the remote store.
    pub push: bool,
    /// `--keep-workspaces`: which workspaces to keep.
    pub keep_workspaces: Option<KeepWorkspaces>,
}

impl Flags {
    /// The variables that pass these flags to a test binary.
    ///
    /// # Errors
    ///
    /// The path of a baseline contains the separator of path lists.
    pub fn variables(&self) -> Result<Vec<(&'static str, OsString)>, ConfigError> {
        let config = self.config().map(|path| (CONFIG, path.into_os_string()));
        let storage =
            self.storage_root.as_deref().map(|root| (STORAGE_ROOT, absolute_path(root).into_os_string()));
        let concurrency = self.concurrency.map(|items| (CONCURRENCY, items.to_string().into()));
        let runs = self.runs.map(|runs| (RUNS, runs.to_string().into()));
        let ci = self.ci.then(|| (CI, "1".into()));
        let resume = (!self.resume.is_empty()).then(|| (RESUME, self.resume.join(",").into()));
        let score = self.score.iter().map(|path| absolute_path(path).into_os_string());
        let score =
            (!self.score.is_empty()).then(|| (SCORE, score.collect::<Vec<_>>().join(OsStr::new(","))));
        let evaluators = &self.score_evaluators;
        let evaluators = (!evaluators.is_empty()).then(|| (SCORE_EVALUATORS, evaluators.join(",").into()));
        let only = self.rerun.map(|only| (ONLY, only.to_string().into()));
        let shard = self.shard.map(|shard| (SHARD, shard.to_string().into()));
        let group = self.shard_group.as_ref().map(|group| (SHARD_GROUP, group.to_string().into()));
        let plans = self.shard_plans.clone().map(|path| (SHARD_PLANS, path.into_os_string()));
        let VariantSelection { names, changes } = &self.variants;
        let variant = (!names.is_empty()).then(|| (VARIANT, names.join(",").into()));
        let changes: Vec<_> = changes.iter().map(ToString::to_string).collect();
        let set = (!changes.is_empty()).then(|| (SET, changes.join(&SEPARATOR.to_string()).into()));
        let baseline = (!self.baseline.is_empty()).then(|| self.baseline_list()).transpose()?;
        let baseline = baseline.map(|list| (BASELINE, list));
        let on_inconclusive =
            self.on_inconclusive.map(|outcome| (ON_INCONCLUSIVE, outcome.to_string().into()));
        let record = self.record.map(|mode| (RECORD, mode.to_string().into()));
        let stale = self
            .record_stale
            .map(|age| (RECORD_STALE, humantime::format_duration(age).to_string().replace(' ', "").into()));
        let max_cost = self.max_cost.map(|max| (MAX_COST, max.to_string().into()));
        let ledger = self.ledger.clone().map(|ledger| (LEDGER, ledger.into_os_string()));
        let keep = self.keep_workspaces.map(|kept| (KEEP_WORKSPACES, kept.to_string().into()));
        let all = [
            config,
            storage,
            concurrency,
            runs,
            ci,
            resume,
            score,
            evaluators,
            only,
            shard,
            group,
            plans,
            variant,
            set,
            baseline,
            on_inconclusive,
            record,
            stale,
            max_cost,
            ledger,
            keep,
        ];
        Ok(all.into_iter().flatten().chain(self.fetch_variables()).collect())
    }

    /// The variables for fetched datasets. Each of the two flags also resets the other's variable.
    fn fetch_variables(&self) -> Vec<(&'static str, OsString)> {
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
        self.config.as_deref().map(absolute_path)
    }

    /// The files of baselines to choose from, as absolute paths.
    pub(super) fn baseline(&self) -> Vec<PathBuf> {
        self.baseline.iter().map(|path| absolute_path(path)).collect()
    }

    /// The same as one string, separated as in `PATH`.
    pub(super) fn baseline_list(&self) -> Result<OsString, ConfigError> {
        let paths = self.baseline();
        std::env::join_paths(&paths)
            .map_err(|error| ConfigError::InvalidBaselinePath { reason: error.to_string() })
    }
}

/// A path from a flag, relative to the current directory.
pub fn absolute_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The time of the first call, soon after the process has started.
fn process_start() -> SystemTime {
    static STARTED: OnceLock<SystemTime> = OnceLock::new();
    *STARTED.get_or_init(SystemTime::now)
}

/// The environment variables, behind a lookup function.
pub struct EnvVariables<F>(pub(super) F);

impl<F: Fn(&str) -> Option<OsString>> EnvVariables<F> {
    /// A path; an empty one counts as unset.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        (self.0)(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// The value of any variable that is set, even if empty.
    pub fn text(&self, name: &str) -> Option<String> {
        (self.0)(name).map(|value| value.to_string_lossy().into_owned())
    }

    pub fn concurrency(&self) -> Result<Option<usize>, ConfigError> {
        self.count(CONCURRENCY, "a whole number of at least 1", usize::MAX)
    }

    pub fn runs(&self) -> Result<Option<usize>, ConfigError> {
        self.count(RUNS, "a whole number from 1 to 10,000", MAX_RUNS)
    }

    pub fn timeout(&self) -> Result<Option<Duration>, ConfigError> {
        let expected = "a duration such as `30s` or `500ms`, at most `720h`";
        self.read(TIMEOUT, expected, |text| parse_duration(text).ok().filter(|length| *length <= MAX_TIMEOUT))
    }

    pub fn ci(&self) -> Result<Option<bool>, ConfigError> {
        self.boolean(CI)
    }

    pub fn rerun_mode(&self) -> Result<Option<RerunMode>, ConfigError> {
        self.read(ONLY, "`failed` or `changed`", |text| text.parse().ok())
    }

    pub fn shard(&self) -> Result<Option<ShardChoice>, ConfigError> {
        let expected = "a shard such as `2/4`, from `1/4` to `4/4`, or `auto`";
        self.read(SHARD, expected, |text| text.parse().ok())
    }

    pub fn shard_group(&self) -> Result<Option<ShardGroup>, ConfigError> {
        let expected = "up to 100 letters, digits, `-`, `_` and `.`";
        self.read(SHARD_GROUP, expected, |text| text.parse().ok())
    }

    /// The plans that balance shards, by the names of experiments.
    pub fn shard_plans(&self) -> Result<ShardPlans, ConfigError> {
        let Some(path) = self.path(SHARD_PLANS) else { return Ok(ShardPlans::default()) };
        let hint = "; it is named by COBALT_SHARD_PLANS";
        let text = fs::read_to_string(&path).map_err(|source| ConfigError::Read {
            path: path.clone(),
            source,
            hint,
        })?;
        serde_json::from_str(&text).map_err(|error| ConfigError::Malformed {
            path,
            line: error.line(),
            column: error.column(),
            problem: format!("expected plans of shards, as `cargo cobalt run --shard` writes them: {error}"),
        })
    }

    /// The parts of a list that is separated by commas.
    pub fn list(&self, name: &str) -> Vec<String> {
        let text = self.text(name).unwrap_or_default();
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    }

    /// The names of variants.
    pub fn variants(&self) -> Vec<String> {
        self.list(VARIANT)
    }

    pub fn setting_changes(&self) -> Result<Vec<SettingChange>, ConfigError> {
        let expected = "settings and their values, such as `model=gpt-4o;shots=3`";
        let changes = self.read(SET, expected, |text| {
            text.split(SEPARATOR).map(|change| change.parse().ok()).collect::<Option<Vec<_>>>()
        })?;
        Ok(changes.unwrap_or_default())
    }

    pub fn faults(&self) -> Result<Option<Faults>, ConfigError> {
        let plan = self.text(FAULTS).filter(|plan| !plan.is_empty());
        plan.map(|plan| Faults::parse(plan.trim())).transpose().map_err(|error| {
            let problem = redacted(&error.to_string()).into_owned();
            ConfigError::MalformedVariable { name: FAULTS, problem }
        })
    }

    pub fn on_inconclusive(&self) -> Result<Option<OnInconclusive>, ConfigError> {
        self.read(ON_INCONCLUSIVE, "`pass` or `fail`", |text| text.parse().ok())
    }

    pub fn max_cost(&self) -> Result<Option<MaxCost>, ConfigError> {
        self.read(MAX_COST, "an amount in USD such as `2` or `0.50`", |text| text.parse().ok())
    }

    pub fn keep_workspaces(&self) -> Result<Option<KeepWorkspaces>, ConfigError> {
        self.read(KEEP_WORKSPACES, "`failed`, `all` or `none`", |text| text.parse().ok())
    }

    pub fn ledger(&self) -> Option<PathBuf> {
        self.path(LEDGER)
    }

    pub fn record(&self) -> Result<Option<RecordMode>, ConfigError> {
        self.read(RECORD, "`off`, `replay`, `record` or `auto`", |text| text.parse().ok())
    }

    pub fn record_stale(&self) -> Result<Option<Duration>, ConfigError> {
        self.read(RECORD_STALE, "an age such as `30d`", |text| humantime::parse_duration(text).ok())
    }

    /// The remote store. The error does not contain the value, which may hold a key.
    pub fn remote(&self) -> Result<Option<RemoteUrl>, ConfigError> {
        let url = self.text(REMOTE).filter(|url| !url.is_empty());
        url.map(|url| url.parse())
            .transpose()
            .map_err(|problem| ConfigError::MalformedVariable { name: REMOTE, problem })
    }

    pub fn cache(&self) -> Result<Option<bool>, ConfigError> {
        self.boolean(CACHE)
    }

    pub fn redaction_forms(&self) -> Result<Option<bool>, ConfigError> {
        self.boolean(REDACTION_FORMS)
    }

    pub fn offline(&self) -> Result<Option<bool>, ConfigError> {
        self.boolean(OFFLINE)
    }

    /// Cached datasets older than this are re-fetched.
    pub fn refresh(&self) -> Result<Option<SystemTime>, ConfigError> {
        /// How far the clock that produced the time may be ahead of ours.
        const AHEAD: Duration = Duration::from_secs(60);
        let expected = "`1`, `0` or a past time in UTC, such as `2026-11-20T08:00:00Z`";
        let latest = SystemTime::now() + AHEAD;
        let since = self.read(REFRESH, expected, |text| match text {
            "1" | "true" => Some(Some(process_start())),
            "0" | "false" => Some(None),
            // With a future time, every copy would be too old forever.
            time => humantime::parse_rfc3339(time).ok().filter(|time| *time <= latest).map(Some),
        })?;
        Ok(since.flatten())
    }

    fn count(
        &self,
        name: &'static str,
        expected: &'static str,
        most: usize,
    ) -> Result<Option<usize>, ConfigError> {
        let count = |text: &str| text.parse().ok().filter(|number| (1..=most).contains(number));
        self.read(name, expected, count)
    }

    fn boolean(&self, name: &'static str) -> Result<Option<bool>, ConfigError> {
        self.read(name, "`1` or `0`", |text| match text {
            "1" | "true" => Some(true),
            "0" | "false" => Some(false),
            _ => None,
        })
    }

    /// Parses a variable, if it is set; an empty one counts as unset.
    fn read<T>(
        &self,
        name: &'static str,
        expected: &'static str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, ConfigError> {
        let Some(value) = (self.0)(name).filter(|value| !value.is_empty()) else { return Ok(None) };
        let value = value.to_string_lossy();
        let refused =
            || ConfigError::InvalidVariable { name, value: redacted(&value).into_owned(), expected };
        read(value.trim()).map(Some).ok_or_else(refused)
    }
}
