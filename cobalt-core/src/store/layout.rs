//! Where the files lie: under `.cobalt/` at the workspace root unless configured otherwise; their locks, the ids of runs, and the
//! commit.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use std::{io, thread};

use super::error::{CREATE, StoreError, storage};
use crate::paths::package_root;
use crate::report::GitState;
use crate::slug::slug;

/// The longest slug in a file name, in bytes: names may be 255 long on the usual file systems.
const LONGEST_SLUG: usize = 120;

/// The extension of the file beside the copy of a data set that is locked while it is fetched.
const DATASET_LOCK: &str = "lock";

/// How the name of a file begins that a data set is downloaded to.
pub const DOWNLOAD: &str = ".download-";
/// Such a file that nobody has written to for so long belongs to a process that was killed.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// How many digits of a hash of what was asked for stand in the name of a copy of a data set.
pub const REQUEST: usize = 8;

/// How many digits the key of an answer has, and how many of them name its folder.
const ANSWER: usize = 64;
const ANSWER_FOLDER: usize = 2;

/// What git is not to keep of the folder `.cobalt`: all that is generated. It is the text of `.cobalt/.gitignore`.
pub const GITIGNORE: &str = "results/\nruns/\nreports/\ncache/\ndatasets/\nhistory.db*\nserve.json\n";

/// Where runs are kept, as the settings of a project tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    root: PathBuf,
    results: PathBuf,
    history: PathBuf,
    cache: PathBuf,
}

impl Layout {
    /// The folder of everything, that of the result files, the index of past runs, and the folder of the answers of models.
    #[doc(hidden)]
    pub fn new(root: PathBuf, results: PathBuf, history: PathBuf, cache: PathBuf) -> Self {
        Self { root, results, history, cache }
    }

    /// The folder of the result files.
    #[must_use]
    pub fn results(&self) -> &Path {
        &self.results
    }

