//! `TempFolder`: a temporary folder that is removed, whatever an agent did to its permissions.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{env, fs, io};

use super::error::{WorkspaceError, io_error};

/// How often removal is tried: an abandoned agent may still create files.
const ATTEMPTS: usize = 3;

static FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A temporary folder, removed on drop.
#[derive(Debug)]
pub struct TempFolder(PathBuf);

impl TempFolder {
    /// Creates a folder that only this user can read.
    pub fn new() -> Result<Self, WorkspaceError> {
        let system = env::temp_dir();
        let folder = tempfile::Builder::new().prefix("cobalt-").tempdir();
        let folder = folder.map_err(io_error("create a folder in", &system))?.keep();
        let folder = Self(folder.canonicalize().unwrap_or(folder));
        folders().insert(folder.0.clone());
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        // A folder that cannot be removed is left to the system's clean-up.
        let _ = remove(&self.0);
        folders().remove(&self.0);
    }
}

/// Removes all folders that are left, for the exit of the process.
pub fn remove_all() {
    let left = std::mem::take(&mut *folders());
    for folder in left {
        let _ = remove(&folder);
    }
}

fn folders() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes a folder, whatever its permissions are.
pub fn remove(folder: &Path) -> io::Result<()> {
    let mut removed = fs::remove_dir_all(folder);
    for _ in 1..ATTEMPTS {
        match &removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                make_writable(folder);
                removed = fs::remove_dir_all(folder);
            }
            _ => break,
        }
    }
    removed
}

/// Makes folders writable, so that what is in them can be removed. Symlinks are not followed.
fn make_writable(folder: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        } else if cfg!(windows)
            && let Ok(file) = entry.metadata()
        {
            let mut permissions = file.permissions();
            #[expect(clippy::permissions_set_readonly_false, reason = "only on Windows, before removal")]
            permissions.set_readonly(false);
            let _ = fs::set_permissions(entry.path(), permissions);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_folder_without_permissions_is_removed_and_what_its_links_point_to_is_not() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let other = tempfile::tempdir().unwrap();
        fs::write(other.path().join("kept"), "").unwrap();
        let folder = TempFolder::new().unwrap();
        let path = folder.path().to_owned();
        fs::create_dir_all(path.join("a/b")).unwrap();
        fs::write(path.join("a/b/c"), "").unwrap();
        symlink(other.path(), path.join("a/link")).unwrap();
        fs::set_permissions(path.join("a"), fs::Permissions::from_mode(0o500)).unwrap();
        drop(folder);
        assert!(!path.exists() && other.path().join("kept").exists());
    }
}
