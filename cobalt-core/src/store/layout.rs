//! The file layout, under `.cobalt/` at the workspace root unless configured otherwise; file locks, run IDs, and the git commit.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use std::{env, io, thread};

use super::error::{CREATE_FOLDER, StoreError, storage_error};
use crate::atomic_write::create_private_folder;
use crate::paths::package_root;
use crate::report::GitState;
use crate::slug::slug;

/// The maximum length of a slug in a file name, in bytes: most file systems allow names of 255.
const MAX_SLUG_LENGTH: usize = 120;

/// The extension of the lock file next to the copy of a dataset.
const DATASET_LOCK: &str = "lock";

/// The prefix of files that datasets are downloaded to.
pub const DOWNLOAD_PREFIX: &str = ".download-";
/// The age after which such a file counts as left over from a killed process.
const ABANDONED_AFTER: Duration = Duration::from_secs(60 * 60);

/// The number of digits of the request hash in the name of a dataset copy.
pub const REQUEST_HASH_DIGITS: usize = 8;

/// The number of digits in the key of a cached response, and of those that name its folder.
const CACHE_KEY_DIGITS: usize = 64;
const CACHE_FOLDER_DIGITS: usize = 2;

/// The contents of `.cobalt/.gitignore`: all generated files.
pub const GITIGNORE: &str =
    "results/\nruns/\nreports/\ncache/\ndatasets/\nremote/\nhistory.db*\nserve.json\n";

/// The file layout of a project, according to its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    root: PathBuf,
    results: PathBuf,
    history: PathBuf,
    cache: PathBuf,
    baselines: PathBuf,
}

impl Layout {
    /// From the root folder, the results folder, the history index, and the cache folder.
    #[doc(hidden)]
    pub fn new(root: PathBuf, results: PathBuf, history: PathBuf, cache: PathBuf) -> Self {
        let baselines = root.join("baselines");
        Self { root, results, history, cache, baselines }
    }

    /// With the baselines in another folder.
    #[doc(hidden)]
    #[must_use]
    pub fn with_baselines(self, baselines: PathBuf) -> Self {
        Self { baselines, ..self }
    }

    /// The folder of everything that is stored, unless it is configured otherwise.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of the result files.
    #[must_use]
    pub fn results(&self) -> &Path {
        &self.results
    }

