//! Workspaces in real test binaries: evaluators from `cobalt.toml`, kept folders, scoring again, and nothing left behind.

use std::fs;
use std::path::Path;
use std::process::Command;

use cobalt::report::{FileChange, ItemResult, Status};
use serde_json::{Value, json};

use crate::programs::assert_gone;
use crate::sandbox::{Program, Sandbox, fixture};

const SETTINGS: &str = r#"
[[evaluators]]
type = "command-succeeds"
name = "right"
command = ["sh", "check.sh"]
files = "hidden"

[[evaluators]]
type = "touched-only"
name = "scope"
paths = ["*.txt"]

[[evaluators]]
type = "patch-size"
name = "small"
max-lines = 2

[[evaluators]]
type = "files"
name = "kept"
exist = ["a.txt"]
contain = { "a.txt" = "{{contains}}" }
"#;

/// A package with a fixture per item. The hidden check wants `right` in `a.txt`.
fn package(items: &[Value]) -> Sandbox {
    let sandbox = Sandbox::with_items(items.iter().cloned());
    sandbox.write("cobalt.toml", SETTINGS);
    sandbox.write("hidden/check.sh", "grep -q right a.txt\n");
    for item in items {
        sandbox.write(&format!("fixtures/{}/a.txt", item["id"].as_str().unwrap()), "wrong\n");
    }
    fs::create_dir(sandbox.path("tmp")).unwrap();
    sandbox
}

fn item(id: &str, writes: Value) -> Value {
    json!({ "id": id, "writes": writes, "answer": "done", "contains": "r" })
}

fn items() -> [Value; 2] {
    [item("good", json!({ "a.txt": "right\n" })), item("bad", json!({ "b.rs": "1\n2\n3\n4\n" }))]
}

/// The program with a folder of its own for temporary files.
fn worked(sandbox: &Sandbox) -> Program {
    sandbox.program(fixture!("worked")).env("TMPDIR", sandbox.path("tmp").display())
}

#[track_caller]
fn assert_nothing_is_left(sandbox: &Sandbox) {
    let left: Vec<_> =
        fs::read_dir(sandbox.path("tmp")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let folders: Vec<_> = left.iter().filter(|path| path.is_dir()).collect();
    assert!(folders.is_empty(), "{folders:?}");
}

fn score(item: &ItemResult, evaluator: &str) -> Option<f64> {
    item.first_trial().evaluations.get(evaluator).unwrap().score
}

fn scores(item: &ItemResult) -> [Option<f64>; 4] {
    ["right", "scope", "small", "kept"].map(|evaluator| score(item, evaluator))
}

#[test]
fn evaluators_of_the_file_score_the_workspace_and_nothing_is_left() {
    let sandbox = package(&items());
    let finished = worked(&sandbox).run().code(101);
    let explained = "workspace: 1 file changed, +4 −0: b.rs";
    assert!(finished.stdout.contains(explained), "{finished}");
    let report = sandbox.report();
    assert_eq!(scores(&report.items[0]), [Some(1.0); 4]);
    assert_eq!(scores(&report.items[1]), [Some(0.0), Some(0.0), Some(0.5), Some(1.0)]);
    let changes = report.items[1].first_trial().workspace.as_deref().unwrap();
    let files: Vec<_> = changes.files.iter().map(|file| (&*file.path, file.change)).collect();
    assert_eq!(files, [("b.rs", FileChange::Added)]);
    assert_nothing_is_left(&sandbox);
    assert!(!sandbox.path(".cobalt/workspaces").exists());
    assert_eq!(fs::read_to_string(sandbox.path("fixtures/good/a.txt")).unwrap(), "wrong\n");
}

#[test]
fn workspaces_are_kept_on_request() {
    for (which, kept) in
        [("failed", &["bad-1", "bad-2"][..]), ("all", &["bad-1", "bad-2", "good-1", "good-2"])]
    {
        let sandbox = package(&items());
        let finished =
            worked(&sandbox).env("E2E_RUNS", 2).env("COBALT_KEEP_WORKSPACES", which).run().code(101);
        let report = sandbox.report();
        let folder = sandbox.path(&format!(".cobalt/workspaces/{}", report.id));
        let mut names: Vec<_> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, kept);
        assert_eq!(fs::read_to_string(folder.join("bad-1/b.rs")).unwrap(), "1\n2\n3\n4\n");
        assert_eq!(fs::read_to_string(sandbox.path(".cobalt/workspaces/.gitignore")).unwrap(), "*\n");
        let said = format!("kept    {} workspaces in .cobalt/workspaces/{}", kept.len(), report.id);
        finished.says(&[&said]);
        let changes = report.items[1].runs[1].workspace.as_deref().unwrap();
        assert_eq!(changes.kept, Some(format!(".cobalt/workspaces/{}/bad-2", report.id)));
        assert_nothing_is_left(&sandbox);
    }
    let sandbox = package(&items());
    let wrong = worked(&sandbox).env("COBALT_KEEP_WORKSPACES", "some").run();
    wrong.stderr_has(&["COBALT_KEEP_WORKSPACES", "`failed`, `all` or `none`"]);
}

