//! `WorkspaceDir`: the folder of an execution, and how programs are started in it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use cobalt_core::report::WorkspaceChanges;

use super::copy::copy_folder;
use super::error::WorkspaceError;
use super::globs::Globs;
use super::settings::Workspace;
use super::temp_folder::TempFolder;
use crate::processes::ProcessGroup;

/// The variable of the sandbox's command that is replaced by the folder.
const DIR_VARIABLE: &str = "{{dir}}";

/// The folder of an execution, with the settings of its workspace.
#[derive(Clone, Debug)]
pub struct WorkspaceDir {
    path: PathBuf,
    settings: Arc<DirSettings>,
    /// The programs that were started in the folder.
    processes: ProcessGroup,
}

/// A copy of a workspace in a temporary folder.
#[derive(Debug)]
pub struct WorkspaceCopy {
    pub dir: WorkspaceDir,
    /// Removed with it.
    _folder: TempFolder,
}

impl Drop for WorkspaceCopy {
    fn drop(&mut self) {
        self.dir.processes.end();
    }
}

/// The settings of a workspace that apply in each of its folders.
#[derive(Debug, Default)]
pub struct DirSettings {
    pub ignored: Globs,
    /// The command that starts others in a sandbox; empty if there is none.
    pub sandbox: Vec<String>,
}

impl DirSettings {
    /// The settings of a workspace, or what is wrong with them.
    pub fn of(workspace: &Workspace) -> Result<Self, String> {
        let ignored = Globs::parse(workspace.ignored().iter().map(String::as_str))?;
        let sandbox = workspace.sandbox_command().to_vec();
        match sandbox.first().is_some_and(|program| program.trim().is_empty()) {
            true => Err("the command of the sandbox is empty; name a program".to_owned()),
            false => Ok(Self { ignored, sandbox }),
        }
    }
}

impl WorkspaceDir {
    pub fn new(path: PathBuf, settings: Arc<DirSettings>) -> Self {
        Self { path, settings, processes: ProcessGroup::default() }
    }

    /// A folder outside of an experiment, with the default settings.
    pub fn of(path: &Path) -> Self {
        let settings = DirSettings::of(&Workspace::folder("")).unwrap_or_default();
        Self::new(path.to_owned(), Arc::new(settings))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The programs that were started with [`command`](Self::command).
    pub fn processes(&self) -> &ProcessGroup {
        &self.processes
    }

    /// A command that runs in the folder, in the sandbox if there is one, without stdin. It ends with [`processes`](Self::processes).
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = match &self.settings.sandbox[..] {
            [] => {
                // Otherwise it depends on the system where a relative path starts.
                let path = Path::new(program.as_ref());
                let is_relative = path.components().count() > 1 && path.is_relative();
                if is_relative { Command::new(self.path.join(path)) } else { Command::new(program) }
            }
            [sandbox, arguments @ ..] => {
                let dir = self.path.to_string_lossy();
                let mut command = Command::new(sandbox.replace(DIR_VARIABLE, &dir));
                command.args(arguments.iter().map(|argument| argument.replace(DIR_VARIABLE, &dir)));
                command.arg(program);
                command
            }
        };
        // In a process group of its own, it would stop when it reads from the terminal.
        command.current_dir(&self.path).stdin(Stdio::null());
        // If the system has no shell, it starts outside the group.
        let _ = self.processes.join(&mut command);
        command
    }

    /// Copies it to another folder, without what is ignored.
    pub fn copy_to(&self, folder: &Path) -> Result<(), WorkspaceError> {
        copy_folder(&self.path, folder, &self.settings.ignored)
    }

    /// A copy in another temporary folder, without what is ignored unless that is wanted, and with the same settings.
    pub fn copy(&self, with_ignored: bool) -> Result<WorkspaceCopy, WorkspaceError> {
        let folder = TempFolder::new()?;
        let nothing = Globs::default();
        copy_folder(&self.path, folder.path(), if with_ignored { &nothing } else { &self.settings.ignored })?;
        let path = folder.path().to_owned();
        let processes = ProcessGroup::in_folder(&path);
        let dir = Self { path, settings: Arc::clone(&self.settings), processes };
        Ok(WorkspaceCopy { dir, _folder: folder })
    }

    /// What differs from the original.
    pub fn changes_since(&self, original: &Path) -> Result<WorkspaceChanges, WorkspaceError> {
        super::changes::compare(original, &self.path, &self.settings.ignored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sandbox_starts_the_program_and_gets_the_folder() {
        let folder = TempFolder::new().unwrap();
        let sandbox = ["env", "IN={{dir}}"].map(str::to_owned).to_vec();
        let settings = Arc::new(DirSettings { sandbox, ..DirSettings::default() });
        let dir = WorkspaceDir::new(folder.path().to_owned(), settings);
        let command = dir.command("program");
        let arguments: Vec<_> = command.get_args().collect();
        let variable = format!("IN={}", folder.path().display());
        assert_eq!(command.get_program(), "env");
        assert_eq!(arguments, [OsStr::new(&variable), OsStr::new("program")]);
        assert_eq!(command.get_current_dir(), Some(folder.path()));
        let without = WorkspaceDir::of(folder.path());
        assert_eq!(without.command("program").get_program(), "program");
        assert_eq!(without.command("./run.sh").get_program(), folder.path().join("run.sh"));
    }
}
