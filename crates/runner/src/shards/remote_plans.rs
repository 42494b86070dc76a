//! The plans of a group of shards in the remote store: the first shard writes them, the others use them.

use std::thread;
use std::time::Duration;

use cobalt::command::config::Config;
use cobalt_core::report::{ShardPlan, ShardPlans};
use cobalt_core::store::read_measurements;

use super::layout;
use crate::error::Error;
use crate::remote::{Remote, RemoteEntry, RemoteError};

/// How long a plan has to stay unchanged: a store that does not support conditions lets a second writer replace it.
const SETTLES: Duration = Duration::from_secs(1);

/// The plans of experiments. Those that the group does not have yet are written: the given ones, or the latencies of the newest run in
/// the store, or of the saved baseline.
pub fn plans_of_group(
    remote: &Remote,
    group: &str,
    experiments: &[String],
    mut given: ShardPlans,
    settings: &Config,
) -> Result<ShardPlans, Error> {
    let mut plans = ShardPlans::default();
    let mut missing = Vec::new();
    for experiment in experiments {
        match read(remote, group, experiment)? {
            Some(plan) => drop(plans.0.insert(experiment.clone(), plan)),
            None => missing.push(experiment),
        }
    }
    if missing.is_empty() {
        return Ok(plans);
    }
    let runs = remote.sync(settings.layout())?.entries().map_err(RemoteError::from)?;
    for experiment in &missing {
        let plan = match given.0.remove(*experiment) {
            Some(plan) => plan,
            None => expected(remote, experiment, &runs, settings)?,
        };
        let text = serde_json::to_vec(&plan).map_err(Error::Json)?;
        remote.create(&layout::plan(group, experiment), text)?;
    }
    thread::sleep(SETTLES);
    for experiment in missing {
        let plan = read(remote, group, experiment)?.ok_or_else(|| gone(remote, group, experiment))?;
        plans.0.insert(experiment.clone(), plan);
    }
    Ok(plans)
}

fn read(remote: &Remote, group: &str, experiment: &str) -> Result<Option<ShardPlan>, RemoteError> {
    let object = layout::plan(group, experiment);
    let Some(content) = remote.get(&object)? else { return Ok(None) };
    serde_json::from_slice(&content).map(Some).map_err(|error| RemoteError::Damaged {
        url: remote.url().to_owned(),
        object,
        problem: error.to_string(),
    })
}

fn gone(remote: &Remote, group: &str, experiment: &str) -> RemoteError {
    RemoteError::Damaged {
        url: remote.url().to_owned(),
        object: layout::plan(group, experiment),
        problem: "it was deleted while the shards started".to_owned(),
    }
}

/// The latencies of the newest complete run, or of the baseline. Without either, a plan that spreads the items evenly, which the other
/// shards use even if there is a run by then.
fn expected(
    remote: &Remote,
    experiment: &str,
    runs: &[RemoteEntry],
    settings: &Config,
) -> Result<ShardPlan, Error> {
    let is_of = |entry: &&RemoteEntry| entry.run.name == experiment && !entry.run.partial;
    let (path, source) = match runs.iter().find(is_of) {
        Some(entry) => (remote.fetch(entry, settings.layout())?, "run"),
        None => (settings.layout().baseline(experiment), "baseline"),
    };
    if !path.exists() {
        return Ok(ShardPlan::default());
    }
    let run = read_measurements(&path, settings.prices())?;
    Ok(ShardPlan::of(format!("{source} {}", run.id), &run))
}
