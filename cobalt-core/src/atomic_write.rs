//! Atomic writes of files. Those with contents of runs are readable by their owner alone, unless the settings say otherwise.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether files and folders with contents of runs are readable by their owner alone.
static IS_PRIVATE: AtomicBool = AtomicBool::new(true);

/// Sets whether this process creates files and folders of runs for their owner alone; they are, unless this was called with `false`.
pub fn set_private(is_private: bool) {
    IS_PRIVATE.store(is_private, Ordering::Relaxed);
}

#[cfg(unix)]
fn is_private() -> bool {
    IS_PRIVATE.load(Ordering::Relaxed)
}

/// The options to create a file with contents of runs. Existing files keep their permissions.
#[must_use]
pub fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    // Other systems have no modes.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if is_private() { 0o600 } else { 0o666 });
    options.read(false);
    options
}

/// Creates or empties a file with contents of runs.
///
/// # Errors
///
/// The file cannot be created.
pub fn create_private(path: &Path) -> io::Result<File> {
    private_options().write(true).create(true).truncate(true).open(path)
}

/// Creates a folder for files of runs, and those above it.
///
/// # Errors
///
/// A folder cannot be created.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, if is_private() { 0o700 } else { 0o777 });
    builder.recursive(true).create(path)
}

/// Writes a file atomically, using a draft that is synced and renamed. The draft is removed if that fails.
pub fn write_atomically(
    path: &Path,
    draft: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    write_draft(draft, write)?.publish(path)
}

/// The same for a file that is committed to version control: its permissions are the usual ones.
pub fn write_shared_atomically(
    path: &Path,
    draft: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    write_and_sync(File::create(draft)?, draft, write)?.publish(path)
}

/// A file that is written and synced, but does not have its name yet. It is removed on drop.
#[derive(Debug)]
#[must_use]
pub struct Draft {
    path: PathBuf,
    is_named: bool,
}

impl Draft {
    /// Of a file that exists.
    pub fn of(path: PathBuf) -> Self {
        Self { path, is_named: false }
    }

    /// Where the draft is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name, and syncs it. A file that has the name is replaced.
    pub fn publish(self, name: &Path) -> io::Result<()> {
        self.rename(name)?;
        sync_folder(name);
        Ok(())
    }

    /// Gives the file its name without a sync.
    pub fn rename(mut self, name: &Path) -> io::Result<()> {
        fs::rename(&self.path, name)?;
        self.is_named = true;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_named {
            // An error of that would hide the original one.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes and syncs a draft.
pub fn write_draft(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<Draft> {
    write_and_sync(create_private(path)?, path, write)
}

fn write_and_sync(
    file: File,
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<Draft> {
    let draft = Draft::of(path.to_owned());
    let mut file = BufWriter::with_capacity(1 << 16, file);
    write(&mut file)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    Ok(draft)
}

/// Syncs the folder of a created or renamed file, which persists its name. The file is already visible, so errors are ignored.
pub fn sync_folder(file: &Path) {
    // Other systems cannot open folders, and persist names on their own.
    if cfg!(unix)
        && let Some(folder) = file.parent()
    {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn files_of_runs_are_private() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a/b");
        create_private_folder(&folder).unwrap();
        let (path, draft) = (folder.join("run.json"), folder.join(".run.tmp"));
        write_atomically(&path, &draft, |file| file.write_all(b"{}")).unwrap();
        assert_eq!((mode(&folder), mode(&path)), (0o700, 0o600));
        let usual = folder.join("usual");
        File::create(&usual).unwrap();
        let shared = folder.join("recording.json");
        write_shared_atomically(&shared, &draft, |file| file.write_all(b"{}")).unwrap();
        assert_eq!(mode(&shared), mode(&usual));
    }
}
