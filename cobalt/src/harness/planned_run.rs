//! An experiment that is about to run: checked by its evaluators, but without a journal yet.

use std::collections::BTreeMap;
use std::env;
use std::process::Command;

#[cfg(feature = "record")]
use cobalt_core::recordings::RecordingFolder;
use cobalt_core::report::{Shard, ShardPlan};
use cobalt_core::store::{InterruptedRun, derive_id};

use super::cases::{Cases, DeclaredExperiment, LoadFailure};
use crate::config::Config;
use crate::error::Error;
use crate::log;
use crate::private::ExperimentDefinition;
#[cfg(feature = "record")]
use crate::recording::LedClients;
use crate::recording::{RecordMode, Recordings, ResolvedRecording};
use crate::session::{Baseline, ItemSelection, MissingKeys, Plan, Rerun, Run};

/// An experiment that is about to run.
pub struct PlannedRun {
    pub(super) plan: Plan,
    /// Its test cases.
    pub(super) cases: Cases,
    pub(super) start: StartMode,
}

/// How a run starts: which items, and from which state.
pub enum StartMode {
    /// A new run of the selected items, with the given ID or a new one.
    New { selected: ItemSelection, id: Option<String>, why: Option<String>, still_failed: Option<String> },
    /// The remaining items of a run.
    Resume(InterruptedRun),
    /// The items of a run that ended in an error.
    Retry { run: InterruptedRun, still_failed: Option<String> },
    /// Nothing: none of its cases is selected, or no item is left, for the given reason.
    Skip { why: Option<String>, still_failed: Option<String> },
}

/// The shard of a new run.
struct ShardRun {
    shard: Shard,
    /// The plan that balances the shards; without one, items are assigned by their keys.
    balance: Option<ShardPlan>,
    group: Option<String>,
}

impl StartMode {
    /// Retries the run with this ID, which an earlier attempt has started.
    pub fn retry(plan: &Plan, id: &str, config: &Config) -> Result<Self, LoadFailure> {
        let run = InterruptedRun::find(config.layout(), id).map_err(results_error)?;
        Self::retry_run(plan, run, config)
    }

    /// Retries this run. Earlier results that failed the first attempt still fail this one.
    pub fn retry_run(plan: &Plan, run: InterruptedRun, config: &Config) -> Result<Self, LoadFailure> {
        let still_failed = match (config.only(), &run.selection) {
            (Some(_), Some(items)) => plan.other_earlier_failures(items, config).map_err(results_error)?,
            _ => None,
        };
        Ok(Self::Retry { run, still_failed })
    }

    /// Starts a new run of the selected items, or of all; reduced to failed or changed items, or to a shard, if requested.
    pub fn new_run(
        plan: &Plan,
        selected: Option<Vec<usize>>,
        id: Option<String>,
        config: &Config,
    ) -> Result<Self, LoadFailure> {
        if plan.rescored().is_some() {
            return Ok(Self::score(plan, selected, id));
        }
        if let Some(shard) = config.shard() {
            let balance = Baseline::shard_plan(plan.name(), config);
            let balance = balance.map_err(|error| LoadFailure { case: "baseline", error })?;
            let group = config.shard_group().map(ToString::to_string);
            return Ok(Self::new_shard_run(plan, ShardRun { shard, balance, group }, selected, id));
        }
        let Some(only) = config.only() else {
            let selected = ItemSelection::of(selected);
            return Ok(Self::New { selected, id, why: None, still_failed: None });
        };
        let Rerun { items, reason: why, still_failed } =
            plan.rerun(only, selected, config).map_err(results_error)?;
        let why = Some(why);
        let nothing = items.as_ref().is_some_and(Vec::is_empty);
        let selected = ItemSelection::of(items);
        Ok(match nothing {
            true => Self::Skip { why, still_failed },
            false => Self::New { selected, id, why, still_failed },
        })
    }

