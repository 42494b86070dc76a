//! Atomic file writes, and the listing of the files that a command has written.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use cobalt_core::atomic_write::sync_folder;
use tempfile::{Builder, NamedTempFile};

/// What happened to a file.
#[derive(Debug, PartialEq, Eq)]
pub struct ListingLine {
    /// `created`, `added to`, `kept`, …
    pub verb: &'static str,
    /// Relative to the root of the workspace.
    pub path: String,
    /// A description, or the reason.
    pub content: String,
}

/// Formats the lines in columns.
pub fn listing(lines: &[ListingLine]) -> String {
    let widest = |width: fn(&ListingLine) -> usize| lines.iter().map(width).max().unwrap_or_default();
    let verbs = widest(|line| line.verb.chars().count()).max(8);
    let paths = widest(|line| line.path.chars().count());
    let line = |line: &ListingLine| {
        let ListingLine { verb, path, content } = line;
        format!("  {verb:<verbs$} {path:<paths$}  {content}").trim_end().to_owned() + "\n"
    };
    lines.iter().map(line).collect()
}

/// The permissions of a file, or an error if it is read-only: replacing it by renaming would ignore that.
pub fn writable_permissions(path: &Path) -> io::Result<Permissions> {
    let permissions = fs::metadata(path)?.permissions();
    match permissions.readonly() {
        true => Err(io::Error::new(ErrorKind::PermissionDenied, "it is read-only; make it writable")),
        false => Ok(permissions),
    }
}

/// Replaces a file's content atomically.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    replace_if(path, text, |_| Ok(()))
}

/// Like [`replace`], but fails if the content is no longer `before`.
pub fn replace_unchanged(path: &Path, before: &[u8], text: &str) -> io::Result<()> {
    replace_if(path, text, |path| match fs::read(path)? == before {
        true => Ok(()),
        false => Err(io::Error::new(ErrorKind::AlreadyExists, "it was changed in the meantime")),
    })
}

/// Runs the check just before replacing the file. Concurrent callers wait for the lock and then see the new content, except on
/// file systems without locks.
fn replace_if(path: &Path, text: &str, check: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let path = path.canonicalize()?;
    let permissions = writable_permissions(&path)?;
    let mut draft = NamedTempFile::new_in(path.parent().unwrap_or(&path))?;
    draft.as_file().set_permissions(permissions)?;
    draft.write_all(text.as_bytes())?;
    persist_draft(draft, &path, |draft| {
        // Some file systems lock only writable handles.
        let held = File::options().write(true).open(&path)?;
        let _ = held.lock();
        check(&path)?;
        Ok(draft.persist(&path)?)
    })
}

/// Writes or replaces a file and creates its parent folders. Pipes and devices are written to directly.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    write_with(path, |file| file.write_all(text.as_bytes()))
}

/// The same with a function that writes the content.
pub fn write_with(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> io::Result<()> {
    write_with_permissions(path, write, fs::metadata(path).ok().map(|there| there.permissions()))
}

/// Like [`write()`], but a new file gets the permissions of `model`, and a read-only file is not replaced.
pub fn write_like(model: &Path, path: &Path, text: &str) -> io::Result<()> {
    if path.is_file() {
        return replace(path, text);
    }
    let permissions = fs::metadata(model)?.permissions();
    write_with_permissions(path, |file| file.write_all(text.as_bytes()), Some(writable(permissions)))
}

/// Writes a file with these permissions, or with default ones.
fn write_with_permissions(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
    permissions: Option<Permissions>,
) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return write_buffered(&File::create(path)?, write);
    }
    let path = resolve_link(path);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let draft = draft_builder().tempfile_in(folder)?;
    if let Some(permissions) = permissions {
        draft.as_file().set_permissions(permissions)?;
    }
    write_buffered(draft.as_file(), write)?;
    persist_draft(draft, &path, |draft| Ok(draft.persist(&path)?))
}

fn write_buffered(
    file: &File,
    write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    write(&mut file)?;
    file.flush()
}

