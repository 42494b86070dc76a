//! Runs what a dead shard has left: resumes its runs from their journals in the remote store, and runs the experiments that it had not
//! started.

use std::env;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use cobalt_core::prices::PriceTable;
use cobalt_core::store::new_run_id;

use super::group::ShardGroupState;
use super::heartbeat::{Channel, Heartbeat};
use super::journal::{delete_journal, fetch_journal};
use super::layout;
use super::status::{ShardState, ShardStatus};
use crate::error::{CommandError, Error};
use crate::terminal::eprint_wrapped;

#[derive(Debug, thiserror::Error)]
pub enum TakeOverError {
    #[error("failed to start `{program}` to take over shard {shard}: {source}")]
    Start { program: String, shard: String, source: io::Error },

    #[error(
        "shard {shard} was taken over, but `{command}` failed ({status}); fix what it says above, run that command, and merge again"
    )]
    Failed { shard: String, command: String, status: String },
}

impl CommandError for TakeOverError {}

/// How to run what a dead shard has left.
#[derive(Debug)]
pub struct TakeOver<'a> {
    pub channel: Channel,
    /// The prices for the costs of redacted runs, if runs are pushed redacted.
    pub redacts: Option<&'a PriceTable>,
    /// The settings file, if it is not the project's.
    pub config: Option<&'a Path>,
    /// Further arguments for `cargo cobalt run`.
    pub arguments: &'a [String],
}

impl TakeOver<'_> {
    /// Takes over a shard; returns whether this process did. Another one may have been faster, whose signs of life are seen then.
    pub fn take_over(
        &self,
        dead: &ShardStatus,
        silent: Duration,
        known: &ShardGroupState<'_>,
    ) -> Result<bool, Error> {
        let Channel { remote, group, layout, .. } = &self.channel;
        let status = ShardStatus { token: new_run_id(), state: ShardState::Running, ..dead.clone() };
        let claim = layout::claim(group, &dead.token);
        // The state still has the token of the dead process, so the process that claimed it has died, too.
        if known.is_abandoned_claim(&claim) {
            remote.delete(&claim)?;
        }
        if !remote.claim(&claim, &status.token)? {
            return Ok(false);
        }
        let silent = humantime::format_duration(Duration::from_secs(silent.as_secs()));
        eprint_wrapped(&format!("taking over shard {}: no sign of life for {silent}", dead.shard));
        let heartbeat = Heartbeat::start(self.channel.clone(), status)?;
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
            self.run(dead, &["--resume", &resumed.join(",")])?;
        }
        let rest: Vec<_> = dead.experiments.iter().filter(|name| !finished.contains(name)).collect();
        if !rest.is_empty() {
            let shard = dead.shard.to_string();
            let names = rest.iter().flat_map(|name| ["--experiment", name.as_str()]);
            let arguments: Vec<_> =
                ["--shard", &shard, "--shard-group", group].into_iter().chain(names).collect();
            self.run(dead, &arguments)?;
        }
        heartbeat.end(ShardState::Finished)?;
        // The heartbeat knows only the journals of runs that it resumed.
        dead.runs.values().try_for_each(|id| delete_journal(remote, group, id))?;
        Ok(true)
    }

    /// `cargo cobalt run` of some of the shard, in a process of its own. Its output goes to stderr.
    fn run(&self, dead: &ShardStatus, arguments: &[&str]) -> Result<(), Error> {
        let shard = dead.shard.to_string();
        let program = env::current_exe().unwrap_or_else(|_| "cargo-cobalt".into());
        let mut command = Command::new(&program);
        command.args(["cobalt", "run", "--push"]).args(arguments);
        command.args(self.config.into_iter().flat_map(|path| ["--config".as_ref(), path.as_os_str()]));
        command.args(self.arguments);
        // A resumed run keeps its own shard.
        for name in ["COBALT_SHARD", "COBALT_SHARD_PLANS", "COBALT_ONLY", "COBALT_RESUME"] {
            command.env_remove(name);
        }
        command.env("COBALT_SHARD_GROUP", &self.channel.group);
        command.stdin(Stdio::null()).stdout(Stdio::from(io::stderr()));
        let status = command.status().map_err(|source| TakeOverError::Start {
            program: program.display().to_string(),
            shard: shard.clone(),
            source,
        })?;
        // With COBALT_CI, items that fail are an exit code; the merged run has them.
        if matches!(status.code(), Some(0 | 1)) {
            return Ok(());
        }
        let command = format!("cargo cobalt run --push {}", arguments.join(" "));
        Err(TakeOverError::Failed { shard, command, status: status.to_string() }.into())
    }
}
