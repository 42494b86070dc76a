//! The resolved settings, from flags, variables, the file and the defaults, in this order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cobalt_core::atomic_write::set_private;
use cobalt_core::prices::PriceTable;
use cobalt_core::redact::set_forms;
use cobalt_core::report::{InconclusivePolicy, Shard, ShardPlan, ShardPlans, Threshold};
use cobalt_core::store::Layout;
use cobalt_core::trace::ContentLimits;

use super::baseline::BaselineSettings;
use super::datasets::NamedDatasets;
use super::error::{ConfigError, Location};
use super::evaluators::EvaluatorEntry;
use super::remote::RemoteSettings;
use super::reporter::Reporter;
use super::settings::{KeepWorkspaces, OnInconclusive, RerunMode, Setting};
use super::shard_choice::ShardGroup;
use super::small_tables::{Changed, DashboardSettings};
use super::variants::VariantSelection;
use super::webhooks::Webhook;
use crate::dataset::settings::FetchSettings;
use crate::dataset::tables::DatasetTable;
use crate::evaluators::Evaluator;
#[cfg(feature = "record")]
use crate::limits::LimitRule;
use crate::llm::ModelSettings;
use crate::recording::{RecordMode, RecordSettings};
use crate::settings::TargetPattern;
use crate::tools::Faults;

/// The resolved settings.
///
/// ```
/// use cobalt::command::config::Config;
///
/// # fn main() -> Result<(), cobalt::command::config::ConfigError> {
/// let config = Config::from_environment()?;
/// for setting in config.settings() {
///     println!("{} = {} ({})", setting.key, setting.value, setting.origin);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    pub(super) workspace: PathBuf,
    pub(super) ci: bool,
    pub(super) pool_reruns_window: Option<Duration>,
    pub(super) concurrency: Overridable<usize>,
    pub(super) timeout: Overridable<Duration>,
    pub(super) reporters: Vec<Reporter>,
    pub(super) targets: Vec<TargetPattern>,
    pub(super) evaluators: Vec<(EvaluatorEntry, Location)>,
    pub(super) thresholds: Vec<Threshold>,
    pub(super) group_by: Vec<String>,
    /// Those of `[ci]`, if active.
    pub(super) additional_thresholds: Vec<Threshold>,
    pub(super) layout: Layout,
    pub(super) remote: RemoteSettings,
    pub(super) parts_from: usize,
    pub(super) is_private: bool,
    pub(super) models: ModelSettings,
    pub(super) prices: PriceTable,
    pub(super) env: BTreeMap<String, String>,
    pub(super) runs: Option<usize>,
    pub(super) score: ScoreSettings,
    pub(super) only: Option<RerunMode>,
    pub(super) shard: Option<Shard>,
    pub(super) shard_group: Option<ShardGroup>,
    pub(super) shard_plans: ShardPlans,
    pub(super) variants: VariantSelection,
    pub(super) faults: Option<Faults>,
    pub(super) sources: Option<String>,
    pub(super) changed: Changed,
    pub(super) baseline: BaselineSettings,
    pub(super) datasets: NamedDatasets,
    pub(super) webhooks: Vec<Webhook>,
    pub(super) trace_limits: ContentLimits,
    pub(super) receives_spans: bool,
    pub(super) dashboard: DashboardSettings,
    pub(super) redacts_forms: bool,
    pub(super) max_cost: Option<(f64, Option<PathBuf>)>,
    pub(super) recordings: RecordSettings,
    pub(super) keep_workspaces: KeepWorkspaces,
    #[cfg(feature = "record")]
    pub(super) limits: Vec<LimitRule>,
    pub(super) fetch: FetchSettings,
    pub(super) settings: Vec<Setting>,
}

/// Which stored runs to score, and by which evaluators.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScoreSettings {
    /// IDs, prefixes of IDs, or result files.
    pub runs: Vec<String>,
    /// The evaluators to run; empty for all.
    pub evaluators: Vec<String>,
}

/// A setting that an experiment may also declare.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overridable<T> {
    pub(super) value: T,
    /// Whether the value overrides what the experiment declares.
    pub(super) overrides: bool,
    /// Whether nothing sets the value.
    pub(super) is_default: bool,
}

impl<T: Copy> Overridable<T> {
    fn or_declared_value(self, declared: Option<T>) -> T {
        declared.filter(|_| !self.overrides).unwrap_or(self.value)
    }
}

impl Config {
    /// The root of the workspace that these settings apply to, or of the package if it is in no workspace.
    #[must_use]
    pub fn workspace_root(&self) -> &Path {
        &self.workspace
    }

    /// Where runs are stored.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The remote store of the team.
    #[must_use]
    pub fn remote(&self) -> &RemoteSettings {
        &self.remote
    }