    /// The folder of the journals of runs that have not ended.
    #[must_use]
    pub fn journals(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// The index of past runs, a SQLite file. It can always be made anew from the result files.
    #[must_use]
    pub fn history(&self) -> &Path {
        &self.history
    }

    /// The folder of the answers of models. It can be removed at any time.
    #[must_use]
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// The file of an answer under a key, a hash in hexadecimal digits: in a folder that the first of them name.
    #[must_use]
    pub fn answer(&self, key: &str) -> PathBuf {
        let (folder, name) = key.split_at(ANSWER_FOLDER.min(key.len()));
        self.cache.join(folder).join(name)
    }

    /// Whether a folder of this name in that of the answers is one of theirs.
    #[must_use]
    pub fn is_answer_folder(name: &str) -> bool {
        name.len() == ANSWER_FOLDER && is_hexadecimal(name)
    }

    /// Whether a file of this name in such a folder is an answer, or one that was being written.
    #[must_use]
    pub fn is_answer(name: &str) -> bool {
        let (name, draft) = name.split_once('.').unwrap_or((name, ""));
        name.len() == ANSWER - ANSWER_FOLDER && is_hexadecimal(name) && is_hexadecimal(draft)
    }

    /// Where `cargo cobalt serve` says that it runs, and at which address; there while it does.
    #[must_use]
    pub fn server(&self) -> PathBuf {
        self.root.join("serve.json")
    }

    /// The folder of the copies of data sets that were fetched. It can be removed at any time.
    #[must_use]
    pub fn datasets(&self) -> PathBuf {
        self.root.join("datasets")
    }

    /// What whoever fetches the data set of a copy, or of one that was being written, locks.
    #[must_use]
    pub fn copy_lock(copy: &Path) -> PathBuf {
        let is_draft = copy.extension().is_some_and(|ending| ending == "draft");
        if is_draft { copy.with_extension("") } else { copy.to_owned() }.with_extension(DATASET_LOCK)
    }

    /// Whether a file of this name in that folder, written to at this time, is what a process that was killed has downloaded.
    #[must_use]
    pub fn is_abandoned_download(name: &str, written: SystemTime) -> bool {
        let is_old = || SystemTime::now().duration_since(written).is_ok_and(|age| age > ABANDONED);
        name.starts_with(DOWNLOAD) && is_old()
    }

    /// Whether a file of this name in that folder is such a copy, or one that was being written.
    #[must_use]
    pub fn is_copy(name: &str) -> bool {
        let Some((name, ending)) = name.rsplit_once('.') else { return false };
        let name = match ending {
            "jsonl" => name,
            "draft" => name.rsplit_once('.').map_or("", |(name, _)| name),
            _ => return false,
        };
        name.rsplit_once('-').is_some_and(|(_, digits)| digits.len() == REQUEST && is_hexadecimal(digits))
    }

    /// The folder of the files that reporters write, where no other place is given.
    #[must_use]
    pub fn reports(&self) -> PathBuf {
        self.root.join("reports")
    }

    /// The folder of the baselines, which is meant to be kept in git.
    #[must_use]
    pub fn baselines(&self) -> PathBuf {
        self.root.join("baselines")
    }

    /// The baseline of the experiment of this name.
    #[must_use]
    pub fn baseline(&self, experiment: &str) -> PathBuf {
        self.baselines().join(format!("{}.json", file_slug(experiment)))
    }

    /// The journal of a run.
    #[must_use]
    pub fn journal(&self, id: &str) -> PathBuf {
        self.journals().join(format!("{id}.jsonl"))
    }

    /// Makes the folders of runs.
    pub(crate) fn create(&self) -> Result<(), StoreError> {
        for folder in [&self.journals(), &self.results] {
            self.create_folder(folder).map_err(|source| storage(CREATE, folder, source))?;
        }
        Ok(())
    }

    /// Makes a folder, and tells git to leave out what is generated where the folder of everything is new with it.
    ///
    /// # Errors
    ///
    /// The folder cannot be made.
    pub fn create_folder(&self, folder: &Path) -> io::Result<()> {
        create_folder(&self.root, folder)
    }

    /// Whether the run with this id has begun, or has ended.
    #[doc(hidden)]
    pub fn has_run(&self, id: &str) -> bool {
        self.journal(id).exists() || self.result_of(id).is_some()
    }

    /// The result file of the run with this id, if there is one.
    #[doc(hidden)]
    pub fn result_of(&self, id: &str) -> Option<PathBuf> {
        let ending = format!("_{id}.json");
        let entries = fs::read_dir(&self.results).ok()?;
        entries.flatten().map(|entry| entry.path()).find(|path| path.to_string_lossy().ends_with(&ending))
    }
}

/// Makes a folder, and tells git to leave out what is generated where the folder of everything, `root`, is new with it.
pub fn create_folder(root: &Path, folder: &Path) -> io::Result<()> {
    let was_there = root.exists();
    fs::create_dir_all(folder)?;
    // It may lie elsewhere.
    if was_there || !root.exists() {
        return Ok(());
    }
    fs::write(root.join(".gitignore"), GITIGNORE)
}

/// An experiment's name as it stands in the names of files.
pub fn file_slug(experiment: &str) -> String {
    let name = slug(experiment, LONGEST_SLUG);
    if name.is_empty() { "experiment".to_owned() } else { name }
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// An id that no other run has, in this process or another.
pub fn new_run_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    id_of(&[
        time.to_string(),
        std::process::id().to_string(),
        count.to_string(),
        fastrand::u64(..).to_string(),
    ])
}

/// The id that belongs to these texts, the same in every process.
pub fn id_of(parts: &[String]) -> String {
    crate::hash::sha256_hex(parts)[..12].to_owned()
}

/// The state of the source, or `None` where there is no git or no commit.
pub fn git_state() -> Option<GitState> {
    let output = Command::new("git")
        .args(["describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"])
        .current_dir(package_root())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    if !output.status.success() {
        return None;
    }
    parse(std::str::from_utf8(&output.stdout).ok()?.trim())
}

fn parse(description: &str) -> Option<GitState> {
    let (commit, dirty) =
        description.strip_suffix("-dirty").map_or((description, false), |commit| (commit, true));
    let is_hash = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| GitState { commit: commit.to_owned(), dirty })
}

/// How long a lock is waited for. A process that was killed as it started another one leaves its locks to that until it is
/// under way.
const PATIENCE: Duration = Duration::from_millis(200);

/// Whether this process has a file to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// It has, until the file is closed.
    Held,
    /// Another process has.
    Busy,
    /// Nobody can tell: files cannot be locked there.
    Impossible,
}

impl Lock {
    /// Locks a file if no other process has it.
    pub fn try_on(file: &File) -> io::Result<Self> {
        Self::of(file.try_lock())
    }

    /// Shares a file with other readers, if no process has it to itself.
    pub fn try_shared_on(file: &File) -> io::Result<Self> {
        Self::of(file.try_lock_shared())
    }

