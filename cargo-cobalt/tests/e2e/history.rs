//! `cargo cobalt history` on folders with result files: output, lookup, and robustness.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use cobalt::Report;
use cobalt_core::report::{ScoreStats, Summary};
use cobalt_core::store::result_file_name;
use serde_json::Value;
use tempfile::TempDir;

use crate::command::{COBALT, program};
use crate::snapshot::assert_text;
use crate::stored_runs::{package, report};

/// A package with a store.
struct Project(TempDir);

impl Project {
    fn new() -> Self {
        Self(package())
    }

    /// Three runs: from today, three days ago and twenty days ago.
    fn with_runs() -> Self {
        let project = Self::new();
        project.keep(&Report { passed: false, ..scored("aaaaaaaaaaaa", "help-desk", 0, &["smoke"]) });
        project.keep(&scored("bbbbbbbbbbbb", "intent", 3, &[]));
        project.keep(&scored("cccccccccccc", "help-desk-gated", 20, &["smoke", "gated"]));
        project
    }

    fn store(&self) -> PathBuf {
        self.0.path().join(".cobalt")
    }

    fn keep(&self, report: &Report) {
        let results = self.store().join("results");
        fs::create_dir_all(&results).unwrap();
        fs::write(results.join(result_file_name(report)), report.to_json().unwrap()).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        command(self.0.path(), arguments)
    }

    /// The output of a successful command.
    fn history(&self, arguments: &[&str]) -> Printed {
        Printed::of(self.command(arguments).output().unwrap())
    }

    /// The run IDs that the command lists.
    fn ids(&self, arguments: &[&str]) -> Vec<String> {
        let text = self.history(&[&["--json"], arguments].concat()).out;
        let runs: Vec<Value> = serde_json::from_str(&text).unwrap();
        runs.iter().map(|run| run["id"].as_str().unwrap()[..1].to_owned()).collect()
    }
}

struct Printed {
    out: String,
    err: String,
}

impl Printed {
    fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let printed = Self { out: text(output.stdout), err: text(output.stderr) };
        assert_eq!(output.status.code(), Some(0), "{}{}", printed.err, printed.out);
        printed
    }
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = program(COBALT, folder);
    command.args(["cobalt", "history"]).args(arguments);
    // As set by `cargo run` for a command of another package.
    command.env("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR"));
    command
}

/// A run with metrics.
fn scored(id: &str, name: &str, days_ago: u32, tags: &[&str]) -> Report {
    let scores = ScoreStats { avg: 0.75, ..ScoreStats::default() };
    Report {
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        summary: Summary {
            total_items: 40,
            estimated_cost: Some(0.25),
            scores: [("exact".to_owned(), scores)].into(),
            ..Summary::default()
        },
        ..report(id, name, days_ago)
    }
}

#[test]
fn the_table_has_a_line_for_each_run_the_newest_first() {
    let project = Project::with_runs();
    let Printed { out, err } = project.history(&[]);
    assert_eq!(err, "");
    assert_text!(out);
    assert!(!out.contains('\u{1b}'), "no color without a terminal");
}

#[test]
fn below_the_table_averages_go_from_the_oldest_run_to_the_newest() {
    let project = Project::with_runs();
    assert!(!project.history(&[]).out.contains(" to "), "no trend for a single run per experiment");
    let mut earlier = scored("dddddddddddd", "intent", 5, &[]);
    let scores = ScoreStats { avg: 0.25, ..ScoreStats::default() };
    earlier.summary.scores.insert("exact".to_owned(), scores);
    project.keep(&earlier);
    let Printed { out, .. } = project.history(&[]);
    assert_text!(out);
}

#[test]
fn json_has_every_column_and_nothing_beside() {
    let project = Project::with_runs();
    fs::write(project.store().join("results/broken.json"), "{}").unwrap();
    let Printed { out, err } = project.history(&["--json", "--limit", "1"]);
    let runs: Vec<Value> = serde_json::from_str(&out).unwrap();
    assert_eq!(runs.len(), 1);
    assert_text!(out);
    assert_text!(err);
}

#[test]
fn each_filter_narrows_the_list() {
    let project = Project::with_runs();
    assert_eq!(project.ids(&[]), ["a", "b", "c"]);
    assert_eq!(project.ids(&["--limit", "2"]), ["a", "b"]);
    assert_eq!(project.ids(&["-e", "*desk*"]), ["a", "c"]);
    assert_eq!(project.ids(&["--experiment", "help-des?"]), ["a"]);
    assert_eq!(project.ids(&["--tag", "gated"]), ["c"]);
    assert_eq!(project.ids(&["--tag", "gat"]), [""; 0], "tags match as a whole");
    assert_eq!(project.ids(&["--since", "7d"]), ["a", "b"]);
    assert_eq!(project.ids(&["--since", "12h"]), ["a"]);
    assert_eq!(project.ids(&["--since", "2020-01-01"]), ["a", "b", "c"]);
    assert_eq!(project.ids(&["--since", "2999-01-01T00:00:00Z"]), [""; 0]);
    assert_eq!(project.ids(&["--since", "7d", "--tag", "smoke"]), ["a"]);
}

