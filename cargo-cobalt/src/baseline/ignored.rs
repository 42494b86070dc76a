//! Whether git leaves baselines out, and by which line of which file.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::kept::seen;
use crate::terminal::one_line;

/// Says why git leaves the first of the files out that it does leave out, and how to have it committed.
///
/// Nothing is said where there is no git.
pub(super) fn left_out(files: &[PathBuf]) -> Option<String> {
    let folder = files.first()?.parent()?;
    let output = Command::new("git")
        .args(["check-ignore", "--verbose", "-z", "--"])
        .args(files)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let fields: Vec<_> = text.split('\0').collect();
    // A pattern that takes files in again is told too.
    let &[file, line, pattern, path] =
        fields.as_chunks().0.iter().find(|[_, _, pattern, _]| !pattern.starts_with('!'))?;
    let above = folder.parent()?.file_name()?.to_string_lossy();
    Some(format!(
        "git leaves `{}` out, as `{}` has `{}` in line {line}; to share baselines, let it have `{above}/*` and below it \
         `!{above}/baselines/` instead",
        seen(path.as_ref()),
        one_line(file),
        one_line(pattern),
    ))
}
