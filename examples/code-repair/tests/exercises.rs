//! What the agent solves, exactly, and that it cannot see the hidden tests.

mod agent;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use agent::hidden_tests;
use cobalt::report::Report;
use cobalt::{BoxError, Context, Dataset, Experiment, FnEvaluator, Workspace};

/// The exercises that the agent solves.
const SOLVED: [&str; 7] = ["celsius", "clamp", "discount", "first-words", "is-sorted", "median", "sum-to"];
/// Those for which it finds a change that passes the visible tests, but not the hidden ones.
const FITTED: [&str; 2] = ["largest", "leap-year"];
/// Those for which it finds none.
const UNSOLVED: [&str; 3] = ["fizz-buzz", "initials", "vowels"];

/// The name of every hidden test.
const HIDDEN: &str = "further_examples";

fn exercises() -> Dataset {
    Dataset::from_file("datasets/exercises.jsonl").unwrap()
}

fn experiment(name: &str) -> Experiment {
    Experiment::new(name, exercises()).timeout(Duration::from_secs(120)).save(false)
}

/// The keys of the items with this score of the hidden tests, and whether files were changed.
fn by_result(report: &Report) -> BTreeMap<(bool, bool), Vec<&str>> {
    let mut found: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for item in &report.items {
        let trial = item.first_trial();
        let passed = trial.evaluations.get("tests").unwrap().score.unwrap() == 1.0;
        let changes = trial.workspace.as_deref().unwrap();
        assert!(changes.files.iter().all(|file| file.path == "src/lib.rs"), "{changes:?}");
        found.entry((passed, changes.file_count() > 0)).or_default().push(&item.key);
    }
    found.values_mut().for_each(|keys| keys.sort_unstable());
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_solves_seven_of_twelve_and_fits_two_to_the_visible_tests() {
    let report = experiment("exercises")
        .workspace("fixtures/{{id}}")
        .evaluator(hidden_tests())
        .run(|context: Context| agent::run(&context))
        .await
        .unwrap();
    let expected = [
        ((true, true), SOLVED.to_vec()),
        ((false, true), FITTED.to_vec()),
        ((false, false), UNSOLVED.to_vec()),
    ];
    assert_eq!(by_result(&report), BTreeMap::from(expected));
    assert_eq!(report.summary.total_items, 12);
    let sum_to = report.items[0].first_trial();
    assert_eq!(sum_to.output.as_ref().unwrap().value(), "changed `..` to `..=` in line 3");
    let patch = &sum_to.workspace.as_deref().unwrap().patch;
    assert!(patch.contains("-    (1..n).sum()\n+    (1..=n).sum()\n"), "{patch}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_does_nothing_solves_none() {
    let report = experiment("idle")
        .workspace("fixtures/{{id}}")
        .evaluator(hidden_tests())
        .run(|_: Context| "done")
        .await
        .unwrap();
    assert_eq!(by_result(&report).keys().collect::<Vec<_>>(), [&(false, false)]);
    for item in &report.items {
        let reason = item.first_trial().evaluations.get("tests").unwrap().reason.as_deref().unwrap();
        assert!(reason.contains(HIDDEN) && reason.contains("panicked"), "{}: {reason}", item.key);
    }
}

/// Whether a file in a folder contains the name of the hidden tests.
fn contains_hidden(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).any(|path| match path.is_dir() {
        true => contains_hidden(&path),
        false => fs::read(&path).is_ok_and(|text| String::from_utf8_lossy(&text).contains(HIDDEN)),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_cannot_see_the_hidden_tests_in_its_folder() {
    let agent = |context: Context| {
        assert!(context.dir().join("tests/visible.rs").exists());
        assert!(!context.dir().starts_with(env!("CARGO_MANIFEST_DIR")));
        contains_hidden(context.dir())
    };
    let report = experiment("curious")
        .workspace("fixtures/{{id}}")
        .evaluator(hidden_tests())
        .evaluator(FnEvaluator::new("unseen", |cx: &cobalt::EvalContext| cx.output() == false))
        .run(move |context: Context| cobalt::Json(agent(context)))
        .await
        .unwrap();
    assert_eq!(report.summary.scores["unseen"].min, 1.0);
    assert!(contains_hidden(&Path::new(env!("CARGO_MANIFEST_DIR")).join("hidden")));
}

/// The sandbox of the documentation: the system is readable, only the workspace is writable, and there is no network.
fn sandboxed() -> Workspace {
    let home = std::env::var("HOME").unwrap_or_default();
    let folder =
        |variable: &str, name: &str| std::env::var(variable).unwrap_or_else(|_| format!("{home}/{name}"));
    let (cargo, rustup) = (folder("CARGO_HOME", ".cargo"), folder("RUSTUP_HOME", ".rustup"));
    Workspace::folder("fixtures/{{id}}").sandbox([
        "bwrap",
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--tmpfs",
        "/tmp",
        "--ro-bind",
        "/usr",
        "/usr",
        "--ro-bind",
        "/etc",
        "/etc",
        "--symlink",
        "usr/bin",
        "/bin",
        "--symlink",
        "usr/lib",
        "/lib",
        "--symlink",
        "usr/lib64",
        "/lib64",
        "--ro-bind",
        &cargo,
        &cargo,
        "--ro-bind",
        &rustup,
        &rustup,
        "--bind",
        "{{dir}}",
        "{{dir}}",
        "--chdir",
        "{{dir}}",
    ])
}

/// Whether bubblewrap is installed and allowed to create namespaces.
fn has_bubblewrap() -> bool {
    let mut probe = Command::new("bwrap");
    probe.args(["--unshare-all", "--ro-bind", "/", "/", "true"]);
    probe.output().is_ok_and(|output| output.status.success())
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_sandbox_the_hidden_tests_cannot_be_read_anywhere_and_exercises_are_solved() {
    if !has_bubblewrap() {
        println!("skipped: bubblewrap is not installed, or not allowed to create namespaces");
        return;
    }
    let hidden = concat!(env!("CARGO_MANIFEST_DIR"), "/hidden/sum-to/tests/hidden.rs");
    let agent = move |context: Context| -> Result<cobalt::Output, BoxError> {
        let read = context.command("cat").arg(hidden).output()?;
        assert!(!read.status.success(), "{}", String::from_utf8_lossy(&read.stdout));
        let outside = Path::new(env!("CARGO_MANIFEST_DIR")).join("written-by-the-agent");
        assert!(!context.command("touch").arg(&outside).status()?.success() && !outside.exists());
        agent::run(&context)
    };
    let report = Experiment::new("sandboxed", exercises().filter(|item| item["id"] == "sum-to"))
        .workspace(sandboxed())
        .evaluator(hidden_tests())
        .save(false)
        .run(agent)
        .await
        .unwrap();
    let trial = report.items[0].first_trial();
    assert!(report.items[0].passed, "{:?} {:?}", trial.error, trial.evaluations);
}
