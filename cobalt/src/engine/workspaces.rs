//! The workspaces of an experiment's executions: created before the agent, compared after it, and removed or kept at the end.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use cobalt_core::item::{CaseNames, Item, ItemKeys, Output};
use cobalt_core::report::{Execution, WorkspaceChanges};
use cobalt_core::store::Layout;
use cobalt_core::wording::escape_control;

use super::{AgentFailure, Work};
use crate::config::{Config, KeepWorkspaces};
use crate::dataset::Dataset;
use crate::experiment::Context;
use crate::workspace::{ExecutionWorkspace, RunWorkspaces, Workspace};

/// The workspaces of a run, and which of them are kept.
#[derive(Debug)]
pub struct Workspaces {
    run: Arc<RunWorkspaces>,
    kept: KeepWorkspaces,
    layout: Layout,
    /// Where the run's workspaces are kept.
    folder: PathBuf,
    /// The folder that paths in results are relative to.
    project: PathBuf,
    /// The items' names in file names.
    names: CaseNames,
}

impl Workspaces {
    /// Checks the settings.
    pub fn new(workspace: &Workspace, dataset: &Dataset, config: &Config) -> Result<Self, String> {
        let layout = config.layout().clone();
        Ok(Self {
            run: Arc::new(RunWorkspaces::new(workspace)?),
            kept: config.keep_workspaces(),
            folder: layout.workspaces(),
            layout,
            project: config.workspace_root().to_owned(),
            names: dataset.case_names(),
        })
    }

    /// Checks that the files of the selected items, or of all, are there.
    pub fn check(&self, dataset: &Dataset, keys: &ItemKeys, items: Option<&[usize]>) -> Result<(), String> {
        let check = |index: usize, item: &Item| {
            let named = |problem| format!("its workspace for item `{}`: {problem}", &keys[index]);
            self.run.check(item).map_err(named)
        };
        match items {
            Some(items) => items.iter().try_for_each(|index| check(*index, &dataset.shared(*index))),
            None => dataset.iter().enumerate().try_for_each(|(index, item)| check(index, &item)),
        }
    }

    /// Whether the files that an item starts from differ from those of an earlier run with this hash.
    pub fn have_changed(&self, item: &Item, then: &str) -> bool {
        self.run.source_hash(item).is_some_and(|now| now != then)
    }

    /// Those of the run with this ID.
    pub fn for_run(self, id: &str) -> Self {
        Self { folder: self.layout.workspaces().join(id), ..self }
    }

    /// Removes the workspace of a trial, or keeps it.
    pub async fn end(
        &self,
        workspace: Arc<ExecutionWorkspace>,
        index: usize,
        run_index: usize,
        passed: bool,
        execution: &mut Execution,
    ) {
        let is_kept = match self.kept {
            KeepWorkspaces::None => false,
            KeepWorkspaces::Failed => !passed,
            KeepWorkspaces::All => true,
        };
        let name = &self.names.get(index);
        let folder = self.folder.join(format!("{name}-{}", run_index + 1));
        // Kept before the run was resumed.
        let cleared = workspace.remove_kept(&folder);
        if !is_kept {
            discard(Some(workspace)).await;
            return;
        }
        let ended = match cleared.and_then(|()| self.create_folder()) {
            Ok(()) => workspace.end(Some(&folder)).await,
            Err(problem) => Err(problem),
        };
        match ended {
            Ok(()) => {
                let shown = folder.strip_prefix(&self.project).unwrap_or(&folder);
                let changes = execution.workspace.get_or_insert_default();
                changes.kept = Some(shown.to_string_lossy().into_owned());
            }
            Err(problem) => eprintln!(
                "warning: failed to keep the workspace of item `{}`: {}",
                escape_control(name),
                escape_control(&problem)
            ),
        }
    }

    /// Creates the folder of kept workspaces, which git ignores.
    fn create_folder(&self) -> Result<(), String> {
        let root = self.layout.workspaces();
        let ignore = root.join(".gitignore");
        let created = self.layout.create_folder(&root).and_then(|()| match ignore.exists() {
            true => Ok(()),
            false => fs::write(&ignore, "*\n"),
        });
        created.map_err(|error| format!("failed to create `{}`: {error}", root.display()))
    }
}

/// Creates the workspace of an attempt; `None` if the experiment has none.
pub async fn start(work: &Work, context: &Context) -> Result<Option<Arc<ExecutionWorkspace>>, AgentFailure> {
    let Some(workspaces) = &work.workspaces else { return Ok(None) };
    workspaces.run.start(context.shared_item()).await.map(Some).map_err(AgentFailure::error)
}

/// What the agent changed. An output does not count if that cannot be determined.
pub async fn compare(
    workspace: Option<&Arc<ExecutionWorkspace>>,
    answer: Result<Output, AgentFailure>,
) -> (Option<Arc<WorkspaceChanges>>, Result<Output, AgentFailure>) {
    let Some(workspace) = workspace else { return (None, answer) };
    match workspace.changes().await {
        Ok(changes) => (Some(Arc::new(changes)), answer),
        Err(problem) => {
            let failure = |output: Output| AgentFailure {
                reported: output.into_metadata(),
                ..AgentFailure::error(problem)
            };
            (None, answer.and_then(|output| Err(failure(output))))
        }
    }
}

/// Removes the folder of an attempt.
pub async fn discard(workspace: Option<Arc<ExecutionWorkspace>>) {
    if let Some(workspace) = workspace {
        // A folder that cannot be removed is left to the system's clean-up.
        let _ = workspace.end(None).await;
    }
}
