//! Fetches a commit of a git repository without what came after it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use cobalt_core::redact::redacted_url;

use super::error::{WorkspaceError, io_error};
use super::temp_folder::TempFolder;

/// Variables by which git would use another repository, as they are set in hooks.
const REPOSITORY_VARIABLES: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
];

/// The length of commit hashes, in hexadecimal digits.
const SHA1_DIGITS: usize = 40;
const SHA256_DIGITS: usize = 64;

/// Whether a text is the full hash of a commit.
pub fn is_commit_hash(text: &str) -> bool {
    matches!(text.len(), SHA1_DIGITS | SHA256_DIGITS) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Creates a repository in an empty folder that has the commit and its ancestors on the branch `main`, and checks it out.
pub fn check_out(repository: &str, commit: &str, folder: &Path) -> Result<(), WorkspaceError> {
    let failed = |problem: String| WorkspaceError::Fetch {
        repository: redacted_url(repository),
        commit: commit.to_owned(),
        problem,
    };
    let git = |folder: &Path, arguments: &[&str]| run(folder, arguments)?.map_err(failed);
    // Without the hooks and excludes of the user's template.
    let format =
        if commit.len() == SHA256_DIGITS { "--object-format=sha256" } else { "--object-format=sha1" };
    git(folder, &["init", "--quiet", "--template=", "--initial-branch=main", format])?;
    let fetch = |from: &str| {
        run(
            folder,
            &[
                "fetch",
                "--quiet",
                "--no-tags",
                "--no-recurse-submodules",
                "--no-write-fetch-head",
                // A dataset may name anything.
                "--",
                from,
                commit,
            ],
        )
    };
    if let Err(problem) = fetch(repository)? {
        // Some servers refuse single commits: all branches are fetched to another folder, which the agent never sees.
        let all = TempFolder::new()?;
        if run(all.path(), &["clone", "--quiet", "--mirror", "--", repository, "."])?.is_err() {
            return Err(failed(problem));
        }
        fetch(&all.path().to_string_lossy())?.map_err(failed)?;
    }
    git(folder, &["reset", "--quiet", "--hard", commit])?;
    for name in ["logs", "ORIG_HEAD"] {
        let path = folder.join(".git").join(name);
        if path.is_dir() {
            fs::remove_dir_all(&path).map_err(io_error("remove", &path))?;
        } else if path.exists() {
            fs::remove_file(&path).map_err(io_error("remove", &path))?;
        }
    }
    Ok(())
}

/// Runs git in a folder. The inner error is what git says.
fn run(folder: &Path, arguments: &[&str]) -> Result<Result<(), String>, WorkspaceError> {
    let mut command = Command::new("git");
    // A connection without data for a minute is given up.
    command.args([
        "-c",
        "http.lowSpeedLimit=1",
        "-c",
        "http.lowSpeedTime=60",
        "-c",
        "core.logAllRefUpdates=false",
    ]);
    command.args(["-c", "protocol.version=2", "-c", "gc.auto=0", "-c", "maintenance.auto=false"]);
    command.args(arguments).current_dir(folder).env("GIT_TERMINAL_PROMPT", "0");
    for name in REPOSITORY_VARIABLES {
        command.env_remove(name);
    }
    let output = command.stdin(Stdio::null()).output().map_err(WorkspaceError::NoGit)?;
    Ok(match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What git writes in a folder; an error is `None`.
    fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]);
        let output = command.args(arguments).current_dir(folder).output().unwrap();
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap().trim().to_owned())
    }

    fn commit(folder: &Path, contents: &str) -> String {
        fs::write(folder.join("file"), contents).unwrap();
        git(folder, &["add", "."]).unwrap();
        git(folder, &["commit", "-q", "-m", contents]).unwrap();
        git(folder, &["rev-parse", "HEAD"]).unwrap()
    }

    #[test]
    fn a_copy_has_the_commit_and_its_ancestors_and_nothing_later() {
        let origin = tempfile::tempdir().unwrap();
        git(origin.path(), &["init", "-q", "-b", "trunk"]).unwrap();
        let first = commit(origin.path(), "first");
        git(origin.path(), &["tag", "v1"]).unwrap();
        let second = commit(origin.path(), "second");
        let fix = commit(origin.path(), "the fix");
        git(origin.path(), &["tag", "-a", "v2", "-m", "v2"]).unwrap();
        // As on most servers.
        git(origin.path(), &["repack", "-adq", "--write-bitmap-index"]).unwrap();

        let copy = tempfile::tempdir().unwrap();
        let path = copy.path();
        check_out(origin.path().to_str().unwrap(), &second, path).unwrap();
        assert_eq!(fs::read_to_string(path.join("file")).unwrap(), "second");
        assert_eq!(git(path, &["rev-parse", "HEAD", "HEAD~1"]).unwrap(), format!("{second}\n{first}"));
        assert_eq!(git(path, &["status", "--porcelain"]).unwrap(), "");
        let all_objects = ["cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)"];
        let objects = git(path, &all_objects).unwrap();
        let commits: Vec<_> = objects.lines().filter(|line| line.starts_with("commit")).collect();
        assert_eq!(commits.len(), 2, "{objects}");
        assert_eq!(git(path, &["cat-file", "-e", &fix]), None);
        for nothing in [&["tag"][..], &["remote"], &["reflog", "--all"], &["stash", "list"]] {
            assert_eq!(git(path, nothing).as_deref(), Some(""), "{nothing:?}");
        }
        assert_eq!(git(path, &["for-each-ref", "--format=%(refname)"]).unwrap(), "refs/heads/main");
        let config = fs::read_to_string(path.join(".git/config")).unwrap();
        assert!(!config.contains(origin.path().to_str().unwrap()), "{config}");
        for name in ["FETCH_HEAD", "ORIG_HEAD", "logs", "hooks", "objects/info/alternates"] {
            assert!(!path.join(".git").join(name).exists(), "{name}");
        }
        git(path, &["fsck", "--strict"]).unwrap();
    }

    #[test]
    fn a_commit_that_is_not_there_is_an_error_that_names_it() {
        let (origin, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        git(origin.path(), &["init", "-q"]).unwrap();
        commit(origin.path(), "first");
        let unknown = "0123456789012345678901234567890123456789";
        let error = check_out(origin.path().to_str().unwrap(), unknown, copy.path()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("failed to fetch commit {unknown} of `")), "{error}");
        let error = check_out("/no/such/repository", unknown, copy.path()).unwrap_err().to_string();
        assert!(error.contains("/no/such/repository"), "{error}");
    }

    #[test]
    fn only_a_full_hash_names_a_commit() {
        assert!(is_commit_hash("0123456789abcdef0123456789abcdef01234567"));
        assert!(!is_commit_hash("main") && !is_commit_hash("0123456"));
    }
}
