//! `cargo cobalt clean` on folders with runs and cached responses: what is deleted, what is kept, and its output.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use cobalt::Report;
use cobalt_core::report::{Measurements, RunConfig, Timestamp};
use cobalt_core::store::result_file_name;
use tempfile::TempDir;

use crate::command::{COBALT, program};
use crate::project::ProgramOutput;
use crate::snapshot::assert_printed;
use crate::stored_runs::{DAY, package, report};

/// A package with a store.
struct Project(TempDir);

impl Project {
    fn new() -> Self {
        Self(package())
    }

    /// Four runs of `desk`, of which that of the third day is partial, and one of `intent`.
    fn with_runs() -> Self {
        let project = Self::new();
        for (id, name, days, partial) in [
            ("aaaaaaaaaaaa", "desk", 1, false),
            ("bbbbbbbbbbbb", "desk", 2, false),
            ("cccccccccccc", "desk", 3, true),
            ("dddddddddddd", "desk", 40, false),
            ("eeeeeeeeeeee", "intent", 50, false),
        ] {
            project.run(id, name, days, partial);
        }
        project
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(".cobalt").join(path)
    }

    fn write(&self, path: &str, text: &str, days_ago: u32) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let file = File::options().append(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - DAY * days_ago - Duration::from_secs(60)).unwrap();
        path
    }

    fn run(&self, id: &str, name: &str, days_ago: u32, partial: bool) -> Report {
        let report = Report { partial, ..report(id, name, days_ago) };
        let file = format!("results/{}", result_file_name(&report));
        // As in a copied folder: all files are new.
        self.write(&file, &report.to_json().unwrap(), 0);
        report
    }

    /// A journal last written this many days ago.
    fn journal(&self, id: &str, name: &str, days_ago: u32) -> PathBuf {
        let start = Timestamp::from(SystemTime::now() - DAY * days_ago);
        let header = serde_json::json!({
            "journal": 1, "id": id, "name": name, "timestamp": start, "tags": [], "config": RunConfig::default(),
            "dataset": { "source": "inline", "items": 1, "hash": "" }, "definition": "",
        });
        self.write(&format!("runs/{id}.jsonl"), &format!("{header}\n"), days_ago)
    }

    /// A cached response written this many days ago.
    fn answer(&self, digit: char, days_ago: u32) -> PathBuf {
        let digits = digit.to_string();
        self.write(&format!("cache/{}/{}", digits.repeat(2), digits.repeat(62)), "cobalt-answer 1", days_ago)
    }

    fn clean(&self, arguments: &[&str], code: i32) -> ProgramOutput {
        let mut command = program(COBALT, self.0.path());
        command.args(["cobalt", "clean"]).args(arguments).stdin(Stdio::null());
        ProgramOutput::by(&mut command, code)
    }

    /// The first letters of the remaining run IDs.
    fn left(&self) -> String {
        let files = fs::read_dir(self.path("results")).unwrap().flatten();
        let id = |name: String| Some(name.strip_suffix(".json")?.rsplit_once('_')?.1[..1].to_owned());
        let mut left: Vec<_> = files.filter_map(|file| id(file.file_name().into_string().unwrap())).collect();
        left.sort();
        left.concat()
    }
}

#[test]
fn without_yes_it_lists_and_removes_nothing() {
    let project = Project::with_runs();
    project.answer('a', 1);
    project.journal("ffffffffffff", "desk", 1);
    let said = project.clean(&[], 0);
    assert_printed!(said);
    let rows: Vec<Vec<_>> = said.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0].join(" "), "what files size oldest (UTC) newest (UTC)");
    let starts: Vec<_> = rows[1..].iter().map(|row| row[..2].join(" ")).collect();
    assert_eq!(starts, ["results 5", "journals 1", "cached responses"]);
    assert_printed!(project.clean(&["--results", "--cache"], 0));
    let said = project.clean(&["--results", "--files"], 0);
    assert!(said.stdout.contains("_intent_eeeeeeeeeeee.json"), "{}", said.stdout);
    assert_eq!(project.left(), "abcde");
    assert_printed!(Project::new().clean(&[], 0));
}

#[test]
fn arguments_that_make_no_sense_are_a_usage_error() {
    let project = Project::with_runs();
    for arguments in [
        &["--yes"][..],
        &["--results", "--days", "0"],
        &["--results", "--keep", "0"],
        &["--results", "--days", "-1"],
        &["--results", "--days", "1.5"],
        &["--cache", "--keep", "1"],
        &["--datasets", "--keep", "1"],
        &["--result"],
        &["everything"],
    ] {
        project.clean(&[arguments, &["--yes"][..usize::from(arguments != ["--yes"])]].concat(), 2);
    }
    assert_eq!(project.left(), "abcde");
}

