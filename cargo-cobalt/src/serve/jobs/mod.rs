//! Jobs: runs that clients of the dashboard start. A job is a `cargo cobalt run` of this program in the folder of the server; its output
//! is kept and redacted. There is one at a time, and it ends with the server.

mod job_output;
mod supervise;

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use cobalt::command::config::{Config, Reporter, ReporterKind};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::job_output::JobOutput;
use super::error::ApiError;
use super::job::{Job, JobState};
use super::live::{LiveUpdates, ServerEvent};
use crate::error::Error;
use crate::process_group::ProcessGroup;
use crate::sized_cache::lock;

/// How many jobs are remembered; older ones are forgotten with their output.
const MAX_JOBS: usize = 10;

/// A job and its output.
#[derive(Debug)]
pub struct JobEntry {
    job: Mutex<Job>,
    output: Mutex<JobOutput>,
    stop: CancellationToken,
}

impl JobEntry {
    pub fn job(&self) -> Job {
        lock(&self.job).clone()
    }

    /// The kept lines of its output from a line on, and the number of the first of them.
    pub fn output_after(&self, line: usize) -> (usize, Vec<String>) {
        lock(&self.output).lines_after(line)
    }

    /// Stops it; without effect if it has ended.
    pub fn stop(&self) -> Job {
        self.stop.cancel();
        let mut job = lock(&self.job);
        if job.state == JobState::Running {
            job.state = JobState::Stopping;
        }
        job.clone()
    }
}

/// The jobs of a server.
#[derive(Debug)]
pub struct Jobs {
    /// The path this program was started from; a later build is at the same path.
    program: PathBuf,
    /// The arguments of every job: reporters and settings.
    arguments: Vec<String>,
    entries: Mutex<Vec<Arc<JobEntry>>>,
    live: Arc<LiveUpdates>,
    running: TaskTracker,
    /// Cancelled when the server shuts down.
    end: CancellationToken,
}

impl Jobs {
    pub fn new(settings: &Config, config: Option<PathBuf>, live: Arc<LiveUpdates>) -> Result<Self, Error> {
        let program = std::env::current_exe()
            .map_err(|source| Error::Start { program: "cargo cobalt".to_owned(), source })?;
        let mut arguments: Vec<_> =
            reporters(settings.reporters()).map(|reporter| format!("--reporter={reporter}")).collect();
        arguments.extend(config.map(|path| format!("--config={}", path.display())));
        Ok(Self {
            program,
            arguments,
            entries: Mutex::default(),
            live,
            running: TaskTracker::new(),
            end: CancellationToken::new(),
        })
    }

    /// The jobs, newest first.
    pub fn all(&self) -> Vec<Job> {
        lock(&self.entries).iter().rev().map(|entry| entry.job()).collect()
    }

    pub fn find(&self, id: &str) -> Result<Arc<JobEntry>, ApiError> {
        let found = lock(&self.entries).iter().find(|entry| lock(&entry.job).id == id).cloned();
        found.ok_or_else(|| ApiError::not_found(format!("no job `{id}`; `/api/jobs` lists the latest jobs")))
    }

    /// Starts a job, unless one is running.
    pub fn start(self: &Arc<Self>, job: Job, arguments: &[String]) -> Result<Job, ApiError> {
        let mut entries = lock(&self.entries);
        let running = entries.iter().map(|entry| entry.job()).find(|job| !job.state.has_ended());
        if let Some(running) = running {
            let message = format!("`{}` is running; stop it or wait until it ends", running.command);
            return Err(ApiError::conflict(message).with_code("busy"));
        }
        if self.end.is_cancelled() {
            return Err(ApiError::conflict("the server is shutting down"));
        }
        let mut command = Command::new(&self.program);
        command.args(["cobalt", "run"]).args(&self.arguments).args(arguments);
        command.env("NO_COLOR", "1").env("CARGO_TERM_COLOR", "never");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        ProcessGroup::create(&mut command);
        let program = || self.program.display().to_string();
        let child = command.spawn().map_err(|source| Error::Start { program: program(), source })?;
        let entry = Arc::new(JobEntry {
            job: Mutex::new(job.clone()),
            output: Mutex::default(),
            stop: CancellationToken::new(),
        });
        entries.push(Arc::clone(&entry));
        let surplus = entries.len().saturating_sub(MAX_JOBS);
        entries.drain(..surplus);
        drop(entries);
        self.running.spawn(supervise::supervise(Arc::clone(self), entry, child));
        self.live.send(ServerEvent::Job { job: job.clone() });
        Ok(job)
    }

    /// Stops the running job, and waits for it.
    pub async fn shut_down(&self) {
        self.end.cancel();
        self.running.close();
        self.running.wait().await;
    }
}

/// The reporters of a job: the configured ones, with lines for people and events for this server.
fn reporters(configured: &[Reporter]) -> impl Iterator<Item = String> {
    let of_server = [ReporterKind::Cli, ReporterKind::Json];
    let others = configured.iter().filter(move |reporter| !of_server.contains(&reporter.kind));
    of_server
        .iter()
        .map(|kind| kind.name().to_owned())
        .chain(others.map(ToString::to_string))
        .collect::<Vec<_>>()
        .into_iter()
}
