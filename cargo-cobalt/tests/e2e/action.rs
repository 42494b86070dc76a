//! The scripts of the action and of `docs/ci/gitlab.yml`, with fake `gh`, `curl` and `cargo`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::command::program;
use crate::project::ProgramOutput;

/// Records each argument on a line.
const CARGO: &str = "#!/bin/sh\nprintf '%s\\n' \"$@\" > said\n";
/// Simulates GitHub's API for comments in a file: an ID, an author and the start of the comment per line.
const GH: &str = r#"#!/bin/sh
printf '%s ' "$@" >> asked; echo >> asked
case "$*" in
    *viewer*) [ -n "$GH_TOKEN" ] && echo 'github-actions[bot]' ;;
    *--paginate*) while read -r id author start; do
        if [ "$author" = "$account" ] && [ "$start" = "$marker" ]; then echo "$id"; fi
    done < comments ;;
    *) [ ! -e read-only ] ;;
esac
"#;

/// Simulates GitLab's API, with two pages of notes.
const CURL: &str = r#"#!/bin/sh
printf '%s ' "$@" >> asked; echo >> asked
output=/dev/stdout head=/dev/null
while [ $# -gt 0 ]; do
    case "$1" in --output) output=$2 ;; --dump-header) head=$2 ;; esac
    url=$1
    shift
done
case "$url" in
    */user) echo '{ "id": 7 }' > "$output" ;;
    *page=1) printf 'X-Next-Page: 2\r\n' > "$head"; cat first > "$output" ;;
    *page=2) printf 'X-Next-Page: \r\n' > "$head"; cat second > "$output" ;;
esac
"#;

/// A folder in which the scripts find these fake programs first.
struct Job(TempDir);

