//! Loads the configuration of a directory: finds and reads the file, and resolves it with flags, variables and defaults.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cobalt_core::paths::{package_root, workspace_root};
use cobalt_core::redact::{register_env_file, register_environment, register_variables};
use cobalt_core::report::{Shard, Threshold};
use cobalt_core::store::Layout;
use serde::Serialize;

use super::ci_shard::{CiShard, group_of_job, shard_of_job};
use super::error::{ConfigError, Location};
use super::file::{Ci, ConfigFile, ParsedFile};
use super::locate::{candidates, read_requested};
use super::overrides::{EnvVariables, Flags, absolute_path};
use super::reporter::{Reporter, ReporterKind};
use super::resolve::{Resolver, first_set};
use super::resolved::{Config, Overridable, ScoreSettings};
use super::settings::{Origin, RerunMode, dotted_key, redacted_variable};
use super::shard_choice::{ShardChoice, ShardGroup};
use super::variables::{
    CI, CONCURRENCY, CONFIG, ONLY, RESUME, SCORE, SCORE_EVALUATORS, SHARD, SOURCES, TIMEOUT,
};
use super::variants::VariantSelection;
use crate::budget::shared_ledger;
use crate::dataset::settings::{Account, FetchSettings, Platform};
use crate::log;
use crate::settings::{
    Age, AgeOrOff, DEFAULT_TIMEOUT, DurationValue, FieldNames, PositiveInt, TargetPattern, ThresholdExpr,
    VariableName, VariableValue,
};

/// The default maximum of items in parallel.
const DEFAULT_CONCURRENCY: usize = 5;
/// How long the results of a run count in later runs of the same commit by default: a restarted job is from the same day, and a
/// nightly job starts afresh.
const DEFAULT_POOL_RERUNS: Duration = Duration::from_secs(12 * 60 * 60);

/// Which items an invocation runs, if not all.
struct ItemSelection {
    only: Option<RerunMode>,
    shard: Option<Shard>,
    shard_group: Option<ShardGroup>,
}

impl Config {
    /// Loads the configuration for the package in `folder`, or for the workspace with this root. `variable` looks up an environment
    /// variable.
    ///
    /// # Errors
    ///
    /// The file cannot be read or has an unknown key or an invalid value, or a variable has an invalid value.
    pub fn load(folder: &Path, variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError> {
        Self::with_flags(folder, &Flags::default(), variable)
    }

    /// [`load`](Self::load), with flags that override everything else.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub fn with_flags(
        folder: &Path,
        flags: &Flags,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, ConfigError> {
        resolve(folder, flags, variable)
    }

    /// Loads the configuration for the package under test, see [`package_root`], with the variables of this process.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub fn from_environment() -> Result<Self, ConfigError> {
        register_environment();
        log::init_from_environment().map_err(|error| ConfigError::MalformedVariable {
            name: log::VARIABLE,
            problem: error.to_string(),
        })?;
        let config = Self::load(&package_root(), |name| std::env::var_os(name))?;
        config.apply_to_process();
        Ok(config)
    }
}

/// Where the runs of the package under test are stored, according to `cobalt.toml` and the variables of this process. From then on,
/// variables that look like keys are redacted in everything that the library reads and writes.
///
/// ```
/// let layout = cobalt::files::layout()?;
/// assert!(layout.results().ends_with("results"));
/// # Ok::<(), cobalt::configuration::ConfigError>(())
/// ```
///
/// # Errors
///
/// `cobalt.toml` cannot be read, or a setting is invalid.
pub fn layout() -> Result<Layout, ConfigError> {
    Config::from_environment().map(|config| config.layout().clone())
}