    /// The folder of the journals of unfinished runs.
    #[must_use]
    pub fn journals(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// The state of the limits that processes share.
    #[must_use]
    pub fn limits(&self) -> PathBuf {
        self.root.join("limits")
    }

    /// The index of past runs, a SQLite file. It can always be rebuilt from the result files.
    #[must_use]
    pub fn history(&self) -> &Path {
        &self.history
    }

    /// The folder of cached model responses. It can be removed at any time.
    #[must_use]
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// The file of a cached response, by its key: a hash in hexadecimal digits, the first of which name the folder.
    #[must_use]
    pub fn cached_response(&self, key: &str) -> PathBuf {
        let (folder, name) = key.split_at(CACHE_FOLDER_DIGITS.min(key.len()));
        self.cache.join(folder).join(name)
    }

    /// Whether a folder with this name in the cache folder contains responses.
    #[must_use]
    pub fn is_cache_folder(name: &str) -> bool {
        name.len() == CACHE_FOLDER_DIGITS && is_hexadecimal(name)
    }

    /// Whether a file with this name in such a folder is a response, or an incomplete one.
    #[must_use]
    pub fn is_cached_response(name: &str) -> bool {
        let (name, draft) = name.split_once('.').unwrap_or((name, ""));
        name.len() == CACHE_KEY_DIGITS - CACHE_FOLDER_DIGITS && is_hexadecimal(name) && is_hexadecimal(draft)
    }

    /// The file with the address of `cargo cobalt serve`; it exists while the server runs.
    #[must_use]
    pub fn server_file(&self) -> PathBuf {
        self.root.join("serve.json")
    }

    /// The folder of the copies of fetched datasets. It can be removed at any time.
    #[must_use]
    pub fn datasets(&self) -> PathBuf {
        self.root.join("datasets")
    }

    /// The lock file of a dataset copy, or of its incomplete version: locked while the dataset is fetched.
    #[must_use]
    pub fn dataset_lock(copy: &Path) -> PathBuf {
        let is_draft = copy.extension().is_some_and(|ending| ending == "draft");
        if is_draft { copy.with_extension("") } else { copy.to_owned() }.with_extension(DATASET_LOCK)
    }

    /// Whether a file with this name in that folder, last modified at this time, is left over from a killed process.
    #[must_use]
    pub fn is_abandoned_download(name: &str, written: SystemTime) -> bool {
        let is_old = || SystemTime::now().duration_since(written).is_ok_and(|age| age > ABANDONED_AFTER);
        name.starts_with(DOWNLOAD_PREFIX) && is_old()
    }

    /// Whether a file with this name in that folder is a copy, or an incomplete one.
    #[must_use]
    pub fn is_dataset_copy(name: &str) -> bool {
        let Some((name, ending)) = name.rsplit_once('.') else { return false };
        let name = match ending {
            "jsonl" => name,
            "draft" => name.rsplit_once('.').map_or("", |(name, _)| name),
            _ => return false,
        };
        name.rsplit_once('-')
            .is_some_and(|(_, digits)| digits.len() == REQUEST_HASH_DIGITS && is_hexadecimal(digits))
    }

    /// The folder of runs that were fetched from remote stores to be shown. It can be removed at any time.
    #[must_use]
    pub fn remote_runs(&self) -> PathBuf {
        self.root.join("remote")
    }

    /// The folder of kept workspaces, each run in a folder named by its ID.
    #[must_use]
    pub fn workspaces(&self) -> PathBuf {
        self.root.join("workspaces")
    }

    /// The default folder for the files of reporters.
    #[must_use]
    pub fn reports(&self) -> PathBuf {
        self.root.join("reports")
    }

    /// The folder of the baselines, meant to be committed to git.
    #[must_use]
    pub fn baselines(&self) -> PathBuf {
        self.baselines.clone()
    }

    /// The baseline of the experiment with this name.
    #[must_use]
    pub fn baseline(&self, experiment: &str) -> PathBuf {
        self.baselines().join(format!("{}.json", file_slug(experiment)))
    }

    /// The journal of a run.
    #[must_use]
    pub fn journal(&self, id: &str) -> PathBuf {
        self.journals().join(format!("{id}.jsonl"))
    }

    /// Creates the folders of runs.
    pub(crate) fn create(&self) -> Result<(), StoreError> {
        for folder in [&self.journals(), &self.results] {
            self.create_folder(folder).map_err(|source| storage_error(CREATE_FOLDER, folder, source))?;
        }
        Ok(())
    }

    /// Creates a folder, and writes `.gitignore` if the root folder is new.
    ///
    /// # Errors
    ///
    /// The folder cannot be created.
    pub fn create_folder(&self, folder: &Path) -> io::Result<()> {
        create_folder(&self.root, folder)
    }

    /// Whether a run with this ID exists, finished or not.
    #[doc(hidden)]
    pub fn has_run(&self, id: &str) -> bool {
        self.journal(id).exists() || self.result_of(id).is_some()
    }

    /// The result file of the run with this ID, if it exists.
    #[doc(hidden)]
    pub fn result_of(&self, id: &str) -> Option<PathBuf> {
        let ending = format!("_{id}.json");
        let entries = fs::read_dir(&self.results).ok()?;
        entries.flatten().map(|entry| entry.path()).find(|path| path.to_string_lossy().ends_with(&ending))
    }
}

/// Creates a folder, and writes `.gitignore` if the root folder is new.
pub fn create_folder(root: &Path, folder: &Path) -> io::Result<()> {
    let was_there = root.exists();
    // It also has the baselines, which are committed.
    if folder.starts_with(root) {
        fs::create_dir_all(root)?;
    }
    create_private_folder(folder)?;
    // The folder may be outside of the root.
    if was_there || !root.exists() {
        return Ok(());
    }
    fs::write(root.join(".gitignore"), GITIGNORE)
}

/// An experiment's name in file names.
pub fn file_slug(experiment: &str) -> String {
    let name = slug(experiment, MAX_SLUG_LENGTH);
    if name.is_empty() { "experiment".to_owned() } else { name }
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A unique run ID, also across processes.
pub fn new_run_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    derive_id(&[
        time.to_string(),
        std::process::id().to_string(),
        count.to_string(),
        fastrand::u64(..).to_string(),
    ])
}

/// The ID derived from these texts, the same in every process.
pub fn derive_id(parts: &[String]) -> String {
    crate::hash::sha256_hex(parts)[..12].to_owned()
}

/// The variable with the [`git_state`] of sources that are not in a repository here: the commit, `-dirty` if tracked files had
/// uncommitted changes, and after a space the branch, if one was checked out. Empty if it is not known.
pub const GIT_STATE_VARIABLE: &str = "COBALT_GIT_STATE";

/// The git state of the source; `None` without git or a commit.
pub fn git_state() -> Option<GitState> {
    let state = match env::var(GIT_STATE_VARIABLE) {
        Ok(description) => parse_state(&description)?,
        Err(_) => git_state_of(&package_root())?,
    };
    let branch = ci_branch(|name| env::var(name).ok()).or(state.branch);
    Some(GitState { branch, ..state })
}

/// The git state of a folder, with the branch that is checked out.
#[doc(hidden)]
#[must_use]
pub fn git_state_of(folder: &Path) -> Option<GitState> {
    let description = git(folder, &["describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"])?;
    let state = parse_description(&description)?;
    Some(GitState { branch: git(folder, &["symbolic-ref", "--quiet", "--short", "HEAD"]), ..state })
}

/// A value of [`GIT_STATE_VARIABLE`].
fn parse_state(text: &str) -> Option<GitState> {
    let (description, branch) =
        text.split_once(' ').map_or((text, None), |(description, branch)| (description, Some(branch)));
    Some(GitState { branch: branch.map(str::to_owned), ..parse_description(description)? })
}

/// The output of git in a folder, if it succeeds.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The branch that a CI job runs for: CI systems check out a commit without a branch. For a pull request, it is the branch that it
/// comes from.
#[doc(hidden)]
pub fn ci_branch(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let get = |name: &str| variable(name).filter(|value| !value.is_empty());
    let is_true = |name: &str| get(name).is_some_and(|value| value == "true");
    if is_true("GITHUB_ACTIONS") {
        return match get("GITHUB_HEAD_REF") {
            // A fork's branch may have the name of the branch that it goes to, which it must not be taken for.
            Some(head) if Some(&head) == get("GITHUB_BASE_REF").as_ref() => get("GITHUB_REF_NAME"),
            Some(head) => Some(head),
            None => get("GITHUB_REF_NAME").filter(|_| get("GITHUB_REF_TYPE").as_deref() != Some("tag")),
        };
    }
    if is_true("GITLAB_CI") {
        return match get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME") {
            Some(head) if Some(&head) == get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME").as_ref() => {
                get("CI_MERGE_REQUEST_REF_PATH")
            }
            Some(head) => Some(head),
            None => get("CI_COMMIT_BRANCH"),
        };
    }
    if is_true("BUILDKITE") {
        return get("BUILDKITE_BRANCH");
    }
    if is_true("CIRCLECI") {
        return get("CIRCLE_BRANCH");
    }
    None
}

