//! What an agent changed in its workspace: the files, and the difference as a patch.

use serde::{Deserialize, Serialize};

use crate::redact::redact;
use crate::serde_skip::is_zero;
use crate::wording::count;

/// The changes of one execution to the files of its workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WorkspaceChanges {
    /// The files that were added, changed or removed, by path: at most 1,000.
    pub files: Vec<ChangedFile>,
    /// How many further files were added, changed or removed.
    #[serde(skip_serializing_if = "is_zero")]
    pub omitted_files: usize,
    /// The lines added in all files.
    pub added_lines: usize,
    /// The lines removed in all files.
    pub removed_lines: usize,
    /// The difference as a unified diff with the headers of git; at most 256 KiB.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub patch: String,
    /// Whether the patch lacks lines or text files, because they are too large.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub patch_truncated: bool,
    /// A hash of the fixture's files, by which `--changed` recognizes that they have changed; absent for a commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The folder in which the workspace was kept, relative to the root of the project if it is inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

/// A file that differs from the original.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    /// The path in the workspace, with `/` between folders.
    pub path: String,
    /// What happened to it.
    pub change: FileChange,
    /// The lines added.
    #[serde(default)]
    pub added_lines: usize,
    /// The lines removed.
    #[serde(default)]
    pub removed_lines: usize,
    /// The size in bytes; of a removed file, what it was.
    #[serde(default)]
    pub bytes: u64,
    /// Whether it is no text, so it has no lines and is not in the patch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FileChange {
    /// It is new.
    Added,
    /// Its contents or its permission to execute differ.
    Changed,
    /// It is gone.
    Removed,
}

impl FileChange {
    /// The name used in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

/// The kind of a line of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchLine {
    /// Belongs to the header of a file.
    Header,
    /// The position of the lines that follow.
    Hunk,
    /// Is new.
    Added,
    /// Is gone.
    Removed,
    /// Is unchanged.
    Context,
}

impl PatchLine {
    /// The kind of a line. A header is recognized by its beginning, as most viewers of patches do.
    #[must_use]
    pub fn of(line: &str) -> Self {
        const HEADERS: [&str; 9] = [
            "diff --git ",
            "--- a/",
            "--- /dev/null",
            "+++ b/",
            "+++ /dev/null",
            "new file mode ",
            "deleted file mode ",
            "old mode ",
            "new mode ",
        ];
        match line.as_bytes().first() {
            _ if HEADERS.iter().any(|header| line.starts_with(header)) => Self::Header,
            Some(b'@') => Self::Hunk,
            Some(b'+') => Self::Added,
            Some(b'-') => Self::Removed,
            _ => Self::Context,
        }
    }
}

impl WorkspaceChanges {
    /// The number of files that were added, changed or removed.
    #[must_use]
    pub fn file_count(&self) -> usize {
        self.files.len() + self.omitted_files
    }

    /// The lines added and removed.
    #[must_use]
    pub fn changed_lines(&self) -> usize {
        self.added_lines + self.removed_lines
    }

    /// A summary such as `2 files changed, +3 −1`.
    #[must_use]
    pub fn summary(&self) -> String {
        match self.file_count() {
            0 => "no file changed".to_owned(),
            files => {
                format!("{} changed, +{} −{}", count(files, "file"), self.added_lines, self.removed_lines)
            }
        }
    }

    /// Redacts the paths and the patch.
    pub(super) fn redact(&mut self) {
        self.files.iter_mut().for_each(|file| redact(&mut file.path));
        redact(&mut self.patch);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn changes_are_written_in_camel_case_and_read_back() {
        let file = ChangedFile {
            path: "src/lib.rs".to_owned(),
            change: FileChange::Changed,
            added_lines: 2,
            removed_lines: 1,
            bytes: 40,
            binary: false,
        };
        let changes = WorkspaceChanges {
            files: vec![file],
            added_lines: 2,
            removed_lines: 1,
            patch: "--- a/src/lib.rs\n".to_owned(),
            ..WorkspaceChanges::default()
        };
        let written = json!({
            "files": [{ "path": "src/lib.rs", "change": "changed", "addedLines": 2, "removedLines": 1, "bytes": 40 }],
            "addedLines": 2, "removedLines": 1, "patch": "--- a/src/lib.rs\n",
        });
        assert_eq!(serde_json::to_value(&changes).unwrap(), written);
        assert_eq!(serde_json::from_value::<WorkspaceChanges>(written).unwrap(), changes);
        assert_eq!(changes.summary(), "1 file changed, +2 −1");
        assert_eq!(WorkspaceChanges::default().summary(), "no file changed");
    }

    #[test]
    fn the_lines_of_a_patch_are_told_apart() {
        let patch =
            "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n-b\n c";
        let kinds: Vec<_> = patch.lines().map(PatchLine::of).collect();
        let header = PatchLine::Header;
        let lines = [PatchLine::Hunk, PatchLine::Added, PatchLine::Removed, PatchLine::Context];
        assert_eq!(kinds, [&[header; 4][..], &lines].concat());
    }
}