/// Resolves the configuration of a directory.
fn resolve(
    folder: &Path,
    flags: &Flags,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Config, ConfigError> {
    let workspace = workspace_root(folder);
    // First, because errors in what is read next may quote secrets.
    [folder, &*workspace].iter().for_each(|folder| register_env_file(&folder.join(".env")));
    let variables = EnvVariables(variable);
    let (read, origin) = find_and_read(folder, &workspace, flags, &variables)?;
    let mut merge = Resolver { workspace, flags, variables, places: BTreeMap::new(), settings: Vec::new() };
    let (path, file, places) = match read {
        Some(ParsedFile { path, file, places, evaluators }) => {
            merge.places = places;
            (Some(path), file, evaluators)
        }
        None => (None, ConfigFile::default(), Vec::new()),
    };
    match &path {
        Some(path) => log::debug!(path = path.display(), origin = origin, "uses a settings file"),
        None => log::debug!(folder = folder.display(), "found no settings file; uses defaults"),
    }
    merge.note("config", &path, origin);
    merge.resolve_all(path, file, places)
}

/// The file to use, and what selected it.
fn find_and_read(
    folder: &Path,
    workspace: &Path,
    flags: &Flags,
    variables: &EnvVariables<impl Fn(&str) -> Option<OsString>>,
) -> Result<(Option<ParsedFile>, Origin), ConfigError> {
    if let Some(path) = flags.config() {
        return Ok((read_requested(path, "; requested by --config")?.read()?, Origin::Flag));
    }
    if let Some(path) = variables.path(CONFIG) {
        let source = read_requested(workspace.join(path), "; requested by COBALT_CONFIG")?;
        return Ok((source.read()?, Origin::variable(CONFIG)));
    }
    for source in candidates(folder, workspace) {
        if let Some(read) = source?.read()? {
            return Ok((Some(read), Origin::Found));
        }
    }
    Ok((None, Origin::Default))
}

impl<F: Fn(&str) -> Option<OsString>> Resolver<'_, F> {
    fn resolve_all(
        mut self,
        path: Option<PathBuf>,
        file: ConfigFile,
        places: Vec<Location>,
    ) -> Result<Config, ConfigError> {
        let ConfigFile {
            concurrency,
            timeout,
            reporters,
            targets,
            evaluators,
            thresholds,
            group_by,
            storage,
            judge,
            embedding,
            cache,
            prices,
            env,
            baseline,
            datasets,
            platforms,
            webhooks,
            changed,
            recordings,
            limits,
            trace,
            dashboard,
            redaction,
            ci,
        } = file;
        let (is_ci, ci) = self.ci(ci.unwrap_or_default())?;
        let concurrency = self.concurrency(concurrency, ci.concurrency)?;
        let timeout = self.timeout(timeout, ci.timeout)?;
        let targets = self.or_default("targets", targets, || vec![TargetPattern::any()]);
        let evaluators = self.or_default("evaluators", evaluators, Vec::new);
        let thresholds = self.or_default("thresholds", thresholds, Vec::new);
        let group_by = self.or_default("group-by", group_by, || FieldNames(Vec::new()));
        let mut storage = storage.unwrap_or_default();
        let remote = self.remote(&storage, is_ci)?;
        let parts_from = storage.parts_from.take();
        let private = storage.private;
        let layout = self.layout(storage);
        let parts_from = self.parts_from(parts_from);
        let is_private = self.or_default("storage.private", private, || true);
        let reporters = self.reporters(reporters, &layout);
        let models = self.models(
            judge.unwrap_or_default(),
            embedding.unwrap_or_default(),
            cache.unwrap_or_default(),
            &layout,
        )?;
        let prices = self.prices(prices.unwrap_or_default());
        let env = self.env(env.unwrap_or_default());
        // These apply to one invocation; they are not settings.
        let ItemSelection { only, shard, shard_group } = self.item_selection()?;
        let variants = self.variant_selection()?;
        let score = self.score(only.is_some(), shard.is_some())?;
        let runs = self.flags.runs.map_or_else(|| self.variables.runs(), |runs| Ok(Some(runs.get())))?;
        let sources = self.variables.text(SOURCES).filter(|hash| !hash.is_empty());
        let baseline = self.baseline(baseline.unwrap_or_default())?;
        let datasets = self.datasets(path, datasets.unwrap_or_default());
        let webhooks = self.webhooks(webhooks);
        let accounts = self.accounts(platforms.unwrap_or_default())?;
        let fetch = self.fetch_settings(&layout, accounts)?;
        let max_cost = self.flags.max_cost.map_or_else(|| self.variables.max_cost(), |max| Ok(Some(max)))?;
        let keep_workspaces = self
            .flags
            .keep_workspaces
            .map_or_else(|| self.variables.keep_workspaces(), |kept| Ok(Some(kept)))?;
        let ledger = self.variables.ledger().or_else(|| {
            // nextest starts a process per experiment.
            let run = self.variables.text("NEXTEST_RUN_ID").filter(|id| !id.is_empty())?;
            Some(shared_ledger(&layout.limits(), &run))
        });
        let changed = changed.unwrap_or_default();
        for (key, list) in
            [("also", &changed.also), ("ignore", &changed.ignore), ("variables", &changed.variables)]
        {
            self.note_written(&format!("changed.{key}"), Some(list).filter(|list| !list.is_empty()));
        }
        let recordings = self.recordings(recordings.unwrap_or_default(), is_ci)?;
        self.note_written("limits", limits.as_ref());
        let (trace_limits, receives_spans) = self.trace(trace.unwrap_or_default());
        let dashboard = self.dashboard(dashboard.unwrap_or_default());
        let redacts_forms = self.redacts_forms(redaction.unwrap_or_default())?;
        Ok(Config {
            workspace: self.workspace.clone(),
            ci: is_ci,
            pool_reruns_window: match ci.pool_reruns {
                _ if !is_ci => None,
                Some(AgeOrOff(age)) => age.map(|Age(length)| length),
                None => Some(DEFAULT_POOL_RERUNS),
            },
            concurrency,
            timeout,
            reporters,
            targets,
            evaluators: evaluators.into_iter().zip(places).collect(),
            thresholds: self.located_thresholds("thresholds", thresholds),
            group_by: group_by.0,
            additional_thresholds: self
                .located_thresholds("ci.thresholds", ci.thresholds.unwrap_or_default()),
            layout,
            remote,
            parts_from,
            is_private,
            models,
            prices,
            env,
            runs,
            score,
            only,
            shard,
            shard_group,
            shard_plans: self.variables.shard_plans()?,
            variants,
            faults: self.variables.faults()?,
            sources,
            changed,
            baseline,
            datasets,
            webhooks,
            max_cost: max_cost.map(|max| (max.usd(), ledger)),
            recordings,
            keep_workspaces: keep_workspaces.unwrap_or_default(),
            #[cfg(feature = "record")]
            limits: limits.unwrap_or_default().into_iter().map(Into::into).collect(),
            trace_limits,
            receives_spans,
            dashboard,
            redacts_forms,
            fetch,
            settings: self.settings,
        })
    }

    /// When to fetch datasets. Each of the two flags overrides the other's variable.
    fn fetch_settings(
        &self,
        layout: &Layout,
        accounts: BTreeMap<Platform, Account>,
    ) -> Result<FetchSettings, ConfigError> {
        let (offline, refresh) = match (self.flags.offline, self.flags.refresh) {
            (true, _) => (true, None),
            (false, Some(since)) => (false, Some(since)),
            (false, None) => (self.variables.offline()?.unwrap_or(false), self.variables.refresh()?),
        };
        let is_resumed = self.variables.text(RESUME).is_some_and(|ids| !ids.is_empty());
        Ok(FetchSettings { folder: layout.datasets(), offline, refresh, is_resumed, accounts })
    }

    /// Which items to run if not all, or which shard.
    fn item_selection(&self) -> Result<ItemSelection, ConfigError> {
        let only = self.flags.rerun.map_or_else(|| self.variables.rerun_mode(), |only| Ok(Some(only)))?;
        let choice = self.flags.shard.map_or_else(|| self.variables.shard(), |choice| Ok(Some(choice)))?;
        let variable = |name: &str| self.variables.text(name);
        let given = self.flags.shard_group.clone();
        let given = given.map_or_else(|| self.variables.shard_group(), |group| Ok(Some(group)))?;
        let (shard, group) = match choice {
            None => (None, group_of_job(variable)),
            Some(ShardChoice::Given(shard)) => (Some(shard), group_of_job(variable)),
            Some(ShardChoice::Auto) => {
                let CiShard { shard, group } = shard_of_job(variable)?;
                (Some(shard), group)
            }
        };
        match (only, shard) {
            (Some(only), Some(shard)) => Err(ConfigError::ShardWithRerun { only, shard }),
            _ => Ok(ItemSelection { only, shard, shard_group: given.or(group) }),
        }
    }

    /// Which variants to run, and with which settings.
    fn variant_selection(&self) -> Result<VariantSelection, ConfigError> {
        let VariantSelection { names, changes } = &self.flags.variants;
        Ok(VariantSelection {
            names: if names.is_empty() { self.variables.variants() } else { names.clone() },
            changes: if changes.is_empty() { self.variables.setting_changes()? } else { changes.clone() },
        })
    }

    /// The runs whose outputs are scored, and by which evaluators. The list of flags has absolute paths.
    fn score(&self, reruns: bool, is_shard: bool) -> Result<ScoreSettings, ConfigError> {
        let (runs, evaluators) = match &self.flags.score[..] {
            [] => (self.variables.list(SCORE), self.variables.list(SCORE_EVALUATORS)),
            paths => {
                let paths = paths.iter().map(|path| absolute_path(path).display().to_string());
                (paths.collect(), self.flags.score_evaluators.clone())
            }
        };
        let resumes = !self.variables.list(RESUME).is_empty();
        let others = [(reruns, ONLY), (is_shard, SHARD), (resumes, RESUME)];
        match others.into_iter().find(|(is_set, _)| *is_set && !runs.is_empty()) {
            Some((_, other)) => Err(ConfigError::ScoreWith { other }),
            None => Ok(ScoreSettings { runs, evaluators }),
        }
    }

    /// The reporters. Relative paths start at the workspace root, those of flags at the current directory.
    fn reporters(&mut self, written: Option<Vec<Reporter>>, layout: &Layout) -> Vec<Reporter> {
        let flags = (!self.flags.reporters.is_empty()).then(|| self.flags.reporters.clone());
        let (folder, origin) = match flags {
            Some(_) => (absolute_path(Path::new(".")), Origin::Flag),
            None => {
                let origin = if written.is_some() { self.origin("reporters") } else { Origin::Default };
                (self.storage_root().unwrap_or_else(|| self.workspace.clone()), origin)
            }
        };
        let chosen = flags.or(written).unwrap_or_else(|| vec![Reporter::new(ReporterKind::Cli)]);
        let placed: Vec<_> =
            chosen.into_iter().map(|reporter| reporter.with_resolved_path(&folder, layout)).collect();
        self.note("reporters", &placed, origin);
        placed
    }

    /// Whether `[ci]` is active, and its settings if so.
    fn ci(&mut self, ci: Ci) -> Result<(bool, Ci), ConfigError> {
        let flag = (self.flags.ci.then_some(true), Origin::Flag);
        let variable = (self.variables.ci()?, Origin::variable(CI));
        let (in_force, origin) = first_set([flag, variable]).unwrap_or((false, Origin::Default));
        self.note("ci", &in_force, origin);
        let Ci { thresholds, concurrency, timeout, pool_reruns } = &ci;
        self.note_written("ci.thresholds", thresholds.as_ref());
        self.note_written("ci.concurrency", concurrency.as_ref());
        self.note_written("ci.timeout", timeout.as_ref());
        self.note_written("ci.pool-reruns", pool_reruns.as_ref());
        Ok((in_force, if in_force { ci } else { Ci::default() }))
    }

    fn concurrency(
        &mut self,
        written: Option<PositiveInt>,
        in_ci: Option<PositiveInt>,
    ) -> Result<Overridable<usize>, ConfigError> {
        let overriding = first_set([
            (self.flags.concurrency.map(|items| PositiveInt(items.get())), Origin::Flag),
            (self.variables.concurrency()?.map(PositiveInt), Origin::variable(CONCURRENCY)),
            (in_ci, self.origin("ci.concurrency")),
        ]);
        let Overridable { value: PositiveInt(value), overrides, is_default } =
            self.overridable("concurrency", overriding, written, PositiveInt(DEFAULT_CONCURRENCY));
        Ok(Overridable { value, overrides, is_default })
    }

    fn timeout(
        &mut self,
        written: Option<DurationValue>,
        in_ci: Option<DurationValue>,
    ) -> Result<Overridable<Duration>, ConfigError> {
        let overriding = first_set([
            (self.variables.timeout()?.map(DurationValue), Origin::variable(TIMEOUT)),
            (in_ci, self.origin("ci.timeout")),
        ]);
        let Overridable { value: DurationValue(value), overrides, is_default } =
            self.overridable("timeout", overriding, written, DurationValue(DEFAULT_TIMEOUT));
        Ok(Overridable { value, overrides, is_default })
    }

    /// A setting that experiments may also declare: the override, else the file's value, else the default.
    fn overridable<T: Serialize>(
        &mut self,
        key: &str,
        overriding: Option<(T, Origin)>,
        written: Option<T>,
        default: T,
    ) -> Overridable<T> {
        let overrides = overriding.is_some();
        let is_default = !overrides && written.is_none();
        let otherwise = first_set([(written, self.origin(key))]).unwrap_or((default, Origin::Default));
        let (value, origin) = overriding.unwrap_or(otherwise);
        self.note(key, &value, origin);
        Overridable { value, overrides, is_default }
    }

    fn env(&mut self, written: BTreeMap<VariableName, VariableValue>) -> BTreeMap<String, String> {
        let mut env = BTreeMap::new();
        for (VariableName(name), VariableValue(value)) in written {
            let key = dotted_key("env", &name);
            let set = self.variables.text(&name).map(|value| (value, Origin::variable(&name)));
            let (in_force, origin) = set.unwrap_or_else(|| (value.clone(), self.origin(&key)));
            register_variables([(&*name, &*value), (&*name, &*in_force)]);
            self.note(&key, &redacted_variable(&name, &in_force), origin);
            env.insert(name, value);
        }
        env
    }

    /// The thresholds under a key, with their location.
    fn located_thresholds(&self, key: &str, thresholds: Vec<ThresholdExpr>) -> Vec<Threshold> {
        let place = self.origin(key).to_string();
        thresholds
            .into_iter()
            .map(|ThresholdExpr(threshold)| threshold.with_location(place.clone()))
            .collect()
    }
}