impl Job {
    fn new() -> Self {
        let job = Self(tempfile::tempdir().unwrap());
        for (name, text) in [("gh", GH), ("curl", CURL), ("cargo", CARGO)] {
            let path = job.path(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(job.path("comments"), "").unwrap();
        job
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn script(&self, name: &str) -> Command {
        let mut command = self.bash();
        command.arg(repository().join("action").join(name));
        command
    }

    fn bash(&self) -> Command {
        let mut command = program("bash", self.0.path());
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.0.path().display()));
        command
    }

    fn run(&self, command: &str, arguments: &str, reporters: &str, comment: &str) -> Command {
        let mut run = self.script("run");
        run.env("INPUT_COMMAND", command).env("INPUT_ARGUMENTS", arguments);
        run.env("INPUT_REPORTERS", reporters).env("COMMENT_FILE", comment);
        run
    }

    fn comment(&self) -> ProgramOutput {
        let mut comment = self.script("comment");
        comment.env("GITHUB_REPOSITORY", "o/r").env("PULL_REQUEST", "7").env("GH_TOKEN", "t");
        comment.env("GITHUB_SERVER_URL", "https://github.com").env("GITHUB_RUN_ID", "42");
        ProgramOutput::by(comment.env("COMMENT_FILE", self.path("comment.md")), 0)
    }

    /// Runs the script that posts a note on a GitLab merge request; returns its requests.
    fn note(&self) -> String {
        fs::write(self.path("asked"), "").unwrap();
        let mut note = self.bash();
        note.args(["-e", "-o", "pipefail", "-c", &after_script()])
            .env("CI_JOB_URL", "https://gitlab.com/jobs/42");
        note.env("CI_API_V4_URL", "api").env("CI_PROJECT_ID", "3").env("CI_MERGE_REQUEST_IID", "5");
        ProgramOutput::by(note.env("NOTE_TOKEN", "t"), 0);
        self.read("asked")
    }
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The script in `docs/ci/gitlab.yml` that runs after the merge.
fn after_script() -> String {
    let file = fs::read_to_string(repository().join("docs/ci/gitlab.yml")).unwrap();
    let (_, rest) = file.split_once("  after_script:\n    - |\n").unwrap();
    let lines = rest.lines().take_while(|line| line.is_empty() || line.starts_with("      "));
    lines.map(|line| format!("{}\n", line.trim_start_matches("      "))).collect()
}

#[test]
fn inputs_are_arguments_and_never_code() {
    let job = Job::new();
    ProgramOutput::by(&mut job.run("run", "--ci --filter $(touch hit)\n*;touch hit", "", ""), 0);
    let said = job.read("said");
    let words: Vec<_> = said.lines().collect();
    assert_eq!(words, ["cobalt", "run", "--ci", "--filter", "$(touch", "hit)", "*;touch", "hit"]);
    assert!(!job.path("hit").exists());
    ProgramOutput::by(&mut job.run("merge", "", "junit=a.xml", "c.md"), 0);
    assert_eq!(
        job.read("said").lines().collect::<Vec<_>>(),
        ["cobalt", "merge", "--reporter", "junit=a.xml", "--reporter", "pr-comment=c.md"]
    );
    ProgramOutput::by(&mut job.run("run", "", "", "c.md"), 0);
    assert!(job.read("said").contains("--reporter\ncli\n--reporter\npr-comment=c.md\n"));
    ProgramOutput::by(&mut job.run("config; true", "", "", ""), 2).stdout_has("`run` or `merge`");
}

#[test]
fn the_comment_is_posted_once_and_then_updated() {
    let job = Job::new();
    fs::write(job.path("comment.md"), "<!-- cobalt -->\n## passed\n").unwrap();
    fs::write(job.path("comments"), "1 somebody <!-- cobalt -->\n2 github-actions[bot] else\n").unwrap();
    job.comment();
    assert!(
        job.read("asked").contains("POST repos/o/r/issues/7/comments --field body=@"),
        "{}",
        job.read("asked")
    );
    fs::write(job.path("comments"), "1 somebody <!-- cobalt -->\n3 github-actions[bot] <!-- cobalt -->\n")
        .unwrap();
    fs::write(job.path("asked"), "").unwrap();
    job.comment();
    let asked = job.read("asked");
    assert!(asked.contains("PATCH repos/o/r/issues/comments/3 ") && !asked.contains("POST"), "{asked}");
}

#[test]
fn a_comment_that_cannot_be_posted_is_a_warning() {
    let job = Job::new();
    fs::write(job.path("comment.md"), "<!-- cobalt -->\n").unwrap();
    fs::write(job.path("read-only"), "").unwrap();
    job.comment().stdout_has("::warning").stdout_has("of forks");
}

#[test]
fn a_run_that_ended_early_leaves_no_comment_that_speaks_of_an_earlier_one() {
    let job = Job::new();
    fs::write(job.path("comments"), "3 github-actions[bot] <!-- cobalt -->\n").unwrap();
    job.comment();
    let asked = job.read("asked");
    assert!(asked.contains("PATCH repos/o/r/issues/comments/3 "), "{asked}");
    let expected = "<!-- cobalt -->\n## ❌ The experiments did not finish\n\n\
                    [The log](https://github.com/o/r/actions/runs/42) says why.\n";
    assert_eq!(job.read("comment.md"), expected);
}

#[test]
fn the_note_of_gitlab_is_left_once_and_then_updated() {
    let job = Job::new();
    if Command::new("jq").arg("--version").output().is_err() {
        println!("skipped: there is no jq");
        return;
    }
    let note = |id: u32, author: u32| serde_json::json!([{ "id": id, "author": { "id": author }, "body": "<!-- cobalt -->\n## passed" }]);
    fs::create_dir(job.path("out")).unwrap();
    fs::write(job.path("out/note.md"), "<!-- cobalt -->\n## failed\n").unwrap();
    fs::write(job.path("first"), note(1, 1).to_string()).unwrap();
    fs::write(job.path("second"), "[]").unwrap();
    let (notes, sent) = ("api/projects/3/merge_requests/5/notes", "--data-urlencode body@out/note.md");
    let asked = job.note();
    assert!(
        asked.contains(&format!("--request POST {sent} {notes} \n")) && !asked.contains("PUT"),
        "{asked}"
    );
    fs::write(job.path("second"), note(2, 7).to_string()).unwrap();
    let asked = job.note();
    assert!(
        asked.contains(&format!("--request PUT {sent} {notes}/2 \n")) && !asked.contains("POST"),
        "{asked}"
    );
    fs::remove_dir_all(job.path("out")).unwrap();
    assert!(job.note().contains("PUT"));
    assert!(job.read("out/note.md").contains("did not finish\n\n[The log](https://gitlab.com/jobs/42)"));
}

#[test]
fn the_key_changes_with_the_compiler_and_the_sources_alone() {
    let job = Job::new();
    let key = || ProgramOutput::by(&mut job.script("key"), 0).stdout;
    let first = key();
    assert!(first.starts_with("key=cobalt-any-any-") && first.trim().len() > 50, "{first}");
    assert_eq!(first, key());
    let rustc = job.path("rustc");
    fs::write(&rustc, "#!/bin/sh\necho another\n").unwrap();
    fs::set_permissions(rustc, fs::Permissions::from_mode(0o755)).unwrap();
    assert_ne!(first, key());
}

#[test]
fn what_is_built_already_is_only_put_on_the_path() {
    let job = Job::new();
    let install = || {
        let mut install = job.script("install");
        install.env("COMMAND_FOLDER", job.path("command")).env("GITHUB_PATH", job.path("paths"));
        ProgramOutput::by(&mut install, 0)
    };
    install();
    let said = job.read("said");
    assert!(
        said.starts_with("install\n--locked\n--path\n") && said.contains("/cargo-cobalt\n--root\n"),
        "{said}"
    );
    fs::create_dir_all(job.path("command/bin")).unwrap();
    let built = job.path("command/bin/cargo-cobalt");
    fs::write(&built, "").unwrap();
    fs::set_permissions(built, fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(job.path("said")).unwrap();
    install();
    assert_eq!((job.read("said"), job.read("paths").lines().count()), (String::new(), 2));
}
