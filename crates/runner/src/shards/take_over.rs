//! Runs the remaining items of a dead or stopped shard: resumes its runs from their journals in the remote store, and runs the
//! experiments that it had not started.

use std::env;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use cobalt::command::config::SHARD_TOKEN;
use cobalt::command::exit_code::BUDGET_SPENT;
use cobalt_core::prices::PriceTable;
use cobalt_core::report::Shard;
use cobalt_core::store::new_run_id;

use super::group::{Progress, ShardGroupState};
use super::heartbeat::{Channel, Heartbeat};
use super::journal::{delete_journal, fetch_journal};
use super::layout;
use super::options::GivenArguments;
use super::status::{ShardState, ShardStatus};
use crate::error::{CommandError, Error};
use crate::interrupt::{self, ForwardGuard};
use crate::shell;
use crate::terminal::eprint_wrapped;

#[derive(Debug, thiserror::Error)]
pub enum TakeOverError {
    #[error("failed to start `{program}` to take over shard {shard}: {source}")]
    Start { program: String, shard: Shard, source: io::Error },

    #[error(
        "shard {shard} was taken over, but this command failed ({status}); fix the errors above, run it, and merge again:\n  {command}"
    )]
    Failed { shard: Shard, command: String, status: String },

    #[error(
        "shard {shard} was taken over and has used up its budget; finished items are saved; merge again with a higher budget, as in \
         `--take-over -- --max-cost 5`"
    )]
    BudgetSpent { shard: Shard },
}

impl CommandError for TakeOverError {}

/// How to run the remaining items of a shard.
#[derive(Debug)]
pub struct TakeOver<'a> {
    pub channel: Channel,
    /// The prices for the costs of redacted runs, if runs are pushed redacted.
    pub redacts: Option<&'a PriceTable>,
    /// The settings file, if it is not the project's.
    pub config: Option<&'a Path>,
    /// The options that name the store and the archive.
    pub sources: Vec<String>,
    /// Further arguments for `cargo cobalt run`.
    pub given: GivenArguments<'a>,
}

impl TakeOver<'_> {
    /// The state of a shard that can be taken over, and why it has to be.
    pub fn unfinished<'s>(&self, progress: &'s Progress) -> Option<(&'s ShardStatus, String)> {
        match progress {
            Progress::Dead { since_heartbeat, status } => {
                let age = humantime::format_duration(Duration::from_secs(since_heartbeat.as_secs()));
                Some((status, format!("no heartbeat for {age}")))
            }
            Progress::Stopped { status } => Some((status, "it was stopped".to_owned())),
            Progress::BudgetSpent { status } => {
                let budget = self.given.max_cost()?;
                Some((status, format!("its budget was used up, and it has ${budget} more")))
            }
            Progress::Finished | Progress::Merged | Progress::Running { .. } | Progress::Missing => None,
        }
    }

    /// Takes over a shard; returns whether this process did. Another one may have been faster, whose heartbeats are seen then.
    pub fn take_over(
        &self,
        dead: &ShardStatus,
        why: &str,
        known: &ShardGroupState<'_>,
    ) -> Result<bool, Error> {
        let Channel { remote, group, .. } = &self.channel;
        let status = ShardStatus { token: new_run_id(), state: ShardState::Running, ..dead.clone() };
        let token = status.token.clone();
        let claim = layout::claim(group, &dead.token);
        // The state still has the token of the dead process, so the process that claimed it has died, too.
        if known.is_abandoned_claim(&claim) {
            remote.delete(&claim)?;
        }
        if !remote.claim(&claim, &token)? {
            return Ok(false);
        }
        eprint_wrapped(&format!("taking over shard {}: {why}", dead.shard));
        let heartbeat = Heartbeat::start(self.channel.clone(), status)?;
        match self.run_remaining(dead, &token, known) {
            Ok(()) => heartbeat.end(ShardState::Finished)?,
            Err(error) => {
                let is_spent = matches!(error.downcast(), Some(TakeOverError::BudgetSpent { .. }));
                let state = if is_spent { ShardState::BudgetSpent } else { ShardState::Stopped };
                // What failed says more.
                let _ = heartbeat.end(state);
                return Err(error);
            }
        }
        // The heartbeat knows only the journals of runs that it resumed.
        dead.runs.values().try_for_each(|id| delete_journal(remote, group, id))?;
        Ok(true)
    }

    fn run_remaining(
        &self,
        dead: &ShardStatus,
        token: &str,
        known: &ShardGroupState<'_>,
    ) -> Result<(), Error> {
        let Channel { remote, group, layout, .. } = &self.channel;
        let (mut resumed, mut finished) = (Vec::new(), Vec::new());
        for (experiment, id) in &dead.runs {
            if known.is_pushed(id) {
                finished.push(experiment);
            } else if let Some(result) = layout.result_of(id) {
                // It finished on this machine, and could not be pushed.
                remote.push_run(&result, self.redacts)?;
                finished.push(experiment);
            } else if fetch_journal(remote, group, id, layout)? {
                resumed.push(id.as_str());
                finished.push(experiment);
            }
        }
        if !resumed.is_empty() {
            self.run(dead, token, self.given.for_resumed(&resumed, &dead.options))?;
        }
        let rest: Vec<_> = dead.experiments.iter().filter(|name| !finished.contains(name)).collect();
        if !rest.is_empty() {
            let rest: Vec<_> = rest.into_iter().map(String::as_str).collect();
            let mut arguments = vec![format!("--shard={}", dead.shard), format!("--shard-group={group}")];
            arguments.extend(self.given.for_experiments(&rest, &dead.options));
            self.run(dead, token, arguments)?;
        }
        Ok(())
    }

    /// `cargo cobalt run` of some of the shard, in a process of its own. Its output goes to stderr.
    fn run(&self, dead: &ShardStatus, token: &str, arguments: Vec<String>) -> Result<(), Error> {
        let shard = dead.shard;
        let config = self.config.map(|path| format!("--config={}", path.display()));
        let own = ["cobalt", "run", "--push"].map(str::to_owned).into_iter().chain(config);
        let arguments: Vec<_> = own.chain(self.sources.iter().cloned()).chain(arguments).collect();
        let program = env::current_exe().unwrap_or_else(|_| "cargo-cobalt".into());
        let mut command = Command::new(&program);
        command.args(&arguments);
        // A resumed run keeps its own shard.
        for name in ["COBALT_SHARD", "COBALT_SHARD_PLANS", "COBALT_ONLY", "COBALT_RESUME"] {
            command.env_remove(name);
        }
        command.env("COBALT_SHARD_GROUP", &self.channel.group).env(SHARD_TOKEN, token);
        command.stdin(Stdio::null()).stdout(Stdio::from(io::stderr()));
        let start = |source| TakeOverError::Start { program: program.display().to_string(), shard, source };
        let mut child = command.spawn().map_err(start)?;
        let forward = ForwardGuard::new(&child);
        let status = child.wait().map_err(start)?;
        drop(forward);
        if interrupt::was_received() {
            return Err(Error::Interrupted);
        }
        match status.code() {
            // With COBALT_CI, items that fail are an exit code; the merged run has them.
            Some(0 | 1) => Ok(()),
            Some(BUDGET_SPENT) => Err(TakeOverError::BudgetSpent { shard }.into()),
            _ => {
                let command = format!("cargo {}", shell::command_line(&arguments));
                Err(TakeOverError::Failed { shard, command, status: status.to_string() }.into())
            }
        }
    }
}
