//! `/api/jobs`: the jobs, their output, and requests to start and stop them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use cobalt_core::report::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::{JsonBody, WriteContext};
use super::start_job::{StartJob, displayed};
use crate::serve::api::{PathParams, StrictQuery};
use crate::serve::error::ApiError;
use crate::serve::job::{Job, JobState};

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
    let (first, output) = entry.output_after(after);
    Ok(Json(JobWithOutput { job: entry.job(), first, output }))
}

pub async fn start(
    State(context): State<Arc<WriteContext>>,
    JsonBody(request): JsonBody<StartJob>,
) -> Result<Json<Job>, ApiError> {
    let jobs = Arc::clone(&context.jobs);
    let plan = context.blocking(move |context| {
        let plan = request.plan(&context.store)?;
        context.jobs.register_secrets();
        Ok(plan)
    });
    let plan = plan.await?;
    let job = Job {
        id: format!("{:08x}", fastrand::u32(..)),
        kind: plan.kind,
        experiment: plan.experiment,
        run: plan.run,
        command: displayed(&plan.arguments),
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
    Ok(Json(context.jobs.find(&id)?.stop()))
}

/// An empty body.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopJob {}
