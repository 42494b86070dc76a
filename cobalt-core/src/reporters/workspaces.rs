//! Workspaces, for people: what an agent changed, and where workspaces were kept.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::report::{ItemResult, WorkspaceChanges};
use crate::wording::count;

/// The maximum number of files that are named in a line.
const MAX_NAMED: usize = 5;

/// The workspaces of a run that were kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptWorkspaces {
    /// How many there are.
    pub number: usize,
    /// The folder that they are in, relative to the root of the project if it is inside.
    pub folder: String,
}

/// What changed: `2 files changed, +3 −1: src/a.rs, src/b.rs`, and where the workspace was kept.
#[must_use]
pub fn format_changes(changes: &WorkspaceChanges) -> String {
    let mut text = changes.summary();
    let names: Vec<_> = changes.files.iter().take(MAX_NAMED).map(|file| &*file.path).collect();
    if !names.is_empty() {
        text += &format!(": {}", names.join(", "));
    }
    match changes.file_count().saturating_sub(names.len()) {
        0 => {}
        more => text += &format!(" and {more} more"),
    }
    if let Some(folder) = &changes.kept {
        text += &format!("; kept in {folder}");
    }
    text
}

/// The kept workspaces of a run: `3 workspaces in .cobalt/workspaces/0123456789ab`.
#[must_use]
pub fn format_kept(kept: &KeptWorkspaces) -> String {
    format!("{} in {}", count(kept.number, "workspace"), kept.folder)
}

/// The kept workspaces of a run, counted item by item.
#[derive(Debug, Default)]
pub struct KeptWorkspacesFold {
    number: usize,
    folder: Option<PathBuf>,
}

impl KeptWorkspacesFold {
    pub fn add(&mut self, item: &ItemResult) {
        for kept in item.runs.iter().filter_map(|run| run.workspace.as_ref()?.kept.as_deref()) {
            let folder = Path::new(kept).parent().unwrap_or(Path::new(""));
            let folder = self.folder.as_deref().map_or(folder, |known| common_folder(known, folder));
            let folder = folder.to_owned();
            (self.number, self.folder) = (self.number + 1, Some(folder));
        }
    }

    /// `None` if none were kept.
    pub fn kept(&self) -> Option<KeptWorkspaces> {
        let folder = self.folder.as_ref()?.display().to_string();
        Some(KeptWorkspaces { number: self.number, folder })
    }
}

/// The deepest folder that holds both: the runs of shards keep their workspaces in folders of their own.
fn common_folder<'a>(one: &'a Path, other: &Path) -> &'a Path {
    one.ancestors().find(|folder| other.starts_with(folder)).unwrap_or(Path::new(""))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::item::Item;
    use crate::report::{ChangedFile, Execution, FileChange};

    #[test]
    fn kept_workspaces_are_counted_with_the_folder_that_holds_all_of_them() {
        let trial = |kept: &str| Execution {
            workspace: Some(Box::new(WorkspaceChanges {
                kept: Some(kept.to_owned()),
                ..WorkspaceChanges::default()
            })),
            ..Execution::default()
        };
        let item = |kept: &[&str]| ItemResult {
            index: 0,
            key: String::new(),
            input: Arc::new(Item::new()),
            passed: true,
            runs: kept.iter().map(|kept| trial(kept)).collect(),
        };
        let of = |kept: &[&str]| {
            let mut workspaces = KeptWorkspacesFold::default();
            workspaces.add(&item(kept));
            workspaces.kept().map(|kept| format_kept(&kept))
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["w/a/1", "w/a/2"]).as_deref(), Some("2 workspaces in w/a"));
        assert_eq!(of(&["w/a/1", "w/b/1"]).as_deref(), Some("2 workspaces in w"), "of two shards");
    }

    #[test]
    fn a_line_names_the_first_files_and_the_folder() {
        let file = |number: usize| ChangedFile {
            path: format!("f{number}"),
            change: FileChange::Added,
            added_lines: 1,
            removed_lines: 0,
            bytes: 2,
            binary: false,
        };
        let of = |files: usize| WorkspaceChanges {
            files: (1..=files).map(file).collect(),
            added_lines: files,
            ..WorkspaceChanges::default()
        };
        assert_eq!(format_changes(&of(0)), "no file changed");
        assert_eq!(format_changes(&of(2)), "2 files changed, +2 −0: f1, f2");
        let kept = WorkspaceChanges { kept: Some("w/a-1".to_owned()), ..of(6) };
        let expected = "6 files changed, +6 −0: f1, f2, f3, f4, f5 and 1 more; kept in w/a-1";
        assert_eq!(format_changes(&kept), expected);
    }
}
