//! The workspace that a new folder lies in, if cargo would count it to one.

use std::path::Path;

use cobalt::paths::workspace_root;
use glob::{MatchOptions, Pattern};

use super::error::InitError;
use super::manifest::Manifest;
use super::plan::is_there;

#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) manifest: Manifest,
    pub(super) membership: Membership,
}

/// What a workspace says of a folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Membership {
    Member,
    /// Nothing, which cargo refuses; by this path it can become a member.
    Unlisted(String),
}

impl Workspace {
    /// The one that counts for a folder without a manifest.
    pub(super) fn around(folder: &Path) -> Result<Option<Self>, InitError> {
        let root = workspace_root(folder);
        // The library passes over a manifest that is broken, and cargo does not.
        for between in folder.ancestors().skip(1).take_while(|ancestor| *ancestor != root) {
            let path = between.join("Cargo.toml");
            if is_there(&path) {
                Manifest::read(&path)?;
            }
        }
        if root == folder {
            return Ok(None);
        }
        let manifest = Manifest::read(&root.join("Cargo.toml"))?;
        let membership = Membership::of(folder.strip_prefix(&root).unwrap_or(folder), &manifest);
        Ok(Some(Self { manifest, membership }))
    }

    pub(super) fn root(&self) -> &Path {
        self.manifest.folder()
    }
}

impl Membership {
    fn of(folder: &Path, manifest: &Manifest) -> Self {
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
        let members = manifest.workspace_list("members");
        let is_listed = |member: &&str| {
            Pattern::new(member.trim_start_matches("./").trim_end_matches('/'))
                .is_ok_and(|pattern| pattern.matches_path_with(folder, options))
        };
        if members.iter().any(is_listed) {
            Self::Member
        } else {
            let parts: Vec<_> = folder.iter().map(|part| part.to_string_lossy()).collect();
            Self::Unlisted(parts.join("/"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_says_whether_a_folder_belongs_to_it() {
        let text = "[workspace]\nmembers = [\"./app\", \"crates/*\", \"old/kept\"]\n";
        let manifest = Manifest::parse(Path::new("/w/Cargo.toml"), text).unwrap();
        let of = |folder| Membership::of(Path::new(folder), &manifest);
        assert_eq!(of("app"), Membership::Member);
        assert_eq!(of("crates/desk"), Membership::Member);
        assert_eq!(of("crates/desk/deep"), Membership::Unlisted("crates/desk/deep".into()));
        assert_eq!(of("desk"), Membership::Unlisted("desk".into()));
        assert_eq!(of("old/kept"), Membership::Member);
    }

    #[test]
    fn a_package_around_that_is_no_workspace_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("a/Cargo.toml", "[package]\nname = \"a\"\n");
        let around = |path| Workspace::around(&folder.path().join(path)).unwrap();
        assert!(around("a/desk").is_none());
        write("Cargo.toml", "[workspace]\n");
        assert_eq!(around("a/desk").unwrap().root(), folder.path());
        write("Cargo.toml", "[workspace]\nexclude = [\"a\"]\n");
        assert!(around("a/desk").is_none(), "nor does a workspace that excludes the folder");
    }
}