    /// Number of items from which a result is stored in parts.
    #[must_use]
    pub fn parts_from(&self) -> usize {
        self.parts_from
    }

    /// The test targets that contain experiments: names, and patterns with `*`, `?` or `[…]`; default `*`.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().map(|target| target.0.as_str())
    }

    /// What `cargo cobalt run --changed` compares besides the files of the package.
    #[must_use]
    pub fn changed(&self) -> &Changed {
        &self.changed
    }

    /// Whether [`targets`](Self::targets) include a test target of this name.
    #[must_use]
    pub fn has_target(&self, name: &str) -> bool {
        self.targets.iter().any(|target| target.0.matches(name))
    }

    /// The reporters, at least one, each with the file that it writes, if any.
    #[must_use]
    pub fn reporters(&self) -> &[Reporter] {
        &self.reporters
    }

    /// Model prices: the built-in ones, with those of the file.
    #[must_use]
    pub fn prices(&self) -> &PriceTable {
        &self.prices
    }

    /// Environment variables for the test binaries, by name, for those that are not already set.
    #[must_use]
    pub fn env(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    /// The files to compare runs with; the one of the experiment's name is used. `None` for the experiment's own file in
    /// [`Layout::baselines`].
    #[must_use]
    pub fn baseline_files(&self) -> Option<&[PathBuf]> {
        self.baseline.files.as_deref()
    }

    /// The age from which a baseline is reported as old.
    #[must_use]
    pub fn baseline_max_age(&self) -> Duration {
        self.baseline.max_age
    }

    /// How to treat a baseline threshold that is neither met nor missed beyond noise.
    #[must_use]
    pub fn on_inconclusive(&self) -> OnInconclusive {
        self.baseline.on_inconclusive
    }

    /// The same, also for scores that dropped far.
    pub(crate) fn inconclusive_policy(&self) -> InconclusivePolicy {
        match self.baseline.on_inconclusive {
            OnInconclusive::Fail => InconclusivePolicy::Fail,
            OnInconclusive::Pass if self.baseline.is_default => InconclusivePolicy::PassUnlessLargeDrop,
            OnInconclusive::Pass => InconclusivePolicy::Pass,
        }
    }

    /// The webhooks that `cargo cobalt` calls when a run finishes.
    #[must_use]
    pub fn webhooks(&self) -> &[Webhook] {
        &self.webhooks
    }

    /// How much of the contents of traces is kept.
    #[must_use]
    pub fn trace_limits(&self) -> ContentLimits {
        self.trace_limits
    }

    /// Whether agents can export spans to the process that runs them.
    #[must_use]
    pub fn receives_spans(&self) -> bool {
        self.receives_spans
    }

    /// Settings of `cargo cobalt serve`.
    #[must_use]
    pub fn dashboard(&self) -> &DashboardSettings {
        &self.dashboard
    }

    /// Applies the settings that hold for the whole process: what is redacted, and who may read the files of runs.
    pub fn apply_to_process(&self) {
        set_forms(self.redacts_forms);
        set_private(self.is_private);
    }

    /// Every effective setting with its origin, in a fixed order, secrets redacted.
    #[must_use]
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// Whether a setting names this environment variable, as that of a key or of a webhook's URL.
    #[must_use]
    pub fn mentions_variable(&self, name: &str) -> bool {
        self.settings.iter().any(|setting| setting.value.to_string().contains(name))
    }

    /// Which stored runs to score instead of running agents.
    pub(crate) fn score(&self) -> &ScoreSettings {
        &self.score
    }

    /// Which items to run instead of all.
    pub(crate) fn only(&self) -> Option<RerunMode> {
        self.only
    }

    /// The shard of the items to run.
    #[must_use]
    pub fn shard(&self) -> Option<Shard> {
        self.shard
    }

    /// The name of the shards that belong together: the given one, or that of the job.
    #[must_use]
    pub fn shard_group(&self) -> Option<&ShardGroup> {
        self.shard_group.as_ref()
    }

    /// The plan that balances the shards of an experiment.
    pub(crate) fn shard_plan(&self, experiment: &str) -> Option<&ShardPlan> {
        self.shard_plans.0.get(experiment)
    }

    /// Which variants to run, and with which settings.
    pub(crate) fn variants(&self) -> &VariantSelection {
        &self.variants
    }

    /// The fault plan of this invocation, which replaces those of the experiments.
    pub(crate) fn faults(&self) -> Option<&Faults> {
        self.faults.as_ref()
    }

    /// Whether all selected items are run.
    pub(crate) fn runs_all_items(&self) -> bool {
        self.only.is_none() && self.shard.is_none()
    }

    /// A hash of the package's sources, if `cargo cobalt run` passes one.
    pub(crate) fn sources(&self) -> Option<&str> {
        self.sources.as_deref()
    }

    /// Maximum items in parallel in an experiment that declares this.
    pub(crate) fn concurrency(&self, declared: Option<usize>) -> usize {
        self.concurrency.or_declared_value(declared)
    }

    /// Trials per item in an experiment that declares this.
    pub(crate) fn runs(&self, declared: usize) -> usize {
        self.runs.unwrap_or(declared)
    }

    /// Whether neither the configuration nor this invocation sets a time limit.
    pub(crate) fn has_default_timeout(&self) -> bool {
        self.timeout.is_default
    }

    /// Time limit per trial in an experiment that declares this.
    pub(crate) fn timeout(&self, declared: Option<Duration>) -> Duration {
        self.timeout.or_declared_value(declared)
    }

    /// The evaluators of an experiment that lists none.
    pub(crate) fn evaluators(&self) -> Result<Vec<Arc<dyn Evaluator>>, ConfigError> {
        self.evaluators.iter().map(|(entry, place)| entry.make(place)).collect()
    }

    /// Whether `[ci]` is active, and failures affect the exit code: with the flag `--ci`, or `COBALT_CI=1`.
    #[must_use]
    pub fn is_ci(&self) -> bool {
        self.ci
    }

    /// How long the scores of a run count in later runs of the same commit; `None` if `[ci]` is not active or this is off.
    pub(crate) fn pool_reruns_window(&self) -> Option<Duration> {
        self.pool_reruns_window
    }

    /// The settings of models: which to call, with which limits, and what to cache.
    pub(crate) fn models(&self) -> &ModelSettings {
        &self.models
    }

    /// How long model responses are cached; `None` if the cache is disabled.
    #[must_use]
    pub fn response_cache_ttl(&self) -> Option<Duration> {
        self.models.cache.as_ref().map(|cache| cache.ttl)
    }

    /// The settings for fetching datasets.
    pub(crate) fn fetch_settings(&self) -> &FetchSettings {
        &self.fetch
    }

    /// The mode of recordings that a flag or a variable sets.
    #[must_use]
    pub fn requested_record_mode(&self) -> Option<RecordMode> {
        self.recordings.requested
    }

    /// The budget in USD, and the file in which the processes of an invocation add up what they spend.
    pub(crate) fn max_cost(&self) -> Option<&(f64, Option<PathBuf>)> {
        self.max_cost.as_ref()
    }

    /// Which workspaces to keep.
    pub(crate) fn keep_workspaces(&self) -> KeepWorkspaces {
        self.keep_workspaces
    }

    /// Whether requests to models are limited, so that they have to pass through the gateway.
    pub(crate) fn limits_requests(&self) -> bool {
        #[cfg(feature = "record")]
        return !self.limits.is_empty() || self.max_cost.is_some();
        #[cfg(not(feature = "record"))]
        false
    }

    /// Limits for requests to models.
    #[cfg(feature = "record")]
    pub(crate) fn limits(&self) -> &[LimitRule] {
        &self.limits
    }

    /// The settings for recordings of model traffic.
    pub(crate) fn recordings(&self) -> &RecordSettings {
        &self.recordings
    }

    /// The thresholds of an experiment that declares none.
    pub(crate) fn thresholds(&self) -> &[Threshold] {
        &self.thresholds
    }

    /// The fields by which the statistics of an experiment that names none are grouped.
    pub(crate) fn group_by(&self) -> &[String] {
        &self.group_by
    }

    /// Additional thresholds for every experiment.
    pub(crate) fn additional_thresholds(&self) -> &[Threshold] {
        &self.additional_thresholds
    }

    /// The names of the datasets for [`load_dataset`](Self::load_dataset): those of the tables `[datasets.…]`.
    pub fn datasets(&self) -> impl Iterator<Item = &str> {
        self.datasets.tables.keys().map(String::as_str)
    }

    /// The table of a dataset, and its location.
    pub(crate) fn dataset_table(&self, name: &str) -> Result<(&DatasetTable, &Location), ConfigError> {
        let table = self.datasets.tables.get(name).ok_or_else(|| self.unknown_dataset(name))?;
        Ok((&table.0, &table.1))
    }

    /// The path of a named dataset, relative to the workspace root, if it is a file or a pattern for files.
    #[doc(hidden)]
    #[must_use]
    pub fn dataset_path(&self, name: &str) -> Option<&Path> {
        self.datasets.tables.get(name)?.0.path()
    }

    fn unknown_dataset(&self, name: &str) -> ConfigError {
        let names = self.datasets().map(str::to_owned).collect();
        ConfigError::UnknownDataset {
            name: name.to_owned(),
            file: self.datasets.file.clone(),
            workspace: self.workspace.clone(),
            names,
        }
    }
}