#[test]
fn what_is_old_goes_and_the_index_knows() {
    let project = Project::with_runs();
    assert_printed!(project.clean(&["--results", "--days", "30", "--yes"], 0));
    assert_eq!(project.left(), "abc");
    let mut history = program(COBALT, project.0.path());
    let said = ProgramOutput::by(history.args(["cobalt", "history", "--json"]), 0);
    assert!(said.stdout.contains("bbbbbbbbbbbb") && !said.stdout.contains("dddddddddddd"));
    assert_printed!(project.clean(&["--results", "--days", "99999999999", "--yes"], 0));
    assert_printed!(project.clean(&["--results", "--force"], 0));
    assert_eq!(project.left(), "");
}

#[test]
fn the_newest_whole_runs_of_each_experiment_stay_and_what_is_newer() {
    let project = Project::with_runs();
    let (newer, older) =
        (project.journal("111111111111", "desk", 1), project.journal("222222222222", "desk", 3));
    let report = project.write("reports/junit.xml", "", 1);
    assert_printed!(project.clean(&["--results", "--keep", "2", "--yes"], 0));
    assert_eq!(project.left(), "abe", "the partial run is older than the second newest complete one");
    assert!(newer.exists() && !older.exists() && report.exists());

    let project = Project::with_runs();
    assert_printed!(project.clean(&["--results", "--keep", "3", "--yes"], 0));
    assert_printed!(project.clean(&["--results", "--keep", "1", "--days", "10", "--yes"], 0));
    assert_eq!(project.left(), "abce", "newer runs are kept, too");
}

#[test]
fn a_run_that_is_going_on_and_what_is_not_ours_stay() {
    let project = Project::with_runs();
    let (going_on, cut_off) =
        (project.journal("111111111111", "desk", 5), project.journal("222222222222", "desk", 5));
    let lock = File::open(&going_on).unwrap();
    lock.lock().unwrap();
    let mut stay = vec![going_on];
    for file in [
        "results/notes.json",
        "results/2026-02-05T14-30-00_desk_999999999999.json",
        "results/2026-02-05T14-30-00_desk_999999999999.json.bak",
        "runs/notes.txt",
        "runs/333333333333.jsonl",
        "reports/mine.html",
        "cache/notes.txt",
        "cache/aa/notes.txt",
        "baselines/desk.json",
        "mine.txt",
    ] {
        stay.push(project.write(file, "{\"mine\": 1}\n", 90));
    }
    let left_behind = project.write("results/.999999999999.tmp", "{", 2);
    let being_written = project.write("results/.888888888888.tmp", "{", 0);
    let report = project.write("reports/report.html", "", 90);
    let said = project.clean(&["--results", "--cache", "--yes"], 0);
    assert_printed!(said);
    for file in stay.iter().chain([&being_written]) {
        assert!(file.exists(), "{}", file.display());
    }
    assert!(!cut_off.exists() && !report.exists() && !left_behind.exists());
    assert_eq!(project.left(), "9");
}

#[test]
fn a_baseline_stays_though_its_run_goes() {
    let project = Project::with_runs();
    let report = project.run("ffffffffffff", "gated", 4, false);
    let baseline = serde_json::to_string(&Measurements::from_report(
        &report,
        &cobalt_core::prices::PriceTable::default(),
    ));
    let file = project.write("baselines/gated.json", &baseline.unwrap(), 4);
    let said = project.clean(&["--results", "--yes"], 0);
    assert_printed!(said);
    assert!(file.exists());
}

#[test]
fn answers_go_that_are_old_or_too_old_to_be_used() {
    let project = Project::with_runs();
    let answers = ['a', 'b', 'c'].map(|digit| project.answer(digit, u32::from(digit) - u32::from('a')));
    let expired = project.answer('d', 8);
    assert_printed!(project.clean(&["--cache", "--days", "1", "--yes"], 0));
    assert_eq!(
        [&answers[0], &answers[1], &answers[2], &expired].map(|path| path.exists()),
        [true, false, false, false]
    );
    assert!(!expired.parent().unwrap().exists(), "an empty folder is deleted with its last response");
    project.answer('d', 8);
    assert_printed!(project.clean(&["--cache", "--days", "30", "--yes"], 0));
    assert_printed!(project.clean(&["--cache", "--yes"], 0));
    assert_eq!(project.left(), "abcde");
}

