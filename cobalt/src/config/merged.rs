//! The settings in force: what a flag, a variable, the file or nobody says, in this order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cobalt_core::prices::PriceTable;
use cobalt_core::report::{Shard, Threshold};
use cobalt_core::store::Layout;

use super::baseline::BaselineSettings;
use super::datasets::NamedSets;
use super::error::{ConfigError, Place};
use super::evaluators::Entry;
use super::reporter::Reporter;
use super::sections::DashboardSettings;
use super::settings::{OnInconclusive, Only, Setting};
use super::webhooks::Webhook;
use crate::dataset::settings::FetchSettings;
use crate::dataset::tables::DatasetTable;
use crate::evaluators::Evaluator;
use crate::llm::ModelSettings;
use crate::settings::Target;

/// The settings in force.
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
    pub(super) pools_reruns_for: Option<Duration>,
    pub(super) concurrency: Declarable<usize>,
    pub(super) timeout: Declarable<Duration>,
    pub(super) reporters: Vec<Reporter>,
    pub(super) targets: Vec<Target>,
    pub(super) evaluators: Vec<(Entry, Place)>,
    pub(super) thresholds: Vec<Threshold>,
    /// Those of `[ci]`, where it is in force.
    pub(super) additional_thresholds: Vec<Threshold>,
    pub(super) layout: Layout,
    pub(super) models: ModelSettings,
    pub(super) prices: PriceTable,
    pub(super) env: BTreeMap<String, String>,
    pub(super) runs: Option<usize>,
    pub(super) only: Option<Only>,
    pub(super) shard: Option<Shard>,
    pub(super) sources: Option<String>,
    pub(super) baseline: BaselineSettings,
    pub(super) datasets: NamedSets,
    pub(super) webhooks: Vec<Webhook>,
    pub(super) dashboard: DashboardSettings,
    pub(super) redacts_forms: bool,
    pub(super) fetch: FetchSettings,
    pub(super) settings: Vec<Setting>,
}

/// A setting that an experiment may declare, too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declarable<T> {
    pub(super) value: T,
    /// Whether the value comes before what the experiment declares.
    pub(super) overrides: bool,
}

impl<T: Copy> Declarable<T> {
    fn or_declared(self, declared: Option<T>) -> T {
        declared.filter(|_| !self.overrides).unwrap_or(self.value)
    }
}

impl Config {
    /// The root of the workspace that these settings are for, or of the package where it is in none.
    #[must_use]
    pub fn workspace_root(&self) -> &Path {
        &self.workspace
    }

