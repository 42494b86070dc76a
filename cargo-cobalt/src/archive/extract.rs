//! Where an archive is unpacked: a temporary folder, or one that is kept and used again by later runs of the same archive.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::error::ArchiveError;
use super::unpack::PackedArchive;
use crate::error::Error;

/// Marks a folder with a complete copy of an archive, and names the archive.
const MARKER: &str = ".cobalt-archive";

/// The folder of the unpacked archive, and a guard that removes it if it is temporary.
pub fn unpacked(archive: &PackedArchive, wanted: Option<&Path>) -> Result<(PathBuf, Option<TempDir>), Error> {
    let Some(wanted) = wanted else {
        let folder = temporary_folder()?;
        archive.unpack(folder.path())?;
        return Ok((folder.path().to_owned(), Some(folder)));
    };
    let failed = |source| ArchiveError::Extract { path: wanted.to_owned(), source };
    let wanted = &std::path::absolute(wanted).map_err(failed)?;
    if !is_copy(archive, wanted)? {
        let parent = wanted.parent().unwrap_or(wanted);
        fs::create_dir_all(parent).map_err(failed)?;
        // Unpacked beside it and renamed: jobs that share the folder see a complete copy or none.
        let draft = draft_folder(parent).map_err(failed)?;
        archive.unpack(draft.path())?;
        write_marker(&draft.path().join(MARKER), &archive.identity).map_err(failed)?;
        match fs::rename(draft.path(), wanted) {
            Ok(()) => drop(draft.keep()),
            // Another job was faster.
            Err(_) if is_copy(archive, wanted)? => {}
            Err(source) => return Err(failed(source).into()),
        }
    }
    Ok((wanted.clone(), None))
}

/// A folder that is removed at the end.
pub fn temporary_folder() -> Result<TempDir, ArchiveError> {
    let folder = tempfile::Builder::new().prefix("cobalt-archive-").tempdir();
    folder.map_err(|source| ArchiveError::Extract { path: std::env::temp_dir(), source })
}

/// Whether a folder is a complete copy of the archive that no other user could have changed; an error if it is neither that nor empty
/// or missing.
fn is_copy(archive: &PackedArchive, folder: &Path) -> Result<bool, ArchiveError> {
    let marker = folder.join(MARKER);
    if fs::read_to_string(&marker).is_ok_and(|identity| identity == archive.identity) {
        let is_ours = is_private(folder) && is_private(&marker);
        return if is_ours { Ok(true) } else { Err(ArchiveError::Foreign(folder.to_owned())) };
    }
    match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(false),
        Ok(false) => Err(ArchiveError::Occupied(folder.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(ArchiveError::Extract { path: folder.to_owned(), source }),
    }
}

/// Whether a folder or a file belongs to the user of this process, and only that user can write to it.
#[cfg(unix)]
fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let own = nix::unistd::geteuid().as_raw();
    fs::metadata(path).is_ok_and(|found| found.uid() == own && found.mode() & 0o022 == 0)
}

#[cfg(not(unix))]
fn is_private(_: &Path) -> bool {
    true
}

/// A folder for a copy that others may read.
fn draft_folder(parent: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".cobalt-archive-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755));
    builder.tempdir_in(parent)
}

fn write_marker(path: &Path, identity: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o644);
    options.open(path)?.write_all(identity.as_bytes())
}
