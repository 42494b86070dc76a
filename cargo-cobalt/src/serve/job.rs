//! A job as clients see it: a run that one of them started.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    pub fn has_ended(self) -> bool {
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

/// What to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum JobKind {
    /// An experiment, or all.
    Run,
    /// The rest of an interrupted run.
    Resume,
    /// The items of an experiment whose last result is an error or below a pass mark.
    RerunFailed,
}