    /// Scores the stored outputs of the selected items, or of all.
    pub fn score(plan: &Plan, selected: Option<Vec<usize>>, id: Option<String>) -> Self {
        let stored = plan.stored_selection();
        let items = match (selected, stored) {
            (Some(mut items), Some(stored)) => {
                items.retain(|index| stored.binary_search(index).is_ok());
                Some(items)
            }
            (items, stored) => items.or_else(|| stored.map(<[usize]>::to_vec)),
        };
        let why = plan.rescored().map(ToString::to_string);
        if items.as_ref().is_some_and(Vec::is_empty) {
            let why = why.map(|why| format!("none of the selected items is among the {why}"));
            return Self::Skip { why, still_failed: None };
        }
        Self::New { selected: ItemSelection::of(items), id, why, still_failed: None }
    }

    /// Starts a new run of the selected items in a shard. It counts as partial even if the shard happens to contain all items, unless
    /// it is the only shard.
    fn new_shard_run(
        plan: &Plan,
        ShardRun { shard, balance, group }: ShardRun,
        selected: Option<Vec<usize>>,
        id: Option<String>,
    ) -> Self {
        let are_all = selected.is_none();
        let selection = ItemSelection {
            items: None,
            start_order: None,
            shard: Some(shard),
            shard_plan: balance.as_ref().map(ShardPlan::hash),
            shard_group: group,
        };
        if are_all && shard.total() == 1 {
            let why = Some(format!("shard {shard}"));
            return Self::New { selected: selection, id, why, still_failed: None };
        }
        let keys: Vec<_> = (0..plan.dataset().len()).map(|index| plan.key(index)).collect();
        let in_shard = match &balance {
            Some(balance) => balance.items(shard, &keys),
            None => (0..keys.len()).filter(|index| shard.contains(keys[*index])).collect(),
        };
        let items: Vec<_> = match selected {
            Some(selected) => {
                selected.into_iter().filter(|index| in_shard.binary_search(index).is_ok()).collect()
            }
            None => in_shard,
        };
        if items.is_empty() {
            let which = if are_all { "no item" } else { "none of the selected items" };
            return Self::Skip { why: Some(format!("{which} is in shard {shard}")), still_failed: None };
        }
        log::debug!(
            experiment = plan.name(),
            shard = shard,
            items = items.len(),
            of = keys.len(),
            balanced = balance.is_some(),
            "selected the shard's items"
        );
        let why = Some(match balance.as_ref().filter(|balance| !balance.latencies.is_empty()) {
            Some(balance) => format!("shard {shard}, balanced by the latencies of {}", balance.source),
            None => format!("shard {shard}"),
        });
        let start_order = balance.map(|balance| balance.slowest_first(&items, &keys));
        let selected = ItemSelection { items: Some(items), start_order, ..selection };
        Self::New { selected, id, why, still_failed: None }
    }

    /// The items that are scored, if not all.
    fn items(&self) -> Option<&[usize]> {
        match self {
            Self::New { selected, .. } => selected.items.as_deref(),
            Self::Resume(run) | Self::Retry { run, .. } => run.selection.as_deref(),
            Self::Skip { .. } => None,
        }
    }

    /// Whether this starts a shard.
    fn is_of_shard(&self) -> bool {
        matches!(self, Self::New { selected: ItemSelection { shard: Some(_), .. }, .. })
    }
}

pub fn results_error(error: impl Into<Error>) -> LoadFailure {
    LoadFailure { case: "results", error: error.into() }
}

impl PlannedRun {
    /// Lets the evaluators check the items to run, and looks for the baseline.
    pub fn check(mut self, config: &Config, missing: &mut MissingKeys) -> Result<Self, LoadFailure> {
        if matches!(self.start, StartMode::Skip { .. }) {
            return Ok(self);
        }
        let items = self.start.items();
        // Shards are checked with all items, so that either all of them are refused or none.
        let checked = items.filter(|_| !self.start.is_of_shard());
        self.plan.check(checked, missing).map_err(|error| LoadFailure { case: "definition", error })?;
        // Partial runs have no baseline.
        if items.is_none() {
            self.plan.find_baseline(config).map_err(|error| LoadFailure { case: "baseline", error })?;
        }
        Ok(self)
    }