    /// The same as [`try_on`](Self::try_on), and waits a little for a process that has just ended.
    pub fn on(file: &File) -> io::Result<Self> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match Self::try_on(file)? {
                Self::Busy if Instant::now() < deadline => thread::sleep(PATIENCE / 20),
                lock => return Ok(lock),
            }
        }
    }

    fn of(outcome: Result<(), TryLockError>) -> io::Result<Self> {
        match outcome {
            Ok(()) => Ok(Self::Held),
            Err(TryLockError::WouldBlock) => Ok(Self::Busy),
            Err(TryLockError::Error(error)) if is_impossible(&error) => Ok(Self::Impossible),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Whether the system says that it has no locks for the file: `ENOLCK`, `ENOSYS` or `EOPNOTSUPP`.
fn is_impossible(error: &io::Error) -> bool {
    let numbers: &[i32] = match std::env::consts::OS {
        "linux" | "android" => &[37, 38, 95],
        "macos" | "ios" | "freebsd" | "netbsd" | "openbsd" => &[77, 78, 45],
        _ => &[],
    };
    error.kind() == io::ErrorKind::Unsupported
        || error.raw_os_error().is_some_and(|number| numbers.contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout_in(root: &Path, cache: PathBuf) -> Layout {
        Layout::new(root.to_owned(), root.join("results"), root.join("history.db"), cache)
    }

    #[test]
    fn a_new_folder_tells_git_what_is_generated_and_an_old_one_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join(".cobalt");
        let layout = layout_in(&root, root.join("cache"));
        layout.create().unwrap();
        let ignore = root.join(".gitignore");
        assert!(fs::read_to_string(&ignore).unwrap().contains("results/"));
        fs::remove_file(&ignore).unwrap();
        layout.create().unwrap();
        assert!(!ignore.exists());
    }

    #[test]
    fn an_answer_is_known_by_the_names_of_its_folder_and_its_file() {
        let layout = layout_in(Path::new("/w"), "/w/cache".into());
        let path = layout.answer(&crate::hash::sha256_hex(&["question".to_owned()]));
        let part = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(Layout::is_answer_folder(&part(path.parent().unwrap())));
        assert!(Layout::is_answer(&part(&path)));
        assert!(Layout::is_answer(&part(&path.with_extension("0123456789abcdef"))));
        for other in ["ab", "notes.txt", "CACHEDIR.TAG", &"g".repeat(62)] {
            assert!(!Layout::is_answer(other), "{other}");
        }
        assert!(!Layout::is_answer_folder("my"));
    }

    #[test]
    fn a_copy_of_a_data_set_is_known_by_its_name() {
        for copy in
            ["langfuse-support-0123abcd.jsonl", "a.b-0123abcd.jsonl", "a-0123abcd.0123456789abcdef.draft"]
        {
            assert!(Layout::is_copy(copy), "{copy}");
        }
        for other in
            ["notes.jsonl", "a-0123abcd.lock", "a-0123abcd.json", "a-0123abc.jsonl", "a-0123abcd", "a.draft"]
        {
            assert!(!Layout::is_copy(other), "{other}");
        }
    }

    #[test]
    fn a_cache_that_is_kept_elsewhere_makes_no_other_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (root, cache) = (folder.path().join(".cobalt"), folder.path().join("cache"));
        layout_in(&root, cache.clone()).create_folder(&cache).unwrap();
        assert!(cache.exists() && !root.exists());
    }

    #[test]
    fn a_description_tells_the_commit_and_whether_files_differ() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(parse(hash), Some(GitState { commit: hash.to_owned(), dirty: false }));
        assert_eq!(parse(&format!("{hash}-dirty")), Some(GitState { commit: hash.to_owned(), dirty: true }));
        assert_eq!(parse("v1.0-3-gabc"), None);
    }

    #[test]
    fn a_file_has_one_owner_at_a_time() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let second = File::open(file.path()).unwrap();
        assert_eq!(Lock::try_on(file.as_file()).unwrap(), Lock::Held);
        assert_eq!(Lock::on(&second).unwrap(), Lock::Busy);
        file.as_file().unlock().unwrap();
        assert_eq!(Lock::on(&second).unwrap(), Lock::Held);
    }

    #[test]
    fn readers_share_a_file_that_no_process_has_to_itself() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let [second, third] = [(); 2].map(|()| File::open(file.path()).unwrap());
        assert_eq!(Lock::try_shared_on(&second).unwrap(), Lock::Held);
        assert_eq!(Lock::try_shared_on(&third).unwrap(), Lock::Held);
        assert_eq!(Lock::try_on(file.as_file()).unwrap(), Lock::Busy);
        drop((second, third));
        assert_eq!(Lock::try_on(file.as_file()).unwrap(), Lock::Held);
        assert_eq!(Lock::try_shared_on(&File::open(file.path()).unwrap()).unwrap(), Lock::Busy);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn where_there_are_no_locks_is_no_error_and_any_other_reason_is_one() {
        let refused = |number| Lock::of(Err(TryLockError::Error(io::Error::from_raw_os_error(number))));
        for number in [37, 38, 95] {
            assert_eq!(refused(number).unwrap(), Lock::Impossible, "{number}");
        }
        assert_eq!(refused(5).unwrap_err().raw_os_error(), Some(5), "an error of the device");
    }
}
