//! Where a file of the project is, and whether it is one: links may lead out of it.

use std::path::{Path, PathBuf};

/// What a name stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    Absent(PathBuf),
    /// The file, without links.
    Present(PathBuf),
    /// Not ours to write, and why.
    Elsewhere(&'static str),
}

impl Place {
    /// The place of a file, named as seen from the root of the workspace.
    pub(super) fn of(root: &Path, name: &str) -> Self {
        let path = root.join(name);
        let is_there = |path: &&Path| path.symlink_metadata().is_ok();
        let existing = path.ancestors().find(is_there).unwrap_or(&path);
        if existing != root && root.starts_with(existing) {
            // The root itself is still to be made.
            return Self::Absent(path);
        }
        let (Ok(real), Ok(root)) = (existing.canonicalize(), root.canonicalize()) else {
            return Self::Elsewhere("a link that leads nowhere");
        };
        if !real.starts_with(root) {
            Self::Elsewhere("a link out of the project")
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
    fn links_are_followed_inside_of_the_project_only() {
        let (project, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = project.path().canonicalize().unwrap();
        fs::write(root.join("AGENTS.md"), "").unwrap();
        fs::write(other.path().join("CLAUDE.md"), "").unwrap();
        symlink("AGENTS.md", root.join("inside.md")).unwrap();
        symlink(other.path().join("CLAUDE.md"), root.join("outside.md")).unwrap();
        symlink(other.path(), root.join(".github")).unwrap();
        symlink("nothing", root.join("nowhere.md")).unwrap();
        let of = |name| Place::of(&root, name);
        assert_eq!(of("inside.md"), Place::Present(root.join("AGENTS.md")));
        assert_eq!(of("new/new.md"), Place::Absent(root.join("new/new.md")));
        assert_eq!(of("outside.md"), Place::Elsewhere("a link out of the project"));
        assert_eq!(of(".github/new.md"), Place::Elsewhere("a link out of the project"));
        assert_eq!(of("nowhere.md"), Place::Elsewhere("a link that leads nowhere"));
        assert_eq!(Place::of(&root.join("to/be"), "a.md"), Place::Absent(root.join("to/be/a.md")));
    }
}
