//! Plans the changes to the assistants' files, then carries them out.

use std::path::{Path, PathBuf};
use std::{fs, io};

use cobalt_core::store::GITIGNORE;

use super::edits::{self, BEGIN, END};
use super::skills;
use crate::atomic_file::{ListingLine, create, listing, replace, writable_permissions};
use crate::error::CommandError;

/// The instructions for assistants, relative to the workspace root.
pub const SKILLS: &str = ".cobalt/SKILLS.md";

/// Files in which assistants look for instructions. Those that exist get a reference.
const INSTRUCTIONS: [&str; 4] = ["CLAUDE.md", "AGENTS.md", ".github/copilot-instructions.md", ".cursorrules"];

/// The files, each with its planned change.
#[derive(Debug)]
pub struct Changes(Vec<Change>);

#[derive(Debug)]
struct Change {
    name: &'static str,
    /// What the file contains, or why it is skipped.
    content: String,
    action: Action,
}

#[derive(Debug)]
enum Action {
    Create { path: PathBuf, text: String },
    Replace { path: PathBuf, text: String },
    Keep { path: PathBuf },
    Skip,
}

impl Changes {
    /// Compares the files in a workspace, which need not exist yet, with their wanted contents.
    pub fn plan(root: &Path) -> Result<Self, AssistantsError> {
        let mut changes = Self(Vec::new());
        if let FileLocation::Absent(path) = FileLocation::resolve(root, ".cobalt") {
            let action = Action::Create { path: path.join(".gitignore"), text: GITIGNORE.to_owned() };
            let content = "ignores run results".to_owned();
            changes.0.push(Change { name: ".cobalt/.gitignore", content, action });
        }
        let skills = skills::text();
        let whole = with_markers(&PathBuf::from(SKILLS), "", &skills)?;
        changes.add(root, SKILLS, "instructions for AI assistants", Some(whole), |path, text| {
            with_markers(path, text, &skills)
        })?;
        for name in INSTRUCTIONS {
            changes.add(root, name, "reference to SKILLS.md", None, |path, text| {
                with_markers(path, text, skills::REFERENCE)
            })?;
        }
        changes.add(root, ".mcp.json", "MCP server `cobalt`", Some(edits::new_file()), edits::with_server)?;
        Ok(changes)
    }

    /// Plans a file: creates it with `new`, if given, or edits the existing text.
    fn add(
        &mut self,
        root: &Path,
        name: &'static str,
        content: &str,
        new: Option<String>,
        edit: impl FnOnce(&Path, &str) -> Result<String, AssistantsError>,
    ) -> Result<(), AssistantsError> {
        let mut content = content.to_owned();
        let action = match FileLocation::resolve(root, name) {
            FileLocation::Absent(path) => match new {
                Some(text) => Action::Create { path, text },
                None => return Ok(()),
            },
            FileLocation::Present(path) => match self.name_of_same_file(&path) {
                Some(other) => {
                    content = format!("same file as {other}");
                    Action::Skip
                }
                None => {
                    let text = fs::read_to_string(&path).map_err(AssistantsError::file("read", &path))?;
                    match edit(&path, &text)? {
                        edited if edited == text => Action::Keep { path },
                        edited => {
                            writable_permissions(&path).map_err(AssistantsError::file("write", &path))?;
                            Action::Replace { path, text: edited }
                        }
                    }
                }
            },
            FileLocation::Elsewhere(reason) => {
                reason.clone_into(&mut content);
                Action::Skip
            }
        };
        self.0.push(Change { name, content, action });
        Ok(())
    }

    /// The name of an earlier change to the same file, which a symlink may lead to.
    fn name_of_same_file(&self, real: &Path) -> Option<&'static str> {
        let is_same = |change: &&Change| matches!(&change.action, Action::Replace { path, .. } | Action::Keep { path } if path == real);
        self.0.iter().find(is_same).map(|change| change.name)
    }

    /// Whether all files are up to date.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|change| matches!(change.action, Action::Keep { .. } | Action::Skip))
    }

    pub fn apply(&self) -> Result<(), AssistantsError> {
        for change in &self.0 {
            match &change.action {
                Action::Create { path, text } => {
                    create(path, text).map_err(AssistantsError::file("create", path))?;
                }
                Action::Replace { path, text } => {
                    replace(path, text).map_err(AssistantsError::file("write", path))?;
                }
                Action::Keep { .. } | Action::Skip => {}
            }
        }
        Ok(())
    }

    /// A line for each file. With `is_check`, it says what would be done.
    pub fn lines(&self, is_check: bool) -> impl Iterator<Item = ListingLine> {
        let verb = move |action: &Action| match action {
            Action::Create { .. } if is_check => "missing",
            Action::Create { .. } => "created",
            Action::Replace { .. } if is_check => "out of date",
            Action::Replace { .. } => "updated",
            Action::Keep { .. } => "kept",
            Action::Skip => "skipped",
        };
        self.0.iter().map(move |Change { name, content, action }| ListingLine {
            verb: verb(action),
            path: (*name).to_owned(),
            content: content.clone(),
        })
    }

    /// The output of the command: a line for each file, and the next step.
    pub fn text(&self, is_check: bool) -> String {
        let lines = listing(&self.lines(is_check).collect::<Vec<_>>());
        let last = match (self.is_empty(), is_check) {
            (true, _) => "\nEverything is up to date.\n",
            (false, true) => "\nTo update these files: `cargo cobalt update`\n",
            (false, false) => "",
        };
        lines + last
    }
}

