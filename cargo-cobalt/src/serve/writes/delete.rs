//! `POST /api/runs/delete`: deletes runs, or says what that would free.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::{JsonBody, WriteContext};
use crate::clean::{CleanupEntry, CleanupPlan, FileKind, files_of_runs, is_linked, remove_all};
use crate::serve::error::ApiError;
use crate::serve::live::LiveRunState;

/// The runs to delete.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeleteRuns {
    /// The runs' ids.
    ids: Vec<String>,
    /// Only says what would be deleted and what would not.
    #[serde(default)]
    dry_run: bool,
}

/// What was deleted; with `dryRun`, what would be.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeletedRuns {
    /// The runs' ids.
    runs: Vec<String>,
    /// The runs that cannot be deleted. Without `dryRun`, there are none.
    kept: Vec<KeptRun>,
    /// The files by kind.
    files: Vec<FileCount>,
    /// The total size in bytes.
    bytes: u64,
    /// Notes about files that stay.
    notes: Vec<String>,
}

/// A run that cannot be deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KeptRun {
    id: String,
    /// Why, and what to do.
    reason: String,
}

/// The files of a kind.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct FileCount {
    /// `results`, `journals` or `workspaces`.
    kind: &'static str,
    /// Their number; for workspaces, that of the runs.
    count: usize,
    bytes: u64,
}

pub async fn delete(
    State(context): State<Arc<WriteContext>>,
    JsonBody(DeleteRuns { ids, dry_run }): JsonBody<DeleteRuns>,
) -> Result<Json<DeletedRuns>, ApiError> {
    let ids: BTreeSet<_> = ids.into_iter().collect();
    if ids.is_empty() {
        return Err(ApiError::bad_request("no run to delete; send their ids in `ids`"));
    }
    context.blocking(move |context| delete_runs(context, &ids, dry_run).map(Json)).await
}

fn delete_runs(
    WriteContext { store, jobs, .. }: &WriteContext,
    ids: &BTreeSet<String>,
    dry_run: bool,
) -> Result<DeletedRuns, ApiError> {
    let of_job = jobs.running().and_then(|job| job.run);
    let known = store.refreshed()?;
    let live = store.live().runs();
    let baselines = store.baselines();
    let layout = store.layout();
    let (mut runs, mut kept, mut indexed) = (HashSet::new(), Vec::new(), HashSet::new());
    for id in ids {
        let unfinished = live.iter().find(|run| run.id == *id);
        let finished = known.run(id);
        let file = finished.map_or_else(|| layout.journal(id), |run| layout.results().join(&run.file));
        let reason = match (unfinished, finished, baselines.experiment(id)) {
            (None, None, _) => {
                return Err(ApiError::not_found(format!("no run `{id}`; reload the list of runs")));
            }
            (Some(run), ..) if run.state == LiveRunState::Running => {
                Some("it is in progress; stop it first".to_owned())
            }
            _ if of_job.as_ref() == Some(id) => Some("a job is using it; stop the job first".to_owned()),
            (_, _, Some(experiment)) => Some(format!(
                "it is the source of the baseline of `{experiment}`; save another baseline first"
            )),
            _ if is_linked(&file, layout) => {
                Some("its file or folder is a symbolic link; delete it yourself".to_owned())
            }
            _ => None,
        };
        match reason {
            Some(reason) => kept.push(KeptRun { id: id.clone(), reason }),
            None => {
                runs.insert(&**id);
                indexed.extend(finished.map(|run| &*run.file));
            }
        }
    }
    if let Some(KeptRun { id, reason }) = kept.first().filter(|_| !dry_run) {
        return Err(ApiError::conflict(format!("nothing was deleted; run {id} cannot be deleted: {reason}")));
    }
    let CleanupPlan { entries, mut notes } = files_of_runs(layout, &runs, &indexed)?;
    let entries = if dry_run {
        entries
    } else {
        let removed = remove_all(&entries);
        store.refreshed()?;
        if !removed.errors.is_empty() {
            return Err(crate::error::Error::Multiple(removed.errors).into());
        }
        notes.extend(removed.notes);
        removed.entries
    };
    let mut runs: Vec<_> = runs.into_iter().map(str::to_owned).collect();
    runs.sort();
    let bytes = entries.iter().map(|entry| entry.size).sum();
    Ok(DeletedRuns { runs, kept, files: count_files(&entries), bytes, notes })
}

fn count_files(entries: &[CleanupEntry]) -> Vec<FileCount> {
    let counted = FileKind::ALL.into_iter().map(|kind| {
        let of_kind: Vec<_> = entries.iter().filter(|entry| entry.kind == kind).collect();
        let bytes = of_kind.iter().map(|entry| entry.size).sum();
        FileCount { kind: kind.name(), count: of_kind.len(), bytes }
    });
    counted.filter(|counted| counted.count > 0).collect()
}