    /// Where runs are kept.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The test targets that hold experiments: names, and patterns with `*`, `?` or `[…]`. Unless it is set, `*` alone.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().map(|target| target.0.as_str())
    }

    /// Whether the test target of this name is one of [`targets`](Self::targets).
    #[must_use]
    pub fn has_target(&self, name: &str) -> bool {
        self.targets.iter().any(|target| target.0.matches(name))
    }

    /// What shows a run, each with its file where it writes one; at least one.
    #[must_use]
    pub fn reporters(&self) -> &[Reporter] {
        &self.reporters
    }

    /// What models cost: the built-in prices, with those of the file.
    #[must_use]
    pub fn prices(&self) -> &PriceTable {
        &self.prices
    }

    /// The environment variables for the test binaries, by name, where they are not set already.
    #[must_use]
    pub fn env(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    /// The files that runs are held against, of which the one with the experiment's name counts; absent where it is the
    /// experiment's file in [`Layout::baselines`].
    #[must_use]
    pub fn baseline_files(&self) -> Option<&[PathBuf]> {
        self.baseline.files.as_deref()
    }

    /// How old a baseline may be before it is said to be old.
    #[must_use]
    pub fn baseline_max_age(&self) -> Duration {
        self.baseline.max_age
    }

    /// What becomes of a threshold against a baseline that is neither met nor missed beyond noise.
    #[must_use]
    pub fn on_inconclusive(&self) -> OnInconclusive {
        self.baseline.on_inconclusive
    }

    /// Whom `cargo cobalt` tells of the end of a run.
    #[must_use]
    pub fn webhooks(&self) -> &[Webhook] {
        &self.webhooks
    }

    /// Where `cargo cobalt serve` shows the runs, and how.
    #[must_use]
    pub fn dashboard(&self) -> DashboardSettings {
        self.dashboard
    }

    /// Whether texts that have the form of a key are redacted, beside the values that are known to be secret.
    #[must_use]
    pub fn redacts_forms(&self) -> bool {
        self.redacts_forms
    }

    /// Every setting in force with where it comes from, in a fixed order, secrets redacted.
    #[must_use]
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// Whether a setting names this environment variable: as that of a key, or in the address of a webhook.
    #[must_use]
    pub fn names_variable(&self, name: &str) -> bool {
        self.settings.iter().any(|setting| setting.value.to_string().contains(name))
    }

    /// Which items are run, in place of all.
    pub(crate) fn only(&self) -> Option<Only> {
        self.only
    }

    /// The share of the items that is run.
    pub(crate) fn shard(&self) -> Option<Shard> {
        self.shard
    }

    /// Whether all items are run of what is selected.
    pub(crate) fn runs_all(&self) -> bool {
        self.only.is_none() && self.shard.is_none()
    }

    /// A hash of the package's sources, where `cargo cobalt run` tells one.
    pub(crate) fn sources(&self) -> Option<&str> {
        self.sources.as_deref()
    }

    /// How many items are worked on at a time in an experiment that declares this.
    pub(crate) fn concurrency(&self, declared: Option<usize>) -> usize {
        self.concurrency.or_declared(declared)
    }

    /// How often each item is run in an experiment that declares this.
    pub(crate) fn runs(&self, declared: usize) -> usize {
        self.runs.unwrap_or(declared)
    }

    /// How long a run of an item may take in an experiment that declares this.
    pub(crate) fn timeout(&self, declared: Option<Duration>) -> Duration {
        self.timeout.or_declared(declared)
    }

    /// The evaluators of an experiment that lists none.
    pub(crate) fn evaluators(&self) -> Result<Vec<Arc<dyn Evaluator>>, ConfigError> {
        self.evaluators.iter().map(|(entry, place)| entry.make(place)).collect()
    }

    /// Whether `[ci]` is in force, and what fails is to count: with the flag `--ci`, or `COBALT_CI=1`.
    #[must_use]
    pub fn is_ci(&self) -> bool {
        self.ci
    }

    /// For how long the scores of a run count in further runs of the same commit; `None` where `[ci]` is not in force, and
    /// where that is off.
    pub(crate) fn pools_reruns_for(&self) -> Option<Duration> {
        self.pools_reruns_for
    }

    /// What is said of models: whom to ask, for how long, and what to keep.
    pub(crate) fn models(&self) -> &ModelSettings {
        &self.models
    }

    /// How long answers of models are kept; `None` where they are not.
    #[must_use]
    pub fn answers_kept_for(&self) -> Option<Duration> {
        self.models.cache.as_ref().map(|cache| cache.ttl)
    }

    /// What is said of data sets that are fetched.
    pub(crate) fn fetch_settings(&self) -> &FetchSettings {
        &self.fetch
    }

    /// The thresholds of an experiment that declares none.
    pub(crate) fn thresholds(&self) -> &[Threshold] {
        &self.thresholds
    }

    /// The thresholds that every experiment has in addition to its own.
    pub(crate) fn additional_thresholds(&self) -> &[Threshold] {
        &self.additional_thresholds
    }

    /// The names of the data sets that [`load_dataset`](Self::load_dataset) loads: those of the tables `[datasets.…]`.
    pub fn datasets(&self) -> impl Iterator<Item = &str> {
        self.datasets.sets.keys().map(String::as_str)
    }

    /// The table of a data set, and where it stands.
    pub(crate) fn dataset_table(&self, name: &str) -> Result<(&DatasetTable, &Place), ConfigError> {
        let table = self.datasets.sets.get(name).ok_or_else(|| self.unknown_dataset(name))?;
        Ok((&table.0, &table.1))
    }

    /// The path of the data set of a name, from the root of the workspace, if it is a file or the files of a pattern there.
    #[doc(hidden)]
    #[must_use]
    pub fn dataset_path(&self, name: &str) -> Option<&Path> {
        self.datasets.sets.get(name)?.0.path()
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
