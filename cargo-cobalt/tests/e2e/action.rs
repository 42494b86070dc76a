//! The scripts of the action, with programs of the tests in place of `gh` and `cargo`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::command::program;
use crate::project::Said;

/// Notes each argument in a line.
const CARGO: &str = "#!/bin/sh\nprintf '%s\\n' \"$@\" > said\n";
/// Answers as the API does, of comments that are kept in a file: in each line an id, an author and a beginning.
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

/// A folder in which the scripts find these programs first.
struct Job(TempDir);

impl Job {
    fn new() -> Self {
        let job = Self(tempfile::tempdir().unwrap());
        for (name, text) in [("gh", GH), ("cargo", CARGO)] {
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
        let mut command = program("bash", self.0.path());
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("action");
        let path = std::env::var("PATH").unwrap();
        command.arg(scripts.join(name)).env("PATH", format!("{}:{path}", self.0.path().display()));
        command
    }

    fn run(&self, command: &str, arguments: &str, reporters: &str, comment: &str) -> Command {
        let mut run = self.script("run");
        run.env("INPUT_COMMAND", command).env("INPUT_ARGUMENTS", arguments);
        run.env("INPUT_REPORTERS", reporters).env("COMMENT_FILE", comment);
        run
    }

    fn comment(&self) -> Said {
        let mut comment = self.script("comment");
        comment.env("GITHUB_REPOSITORY", "o/r").env("PULL_REQUEST", "7").env("GH_TOKEN", "t");
        Said::by(comment.env("COMMENT_FILE", self.path("comment.md")), 0)
    }
}

#[test]
fn inputs_are_arguments_and_never_code() {
    let job = Job::new();
    Said::by(&mut job.run("run", "--ci --filter $(touch hit)\n*;touch hit", "", ""), 0);
    let said = job.read("said");
    let words: Vec<_> = said.lines().collect();
    assert_eq!(words, ["cobalt", "run", "--ci", "--filter", "$(touch", "hit)", "*;touch", "hit"]);
    assert!(!job.path("hit").exists());
    Said::by(&mut job.run("merge", "", "junit=a.xml", "c.md"), 0);
    assert_eq!(
        job.read("said").lines().collect::<Vec<_>>(),
        ["cobalt", "merge", "--reporter", "junit=a.xml", "--reporter", "pr-comment=c.md"]
    );
    Said::by(&mut job.run("run", "", "", "c.md"), 0);
    assert!(job.read("said").contains("--reporter\ncli\n--reporter\npr-comment=c.md\n"));
    Said::by(&mut job.run("config; true", "", "", ""), 2).says("`run` or `merge`");
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
    job.comment().says("::warning").says("before it was written");
    fs::write(job.path("comment.md"), "<!-- cobalt -->\n").unwrap();
    fs::write(job.path("read-only"), "").unwrap();
    job.comment().says("::warning").says("of forks");
}

#[test]
fn the_key_changes_with_the_compiler_and_the_sources_alone() {
    let job = Job::new();
    let key = || Said::by(&mut job.script("key"), 0).stdout;
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
        Said::by(&mut install, 0)
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
