//! Compares a workspace with its original: the changed files, and a patch.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, Metadata};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use cobalt_core::hash::{sha256, sha256_hex};
use cobalt_core::redact::redact;
use cobalt_core::report::{ChangedFile, FileChange, WorkspaceChanges};
use cobalt_core::wording::escape_control;
use similar::{ChangeTag, TextDiff};

use super::error::{WorkspaceError, io_error};
use super::globs::Globs;
use super::limits::Limits;

/// The maximum number of files that are named.
const MAX_FILES: usize = 1000;
/// The maximum size of the patch, and of the part of one file, in bytes.
const MAX_PATCH_BYTES: usize = 256 << 10;
const MAX_FILE_PATCH_BYTES: usize = 64 << 10;
/// The maximum size of a text that is compared line by line, in bytes.
const MAX_TEXT_BYTES: u64 = 1 << 20;
/// After this time, a comparison of two texts is finished approximately.
const DIFF_TIMEOUT: Duration = Duration::from_secs(2);
/// The lines around a change that are part of the patch.
const CONTEXT_LINES: usize = 3;
/// A file with a NUL character in this many first bytes is no text, as for git.
const BINARY_PROBE_BYTES: u64 = 8000;

/// A file or a symlink.
#[derive(Debug)]
struct Entry {
    path: PathBuf,
    metadata: Metadata,
}

impl Entry {
    fn is_symlink(&self) -> bool {
        self.metadata.is_symlink()
    }

    /// The mode that git would store.
    fn mode(&self) -> &'static str {
        if self.is_symlink() {
            return "120000";
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            if self.metadata.permissions().mode() & 0o111 != 0 {
                return "100755";
            }
        }
        "100644"
    }

    fn open(&self) -> Result<File, WorkspaceError> {
        File::open(&self.path).map_err(io_error("read", &self.path))
    }

    /// The contents; `None` if they are no text, or too long to be compared.
    fn text(&self) -> Result<Option<String>, WorkspaceError> {
        if self.is_symlink() {
            let target = fs::read_link(&self.path).map_err(io_error("read", &self.path))?;
            return Ok(Some(target.to_string_lossy().into_owned()));
        }
        if self.metadata.len() > MAX_TEXT_BYTES {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let mut file = self.open()?.take(MAX_TEXT_BYTES + 1);
        file.read_to_end(&mut bytes).map_err(io_error("read", &self.path))?;
        let is_text = bytes.len() as u64 <= MAX_TEXT_BYTES && !bytes.contains(&0);
        Ok(if is_text { String::from_utf8(bytes).ok() } else { None })
    }

    /// Whether it is too long to be compared, but text.
    fn is_long_text(&self) -> Result<bool, WorkspaceError> {
        if self.is_symlink() || self.metadata.len() <= MAX_TEXT_BYTES {
            return Ok(false);
        }
        let mut start = Vec::new();
        let mut file = self.open()?.take(BINARY_PROBE_BYTES);
        file.read_to_end(&mut start).map_err(io_error("read", &self.path))?;
        Ok(!start.contains(&0))
    }

    /// The number of lines.
    fn lines(&self, limits: &Limits) -> Result<usize, WorkspaceError> {
        if self.is_symlink() {
            return Ok(1);
        }
        // An agent that was given up may still write.
        let mut file = BufReader::new(self.open()?.take(self.metadata.len()));
        let (mut lines, mut ends_open) = (0, false);
        loop {
            limits.check_time()?;
            let part = file.fill_buf().map_err(io_error("read", &self.path))?;
            let Some(last) = part.last() else { return Ok(lines + usize::from(ends_open)) };
            lines += part.iter().filter(|byte| **byte == b'\n').count();
            ends_open = *last != b'\n';
            let read = part.len();
            file.consume(read);
        }
    }

    /// Whether both have the same contents and permission to execute.
    fn is_same_as(&self, other: &Self, limits: &Limits) -> Result<bool, WorkspaceError> {
        if self.mode() != other.mode() {
            return Ok(false);
        }
        if self.is_symlink() {
            return Ok(self.text()? == other.text()?);
        }
        if self.metadata.len() != other.metadata.len() {
            return Ok(false);
        }
        let (mut one, mut two) = (BufReader::new(self.open()?), BufReader::new(other.open()?));
        loop {
            limits.check_time()?;
            let left = one.fill_buf().map_err(io_error("read", &self.path))?;
            let right = two.fill_buf().map_err(io_error("read", &other.path))?;
            let common = left.len().min(right.len());
            if common == 0 || left[..common] != right[..common] {
                return Ok(left.is_empty() && right.is_empty());
            }
            one.consume(common);
            two.consume(common);
        }
    }
}

