//! A shard that this process runs, if it is pushed to the remote store: its plans come from there, and it reports to it.

use std::path::Path;
use std::sync::Arc;

use cobalt::command::config::Config;
use cobalt_core::report::{Shard, ShardPlans};
use cobalt_core::reporters::Event;

use super::heartbeat::{Channel, Heartbeat};
use super::plans::{PlanFile, read_plans};
use super::remote_plans::plans_of_group;
use super::status::{ShardState, ShardStatus};
use crate::error::Error;
use crate::remote::{Remote, RemoteError};
use crate::terminal::eprint_wrapped;

/// The shard of an invocation.
#[derive(Debug)]
pub struct ShardJob {
    shard: Shard,
    channel: Channel,
    /// The plans for the test binaries.
    plans: PlanFile,
    given: ShardPlans,
    heartbeat: Option<Heartbeat>,
}

impl ShardJob {
    /// The shard of an invocation whose runs are pushed; `None` for others, and for shards without a group. `given`: the plans that the
    /// user asks for.
    pub fn open(settings: &Config, given: Option<&Path>) -> Result<Option<Self>, Error> {
        let Some(shard) = settings.shard().filter(|_| settings.remote().pushes) else { return Ok(None) };
        let Some(group) = settings.shard_group() else {
            eprint_wrapped(
                "note: the shard has no group, so `cargo cobalt merge --remote` cannot find it; add --shard-group",
            );
            return Ok(None);
        };
        let channel = Channel {
            remote: Arc::new(Remote::open(settings)?),
            group: group.to_string(),
            layout: settings.layout().clone(),
            sends_journals: !settings.remote().redacts,
        };
        let given = given.map(read_plans).transpose()?.unwrap_or_default();
        // The binaries read the file before the plans are known, when they list their experiments.
        let plans = PlanFile::write(&ShardPlans::default())?;
        Ok(Some(Self { shard, channel, plans, given, heartbeat: None }))
    }

    /// The plans for the test binaries.
    pub fn plans(&self) -> &PlanFile {
        &self.plans
    }

    /// Agrees on the plans of these experiments, and tells the store that the shard runs.
    pub fn start(&mut self, experiments: Vec<String>, settings: &Config) -> Result<(), Error> {
        let Channel { remote, group, layout, .. } = &self.channel;
        remote.prepare(layout)?;
        let given = std::mem::take(&mut self.given);
        let plans = plans_of_group(remote, group, &experiments, given, settings)?;
        self.plans.replace(&plans)?;
        let status = ShardStatus::new(self.shard, experiments);
        self.heartbeat = Some(Heartbeat::start(self.channel.clone(), status)?);
        Ok(())
    }

    /// Notes the runs that start.
    pub fn on_event(&self, event: &Event) {
        if let (Some(heartbeat), Event::ExperimentStarted(started)) = (&self.heartbeat, event) {
            heartbeat.run_started(&started.name, &started.id);
        }
    }

    /// Tells the store that the shard has ended.
    pub fn end(self, is_finished: bool) -> Result<(), RemoteError> {
        let state = if is_finished { ShardState::Finished } else { ShardState::Stopped };
        self.heartbeat.map_or(Ok(()), |heartbeat| heartbeat.end(state))
    }
}