fn parse_description(description: &str) -> Option<GitState> {
    let (commit, dirty) =
        description.strip_suffix("-dirty").map_or((description, false), |commit| (commit, true));
    let is_hash = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| GitState { commit: commit.to_owned(), dirty, branch: None })
}

/// The maximum wait for a lock. If a process is killed while it starts a child, the child inherits its locks until it runs.
const LOCK_TIMEOUT: Duration = Duration::from_millis(200);

/// The result of locking a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// This process has the lock until it closes the file.
    Held,
    /// Another process has the lock.
    Busy,
    /// The file system does not support locks.
    Unsupported,
}

impl Lock {
    /// Locks a file exclusively, without waiting.
    pub fn try_exclusive(file: &File) -> io::Result<Self> {
        Self::of(file.try_lock())
    }

    /// Takes a shared lock, without waiting.
    pub fn try_shared(file: &File) -> io::Result<Self> {
        Self::of(file.try_lock_shared())
    }

    /// Like [`try_exclusive`](Self::try_exclusive), but waits briefly for a process that has just ended.
    pub fn acquire(file: &File) -> io::Result<Self> {
        let deadline = Instant::now() + LOCK_TIMEOUT;
        loop {
            match Self::try_exclusive(file)? {
                Self::Busy if Instant::now() < deadline => thread::sleep(LOCK_TIMEOUT / 20),
                lock => return Ok(lock),
            }
        }
    }

