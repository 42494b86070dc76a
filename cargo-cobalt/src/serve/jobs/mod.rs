//! Jobs: runs that clients of the dashboard start. A job is a `cargo cobalt run` of this program in the folder of the server; its output
//! is kept and redacted. There is one at a time, and it ends with the server.

mod job_output;
mod request;
mod supervise;

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use axum::Json;
use axum::extract::State;
use cobalt::command::config::{Config, Reporter, ReporterKind};
use cobalt_core::report::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::job_output::JobOutput;
pub use self::request::{JobKind, StartJob};
use super::api::{PathParams, StrictQuery};
use super::error::ApiError;
use super::live::{LiveUpdates, ServerEvent};
use super::writes::{JsonBody, WriteContext};
use crate::error::Error;
use crate::process_group::ProcessGroup;
use crate::sized_cache::lock;

/// How many jobs are remembered; older ones are forgotten with their output.
const MAX_JOBS: usize = 10;

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    pub id: String,
    pub kind: JobKind,
    /// The experiment; absent if all are run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// The run that is resumed, or whose failed items are run again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The same command for a terminal.
    pub command: String,
    pub state: JobState,
    /// The start, ISO 8601 in UTC.
    pub started_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// The exit code of the command; absent while it runs and if it was killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Whether the build is done.
    pub is_built: bool,
    /// The started runs.
    pub runs: Vec<JobRun>,
    /// The number of output lines so far.
    pub lines: usize,
}

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum JobState {
    Running,
    /// It was told to stop, and saves finished items.
    Stopping,
    /// The command succeeded; its runs may have failed.
    Finished,
    /// The command failed; its output says why.
    Failed,
    /// It was stopped.
    Stopped,
}

impl JobState {
    fn has_ended(self) -> bool {
        !matches!(self, Self::Running | Self::Stopping)
    }
}

/// A run of a job.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobRun {
    pub id: String,
    /// The run's name: the experiment's, or `<experiment>::<variant>`.
    pub name: String,
    pub total_items: usize,
    pub finished_items: usize,
    /// Whether its results are complete.
    pub is_finished: bool,
}

/// A job and its output.
#[derive(Debug)]
struct JobEntry {
    job: Mutex<Job>,
    output: Mutex<JobOutput>,
    stop: CancellationToken,
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
    fn all(&self) -> Vec<Job> {
        lock(&self.entries).iter().rev().map(|entry| lock(&entry.job).clone()).collect()
    }

    fn find(&self, id: &str) -> Result<Arc<JobEntry>, ApiError> {
        let found = lock(&self.entries).iter().find(|entry| lock(&entry.job).id == id).cloned();
        found.ok_or_else(|| ApiError::not_found(format!("no job `{id}`; `/api/jobs` lists the latest jobs")))
    }

    /// Starts a job, unless one is running.
    fn start(self: &Arc<Self>, job: Job, arguments: &[String]) -> Result<Job, ApiError> {
        let mut entries = lock(&self.entries);
        let running = entries.iter().map(|entry| lock(&entry.job).clone()).find(|job| !job.state.has_ended());
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

/// The jobs of this server.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JobList {
    /// Newest first.
    jobs: Vec<Job>,
}

/// Which output lines.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct JobQuery {
    /// The number of output lines to skip.
    after: usize,
}

/// A job and lines of its output.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobWithOutput {
    job: Job,
    /// The number of the first line in `output`, from 0. Of long outputs, only the end is kept.
    first: usize,
    /// What the build and the run have printed.
    output: Vec<String>,
}

pub async fn list(State(context): State<Arc<WriteContext>>) -> Json<JobList> {
    Json(JobList { jobs: context.jobs.all() })
}

pub async fn job(
    State(context): State<Arc<WriteContext>>,
    PathParams(id): PathParams<String>,
    StrictQuery(JobQuery { after }): StrictQuery<JobQuery>,
) -> Result<Json<JobWithOutput>, ApiError> {
    let entry = context.jobs.find(&id)?;
    let job = lock(&entry.job).clone();
    let (first, output) = lock(&entry.output).lines_after(after);
    Ok(Json(JobWithOutput { job, first, output }))
}

pub async fn start(
    State(context): State<Arc<WriteContext>>,
    JsonBody(request): JsonBody<StartJob>,
) -> Result<Json<Job>, ApiError> {
    let jobs = Arc::clone(&context.jobs);
    let plan = context.blocking(move |context| request.plan(&context.store)).await?;
    let job = Job {
        id: format!("{:08x}", fastrand::u32(..)),
        kind: plan.kind,
        experiment: plan.experiment,
        run: plan.run,
        command: request::displayed(&plan.arguments),
        state: JobState::Running,
        started_at: Timestamp::now().to_string(),
        ended_at: None,
        exit_code: None,
        is_built: false,
        runs: Vec::new(),
        lines: 0,
    };
    jobs.start(job, &plan.arguments).map(Json)
}

/// Stops a job; without effect if it has ended.
pub async fn stop(
    State(context): State<Arc<WriteContext>>,
    PathParams(id): PathParams<String>,
    JsonBody(StopJob {}): JsonBody<StopJob>,
) -> Result<Json<Job>, ApiError> {
    let entry = context.jobs.find(&id)?;
    entry.stop.cancel();
    let mut job = lock(&entry.job);
    if job.state == JobState::Running {
        job.state = JobState::Stopping;
    }
    Ok(Json(job.clone()))
}

/// An empty body.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopJob {}
