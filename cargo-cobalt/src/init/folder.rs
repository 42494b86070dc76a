//! The folder that is meant, whether it is there or not.

use std::path::{Component, Path, PathBuf};

use super::error::InitError;

/// The folder as cargo names it: absolute, and without links as far as it is there.
pub(super) fn resolve(folder: &Path) -> Result<PathBuf, InitError> {
    let absolute = std::path::absolute(folder).map_err(InitError::file("find", folder))?;
    let is_there = |ancestor: &&Path| ancestor.symlink_metadata().is_ok();
    let existing = absolute.ancestors().find(is_there).unwrap_or(&absolute);
    let mut resolved = existing.canonicalize().map_err(InitError::file("find", existing))?;
    if !resolved.is_dir() {
        return Err(InitError::NoFolder(existing.to_owned()));
    }
    for component in absolute.strip_prefix(existing).unwrap_or(Path::new("")).components() {
        match component {
            Component::ParentDir => drop(resolved.pop()),
            component => resolved.push(component),
        }
    }
    Ok(resolved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_has_a_place_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        assert_eq!(resolve(&folder.path().join("a/../b/c")).unwrap(), root.join("b/c"));
        assert_eq!(resolve(folder.path()).unwrap(), root);
    }

    #[test]
    fn a_file_is_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("Cargo.toml");
        std::fs::write(&file, "").unwrap();
        for path in [file.clone(), file.join("more")] {
            assert!(resolve(&path).unwrap_err().to_string().contains("is no folder"));
        }
    }
}