/// The files and symlinks of a folder by relative path, without what is ignored. Symlinks are not followed.
fn entries(
    folder: &Path,
    ignored: &Globs,
    limits: &mut Limits,
) -> Result<BTreeMap<PathBuf, Entry>, WorkspaceError> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(inside) = waiting.pop() {
        let path = folder.join(&inside);
        for entry in fs::read_dir(&path).map_err(io_error("read", &path))? {
            let entry = entry.map_err(io_error("read", &path))?;
            let (path, inside) = (entry.path(), inside.join(entry.file_name()));
            if entry.file_name() == ".git" || ignored.matches(&inside) {
                continue;
            }
            let metadata = fs::symlink_metadata(&path).map_err(io_error("read", &path))?;
            limits.add(&inside, if metadata.is_file() { metadata.len() } else { 0 })?;
            if metadata.is_dir() {
                waiting.push(inside);
            } else if metadata.is_file() || metadata.is_symlink() {
                found.insert(inside, Entry { path, metadata });
            }
        }
    }
    Ok(found)
}

/// A hash of the files of a folder: their paths, permissions to execute and contents.
pub fn hash(folder: &Path, ignored: &Globs) -> Result<String, WorkspaceError> {
    const DIGITS: usize = 16;
    let mut parts = Vec::new();
    for (path, entry) in entries(folder, ignored, &mut Limits::start())? {
        let contents = match entry.is_symlink() {
            true => entry.text()?.unwrap_or_default().into_bytes(),
            false => fs::read(&entry.path).map_err(io_error("read", &entry.path))?,
        };
        parts.extend([slashed(&path), entry.mode().to_owned(), sha256(&contents)]);
    }
    let mut hash = sha256_hex(&parts);
    hash.truncate(DIGITS);
    Ok(hash)
}

/// Compares a workspace with its original.
pub fn compare(original: &Path, now: &Path, ignored: &Globs) -> Result<WorkspaceChanges, WorkspaceError> {
    let mut before = entries(original, ignored, &mut Limits::start())?;
    let mut limits = Limits::start();
    let after = entries(now, ignored, &mut limits)?;
    let mut pairs = BTreeMap::new();
    for (path, entry) in after {
        let old = before.remove(&path);
        if !old.as_ref().map_or(Ok(false), |old| old.is_same_as(&entry, &limits))? {
            pairs.insert(path, (old, Some(entry)));
        }
    }
    pairs.extend(before.into_iter().map(|(path, old)| (path, (Some(old), None))));
    let mut changes = WorkspaceChanges::default();
    for (path, (old, new)) in pairs {
        add_file(&mut changes, &slashed(&path), old.as_ref(), new.as_ref(), &limits)?;
    }
    Ok(changes)
}

