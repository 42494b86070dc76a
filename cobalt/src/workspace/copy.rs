//! Copies a folder. Symlinks stay symlinks; permissions are kept.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::error::{WorkspaceError, io_error};
use super::globs::Globs;

/// Copies what is in a folder into another, without what the patterns match.
///
/// On file systems with reflinks, such as btrfs, XFS and APFS, the contents are shared until one copy changes: [`fs::copy`] asks for it.
/// Sockets, pipes and devices are left out.
pub fn copy_folder(from: &Path, to: &Path, ignored: &Globs) -> Result<(), WorkspaceError> {
    copy_below(from, to, &PathBuf::new(), ignored)
}

/// Copies what is in a folder over what is in another.
pub fn copy_folder_over(from: &Path, to: &Path) -> Result<(), WorkspaceError> {
    copy_folder(from, to, &Globs::default())
}

fn copy_below(from: &Path, to: &Path, inside: &Path, ignored: &Globs) -> Result<(), WorkspaceError> {
    let is_root = inside.as_os_str().is_empty();
    let place = |folder: &Path| if is_root { folder.to_owned() } else { folder.join(inside) };
    let (source, target) = (place(from), place(to));
    // A symlink there may lead out of the folder.
    if !is_root && !is_folder(&target) {
        remove(&target)?;
    }
    fs::create_dir_all(&target).map_err(io_error("create", &target))?;
    for entry in fs::read_dir(&source).map_err(io_error("read", &source))? {
        let entry = entry.map_err(io_error("read", &source))?;
        let path = inside.join(entry.file_name());
        if ignored.matches(&path) {
            continue;
        }
        let (source, target) = (from.join(&path), to.join(&path));
        // Of a symlink itself.
        let kind = entry.file_type().map_err(io_error("read", &source))?;
        if kind.is_dir() {
            copy_below(from, to, &path, ignored)?;
        } else if kind.is_symlink() {
            copy_symlink(&source, &target)?;
        } else if kind.is_file() {
            remove(&target)?;
            fs::copy(&source, &target).map_err(io_error("copy", &source))?;
        }
    }
    // A folder may be read-only, so last.
    let permissions = fs::metadata(&source).map_err(io_error("read", &source))?.permissions();
    if is_root {
        return Ok(());
    }
    fs::set_permissions(&target, permissions).map_err(io_error("set the permissions of", &target))
}

fn copy_symlink(from: &Path, to: &Path) -> Result<(), WorkspaceError> {
    let target = fs::read_link(from).map_err(io_error("read", from))?;
    remove(to)?;
    #[cfg(unix)]
    let linked = std::os::unix::fs::symlink(&target, to);
    #[cfg(windows)]
    let linked = match from.is_dir() {
        true => std::os::windows::fs::symlink_dir(&target, to),
        false => std::os::windows::fs::symlink_file(&target, to),
    };
    linked.map_err(io_error("create", to))
}

/// Whether there is a folder, not a symlink to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|file| file.is_dir())
}

/// Removes what is there, if anything. Symlinks are not followed.
fn remove(path: &Path) -> Result<(), WorkspaceError> {
    let removed = if is_folder(path) { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error("replace", path)(error)),
        _ => Ok(()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_copy_has_the_files_links_and_permissions_without_what_is_ignored() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let outside = tempfile::NamedTempFile::new().unwrap();
        let path = |name: &str| from.path().join(name);
        fs::create_dir_all(path("src/target")).unwrap();
        fs::create_dir_all(path("empty")).unwrap();
        fs::write(path("run.sh"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(path("src/target/built"), "").unwrap();
        symlink("run.sh", path("link")).unwrap();
        symlink(outside.path(), path("src/outside")).unwrap();
        symlink("/", path("root")).unwrap();
        copy_folder(from.path(), to.path(), &Globs::parse(["target"]).unwrap()).unwrap();
        let copied = |name: &str| to.path().join(name);
        assert_eq!(fs::read_to_string(copied("run.sh")).unwrap(), "#!/bin/sh\n");
        assert_eq!(fs::metadata(copied("run.sh")).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(fs::read_link(copied("link")).unwrap(), Path::new("run.sh"));
        assert_eq!(fs::read_link(copied("src/outside")).unwrap(), outside.path());
        assert_eq!(fs::read_link(copied("root")).unwrap(), Path::new("/"));
        assert!(copied("empty").is_dir() && !copied("src/target").exists());
    }

    #[test]
    fn a_link_in_the_target_is_replaced_and_its_file_is_unchanged() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let outside = tempfile::NamedTempFile::new().unwrap();
        fs::write(from.path().join("a"), "new").unwrap();
        symlink(outside.path(), to.path().join("a")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        symlink(folder.path(), to.path().join("tests")).unwrap();
        fs::create_dir(from.path().join("tests")).unwrap();
        fs::write(from.path().join("tests/b"), "hidden").unwrap();
        fs::create_dir_all(to.path().join("file/c")).unwrap();
        fs::write(from.path().join("file"), "").unwrap();
        copy_folder(from.path(), to.path(), &Globs::default()).unwrap();
        assert_eq!(fs::read_to_string(to.path().join("a")).unwrap(), "new");
        assert_eq!(fs::read_to_string(outside.path()).unwrap(), "");
        assert_eq!(fs::read_to_string(to.path().join("tests/b")).unwrap(), "hidden");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(to.path().join("file").is_file());
    }

    #[test]
    fn a_missing_folder_is_named() {
        let to = tempfile::tempdir().unwrap();
        let error = copy_folder(Path::new("/no/such"), to.path(), &Globs::default());
        assert!(error.unwrap_err().to_string().starts_with("failed to read `/no/such`: "));
    }
}
