//! `Workspace`: what the agents of an experiment work on, as declared.

use std::fmt;

use crate::template::Template;

/// The names that are left out of copies and patches unless [`Workspace::ignore`] says otherwise.
const DEFAULT_IGNORED: [&str; 6] =
    ["target", "node_modules", "__pycache__", ".venv", ".pytest_cache", ".DS_Store"];

/// The files that an agent works on: each execution gets its own copy, in a temporary folder.
///
/// ```
/// use cobalt::{Dataset, Experiment, PatchSize, Workspace};
///
/// # fn example(tasks: Dataset) -> Experiment {
/// let experiment = Experiment::new("repair", tasks)
///     .workspace(Workspace::folder("fixtures/{{id}}").ignore(["target", "*.log"]))
///     .evaluator(PatchSize::new("small", 40));
/// # experiment
/// # }
/// ```
///
/// Templates contain fields of the item: `fixtures/{{id}}`. See [`workspaces`](crate::workspaces).
#[derive(Clone, PartialEq, Eq)]
pub struct Workspace {
    source: Source,
    ignored: Vec<String>,
    sandbox: Vec<String>,
}

/// What is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A folder of the package.
    Folder(Template),
    /// A commit of a git repository.
    Git { repository: Template, commit: Template },
}

impl Workspace {
    /// A folder, relative to the package. It must be inside the package.
    pub fn folder(path: impl Into<String>) -> Self {
        Self::new(Source::Folder(Template::parse(path)))
    }

    /// A commit of a git repository: its URL, or its path relative to the package, and the full hash of the commit.
    ///
    /// The copy is a repository with this commit and its ancestors on the branch `main`. It has no later commits, tags, remotes or
    /// reflogs, in which an agent could find the solution.
    pub fn git(repository: impl Into<String>, commit: impl Into<String>) -> Self {
        let (repository, commit) = (Template::parse(repository), Template::parse(commit));
        Self::new(Source::Git { repository, commit })
    }

    fn new(source: Source) -> Self {
        let ignored = DEFAULT_IGNORED.map(str::to_owned).to_vec();
        Self { source, ignored, sandbox: Vec::new() }
    }

    /// Sets the names or patterns of files and folders that are neither copied from the folder nor part of the patch. A pattern without
    /// `/` applies in all folders. The default is `target`, `node_modules`, `__pycache__`, `.venv`, `.pytest_cache` and `.DS_Store`.
    ///
    /// `.git` is never part of the patch.
    #[must_use]
    pub fn ignore<T: Into<String>>(mut self, patterns: impl IntoIterator<Item = T>) -> Self {
        self.ignored = patterns.into_iter().map(Into::into).collect();
        self
    }

    /// Sets a command that starts other commands in a sandbox. `{{dir}}` is the folder of the execution. See
    /// [`workspaces`](crate::workspaces#sandbox) for one that you can use.
    ///
    /// [`Context::command`](crate::Context::command) and [`CommandSucceeds`](crate::CommandSucceeds) start programs with it.
    #[must_use]
    pub fn sandbox<T: Into<String>>(mut self, command: impl IntoIterator<Item = T>) -> Self {
        self.sandbox = command.into_iter().map(Into::into).collect();
        self
    }
}

impl From<&str> for Workspace {
    fn from(path: &str) -> Self {
        Self::folder(path)
    }
}

impl From<String> for Workspace {
    fn from(path: String) -> Self {
        Self::folder(path)
    }
}

/// The settings, the same in every process, as fingerprints require.
impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Workspace");
        match &self.source {
            Source::Folder(folder) => shown.field("folder", &folder.text()),
            Source::Git { repository, commit } => {
                let repository = cobalt_core::redact::redacted_url(repository.text());
                shown.field("repository", &repository).field("commit", &commit.text())
            }
        };
        shown.field("ignored", &self.ignored).field("sandbox", &self.sandbox).finish()
    }
}

#[cfg(feature = "workspace")]
impl Workspace {
    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    pub(super) fn ignored(&self) -> &[String] {
        &self.ignored
    }

    pub(super) fn sandbox_command(&self) -> &[String] {
        &self.sandbox
    }
}