fn add_file(
    changes: &mut WorkspaceChanges,
    path: &str,
    old: Option<&Entry>,
    new: Option<&Entry>,
    limits: &Limits,
) -> Result<(), WorkspaceError> {
    limits.check_time()?;
    let change = match (old, new) {
        (Some(_), Some(_)) => FileChange::Changed,
        (None, _) => FileChange::Added,
        (_, None) => FileChange::Removed,
    };
    let bytes = new.or(old).map_or(0, |entry| entry.metadata.len());
    let text = |entry: Option<&Entry>| entry.map_or(Ok(Some(String::new())), Entry::text);
    let mut file =
        ChangedFile { path: path.to_owned(), change, added_lines: 0, removed_lines: 0, bytes, binary: false };
    if let (Some(before), Some(after)) = (text(old)?, text(new)?) {
        // `git apply` knows no change from a file to a symlink or back.
        let changes_type = old.zip(new).is_some_and(|(old, new)| old.is_symlink() != new.is_symlink());
        let mut patch = String::new();
        let sides: &[_] = if changes_type {
            &[((old, &*before), (None, "")), ((None, ""), (new, &*after))]
        } else {
            &[((old, &*before), (new, &*after))]
        };
        for (old, new) in sides {
            let (added, removed) = write_patch(&mut patch, path, *old, *new);
            file.added_lines += added;
            file.removed_lines += removed;
        }
        // A secret that is cut would not be recognized.
        redact(&mut patch);
        append(changes, &patch);
    } else if is_long(old)? || is_long(new)? {
        file.removed_lines = old.map_or(Ok(0), |entry| entry.lines(limits))?;
        file.added_lines = new.map_or(Ok(0), |entry| entry.lines(limits))?;
        changes.patch_truncated = true;
    } else {
        file.binary = true;
    }
    changes.added_lines += file.added_lines;
    changes.removed_lines += file.removed_lines;
    if changes.files.len() < MAX_FILES {
        changes.files.push(file);
    } else {
        changes.omitted_files += 1;
    }
    Ok(())
}

/// Writes the patch of a file, given each side with its text, and returns the numbers of added and removed lines.
fn write_patch(
    patch: &mut String,
    path: &str,
    (old, before): (Option<&Entry>, &str),
    (new, after): (Option<&Entry>, &str),
) -> (usize, usize) {
    patch.push_str(&headers(path, old, new));
    let diff = TextDiff::configure().timeout(DIFF_TIMEOUT).diff_lines(before, after);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    let side = |prefix: &str, entry: Option<&Entry>| match entry {
        Some(_) => format!("{prefix}/{}", escape_control(path)),
        None => "/dev/null".to_owned(),
    };
    let mut unified = diff.unified_diff();
    let unified = unified.context_radius(CONTEXT_LINES).header(&side("a", old), &side("b", new));
    let _ = write!(patch, "{unified}");
    (count(ChangeTag::Insert), count(ChangeTag::Delete))
}

fn is_long(entry: Option<&Entry>) -> Result<bool, WorkspaceError> {
    entry.map_or(Ok(false), Entry::is_long_text)
}

/// The lines of git that precede the difference.
fn headers(path: &str, old: Option<&Entry>, new: Option<&Entry>) -> String {
    let path = escape_control(path);
    let mut text = format!("diff --git a/{path} b/{path}\n");
    match (old.map(Entry::mode), new.map(Entry::mode)) {
        (None, Some(mode)) => text.push_str(&format!("new file mode {mode}\n")),
        (Some(mode), None) => text.push_str(&format!("deleted file mode {mode}\n")),
        (Some(old), Some(new)) if old != new => {
            text.push_str(&format!("old mode {old}\nnew mode {new}\n"));
        }
        _ => {}
    }
    text
}

/// Adds the patch of a file, as far as there is room.
fn append(changes: &mut WorkspaceChanges, patch: &str) {
    let room = MAX_FILE_PATCH_BYTES.min(MAX_PATCH_BYTES.saturating_sub(changes.patch.len()));
    if patch.len() <= room {
        changes.patch.push_str(patch);
        return;
    }
    changes.patch_truncated = true;
    let end = patch.as_bytes()[..room].iter().rposition(|byte| *byte == b'\n').map_or(0, |line| line + 1);
    // Line feeds are never within a character.
    changes.patch.push_str(&patch[..end]);
}