#[test]
fn stored_changes_are_scored_again_and_what_needs_the_folder_keeps_its_scores() {
    let sandbox = package(&items());
    worked(&sandbox).run().code(101);
    let first = sandbox.report();
    let settings = SETTINGS.replace("max-lines = 2", "max-lines = 4").replace("*.txt", "*.rs");
    sandbox.write(
        "cobalt.toml",
        &settings.replace("command-succeeds\"", "command-succeeds\"\nenv = { A = \"1\" }"),
    );
    let finished = worked(&sandbox).env("COBALT_SCORE", &first.id).run();
    let finished = finished
        .stderr_has(&["evaluator `right` was not run, because it reads the folder that the agent changed"]);
    let report = sandbox.reports().into_iter().find(|report| report.id != first.id).expect("a second run");
    assert_eq!(scores(&report.items[0]), [Some(1.0), Some(0.0), Some(1.0), Some(1.0)], "{finished}");
    assert_eq!(scores(&report.items[1]), [Some(0.0), Some(1.0), Some(1.0), Some(1.0)], "{finished}");
    assert_eq!(report.items[1].runs, {
        let mut runs = first.items[1].runs.clone();
        runs[0].evaluations = report.items[1].runs[0].evaluations.clone();
        runs
    });
}

#[test]
fn nothing_is_left_of_agents_that_fail_hang_or_are_interrupted() {
    let acts = ["fail", "panic", "hang", "block"].map(|act| {
        let mut item = item(act, json!({ "a.txt": "half\n" }));
        item["act"] = json!(act);
        item
    });
    let sandbox = package(&acts[..3]);
    worked(&sandbox).env("E2E_TIMEOUT_MS", 300).run().code(101);
    let report = sandbox.report();
    let statuses: Vec<_> = report.items.iter().map(ItemResult::status).collect();
    assert_eq!(statuses, [Status::Error, Status::Error, Status::Timeout]);
    for item in &report.items {
        assert_eq!(item.first_trial().workspace.as_deref().unwrap().added_lines, 1);
    }
    assert_nothing_is_left(&sandbox);

    let sandbox = package(&acts[2..]);
    let running = sandbox.start_until(worked(&sandbox), || sandbox.starts().len() == 2);
    running.signal("INT");
    running.finish().code(130);
    assert_nothing_is_left(&sandbox);
}

/// Writes the IDs of three processes: of a shell, of its child, and of a child in a session of its own.
const WITH_CHILDREN: &str = "exec > /dev/null 2>&1; echo $$ >> $PIDS; sleep 60 & echo $! >> $PIDS; \
                             setsid sh -c 'echo $$ >> $PIDS; cd /; exec sleep 60' & \
                             while [ $(wc -l < $PIDS) -lt COUNT ]; do sleep 0.1; done";

/// A package with an item per ending of its program, and the number of processes.
fn package_with_programs(endings: &[&str]) -> (Sandbox, usize) {
    let count = 3 * endings.len();
    let script = WITH_CHILDREN.replace("COUNT", &count.to_string());
    let items: Vec<_> = endings
        .iter()
        .map(|ending| {
            let mut item = item(ending.split(' ').next().unwrap(), json!({ "a.txt": "right\n" }));
            item["program"] = json!(format!("{script}; {ending}"));
            item
        })
        .collect();
    (package(&items), count)
}

fn with_pids(sandbox: &Sandbox) -> Program {
    worked(sandbox).env("PIDS", sandbox.path("pids").display())
}

#[test]
fn programs_end_with_their_item() {
    // They hang, leave the others behind, and ignore the request to end.
    let endings = ["wait", "exit", "trap '' TERM; while :; do sleep 0.1; done"];
    for kind in ["E2E_PLAIN", "E2E_ASYNC"] {
        let (sandbox, count) = package_with_programs(&endings);
        with_pids(&sandbox).env(kind, 1).env("E2E_TIMEOUT_MS", 10_000).run().code(101);
        let statuses: Vec<_> = sandbox.report().items.iter().map(ItemResult::status).collect();
        assert_eq!(statuses, [Status::Timeout, Status::Ok, Status::Timeout]);
        assert_gone(&sandbox, count);
        assert_nothing_is_left(&sandbox);
    }
}

