//! A shard that this process runs, if it is pushed to the remote store: its plans come from there, and it reports to it.

use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cobalt::command::config::{Config, SHARD_TOKEN};
use cobalt_core::report::{Shard, ShardPlans};
use cobalt_core::reporters::Event;
use cobalt_core::wording::join_quoted;

use super::heartbeat::{Channel, Heartbeat, HeartbeatError};
use super::layout;
use super::options::ShardOptions;
use super::plans::{PlanFile, read_plans};
use super::remote_plans::plans_of_group;
use super::state_listing::{StateListing, delete_clock};
use super::status::{ShardState, ShardStatus};
use crate::cli::RunOptions;
use crate::error::{CommandError, Error, ErrorKind};
use crate::interrupt;
use crate::remote::{Remote, is_id};

/// A state this old is of a process that has missed heartbeats.
const FRESH: Duration = Duration::from_secs(30);

#[derive(Debug, thiserror::Error)]
pub enum ShardJobError {
    #[error(
        "the runs of the shard are pushed, but it has no group, so `cargo cobalt merge --remote` could not find it; add --shard-group \
         NAME or set COBALT_SHARD_GROUP, the same for all shards"
    )]
    NoGroup,

    #[error(
        "shard {shard} of group `{group}` is running with other experiments ({}, here {}); give each set of jobs a group of its own \
         with --shard-group",
        join_quoted(.running.iter().map(String::as_str)),
        join_quoted(.own.iter().map(String::as_str))
    )]
    OtherExperiments { shard: Shard, group: String, running: Vec<String>, own: Vec<String> },
}

impl CommandError for ShardJobError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoGroup => ErrorKind::Arguments,
            Self::OtherExperiments { .. } => ErrorKind::Setup,
        }
    }
}

/// The shard of an invocation.
#[derive(Debug)]
pub struct ShardJob {
    shard: Shard,
    channel: Channel,
    /// The plans for the test binaries.
    plans: PlanFile,
    given: ShardPlans,
    /// The token of the process that takes the shard over, if it started this one.
    token: Option<String>,
    heartbeat: Option<Heartbeat>,
}

impl ShardJob {
    /// The shard of an invocation whose runs are pushed; `None` for others. `given`: the plans that the user asks for.
    pub fn open(settings: &Config, given: Option<&Path>) -> Result<Option<Self>, Error> {
        let Some(shard) = settings.shard().filter(|_| settings.remote().pushes) else { return Ok(None) };
        let Some(group) = settings.shard_group() else {
            // The only shard is the whole run, which needs no merge.
            return if shard.total() == 1 { Ok(None) } else { Err(ShardJobError::NoGroup.into()) };
        };
        let channel = Channel {
            remote: Arc::new(Remote::open(settings)?),
            group: group.to_string(),
            layout: settings.layout().clone(),
            sends_journals: !settings.remote().redacts,
            stop: interrupt::stop,
        };
        let given = given.map(read_plans).transpose()?.unwrap_or_default();
        // The binaries read the file before the plans are known, when they list their experiments.
        let plans = PlanFile::write(&ShardPlans::default())?;
        let token = env::var(SHARD_TOKEN).ok().filter(|token| is_id(token));
        Ok(Some(Self { shard, channel, plans, given, token, heartbeat: None }))
    }

    /// The plans for the test binaries.
    pub fn plans(&self) -> &PlanFile {
        &self.plans
    }

    /// Agrees on the plans of these experiments, and reports to the store that the shard runs.
    pub fn start(
        &mut self,
        experiments: Vec<String>,
        options: &RunOptions,
        settings: &Config,
    ) -> Result<(), Error> {
        let Channel { remote, group, layout, .. } = &self.channel;
        remote.prepare(layout)?;
        let mut status = ShardStatus::new(self.shard, experiments, ShardOptions::of(options));
        match &self.token {
            Some(token) => status.token.clone_from(token),
            None => self.channel.check_experiments(&status)?,
        }
        let given = std::mem::take(&mut self.given);
        let plans = plans_of_group(remote, group, &status.experiments, given, settings)?;
        self.plans.replace(&plans)?;
        let heartbeat = match self.token {
            Some(_) => Heartbeat::share(self.channel.clone(), status)?,
            None => Heartbeat::start(self.channel.clone(), status)?,
        };
        self.heartbeat = Some(heartbeat);
        Ok(())
    }

    /// Notes the runs that start.
    pub fn on_event(&self, event: &Event) {
        if let (Some(heartbeat), Event::ExperimentStarted(started)) = (&self.heartbeat, event) {
            heartbeat.run_started(&started.name, &started.id);
        }
    }

    /// Reports to the store that the shard has ended.
    pub fn end(self, state: ShardState) -> Result<(), HeartbeatError> {
        self.heartbeat.map_or(Ok(()), |heartbeat| heartbeat.end(state))
    }
}

impl Channel {
    /// Refuses a shard that another process runs with other experiments: the two would overwrite each other's state.
    pub fn check_experiments(&self, own: &ShardStatus) -> Result<(), Error> {
        let Self { remote, group, .. } = self;
        let object = layout::status(group, own.shard);
        let Some(content) = remote.get(&object)? else { return Ok(()) };
        let running = ShardStatus::parse(group, &object, &content, remote)?;
        let names = |status: &ShardStatus| status.experiments.iter().cloned().collect::<BTreeSet<_>>();
        if running.state != ShardState::Running || names(&running) == names(own) {
            return Ok(());
        }
        let listing = StateListing::read(remote, group, &own.token)?;
        delete_clock(remote, group, &own.token);
        match listing.age_of(&object).is_some_and(|age| age < FRESH) {
            true => Err(ShardJobError::OtherExperiments {
                shard: own.shard,
                group: group.clone(),
                running: running.experiments,
                own: own.experiments.clone(),
            }
            .into()),
            false => Ok(()),
        }
    }
}
