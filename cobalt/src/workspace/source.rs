//! Where the files of an item come from, and what is checked before the run.

use std::path::{Path, PathBuf};

use cobalt_core::item::Item;
use cobalt_core::paths;

use super::error::WorkspaceError;
use super::git;
use super::globs::Globs;
use super::item_paths::{filled, folder_in_package};
use super::settings::{Source, Workspace};
use super::{changes, copy};

/// The source of an item's workspace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ItemSource {
    Folder(PathBuf),
    Commit { repository: String, commit: String },
}

impl ItemSource {
    /// The source of an item, or what is wrong and what to do.
    pub fn of(workspace: &Workspace, item: &Item) -> Result<Self, String> {
        match workspace.source() {
            Source::Folder(folder) => folder_in_package(folder, item, "workspace").map(Self::Folder),
            Source::Git { repository, commit } => {
                let (repository, commit) = (filled(repository, item)?, filled(commit, item)?);
                if !git::is_commit_hash(&commit) {
                    return Err(format!(
                        "`{commit}` is not the full hash of a commit (40 or 64 hexadecimal digits), as `git rev-parse` shows it; a branch \
                         or tag may change"
                    ));
                }
                Ok(Self::Commit { repository: located(&repository)?, commit })
            }
        }
    }

    /// A hash of its files. A commit has none, as it never changes.
    pub fn hash(&self, ignored: &Globs) -> Result<Option<String>, WorkspaceError> {
        match self {
            Self::Folder(folder) => self.hash_of(folder, ignored),
            Self::Commit { .. } => Ok(None),
        }
    }

    /// The hash of a copy of its files.
    pub fn hash_of(&self, copy: &Path, ignored: &Globs) -> Result<Option<String>, WorkspaceError> {
        match self {
            Self::Folder(_) => changes::hash(copy, ignored).map(Some),
            Self::Commit { .. } => Ok(None),
        }
    }

    /// Copies it to an empty folder. What is ignored is left out of a folder; a commit has only its own files.
    pub fn copy_to(&self, folder: &Path, ignored: &Globs) -> Result<(), WorkspaceError> {
        match self {
            Self::Folder(source) => copy::copy_folder(source, folder, ignored),
            Self::Commit { repository, commit } => git::check_out(repository, commit, folder),
        }
    }
}

/// The address of a repository: a path is relative to the package.
fn located(repository: &str) -> Result<String, String> {
    // As git decides: `host:path` has a colon before the first slash.
    if repository.starts_with('-') {
        return Err(format!("`{repository}` is not a path or URL of a repository; correct it"));
    }
    let is_remote = repository.contains("://")
        || repository
            .split('/')
            .next()
            .is_some_and(|start| start.contains(':') && !Path::new(repository).is_absolute());
    if is_remote {
        return Ok(repository.to_owned());
    }
    let path = paths::resolve(repository);
    match path.exists() {
        true => Ok(path.to_string_lossy().into_owned()),
        false => Err(format!("the repository `{}` does not exist; correct its path or URL", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item;

    fn source(workspace: impl Into<Workspace>, item: Item) -> Result<ItemSource, String> {
        ItemSource::of(&workspace.into(), &item)
    }

    #[test]
    fn a_folder_of_the_package_is_found_by_the_fields_of_the_item() {
        let found = source("{{where}}/workspace", item! { "where": "src" });
        assert_eq!(found, Ok(ItemSource::Folder(paths::package_root().join("src/workspace"))));
    }

    #[test]
    fn a_path_that_cannot_be_used_is_refused_with_the_reason() {
        for (path, reason) in [
            ("src/none", "the workspace folder `"),
            ("..", "`..` is not inside the package"),
            ("src/../../cobalt-core", "`src/../../cobalt-core` is not inside the package"),
            ("/", "`/` is not inside the package"),
            (" ", "` ` is not inside the package"),
            ("src/{{ids}}", "the item has no field `ids` for `src/{{ids}}`; did you mean `id`?"),
        ] {
            let error = source(path, item! { "id": "a" }).unwrap_err();
            assert!(error.starts_with(reason), "{path}: {error}");
        }
        // A value cannot lead out of the package either.
        assert!(source("src/{{id}}", item! { "id": "../../cobalt-core" }).is_err());
    }

    #[test]
    fn a_repository_is_a_url_or_a_path_and_a_commit_a_hash() {
        const HASH: &str = "0123456789abcdef0123456789abcdef01234567";
        let of = |repository: &str, commit: &str| {
            source(Workspace::git(repository, "{{commit}}"), item! { "commit": commit })
        };
        for remote in ["https://example.org/a.git", "git@example.org:a.git", "file:///a"] {
            let expected = ItemSource::Commit { repository: remote.to_owned(), commit: HASH.to_owned() };
            assert_eq!(of(remote, HASH), Ok(expected));
        }
        assert!(matches!(of("src", HASH), Ok(ItemSource::Commit { .. })));
        assert!(of("--upload-pack=touch x; : ://", HASH).unwrap_err().contains("is not a path or URL"));
        assert!(of("no/such", HASH).unwrap_err().starts_with("the repository `"));
        assert!(of("src", "main").unwrap_err().starts_with("`main` is not the full hash of a commit"));
    }
}