fn with_markers(path: &Path, text: &str, content: &str) -> Result<String, AssistantsError> {
    edits::with_part(text, content).map_err(|(line, fault)| AssistantsError::Marks {
        path: path.to_owned(),
        line,
        fault,
    })
}

/// Where a file is.
#[derive(Debug, PartialEq, Eq)]
pub enum FileLocation {
    Absent(PathBuf),
    /// The file, with symlinks resolved.
    Present(PathBuf),
    /// Not to be written, and why.
    Elsewhere(&'static str),
}

impl FileLocation {
    /// Locates a file by its path relative to the workspace root.
    pub fn resolve(root: &Path, name: &str) -> Self {
        let path = root.join(name);
        let is_there = |path: &&Path| path.symlink_metadata().is_ok();
        let existing = path.ancestors().find(is_there).unwrap_or(&path);
        if existing != root && root.starts_with(existing) {
            // The root itself does not exist yet.
            return Self::Absent(path);
        }
        let (Ok(real), Ok(root)) = (existing.canonicalize(), root.canonicalize()) else {
            return Self::Elsewhere("broken symlink");
        };
        if !real.starts_with(root) {
            Self::Elsewhere("symlink out of the project")
        } else if existing == path {
            Self::Present(real)
        } else {
            Self::Absent(path)
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn symlinks_are_followed_only_inside_the_project() {
        let (project, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = project.path().canonicalize().unwrap();
        fs::write(root.join("AGENTS.md"), "").unwrap();
        fs::write(other.path().join("CLAUDE.md"), "").unwrap();
        symlink("AGENTS.md", root.join("inside.md")).unwrap();
        symlink(other.path().join("CLAUDE.md"), root.join("outside.md")).unwrap();
        symlink(other.path(), root.join(".github")).unwrap();
        symlink("nothing", root.join("nowhere.md")).unwrap();
        let of = |name| FileLocation::resolve(&root, name);
        assert_eq!(of("inside.md"), FileLocation::Present(root.join("AGENTS.md")));
        assert_eq!(of("new/new.md"), FileLocation::Absent(root.join("new/new.md")));
        assert_eq!(of("outside.md"), FileLocation::Elsewhere("symlink out of the project"));
        assert_eq!(of(".github/new.md"), FileLocation::Elsewhere("symlink out of the project"));
        assert_eq!(of("nowhere.md"), FileLocation::Elsewhere("broken symlink"));
        assert_eq!(
            FileLocation::resolve(&root.join("to/be"), "a.md"),
            FileLocation::Absent(root.join("to/be/a.md"))
        );
    }
}

#[derive(Debug, thiserror::Error)]
pub enum AssistantsError {
    #[error("failed to {action} `{}`: {source}; check its permissions", .path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },

    #[error("`{}`, line {line}: {fault}; nothing was written", .path.display())]
    Marks { path: PathBuf, line: usize, fault: MarkerError },

    #[error(
        "failed to parse `{}`: line {line}, column {column}: {reason}; fix or remove the file; nothing was written",
        .path.display()
    )]
    Json { path: PathBuf, line: usize, column: usize, reason: String },

    #[error("cannot add the server to `{}`: expected an object {what}; fix or remove it; nothing was written", .path.display())]
    NoObject { path: PathBuf, what: &'static str },
}

impl CommandError for AssistantsError {}

impl AssistantsError {
    pub fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { action, path: path.to_owned(), source }
    }
}

/// What is wrong with a marker line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MarkerError {
    #[error("`{BEGIN}` has no matching `{END}`: add it after Cobalt's part, or remove this line")]
    NoEnd,
    #[error("`{END}` has no matching `{BEGIN}`: add it before Cobalt's part, or remove this line")]
    NoBegin,
    #[error("second `{BEGIN}` in this file: keep only one of the two parts")]
    Twice,
}