/// The path with `/` between folders.
fn slashed(path: &Path) -> String {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy()),
        _ => None,
    });
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use tempfile::TempDir;

    use super::super::temp_folder::{TempFolder, nest};
    use super::*;

    /// A folder with these files.
    fn folder(files: &[(&str, &str)]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, contents) in files {
            write(&folder, name, contents);
        }
        folder
    }

    fn write(folder: &TempDir, name: &str, contents: impl AsRef<[u8]>) {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    /// Applies a patch with git.
    fn apply(folder: &TempDir, patch: &str) {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), patch).unwrap();
        let mut git = Command::new("git");
        git.args(["apply", "--whitespace=nowarn"]).arg(file.path()).current_dir(folder.path());
        let applied = git.output().unwrap();
        assert!(applied.status.success(), "{}\n{patch}", String::from_utf8_lossy(&applied.stderr));
    }

    fn compared(one: &TempDir, two: &TempDir) -> WorkspaceChanges {
        compare(one.path(), two.path(), &Globs::parse(["target"]).unwrap()).unwrap()
    }

    fn listed(changes: &WorkspaceChanges) -> Vec<(&str, FileChange, usize, usize, bool)> {
        let listed = |file: &'_ ChangedFile| (file.change, file.added_lines, file.removed_lines, file.binary);
        changes
            .files
            .iter()
            .map(|file| {
                let (change, added, removed, binary) = listed(file);
                (&*file.path, change, added, removed, binary)
            })
            .collect()
    }

    #[test]
    fn each_change_is_listed_and_the_patch_applies() {
        let before = folder(&[
            ("src/lib.rs", "a\nb\nc\n"),
            ("same", "same"),
            ("gone", "1\n2\n"),
            ("run.sh", "#!/bin/sh\n"),
            ("target/x", "built"),
            ("data", "x"),
        ]);
        let after = folder(&[
            ("src/lib.rs", "a\nB\nc"),
            ("same", "same"),
            ("new/file", "1\n"),
            ("run.sh", "#!/bin/sh\n"),
            ("target/x", "other"),
            (".git/HEAD", "x"),
        ]);
        write(&after, "data", [0, 1, 2]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(after.path().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
            std::os::unix::fs::symlink("same", after.path().join("link")).unwrap();
        }
        let changes = compared(&before, &after);
        let expected = [
            ("data", FileChange::Changed, 0, 0, true),
            ("gone", FileChange::Removed, 0, 2, false),
            ("link", FileChange::Added, 1, 0, false),
            ("new/file", FileChange::Added, 1, 0, false),
            ("run.sh", FileChange::Changed, 0, 0, false),
            ("src/lib.rs", FileChange::Changed, 2, 2, false),
        ];
        let is_here =
            |it: &&(&str, FileChange, usize, usize, bool)| cfg!(unix) || !matches!(it.0, "link" | "run.sh");
        assert_eq!(listed(&changes), expected.iter().filter(is_here).copied().collect::<Vec<_>>());
        assert_eq!((changes.added_lines, changes.removed_lines), (if cfg!(unix) { 4 } else { 3 }, 4));
        assert_eq!(changes.files[1].bytes, 4);
        assert!(!changes.patch.contains("data") && !changes.patch_truncated);

        apply(&before, &changes.patch);
        let left = compared(&before, &after);
        assert_eq!(listed(&left), [("data", FileChange::Changed, 0, 0, true)]);
    }

    #[test]
    fn a_hash_tells_whether_files_changed() {
        let files = [("a", "1"), ("b/c", "2")];
        let hash_of = |folder: &TempDir| hash(folder.path(), &Globs::parse(["target"]).unwrap()).unwrap();
        let (one, two) = (folder(&files), folder(&files));
        assert_eq!(hash_of(&one), hash_of(&two));
        write(&two, "target/x", "ignored");
        assert_eq!(hash_of(&one), hash_of(&two));
        write(&two, "b/c", "3");
        assert_ne!(hash_of(&one), hash_of(&two));
    }

    #[test]
    fn equal_folders_have_no_changes() {
        let files = [("a", "1"), ("b/c", "2")];
        assert_eq!(compared(&folder(&files), &folder(&files)), WorkspaceChanges::default());
    }

    #[test]
    fn a_patch_is_cut_at_a_line_and_other_files_follow() {
        let (before, after) = (folder(&[]), folder(&[("a", &"line of text\n".repeat(20_000)), ("b", "1\n")]));
        let changes = compared(&before, &after);
        assert!(changes.patch_truncated && changes.patch.len() <= MAX_FILE_PATCH_BYTES + 200);
        assert!(
            changes.patch.contains("+line of text\ndiff --git a/b b/b\n") && changes.patch.ends_with("+1\n")
        );
        assert_eq!(changes.added_lines, 20_001);
    }

    #[test]
    fn a_huge_text_is_counted_but_not_in_the_patch() {
        let (before, after) = (folder(&[("a", "1\n")]), folder(&[]));
        write(&after, "a", "123456789\n".repeat(200_000) + "end");
        let changes = compared(&before, &after);
        assert_eq!(listed(&changes), [("a", FileChange::Changed, 200_001, 1, false)]);
        assert!(changes.patch.is_empty() && changes.patch_truncated);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_became_a_symlink_is_not_followed_and_its_patch_applies() {
        use std::os::unix::fs::symlink;

        let (before, after) = (folder(&[("a", "1\n2\n")]), folder(&[("l", "3\n")]));
        write(&before, "huge", "123456789\n".repeat(200_000));
        symlink("a", before.path().join("l")).unwrap();
        symlink("/dev/zero", after.path().join("a")).unwrap();
        symlink("/nowhere", after.path().join("huge")).unwrap();
        let changes = compared(&before, &after);
        let expected = [
            ("a", FileChange::Changed, 1, 2, false),
            ("huge", FileChange::Changed, 1, 200_000, false),
            ("l", FileChange::Changed, 1, 1, false),
        ];
        assert_eq!(listed(&changes), expected);
        apply(&before, &changes.patch);
        assert_eq!(listed(&compared(&before, &after)), [("huge", FileChange::Changed, 1, 200_000, false)]);
    }

    #[cfg(unix)]
    #[test]
    fn deep_folders_are_an_error() {
        let (before, after) = (folder(&[]), TempFolder::new().unwrap());
        nest(after.path(), 500);
        let error = compare(before.path(), after.path(), &Globs::default()).unwrap_err().to_string();
        assert!(error.contains("is more than 128 folders deep") && error.len() < 500, "{error}");
    }

    #[test]
    fn huge_files_are_an_error() {
        let (before, after) = (folder(&[]), folder(&[("data/b", "x")]));
        let file = fs::OpenOptions::new().write(true).open(after.path().join("data/b")).unwrap();
        file.set_len(50 << 30).unwrap();
        let error = compare(before.path(), after.path(), &Globs::default()).unwrap_err().to_string();
        let start = "the files of the workspace exceed 16 GiB with `data/b` (53,687,091,200 bytes)";
        assert!(error.starts_with(start), "{error}");
    }

    #[test]
    fn many_files_are_counted() {
        let (before, after) = (folder(&[]), folder(&[]));
        (0..1010).for_each(|number| write(&after, &format!("f{number}"), "1\n"));
        let changes = compared(&before, &after);
        assert_eq!((changes.files.len(), changes.omitted_files, changes.file_count()), (1000, 10, 1010));
        assert_eq!(changes.added_lines, 1010);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_became_a_link_out_of_the_workspace_is_not_followed() {
        let outside = folder(&[("secret", "the answer")]);
        let (before, after) = (folder(&[("src/a", "1\n")]), folder(&[]));
        std::os::unix::fs::symlink(outside.path(), after.path().join("src")).unwrap();
        let changes = compared(&before, &after);
        assert!(!changes.patch.contains("the answer"), "{}", changes.patch);
        let paths: Vec<_> = changes.files.iter().map(|file| &*file.path).collect();
        assert_eq!(paths, ["src", "src/a"]);
    }

    #[test]
    fn secrets_are_redacted_in_the_patch() {
        let key = format!("sk-proj-{}", "aB3dE5gH7jK9mN1pQ2sT4vW6xY8zA0cD".repeat(2));
        let changes = compared(&folder(&[]), &folder(&[("env", &format!("KEY={key}\n"))]));
        assert!(!changes.patch.contains(&key) && changes.patch.contains("KEY="), "{}", changes.patch);
    }
}
