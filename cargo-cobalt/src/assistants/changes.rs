//! What is to be done to the files of assistants, worked out before anything is.

use std::fs;
use std::path::{Path, PathBuf};

use cobalt::store::GITIGNORE;

use super::error::AssistantsError;
use super::place::Place;
use super::{SKILLS, marks, servers, skills};
use crate::written::{Line, create, listing, replace, replaceable};

/// The files in which assistants look for instructions. They get a reference where they are there.
const INSTRUCTIONS: [&str; 4] = ["CLAUDE.md", "AGENTS.md", ".github/copilot-instructions.md", ".cursorrules"];

/// The files, each with what becomes of it.
#[derive(Debug)]
pub(crate) struct Changes(Vec<Change>);

#[derive(Debug)]
struct Change {
    name: &'static str,
    /// What is in it, or why it is left alone.
    content: String,
    action: Action,
}

#[derive(Debug)]
enum Action {
    Create { path: PathBuf, text: String },
    Replace { path: PathBuf, text: String },
    Keep { path: PathBuf },
    LeaveAlone,
}

impl Changes {
    /// Compares the files below the root of a workspace, which may be still to be made, with what they should be.
    pub(crate) fn plan(root: &Path) -> Result<Self, AssistantsError> {
        let mut changes = Self(Vec::new());
        if let Place::Absent(path) = Place::of(root, ".cobalt") {
            let action = Action::Create { path: path.join(".gitignore"), text: GITIGNORE.to_owned() };
            let content = "keeps results out of git".to_owned();
            changes.0.push(Change { name: ".cobalt/.gitignore", content, action });
        }
        let skills = skills::text();
        let whole = marked(&PathBuf::from(SKILLS), "", &skills)?;
        changes.add(root, SKILLS, "what assistants are to know", Some(whole), |path, text| {
            marked(path, text, &skills)
        })?;
        for name in INSTRUCTIONS {
            changes.add(root, name, "a reference to it", None, |path, text| {
                marked(path, text, skills::REFERENCE)
            })?;
        }
        changes.add(root, ".mcp.json", "the server `cobalt`", Some(servers::file()), servers::with_server)?;
        Ok(changes)
    }

    /// Plans for a file: to be made with a text, where one is given, or to be what `edit` makes of it.
    fn add(
        &mut self,
        root: &Path,
        name: &'static str,
        content: &str,
        new: Option<String>,
        edit: impl FnOnce(&Path, &str) -> Result<String, AssistantsError>,
    ) -> Result<(), AssistantsError> {
        let mut content = content.to_owned();
        let action = match Place::of(root, name) {
            Place::Absent(path) => match new {
                Some(text) => Action::Create { path, text },
                None => return Ok(()),
            },
            Place::Present(path) => match self.same(&path) {
                Some(other) => {
                    content = format!("the same file as {other}");
                    Action::LeaveAlone
                }
                None => {
                    let text = fs::read_to_string(&path).map_err(AssistantsError::file("read", &path))?;
                    match edit(&path, &text)? {
                        edited if edited == text => Action::Keep { path },
                        edited => {
                            replaceable(&path).map_err(AssistantsError::file("write", &path))?;
                            Action::Replace { path, text: edited }
                        }
                    }
                }
            },
            Place::Elsewhere(reason) => {
                reason.clone_into(&mut content);
                Action::LeaveAlone
            }
        };
        self.0.push(Change { name, content, action });
        Ok(())
    }

    /// The name under which a file has been met before: one may be a link to the other.
    fn same(&self, real: &Path) -> Option<&'static str> {
        let is_same = |change: &&Change| matches!(&change.action, Action::Replace { path, .. } | Action::Keep { path } if path == real);
        self.0.iter().find(is_same).map(|change| change.name)
    }

    /// Whether all files are as they should be.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|change| matches!(change.action, Action::Keep { .. } | Action::LeaveAlone))
    }

    pub(crate) fn carry_out(&self) -> Result<(), AssistantsError> {
        for change in &self.0 {
            match &change.action {
                Action::Create { path, text } => {
                    create(path, text).map_err(AssistantsError::file("create", path))?;
                }
                Action::Replace { path, text } => {
                    replace(path, text).map_err(AssistantsError::file("write", path))?;
                }
                Action::Keep { .. } | Action::LeaveAlone => {}
            }
        }
        Ok(())
    }

    /// A line for each file. Where the files are only checked, it says what would be done.
    pub(crate) fn lines(&self, is_check: bool) -> impl Iterator<Item = Line> {
        let verb = move |action: &Action| match action {
            Action::Create { .. } if is_check => "missing",
            Action::Create { .. } => "created",
            Action::Replace { .. } if is_check => "out of date",
            Action::Replace { .. } => "updated",
            Action::Keep { .. } => "kept",
            Action::LeaveAlone => "left",
        };
        self.0.iter().map(move |Change { name, content, action }| Line {
            verb: verb(action),
            path: (*name).to_owned(),
            content: content.clone(),
        })
    }

    /// What the user reads: a line for each file, and what is left to do.
    pub(super) fn text(&self, is_check: bool) -> String {
        let lines = listing(&self.lines(is_check).collect::<Vec<_>>());
        let last = match (self.is_empty(), is_check) {
            (true, _) => "\nAll of it is up to date.\n",
            (false, true) => "\n`cargo cobalt update` brings them up to date.\n",
            (false, false) => "",
        };
        lines + last
    }
}

fn marked(path: &Path, text: &str, content: &str) -> Result<String, AssistantsError> {
    marks::with_part(text, content).map_err(|(line, fault)| AssistantsError::Marks {
        path: path.to_owned(),
        line,
        fault,
    })
}