/// Syncs a written draft, then moves it into place.
fn persist_draft(
    draft: NamedTempFile,
    path: &Path,
    take_place: impl FnOnce(NamedTempFile) -> io::Result<File>,
) -> io::Result<()> {
    draft.as_file().sync_all()?;
    take_place(draft)?;
    sync_folder(path);
    Ok(())
}

/// Resolves a link to its target, even if the target does not exist yet.
fn resolve_link(path: &Path) -> PathBuf {
    let target = |path: &Path| Ok(path.parent().unwrap_or(path).join(fs::read_link(path)?));
    fs::canonicalize(path).or_else(|_: io::Error| target(path)).unwrap_or_else(|_: io::Error| path.to_owned())
}

/// The permissions with owner write access.
fn writable(permissions: Permissions) -> Permissions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        Permissions::from_mode(permissions.mode() | 0o200)
    }
    #[cfg(not(unix))]
    {
        let mut permissions = permissions;
        permissions.set_readonly(false);
        permissions
    }
}

/// Writes or replaces a file that only its owner can read.
pub fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut draft = NamedTempFile::new_in(path.parent().unwrap_or(path))?;
    draft.write_all(text.as_bytes())?;
    persist_draft(draft, path, |draft| Ok(draft.persist(path)?))
}

/// Creates a file atomically, with its parent folders; an existing file is not overwritten.
pub fn create(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let mut draft = draft_builder().tempfile_in(folder)?;
    draft.write_all(text.as_bytes())?;
    persist_draft(draft, path, |draft| Ok(draft.persist_noclobber(path)?))
}

/// A draft with default permissions; temporary files are otherwise readable only by their owner.
fn draft_builder() -> Builder<'static, 'static> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no permissions to set"))]
    let mut draft = Builder::new();
    // Reduced by the umask.
    #[cfg(unix)]
    draft.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    draft
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn an_edited_file_keeps_its_permissions_and_its_link_and_a_read_only_one_its_text() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("real.toml"), folder.path().join("link.toml"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o664)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        replace(&link, "new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o664);
        assert!(link.symlink_metadata().unwrap().is_symlink());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
        assert_eq!(replace(&link, "newer").unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    }

    #[test]
    fn a_new_file_takes_the_place_of_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/new.md");
        create(&path, "first").unwrap();
        assert_eq!(create(&path, "second").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        assert_eq!(fs::read_dir(folder.path().join("deep")).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_can_be_read_as_any_other_and_a_link_to_it_stays_one() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, usual, link) =
            (folder.path().join("out/a.xml"), folder.path().join("usual"), folder.path().join("link"));
        write(&file, "a").unwrap();
        fs::write(&usual, "").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&file), mode(&usual));
        symlink(&file, &link).unwrap();
        write(&link, "b").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "b");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(write(folder.path(), "c").is_err());
        let (early, late) = (folder.path().join("early"), folder.path().join("late"));
        symlink(&late, &early).unwrap();
        write(&early, "d").unwrap();
        assert_eq!(fs::read_to_string(&late).unwrap(), "d");
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        write(&file, "e").unwrap();
        assert_eq!(mode(&file) & 0o777, 0o600);
        fs::set_permissions(&file, Permissions::from_mode(0o400)).unwrap();
        let (like, to_like) = (folder.path().join("like"), folder.path().join("to-like"));
        symlink("like", &to_like).unwrap();
        write_like(&file, &to_like, "f").unwrap();
        assert_eq!((fs::read_to_string(&like).unwrap(), mode(&like) & 0o777), ("f".to_owned(), 0o600));
    }

    #[test]
    fn of_two_who_change_a_file_at_once_the_second_waits_and_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("items.jsonl");
        fs::write(&path, "old").unwrap();
        let second = thread::scope(|scope| {
            let mut second = None;
            let begin_second = |_: &Path| {
                second = Some(scope.spawn(|| replace_unchanged(&path, b"old", "two")));
                thread::sleep(Duration::from_millis(200));
                Ok(())
            };
            replace_if(&path, "one", begin_second).unwrap();
            second.unwrap().join().unwrap()
        });
        assert_eq!(second.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
    }
}