    /// Why nothing is run, although something was selected.
    pub fn skip_reason(&self) -> Option<String> {
        match &self.start {
            StartMode::Skip { why, .. } => why.clone(),
            _ => None,
        }
    }

    /// Earlier results that fail the experiment regardless of this run.
    pub fn still_failed(&self) -> Option<String> {
        match &self.start {
            StartMode::New { still_failed, .. }
            | StartMode::Retry { still_failed, .. }
            | StartMode::Skip { still_failed, .. } => still_failed.clone(),
            StartMode::Resume(_) => None,
        }
    }

    /// Opens the journal. Returns no run if nothing is run.
    pub fn start(self, config: &Config) -> Result<(Cases, Option<Run>), Error> {
        let Self { plan, cases, start } = self;
        let layout = config.layout();
        let run = match start {
            StartMode::New { selected, id: None, why, .. } => {
                Run::new(plan, selected, layout)?.with_reason(why)
            }
            StartMode::New { selected, id: Some(id), why, .. } => {
                Run::with_id(plan, selected, layout, id)?.with_reason(why)
            }
            StartMode::Retry { run: InterruptedRun { id, .. }, .. } => {
                let balance = known_balance(&plan, config);
                Run::retry(plan, layout, id)?.with_order_of(balance.as_ref())
            }
            StartMode::Resume(InterruptedRun { id, .. }) => {
                let balance = known_balance(&plan, config);
                Run::resume(plan, layout, &id)?.with_order_of(balance.as_ref())
            }
            StartMode::Skip { why, .. } => {
                let reason = why.as_deref().unwrap_or("no case is selected");
                log::debug!(experiment = plan.name(), reason = reason, "runs nothing of the experiment");
                return Ok((cases, None));
            }
        };
        Ok((cases, Some(run)))
    }
}

/// The latencies that may have balanced a shard. Only the order of its items depends on them: an unreadable baseline counts as none.
fn known_balance(plan: &Plan, config: &Config) -> Option<ShardPlan> {
    Baseline::shard_plan(plan.name(), config).ok().flatten()
}

/// Whether the traffic of some experiment may be recorded or replayed. That of one which declares its recordings passes through the
/// gateway in every mode: its tool calls are seen there.
pub fn needs_gateway(definitions: &[&'static ExperimentDefinition], config: &Config) -> bool {
    let is_recorded = |definition: &&'static ExperimentDefinition| {
        let mut uses = resolve_recordings(definition, config);
        definition.records.is_some() || uses.any(|used| used.mode != RecordMode::Off)
    };
    definitions.iter().any(is_recorded) || config.limits_requests()
}

/// How the variants of an experiment, or the experiment itself, use recordings.
fn resolve_recordings(
    definition: &'static ExperimentDefinition,
    config: &Config,
) -> impl Iterator<Item = ResolvedRecording> {
    let declared = definition.records.filter(|folder| !folder.is_empty()).map(Recordings::from);
    let names = DeclaredExperiment::all(definition, config).into_iter().map(|variant| variant.name());
    names.map(move |name| config.recordings().resolve(&name, declared.as_ref()))
}

