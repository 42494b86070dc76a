//! Jobs: runs that clients of the dashboard start. A job is a `cargo cobalt run` of this program in the folder of the server; its output
//! is kept and redacted. There is one at a time, and it ends with the server.

mod job_output;
mod supervise;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use cobalt::command::config::{Config, Reporter, ReporterKind};
use cobalt_core::redact::register_env_file;
use tokio::process::Command;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::job_output::JobOutput;
use super::error::ApiError;
use super::job::{Job, JobState};
use super::live::{LiveUpdates, ServerEvent};
use crate::cli::BuildOptions;
use crate::environment::DOTENV_FILE;
use crate::error::Error;
use crate::process_group::ProcessGroup;
use crate::project::Project;
use crate::sized_cache::lock;
use cobalt_runner::extensions::DashboardProject;

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
    /// The arguments of every job: reporters, settings and the manifest.
    arguments: Vec<OsString>,
    /// Where the project is.
    build: BuildOptions,
    entries: Mutex<Vec<Arc<JobEntry>>>,
    live: Arc<LiveUpdates>,
    tasks: TaskTracker,
    /// Cancelled when the server shuts down.
    end: CancellationToken,
}

impl Jobs {
    pub fn new(settings: &Config, project: DashboardProject, live: Arc<LiveUpdates>) -> Result<Self, Error> {
        let program = std::env::current_exe()
            .map_err(|source| Error::Start { program: "cargo cobalt".to_owned(), source })?;
        let reporters = reporters(settings.reporters());
        let mut arguments: Vec<OsString> =
            reporters.iter().map(|reporter| format!("--reporter={reporter}").into()).collect();
        let DashboardProject { config, manifest_path } = project;
        for (option, path) in [("--config=", &config), ("--manifest-path=", &manifest_path)] {
            arguments.extend(path.as_ref().map(|path| {
                let mut argument = OsString::from(option);
                argument.push(path);
                argument
            }));
        }
        Ok(Self {
            program,
            arguments,
            build: BuildOptions { manifest_path, ..BuildOptions::default() },
            entries: Mutex::default(),
            live,
            tasks: TaskTracker::new(),
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

    /// The job that has not ended.
    pub fn running(&self) -> Option<Job> {
        unfinished(&lock(&self.entries))
    }

    /// Registers the secrets in the `.env` files of the workspace and its packages, because a run may print them. Reads the files again
    /// for each job.
    pub fn register_secrets(&self) {
        // A job reports why a project cannot be read.
        let Ok(project) = Project::read(&self.build) else { return };
        let packages = project.metadata().workspace_packages().into_iter();
        let folders = packages.filter_map(|package| Some(package.manifest_path.parent()?.as_std_path()));
        folders.chain([project.root()]).for_each(|folder| register_env_file(&folder.join(DOTENV_FILE)));
    }

    /// Starts a job, unless one is running.
    pub fn start(self: &Arc<Self>, job: Job, arguments: &[String]) -> Result<Job, ApiError> {
        let mut entries = lock(&self.entries);
        if let Some(running) = unfinished(&entries) {
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
        // While the entries are locked: `shut_down` then waits for this job.
        self.tasks.spawn(supervise::supervise(Arc::clone(self), entry, child));
        drop(entries);
        self.live.send(ServerEvent::Job { job: job.clone() });
        Ok(job)
    }

    /// Stops the running job, and waits for it.
    pub async fn shut_down(&self) {
        {
            // A job that is just being started is waited for, too.
            let _entries = lock(&self.entries);
            self.end.cancel();
        }
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// The reporters of a job: the configured ones, with lines for people and events for this server.
fn reporters(configured: &[Reporter]) -> Vec<String> {
    let of_server = [ReporterKind::Cli, ReporterKind::Json];
    let others = configured.iter().filter(|reporter| !of_server.contains(&reporter.kind));
    let names = of_server.iter().map(|kind| kind.name().to_owned());
    names.chain(others.map(ToString::to_string)).collect()
}

fn unfinished(entries: &[Arc<JobEntry>]) -> Option<Job> {
    entries.iter().map(|entry| entry.job()).find(|job| !job.state.has_ended())
}
