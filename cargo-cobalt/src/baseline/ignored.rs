//! What is left to do to have baselines committed.

use std::path::PathBuf;

use crate::git_ignored::{Kept, kept};
use crate::terminal::{one_line, seen};

/// Says what stands in the way, or only that they are to be committed. Nothing where there is no git.
pub(super) fn to_be_committed(files: &[PathBuf]) -> Option<String> {
    let folder = files.first()?.parent()?;
    match kept(files)? {
        Kept::LeftOut { rule } => {
            let above = folder.parent()?.file_name()?.to_string_lossy();
            Some(format!(
                "warning: git leaves `{}` out, by `{}`; to share baselines, write `**/{above}/*` and \
                 `!**/{above}/baselines/` there instead",
                seen(folder),
                one_line(&rule),
            ))
        }
        Kept::All => Some(format!("commit `{}`, so that all are held against the same", seen(folder))),
    }
}
