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

/// How many folders within each other are removed by their path, and how long that path may be, in bytes. Those below are moved first: the
/// paths that systems take are limited, and so is the stack.
const MAX_DEPTH: usize = 64;
const MAX_PATH_BYTES: usize = 1000;

/// Removes a folder, whatever its permissions and its depth are.
pub fn remove(folder: &Path) -> io::Result<()> {
    let is_symlink = fs::symlink_metadata(folder)?.is_symlink();
    if is_symlink {
        return fs::remove_file(folder);
    }
    let mut removed = remove_all_in(folder);
    for _ in 1..ATTEMPTS {
        match &removed {
            // An agent that still runs may remove files meanwhile.
            Err(_) if fs::symlink_metadata(folder).is_ok() => removed = remove_all_in(folder),
            _ => break,
        }
    }
    removed
}

fn remove_all_in(folder: &Path) -> io::Result<()> {
    make_writable(folder);
    let mut removal = Removal { root: folder, moved: None, waiting: Vec::new(), count: 0 };
    removal.remove_contents(folder, 0)?;
    while let Some(deep) = removal.waiting.pop() {
        removal.remove_contents(&deep, 1)?;
        fs::remove_dir(&deep)?;
    }
    if let Some(moved) = &removal.moved {
        fs::remove_dir(moved)?;
    }
    fs::remove_dir(folder)
}

/// The removal of a folder.
struct Removal<'a> {
    root: &'a Path,
    /// The folder for deep folders, created for the first one: on a full disk, no folder can be.
    moved: Option<PathBuf>,
    /// Those that were moved there and are still to be removed.
    waiting: Vec<PathBuf>,
    /// How many were moved.
    count: usize,
}

impl Removal<'_> {
    fn remove_contents(&mut self, folder: &Path, depth: usize) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            if self.moved.as_ref() == Some(&path) {
                continue;
            }
            if !entry.file_type()?.is_dir() {
                make_file_writable(&entry);
                fs::remove_file(&path)?;
                continue;
            }
            make_writable(&path);
            if depth >= MAX_DEPTH || path.as_os_str().len() >= MAX_PATH_BYTES {
                let name = self.count.to_string();
                let target = self.folder_for_deep_ones()?.join(name);
                self.count += 1;
                fs::rename(&path, &target)?;
                self.waiting.push(target);
            } else {
                self.remove_contents(&path, depth + 1)?;
                fs::remove_dir(&path)?;
            }
        }
        Ok(())
    }

    fn folder_for_deep_ones(&mut self) -> io::Result<&Path> {
        let moved = match self.moved.take() {
            Some(moved) => moved,
            None => tempfile::Builder::new().prefix(".removed-").tempdir_in(self.root)?.keep(),
        };
        Ok(self.moved.insert(moved))
    }
}

/// Makes a folder writable, so that what is in it can be removed.
fn make_writable(folder: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    }
    #[cfg(not(unix))]
    let _ = folder;
}

/// Makes a file removable, where its own permissions decide.
fn make_file_writable(entry: &fs::DirEntry) {
    if cfg!(windows)
        && let Ok(file) = entry.metadata()
    {
        let mut permissions = file.permissions();
        #[expect(clippy::permissions_set_readonly_false, reason = "only on Windows, before removal")]
        permissions.set_readonly(false);
        let _ = fs::set_permissions(entry.path(), permissions);
    }
}

/// Creates folders within each other, a multiple of 100, which may be more than a path can name.
#[cfg(all(test, unix))]
pub fn nest(folder: &Path, depth: usize) {
    let part = vec!["d"; 100].join("/");
    let script =
        format!("for _ in $(seq {}); do mkdir -p {part} && cd -P {part} || exit 1; done", depth / 100);
    let mut shell = std::process::Command::new("sh");
    assert!(shell.args(["-c", &script]).current_dir(folder).status().unwrap().success());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn deep_folders_are_removed() {
        let folder = TempFolder::new().unwrap();
        let path = folder.path().to_owned();
        for (name, depth) in [("a", 3000), ("b", 200)] {
            fs::create_dir(path.join(name)).unwrap();
            nest(&path.join(name), depth);
        }
        drop(folder);
        assert!(!path.exists());
    }

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