    fn of(outcome: Result<(), TryLockError>) -> io::Result<Self> {
        match outcome {
            Ok(()) => Ok(Self::Held),
            Err(TryLockError::WouldBlock) => Ok(Self::Busy),
            Err(TryLockError::Error(error)) if is_unsupported(&error) => Ok(Self::Unsupported),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Whether the error means that locks are not supported: `ENOLCK`, `ENOSYS` or `EOPNOTSUPP`.
fn is_unsupported(error: &io::Error) -> bool {
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
        let path = layout.cached_response(&crate::hash::sha256_hex(&["question".to_owned()]));
        let part = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(Layout::is_cache_folder(&part(path.parent().unwrap())));
        assert!(Layout::is_cached_response(&part(&path)));
        assert!(Layout::is_cached_response(&part(&path.with_extension("0123456789abcdef"))));
        for other in ["ab", "notes.txt", "CACHEDIR.TAG", &"g".repeat(62)] {
            assert!(!Layout::is_cached_response(other), "{other}");
        }
        assert!(!Layout::is_cache_folder("my"));
    }

    #[test]
    fn a_copy_of_a_data_set_is_known_by_its_name() {
        for copy in
            ["langfuse-support-0123abcd.jsonl", "a.b-0123abcd.jsonl", "a-0123abcd.0123456789abcdef.draft"]
        {
            assert!(Layout::is_dataset_copy(copy), "{copy}");
        }
        for other in
            ["notes.jsonl", "a-0123abcd.lock", "a-0123abcd.json", "a-0123abc.jsonl", "a-0123abcd", "a.draft"]
        {
            assert!(!Layout::is_dataset_copy(other), "{other}");
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
        assert_eq!(
            parse_description(hash),
            Some(GitState { commit: hash.to_owned(), dirty: false, branch: None })
        );
        assert_eq!(
            parse_description(&format!("{hash}-dirty")),
            Some(GitState { commit: hash.to_owned(), dirty: true, branch: None })
        );
        assert_eq!(parse_description("v1.0-3-gabc"), None);
    }

    #[test]
    fn a_job_tells_its_branch_and_a_fork_is_not_taken_for_the_branch_that_it_goes_to() {
        let branch = |variables: &[(&str, &str)]| {
            ci_branch(|name| {
                variables.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned())
            })
        };
        let github = ("GITHUB_ACTIONS", "true");
        assert_eq!(branch(&[github, ("GITHUB_REF_NAME", "main")]).as_deref(), Some("main"));
        assert_eq!(branch(&[github, ("GITHUB_REF_NAME", "v1"), ("GITHUB_REF_TYPE", "tag")]), None);
        let pull_request = |head| {
            branch(&[
                github,
                ("GITHUB_HEAD_REF", head),
                ("GITHUB_BASE_REF", "main"),
                ("GITHUB_REF_NAME", "7/merge"),
            ])
        };
        assert_eq!(pull_request("fix").as_deref(), Some("fix"));
        assert_eq!(pull_request("main").as_deref(), Some("7/merge"));
        let gitlab = ("GITLAB_CI", "true");
        assert_eq!(branch(&[gitlab, ("CI_COMMIT_BRANCH", "main")]).as_deref(), Some("main"));
        assert_eq!(branch(&[gitlab, ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "fix")]).as_deref(), Some("fix"));
        assert_eq!(branch(&[("BUILDKITE", "true"), ("BUILDKITE_BRANCH", "b")]).as_deref(), Some("b"));
        assert_eq!(branch(&[("CIRCLECI", "true"), ("CIRCLE_BRANCH", "c")]).as_deref(), Some("c"));
        assert_eq!(branch(&[("GITHUB_REF_NAME", "main")]), None, "not on GitHub");
    }

    #[test]
    fn a_file_has_one_owner_at_a_time() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let second = File::open(file.path()).unwrap();
        assert_eq!(Lock::try_exclusive(file.as_file()).unwrap(), Lock::Held);
        assert_eq!(Lock::acquire(&second).unwrap(), Lock::Busy);
        file.as_file().unlock().unwrap();
        assert_eq!(Lock::acquire(&second).unwrap(), Lock::Held);
    }

    #[test]
    fn readers_share_a_file_that_no_process_has_to_itself() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let [second, third] = [(); 2].map(|()| File::open(file.path()).unwrap());
        assert_eq!(Lock::try_shared(&second).unwrap(), Lock::Held);
        assert_eq!(Lock::try_shared(&third).unwrap(), Lock::Held);
        assert_eq!(Lock::try_exclusive(file.as_file()).unwrap(), Lock::Busy);
        drop((second, third));
        assert_eq!(Lock::try_exclusive(file.as_file()).unwrap(), Lock::Held);
        assert_eq!(Lock::try_shared(&File::open(file.path()).unwrap()).unwrap(), Lock::Busy);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn where_there_are_no_locks_is_no_error_and_any_other_reason_is_one() {
        let refused = |number| Lock::of(Err(TryLockError::Error(io::Error::from_raw_os_error(number))));
        for number in [37, 38, 95] {
            assert_eq!(refused(number).unwrap(), Lock::Unsupported, "{number}");
        }
        assert_eq!(refused(5).unwrap_err().raw_os_error(), Some(5), "an I/O error");
    }
}
