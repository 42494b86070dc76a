//! `POST /api/runs/ID/baseline`: saves a run as the baseline of its experiment, like `cargo cobalt baseline set`.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::{JsonBody, WriteContext};
use crate::baseline::{AllowedRuns, RefusedBaseline, RunHeader, SavedBaselines, save_baselines};
use crate::error::{Error, ErrorKind};
use crate::serve::api::PathParams;
use crate::serve::error::ApiError;
use crate::serve::live::ServerEvent;
use crate::terminal::relative_path;

/// Which runs to accept.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SaveBaseline {
    /// Also a failed run; otherwise it is refused with the code `failed`.
    allow_failed: bool,
    /// Also a run whose model responses were replayed; otherwise it is refused with the code `replayed`.
    allow_replayed: bool,
}

/// A saved baseline.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SavedRun {
    experiment: String,
    /// The baseline file.
    path: String,
    /// The id of the run that was the baseline before.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced: Option<String>,
    warnings: Vec<String>,
    /// How to share the baseline; absent without git.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

pub async fn save(
    State(context): State<Arc<WriteContext>>,
    PathParams(id): PathParams<String>,
    JsonBody(SaveBaseline { allow_failed, allow_replayed }): JsonBody<SaveBaseline>,
) -> Result<Json<SavedRun>, ApiError> {
    let allowed = AllowedRuns { failed: allow_failed, replayed: allow_replayed };
    let live = context.store.live();
    let saved = context.blocking(move |context| save_run(context, &id, allowed).map_err(to_response)).await?;
    // Verdicts of later runs and marks in lists depend on it.
    live.send(ServerEvent::Results {});
    Ok(Json(saved))
}

fn save_run(context: &WriteContext, id: &str, allowed: AllowedRuns) -> Result<SavedRun, SaveError> {
    let file = context.store.finished_file(id)?;
    let head = RunHeader::read(&file)?;
    head.refuse_partial()?;
    let files = BTreeMap::from([(head.name.clone(), file)]);
    let SavedBaselines { saved, mut warnings, commit_advice } =
        save_baselines(&files, allowed, context.store.settings())?;
    let [baseline] = <[_; 1]>::try_from(saved).map_err(|_| ApiError::internal())?;
    warnings.extend(baseline.warnings);
    Ok(SavedRun {
        experiment: head.name,
        path: relative_path(&baseline.path),
        replaced: baseline.replaced,
        warnings,
        advice: commit_advice,
    })
}

/// Why a run was not saved.
enum SaveError {
    Response(ApiError),
    Command(Error),
}

impl From<ApiError> for SaveError {
    fn from(error: ApiError) -> Self {
        Self::Response(error)
    }
}

impl From<Error> for SaveError {
    fn from(error: Error) -> Self {
        Self::Command(error)
    }
}

/// The response: what the command refuses is a conflict, with a text that mentions no flags.
fn to_response(error: SaveError) -> ApiError {
    let error = match error {
        SaveError::Response(error) => return error,
        SaveError::Command(error) => error,
    };
    match error.downcast::<RefusedBaseline>() {
        Some(RefusedBaseline::Failed { .. }) => ApiError::conflict(
            "this run failed; with a failed baseline, later runs that are as bad do not count as worse",
        )
        .with_code("failed"),
        Some(RefusedBaseline::Replayed { .. }) => ApiError::conflict(
            "this run was replayed, so its latency and agent cost are those of the recording",
        )
        .with_code("replayed"),
        None => match error.kind() {
            ErrorKind::Arguments => ApiError::conflict(error.to_string()),
            _ if matches!(error, Error::Multiple(_)) => ApiError::conflict(error.to_string()),
            _ => error.into(),
        },
    }
}
