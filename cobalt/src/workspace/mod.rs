//! Workspaces: the files that agents work on, copied for each execution, and what the agents changed.

#[cfg(feature = "workspace")]
mod changes;
#[cfg(feature = "workspace")]
mod copy;
#[cfg(feature = "workspace")]
mod dir;
#[cfg(not(feature = "workspace"))]
mod disabled;
#[cfg(feature = "workspace")]
mod error;
#[cfg(feature = "workspace")]
mod git;
#[cfg(feature = "workspace")]
mod globs;
#[cfg(feature = "workspace")]
mod item_paths;
#[cfg(feature = "workspace")]
mod limits;
#[cfg(feature = "workspace")]
mod run;
mod settings;
#[cfg(feature = "workspace")]
mod source;
#[cfg(feature = "workspace")]
mod temp_folder;

#[cfg(feature = "workspace")]
pub use copy::copy_folder_over;
#[cfg(feature = "workspace")]
pub use dir::{WorkspaceCopy, WorkspaceDir};
#[cfg(not(feature = "workspace"))]
pub use disabled::{ExecutionWorkspace, RunWorkspaces, WorkspaceDir};
#[cfg(feature = "workspace")]
pub use error::WorkspaceError;
#[cfg(feature = "workspace")]
pub use globs::Globs;
#[cfg(feature = "workspace")]
pub use item_paths::{filled, folder_in_package, path_in_package};
#[cfg(feature = "workspace")]
pub use run::{ExecutionWorkspace, RunWorkspaces};
pub use settings::Workspace;
#[cfg(feature = "workspace")]
pub use temp_folder::remove_all;
