//! Evaluators of the files that an agent changed in its workspace.

mod command_succeeds;
mod files;
mod patch_size;
mod texts;
mod touched_only;

use cobalt_core::report::WorkspaceChanges;

use super::{CheckError, EvalContext, EvalError, Setup};
use crate::workspace::WorkspaceDir;
pub use command_succeeds::CommandSucceeds;
pub use command_succeeds::CommandSucceedsOptions;
pub use files::Files;
pub use files::FilesOptions;
pub use patch_size::PatchSize;
pub use patch_size::PatchSizeOptions;
pub use touched_only::TouchedOnly;
pub use touched_only::TouchedOnlyOptions;

/// The error of an experiment without a workspace.
const NO_WORKSPACE: &str =
    "the experiment has no workspace; add `workspace = \"fixtures/{{id}}\"`, see `cobalt::workspaces`";

/// Why an evaluator of the folder cannot score stored outputs; follows its name.
const READS_FOLDER: &str = "reads the folder that the agent changed";

/// An error before the run if the experiment has no workspace.
fn require_workspace(setup: &Setup) -> Result<(), CheckError> {
    if setup.has_workspace { Ok(()) } else { Err(CheckError::new(NO_WORKSPACE)) }
}

/// What the agent changed.
fn changes(cx: &EvalContext) -> Result<&WorkspaceChanges, EvalError> {
    cx.workspace().ok_or_else(|| EvalError::new(NO_WORKSPACE))
}

/// The folder as the agent left it.
fn folder(cx: &EvalContext) -> Result<&WorkspaceDir, EvalError> {
    cx.workspace_dir().ok_or_else(|| EvalError::new(NO_WORKSPACE))
}