#[test]
fn programs_end_with_their_process() {
    for signal in ["INT", "TERM", "KILL"] {
        let (sandbox, count) = package_with_programs(&["wait"]);
        let pids = || fs::read_to_string(sandbox.path("pids")).unwrap_or_default().lines().count();
        let running = sandbox.start_until(with_pids(&sandbox), || pids() == count);
        running.signal(signal);
        running.finish();
        assert_gone(&sandbox, count);
    }
}

/// A program that leaves 300 folders in each other, and one that leaves a sparse file of 50 GB.
#[test]
fn extreme_files_are_errors_of_their_items() {
    let deep = "for _ in 1 2 3; do p=$(seq -f d%.0f -s / 100); mkdir -p $p; cd -P $p; done";
    let huge = "printf text > huge; truncate -s 50G huge";
    let items =
        [("deep", deep), ("huge", huge), ("fine", "mkfifo pipe; ln -s . loop")].map(|(id, script)| {
            let mut item = item(id, json!({ "a.txt": "right\n" }));
            item["program"] = json!(script);
            item
        });
    let sandbox = package(&items);
    worked(&sandbox).run().code(101);
    let report = sandbox.report();
    let error = |index: usize| report.items[index].error().unwrap_or_default().to_owned();
    let start = "failed to compare the workspace with its original: ";
    assert!(error(0).starts_with(&format!("{start}folder `d1/d2/")), "{}", error(0));
    assert!(
        error(1).starts_with(&format!("{start}the files of the workspace exceed 16 GiB")),
        "{}",
        error(1)
    );
    assert_eq!(score(&report.items[2], "right"), Some(1.0));
    assert_nothing_is_left(&sandbox);
}

#[test]
fn a_missing_fixture_is_an_error_before_the_agent_is_called() {
    let sandbox = package(&items());
    fs::remove_dir_all(sandbox.path("fixtures/bad")).unwrap();
    let finished = worked(&sandbox).run();
    assert!(sandbox.calls().is_empty());
    let said = format!("{}{}", finished.stdout, finished.stderr);
    assert!(said.contains("item `bad`") && said.contains("does not exist; create it"), "{said}");
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]).args(arguments);
    let output = command.current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_workspace_is_a_commit_of_a_repository() {
    let sandbox = package(&[]);
    let origin = sandbox.path("origin");
    fs::create_dir(&origin).unwrap();
    git(&origin, &["init", "--quiet"]);
    let commits = ["wrong\n", "right\n"].map(|text| {
        fs::write(origin.join("a.txt"), text).unwrap();
        git(&origin, &["add", "."]);
        git(&origin, &["commit", "--quiet", "--message", "next"]);
        git(&origin, &["rev-parse", "HEAD"])
    });
    let item = |id: &str, commit: &str| {
        let mut item = item(id, json!({ "c.txt": "1\n" }));
        item["commit"] = json!(commit);
        item
    };
    sandbox.write_items([
        item("before", &commits[0]),
        item("after", &commits[1]),
        item("unknown", &"0".repeat(40)),
    ]);
    worked(&sandbox).env("E2E_GIT", 1).run().code(101);
    let report = sandbox.report();
    assert_eq!(score(&report.items[0], "right"), Some(0.0));
    assert_eq!(score(&report.items[1], "right"), Some(1.0));
    let changes = report.items[1].first_trial().workspace.as_deref().unwrap();
    assert_eq!(changes.files.len(), 1, "{changes:?}");
    let error = report.items[2].error().unwrap();
    assert!(error.starts_with("failed to prepare the workspace: failed to fetch commit 000000"), "{error}");
    assert_nothing_is_left(&sandbox);
}

#[test]
fn an_item_whose_fixture_changed_is_out_of_date() {
    let sandbox = package(&items());
    let changed = || worked(&sandbox).env("COBALT_ONLY", "changed").env("COBALT_SOURCES", "one");
    let called = |program: Program| {
        sandbox.forget_calls();
        program.run();
        sandbox.starts().into_keys().collect::<Vec<_>>()
    };
    assert_eq!(called(changed()).len(), 2);
    assert_eq!(called(changed()), [""; 0]);
    sandbox.write("fixtures/good/notes/b.py", "1\n");
    assert_eq!(called(changed()), ["good"]);
    sandbox.write("fixtures/good/target/built", "ignored");
    assert_eq!(called(changed()), [""; 0]);
}
