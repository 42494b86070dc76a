//! Copies a folder. Symlinks stay symlinks; permissions are kept.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::{fs::File, io::Read as _};

use super::error::{WorkspaceError, io_error};
use super::globs::Globs;
use super::limits::Limits;
use super::temp_folder;

/// Copies what is in a folder into another, without what the patterns match, and within the [`Limits`].
///
/// On file systems with reflinks, such as btrfs, XFS and APFS, the contents are shared until one copy changes: [`copy_file`] asks for it.
/// Sockets, pipes and devices are left out.
pub fn copy_folder(from: &Path, to: &Path, ignored: &Globs) -> Result<(), WorkspaceError> {
    let mut limits = Limits::start();
    let mut folders = vec![PathBuf::new()];
    let mut done = 0;
    // Not recursive: an agent may have nested folders deeply.
    while let Some(folder) = folders.get(done).cloned() {
        done += 1;
        let (source, target) = (within(from, &folder), within(to, &folder));
        // A symlink there may lead out of the folder.
        if done > 1 && !is_folder(&target) {
            remove(&target)?;
        }
        fs::create_dir_all(&target).map_err(io_error("create", &target))?;
        for entry in fs::read_dir(&source).map_err(io_error("read", &source))? {
            let entry = entry.map_err(io_error("read", &source))?;
            let inside = folder.join(entry.file_name());
            if ignored.matches(&inside) {
                continue;
            }
            let (source, target) = (from.join(&inside), to.join(&inside));
            // Of a symlink itself.
            let metadata = fs::symlink_metadata(&source).map_err(io_error("read", &source))?;
            limits.add(&inside, if metadata.is_file() { metadata.len() } else { 0 })?;
            if metadata.is_dir() {
                folders.push(inside);
            } else if metadata.is_symlink() {
                copy_symlink(&source, &target)?;
            } else if metadata.is_file() {
                remove(&target)?;
                copy_file(&source, &target, &metadata).map_err(io_error("copy", &source))?;
            }
        }
    }
    // A folder may be read-only, so last, and the deepest first.
    for folder in folders[1..].iter().rev() {
        let (source, target) = (from.join(folder), to.join(folder));
        let permissions = fs::metadata(&source).map_err(io_error("read", &source))?.permissions();
        fs::set_permissions(&target, permissions).map_err(io_error("set the permissions of", &target))?;
    }
    Ok(())
}

/// Copies what is in a folder over what is in another.
pub fn copy_folder_over(from: &Path, to: &Path) -> Result<(), WorkspaceError> {
    copy_folder(from, to, &Globs::default())
}

/// A path in a folder, which is the folder itself if the path is empty.
fn within(folder: &Path, inside: &Path) -> PathBuf {
    if inside.as_os_str().is_empty() { folder.to_owned() } else { folder.join(inside) }
}

/// Copies a file and its permissions. What is written to it meanwhile is left out, or it might never end.
#[cfg(target_os = "linux")]
fn copy_file(from: &Path, to: &Path, metadata: &Metadata) -> io::Result<()> {
    let mut source = File::open(from)?.take(metadata.len());
    io::copy(&mut source, &mut File::create(to)?)?;
    fs::set_permissions(to, metadata.permissions())
}

#[cfg(not(target_os = "linux"))]
fn copy_file(from: &Path, to: &Path, _: &Metadata) -> io::Result<()> {
    fs::copy(from, to).map(drop)
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
    let removed = if is_folder(path) { temp_folder::remove(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error("replace", path)(error)),
        _ => Ok(()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::File;
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
    fn pipes_and_sockets_are_left_out() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut fifo = std::process::Command::new("mkfifo");
        assert!(fifo.arg(from.path().join("pipe")).status().unwrap().success());
        let _socket = std::os::unix::net::UnixListener::bind(from.path().join("socket")).unwrap();
        symlink(".", from.path().join("loop")).unwrap();
        copy_folder(from.path(), to.path(), &Globs::default()).unwrap();
        let copied: Vec<_> =
            fs::read_dir(to.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(copied, ["loop"]);
    }

    #[test]
    fn deep_and_huge_folders_are_an_error() {
        let to = tempfile::tempdir().unwrap();
        let deep = temp_folder::TempFolder::new().unwrap();
        temp_folder::nest(deep.path(), 3000);
        let error = copy_folder(deep.path(), to.path(), &Globs::default()).unwrap_err().to_string();
        assert!(error.contains("is more than 128 folders deep"), "{error}");
        let huge = tempfile::tempdir().unwrap();
        File::create(huge.path().join("a")).unwrap().set_len(50 << 30).unwrap();
        let error = copy_folder(huge.path(), to.path(), &Globs::default()).unwrap_err().to_string();
        assert!(error.starts_with("the files of the workspace exceed 16 GiB with `a`"), "{error}");
    }

    #[test]
    fn a_missing_folder_is_named() {
        let to = tempfile::tempdir().unwrap();
        let error = copy_folder(Path::new("/no/such"), to.path(), &Globs::default());
        assert!(error.unwrap_err().to_string().starts_with("failed to read `/no/such`: "));
    }
}
