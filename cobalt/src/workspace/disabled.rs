//! The stubs for workspaces if the feature `workspace` is off.

use std::path::Path;
use std::sync::Arc;

use cobalt_core::item::Item;
use cobalt_core::report::WorkspaceChanges;

use super::settings::Workspace;

/// No workspaces.
#[derive(Debug)]
pub enum RunWorkspaces {}

/// No workspace.
#[derive(Debug)]
pub enum ExecutionWorkspace {}

/// No folder.
#[derive(Clone, Debug)]
pub enum WorkspaceDir {}

impl RunWorkspaces {
    pub fn new(_: &Workspace) -> Result<Self, String> {
        Err("its agent works in a workspace, which needs the feature `workspace` of `cobalt`; enable it in Cargo.toml".to_owned())
    }

    pub fn check(&self, _: &Item) -> Result<(), String> {
        match *self {}
    }

    pub fn source_hash(&self, _: &Item) -> Option<String> {
        match *self {}
    }

    pub async fn start(&self, _: &Arc<Item>) -> Result<Arc<ExecutionWorkspace>, String> {
        match *self {}
    }
}

impl ExecutionWorkspace {
    pub fn dir(&self) -> &WorkspaceDir {
        match *self {}
    }

    pub async fn end_processes(&self) {
        match *self {}
    }

    pub async fn changes(&self) -> Result<WorkspaceChanges, String> {
        match *self {}
    }

    pub fn remove_kept(&self, _: &Path) -> Result<(), String> {
        match *self {}
    }

    pub async fn end(self: Arc<Self>, _: Option<&Path>) -> Result<(), String> {
        match *self {}
    }
}