/// Restarts the process with the variables that lead clients to the gateway; returns if they do.
#[cfg(feature = "record")]
pub fn lead_clients_to_gateway(
    definitions: &[&'static ExperimentDefinition],
    config: &Config,
) -> Result<(), String> {
    let uses: Vec<_> =
        definitions.iter().flat_map(|definition| resolve_recordings(definition, config)).collect();
    // Clients that are built with a placeholder for a key can only replay: the gateway sends nothing for them.
    let replayed = uses.iter().filter(|used| used.mode.replays());
    let folders: Vec<_> = replayed.map(|used| RecordingFolder::new(&used.folder)).collect();
    let led = LedClients { models: needs_gateway(definitions, config), exporters: config.receives_spans() };
    let variables = crate::recording::missing_variables(&folders, led)?;
    if variables.is_empty() {
        #[cfg(feature = "otlp")]
        if led.exporters {
            crate::trace::enable_exports();
        }
        return crate::session::gateway(config).map(drop);
    }
    restart(variables.iter())
        .map_err(|error| format!("failed to restart with the gateway for model traffic: {error}"))
}

/// Without the feature, an experiment that needs it is refused when it is read.
#[cfg(not(feature = "record"))]
pub fn lead_clients_to_gateway(_: &[&'static ExperimentDefinition], _: &Config) -> Result<(), String> {
    Ok(())
}

/// Restarts the process with the variables that are missing; returns if every variable is set.
pub fn restart_with_missing_variables(variables: &BTreeMap<String, String>) -> Result<(), String> {
    let mut missing = variables.iter().filter(|(name, _)| env::var_os(name).is_none()).peekable();
    if missing.peek().is_none() {
        return Ok(());
    }
    restart(missing).map_err(|error| format!("failed to restart with the variables of `[env]`: {error}"))
}

/// Restarts the process with further variables. Returns only on error.
fn restart<'a>(variables: impl Iterator<Item = (&'a String, &'a String)>) -> Result<(), String> {
    let program = env::current_exe().map_err(|error| format!("failed to find this program: {error}"))?;
    let mut command = Command::new(program);
    command.args(env::args_os().skip(1)).envs(variables);
    log::debug!("restarts the process with further variables");
    Err(exec(command).to_string())
}

/// Replaces this process. Returns only on error.
#[cfg(unix)]
fn exec(mut command: Command) -> std::io::Error {
    use std::os::unix::process::CommandExt as _;

    if let Some(name) = env::args_os().next() {
        command.arg0(name);
    }
    command.exec()
}

/// Runs the program, and exits with its exit code.
#[cfg(not(unix))]
fn exec(mut command: Command) -> std::io::Error {
    match command.status() {
        Ok(status) => super::exit_guard::exit(status.code().unwrap_or(super::exit_code::SETUP_ERROR)),
        Err(error) => error,
    }
}

/// The environment of a process that nextest started for one case.
#[derive(Debug)]
pub struct NextestProcess {
    run: String,
    attempt: u32,
}

impl NextestProcess {
    /// `None` if the process was not started by nextest.
    pub fn from_environment() -> Option<Self> {
        Self::read(|name| std::env::var(name).ok())
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        if variable("NEXTEST_EXECUTION_MODE")? != "process-per-test" {
            return None;
        }
        let attempt = variable("NEXTEST_ATTEMPT").and_then(|attempt| attempt.parse().ok()).unwrap_or(1);
        // A stress run repeats each case within one nextest run.
        let parts = ["NEXTEST_RUN_ID", "NEXTEST_BINARY_ID", "NEXTEST_STRESS_CURRENT"];
        Some(Self { run: parts.map(|name| variable(name).unwrap_or_default()).join("/"), attempt })
    }

    /// The run ID that all attempts of an experiment share.
    pub fn run_id(&self, experiment: &str) -> String {
        derive_id(&[self.run.clone(), experiment.to_owned()])
    }

    /// Whether an earlier attempt failed.
    pub fn is_retry(&self) -> bool {
        self.attempt > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Option<NextestProcess> {
        NextestProcess::read(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn only_a_process_for_each_test_makes_an_experiment_one_case() {
        assert!(read(&[]).is_none());
        assert!(read(&[("NEXTEST_EXECUTION_MODE", "something-new")]).is_none());
        assert!(!read(&[("NEXTEST_EXECUTION_MODE", "process-per-test")]).unwrap().is_retry());
    }

    #[test]
    fn attempts_at_an_experiment_share_an_id() {
        let attempt = |number, stress| {
            read(&[
                ("NEXTEST_EXECUTION_MODE", "process-per-test"),
                ("NEXTEST_RUN_ID", "r"),
                ("NEXTEST_ATTEMPT", number),
                ("NEXTEST_STRESS_CURRENT", stress),
            ])
            .unwrap()
        };
        let (first, second) = (attempt("1", "none"), attempt("2", "none"));
        assert!(second.is_retry());
        assert_eq!(first.run_id("desk"), second.run_id("desk"));
        assert_ne!(first.run_id("desk"), first.run_id("sums"));
        assert_ne!(first.run_id("desk"), attempt("1", "3").run_id("desk"));
    }
}