#[test]
#[cfg(unix)]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;

    let (project, elsewhere) = (Project::new(), Project::with_runs());
    elsewhere.answer('a', 1);
    fs::create_dir_all(project.path("cache")).unwrap();
    symlink(elsewhere.path("results"), project.path("results")).unwrap();
    symlink(elsewhere.path("cache/aa"), project.path("cache/aa")).unwrap();
    assert_printed!(project.clean(&["--results", "--cache", "--yes"], 0));
    assert_eq!(elsewhere.left(), "abcde");

    fs::remove_file(project.path("results")).unwrap();
    fs::create_dir(project.path("results")).unwrap();
    let run = fs::read_dir(elsewhere.path("results")).unwrap().flatten().next().unwrap().path();
    symlink(&run, project.path("results").join(run.file_name().unwrap())).unwrap();
    assert_printed!(project.clean(&["--results", "--cache", "--yes"], 0));
    assert!(elsewhere.path("cache/aa").join("a".repeat(62)).exists());

    let whole = Project::new();
    symlink(elsewhere.0.path().join(".cobalt"), whole.0.path().join(".cobalt")).unwrap();
    assert_printed!(whole.clean(&["--results", "--yes"], 0));
    assert_eq!(elsewhere.left(), "abcde");
}

#[test]
#[cfg(unix)]
fn a_file_that_cannot_be_removed_is_named_and_keeps_no_other() {
    use std::os::unix::fs::PermissionsExt;

    let project = Project::with_runs();
    project.answer('a', 1);
    let folder = project.path("cache/aa");
    fs::set_permissions(&folder, PermissionsExt::from_mode(0o500)).unwrap();
    let is_bound = File::create(folder.join("probe")).and_then(|mut file| file.write_all(b"x")).is_err();
    if is_bound {
        let said = project.clean(&["--results", "--cache", "--yes"], 3);
        said.stderr_has("failed to delete `.cobalt/cache/aa/");
        assert_eq!(project.left(), "");
    } else {
        eprintln!("skipped: this user may write to any folder");
    }
    fs::set_permissions(Path::new(&folder), PermissionsExt::from_mode(0o700)).unwrap();
}

#[test]
fn copies_of_data_sets_go_by_their_age_and_what_is_locked_for_them_goes_with_them() {
    let project = Project::with_runs();
    let copy = |name: &str, days| project.write(&format!("datasets/{name}"), "{}", days);
    let (old, new) = (copy("langfuse-support-01234567.jsonl", 40), copy("langfuse-sales-89abcdef.jsonl", 1));
    let (lock, draft) = (old.with_extension("lock"), old.with_extension("0123456789abcdef.draft"));
    let notes = copy("notes.jsonl", 40);
    for file in [&lock, &draft] {
        copy(file.file_name().unwrap().to_str().unwrap(), 40);
    }
    let said = project.clean(&[], 0);
    let row = said.stdout.lines().find(|line| line.starts_with("datasets")).unwrap();
    assert!(row.trim_start_matches("datasets").trim_start().starts_with("3 "), "{row}");
    assert_printed!(project.clean(&["--datasets", "--days", "30", "--yes"], 0));
    assert!(!old.exists() && !lock.exists() && !draft.exists() && new.exists() && notes.exists());
    let (download, fresh) = (copy(".download-a1b2c3", 1), copy(".download-d4e5f6", 0));
    let going_on = File::create(new.with_extension("lock")).unwrap();
    going_on.lock().unwrap();
    assert_printed!(project.clean(&["--datasets", "--yes"], 0));
    assert!(new.exists() && !download.exists() && fresh.exists());
    drop(going_on);
    assert_printed!(project.clean(&["--datasets", "--yes"], 0));
    assert!(!new.exists() && notes.exists());
    assert_eq!(project.left(), "abcde");
}

#[test]
fn kept_workspaces_are_removed_as_whole_folders_unless_their_run_stays() {
    let project = Project::with_runs();
    let in_progress = project.journal("111111111111", "desk", 5);
    project.journal("222222222222", "desk", 0);
    let lock = File::open(&in_progress).unwrap();
    lock.lock().unwrap();
    for id in ["aaaaaaaaaaaa", "dddddddddddd", "999999999999", "111111111111", "222222222222"] {
        project.write(&format!("workspaces/{id}/item-1/src/lib.rs"), "1\n", 0);
    }
    project.write("workspaces/notes/mine", "", 0);
    let left = |project: &Project| {
        let folders =
            fs::read_dir(project.path("workspaces")).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = folders.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    };
    let said = project.clean(&["--results", "--keep", "1", "--yes"], 0);
    assert!(said.stdout.contains("workspaces"), "{}", said.stdout);
    assert_eq!(left(&project), ["111111111111", "222222222222", "aaaaaaaaaaaa", "notes"]);
    project.clean(&["--results", "--yes"], 0);
    assert_eq!(left(&project), ["111111111111", "notes"], "one is in progress");
}