#[test]
fn arguments_that_make_no_sense_are_a_usage_error() {
    let project = Project::with_runs();
    for arguments in [["--since", "yesterday"], ["--experiment", "[a"], ["--limit", "0"]] {
        let output = project.command(&arguments).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert_text!(message);
    }
}

#[test]
fn nothing_to_show_is_said_and_no_error() {
    let project = Project::new();
    let Printed { out, err } = project.history(&[]);
    assert_eq!(out, "");
    assert_text!(err);
    assert_eq!(project.history(&["--json"]).out, "[]\n");
    assert!(!project.store().exists(), "reading creates no files");

    project.keep(&Report { partial: true, ..scored("aaaaaaaaaaaa", "desk", 0, &[]) });
    let Printed { out, err } = project.history(&[]);
    assert_eq!(out, "");
    assert_text!(err);

    let project = Project::with_runs();
    let Printed { out, err } = project.history(&["--experiment", "nothing"]);
    assert_eq!(out, "");
    assert_text!(err);
    assert_eq!(project.history(&["--experiment", "nothing", "--json"]).out, "[]\n");
}

#[test]
fn a_lost_or_spoilt_index_is_built_again() {
    let project = Project::with_runs();
    let before = project.history(&[]).out;
    let database = project.store().join("history.db");
    fs::remove_file(&database).unwrap();
    assert_eq!(project.history(&[]).out, before);
    assert!(database.exists());
    fs::write(&database, "x".repeat(10_000)).unwrap();
    let Printed { out, err } = project.history(&[]);
    assert_eq!((out, err), (before, String::new()));
}

#[test]
fn several_processes_may_build_the_index_at_once() {
    let project = Project::with_runs();
    for id in 0..60 {
        project.keep(&scored(&format!("{id:012}"), "desk", 1, &[]));
    }
    for start in ["", "spoilt"] {
        fs::write(project.store().join("history.db"), start).unwrap();
        let spawn = || {
            let mut command = project.command(&["--json", "--limit", "100"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let processes: Vec<_> = (0..6).map(|_| spawn()).collect();
        for process in processes {
            let Printed { out, err } = Printed::of(process.wait_with_output().unwrap());
            let runs: Vec<Value> = serde_json::from_str(&out).unwrap();
            assert_eq!((runs.len(), err), (63, String::new()));
        }
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let project = Project::with_runs();
    for id in 0..3000 {
        project.keep(&scored(&format!("{id:012}"), &"a long name ".repeat(10), 1, &[]));
    }
    let mut command = project.command(&["--json", "--limit", "9999"]);
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "[\n");
    assert_eq!(Printed::of(process.wait_with_output().unwrap()).err, "");
}

#[test]
fn the_store_is_that_of_the_package_or_workspace_around() {
    let project = Project::with_runs();
    let inner = project.0.path().join("crates/member/src");
    fs::create_dir_all(&inner).unwrap();
    fs::write(inner.join("../Cargo.toml"), "[package]\nname = \"member\"\n").unwrap();
    let from = |folder: &Path| Printed::of(command(folder, &[]).output().unwrap());
    assert!(from(&inner).out.contains("aaaaaaaaaaaa"));

    let outside = tempfile::tempdir().unwrap();
    assert!(from(outside.path()).err.contains("No runs in `.cobalt/results`"));
}

#[test]
fn the_environment_says_where_the_files_are() {
    let project = Project::with_runs();
    let elsewhere = tempfile::tempdir().unwrap();
    let database = elsewhere.path().join("new/index.db");
    let mut command = command(elsewhere.path(), &[]);
    command.env("COBALT_DIR", project.store()).env("COBALT_HISTORY_DB", "new/index.db");
    assert!(Printed::of(command.output().unwrap()).out.contains("aaaaaaaaaaaa"));
    assert!(database.exists() && !project.store().join("history.db").exists());
}

#[test]
fn colours_can_be_asked_for_and_refused() {
    let project = Project::with_runs();
    assert!(project.history(&["--color", "always"]).out.contains("\u{1b}[32mpassed"));
    let forced = |arguments: &[&str]| {
        let output = project.command(arguments).env("CLICOLOR_FORCE", "1").output().unwrap();
        Printed::of(output).out
    };
    assert!(forced(&[]).contains('\u{1b}') && !forced(&["--color", "never"]).contains('\u{1b}'));
}
