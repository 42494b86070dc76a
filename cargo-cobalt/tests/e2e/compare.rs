//! `cargo cobalt compare` on folders with result files: what it finds, how runs are named, and what it exits with.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::{COBALT, program};
use crate::project::Said;

/// How many items a run has.
const ITEMS: usize = 40;

/// A package with a store.
struct Store(TempDir);

/// A run to be kept: of the first items, so many are right.
struct Kept<'a> {
    id: &'a str,
    name: &'a str,
    day: u32,
    right: usize,
    commit: Option<&'a str>,
    partial: bool,
}

impl Default for Kept<'_> {
    fn default() -> Self {
        Self { id: "aaaaaaaaaaaa", name: "desk", day: 1, right: ITEMS, commit: None, partial: false }
    }
}

impl Store {
    fn new() -> Self {
        let store = Self(tempfile::tempdir().unwrap());
        fs::write(store.0.path().join("Cargo.toml"), "[package]\nname = \"trial\"\n\n[workspace]\n").unwrap();
        fs::create_dir_all(store.0.path().join(".cobalt/results")).unwrap();
        store
    }

    /// Two runs of `desk`, of which the newer one is far worse, and an older one of `intent`.
    fn with_a_drop() -> Self {
        let store = Self::new();
        store.keep(&Kept::default());
        store.keep(&Kept { id: "bbbbbbbbbbbb", day: 3, right: 10, ..Kept::default() });
        store.keep(&Kept { id: "cccccccccccc", name: "intent", day: 2, ..Kept::default() });
        store
    }

    fn keep(&self, run: &Kept<'_>) -> String {
        let Kept { id, name, day, right, commit, partial } = *run;
        let item = |index: usize| {
            let score = f64::from(u8::from(index < right));
            json!({
                "index": index, "key": format!("item-{index}"), "status": "ok", "passed": true, "latencyMs": 10.0,
                "input": { "id": format!("item-{index}"), "input": "what now?" },
                "output": { "output": if index < right { "this" } else { "that | `or` <not>" } },
                "evaluations": { "right": { "score": score, "reason": format!("it is worth {score}") } },
            })
        };
        let mut report = json!({
            "schema": 1, "id": id, "name": name, "timestamp": format!("2026-02-{day:02}T14:30:00.000Z"),
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["right"], "passMarks": [0.5] },
            "summary": { "totalItems": ITEMS }, "passed": true, "partial": partial,
            "items": (0..ITEMS).map(item).collect::<Vec<_>>(),
        });
        if let Some(commit) = commit {
            report["git"] = json!({ "commit": commit, "dirty": false });
        }
        let file = format!(".cobalt/results/2026-02-{day:02}T14-30-00_{name}_{id}.json");
        fs::write(self.0.path().join(&file), report.to_string()).unwrap();
        file
    }

    fn compare(&self, arguments: &[&str], code: i32) -> Said {
        Said::by(&mut self.command(arguments), code)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(COBALT, self.0.path());
        command.args(["cobalt", "compare"]).args(arguments);
        command
    }

    /// The ids of the runs that names mean together.
    fn ids(&self, names: &[&str]) -> Vec<String> {
        let said = self.compare(&[names, &["--json"]].concat(), 0);
        let json: Value = serde_json::from_str(&said.stdout).unwrap();
        let comparisons = json["comparisons"].as_array().unwrap();
        let id = |run: &Value| run["id"].as_str().unwrap()[..1].to_owned();
        let base = id(&comparisons[0]["base"]);
        std::iter::once(base).chain(comparisons.iter().map(|it| id(&it["other"]))).collect()
    }

    fn git(&self, arguments: &[&str]) -> String {
        let mut git = program("git", self.0.path());
        // As it is for somebody who has set nothing up.
        git.env("GIT_CONFIG_GLOBAL", "").env("GIT_CONFIG_NOSYSTEM", "1");
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]).args(arguments);
        Said::by(&mut git, 0).stdout.trim().to_owned()
    }
}

#[test]
fn a_drop_is_said_with_its_figures_and_the_items_that_it_comes_from() {
    let store = Store::with_a_drop();
    let said = store.compare(&["aaaa", "bbbb", "--items", "1"], 0);
    assert_eq!(said.stderr, "");
    said.says("worse in right")
        .says("1.000  0.250  -0.750")
        .says("40 items: 30 worse, 10 equal")
        .says("item-10\n    right 1.000 → 0.000")
        .says("base   this")
        .says("other  that | `or` <not>")
        .says("right 0.000: it is worth 0");
}

#[test]
fn a_run_against_itself_is_within_noise() {
    let store = Store::with_a_drop();
    let said = store.compare(&["bbbb", "bbbb", "--fail-on-regression"], 0);
    assert!(!said.stdout.contains("changed most"), "{said:?}");
    said.says("no difference seen (within noise)").says("0.250  0.250   0.000");
}

#[test]
fn a_regression_fails_where_that_is_asked_for() {
    let store = Store::with_a_drop();
    store.compare(&["aaaa", "bbbb", "--fail-on-regression"], 1).tells("worse in `right`");
    store.compare(&["bbbb", "aaaa", "--fail-on-regression"], 0).says("better in right");
    store.keep(&Kept { id: "dddddddddddd", day: 4, right: ITEMS - 1, ..Kept::default() });
    store
        .compare(&["aaaa", "dddd", "--fail-on-regression"], 0)
        .says("inconclusive in right")
        .says("would settle it");
    store
        .compare(&["aaaa", "dddd", "bbbb", "--fail-on-regression"], 1)
        .tells("bbbbbbbbbbbb against aaaaaaaaaaaa");
}

#[test]
fn a_regression_fails_though_nobody_reads_on() {
    let store = Store::with_a_drop();
    let code = |arguments: &[&str]| {
        let mut running =
            store.command(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        drop(running.stdout.take());
        running.wait().unwrap().code()
    };
    assert_eq!(code(&["aaaa", "bbbb", "--fail-on-regression"]), Some(1));
    assert_eq!(code(&["aaaa", "bbbb"]), Some(0));
}

#[test]
fn runs_are_named_by_id_by_age_by_experiment_and_by_file() {
    let store = Store::with_a_drop();
    assert_eq!(store.ids(&["latest~1", "latest"]), ["a", "b"], "of the experiment that ran last");
    assert_eq!(store.ids(&["cccccccccccc", "latest"]), ["c", "c"], "of the experiment that is told");
    assert_eq!(store.ids(&["intent@latest", "desk@latest~1", "bb"]), ["c", "a", "b"]);
    let partial = store.keep(&Kept { id: "dddddddddddd", day: 9, partial: true, ..Kept::default() });
    assert_eq!(store.ids(&["latest~1", "latest"]), ["a", "b"], "a partial run is no measure");
    assert_eq!(store.ids(&["dddd", &partial]), ["d", "d"], "but has a name");
}

#[test]
fn a_revision_means_the_newest_run_of_its_commit() {
    let store = Store::with_a_drop();
    store.git(&["init", "--quiet"]);
    store.git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
    let commit = store.git(&["rev-parse", "HEAD"]);
    store.git(&["tag", "v1"]);
    store.keep(&Kept { id: "eeeeeeeeeeee", day: 4, commit: Some(&commit), ..Kept::default() });
    store.keep(&Kept { id: "ffffffffffff", day: 5, commit: Some(&commit), ..Kept::default() });
    assert_eq!(store.ids(&["v1", "latest~1"]), ["f", "e"]);
    assert_eq!(store.ids(&[&commit[..12], "HEAD"]), ["f", "f"]);
    store.keep(&Kept {
        id: "111111111111",
        day: 6,
        name: "intent",
        commit: Some(&commit),
        ..Kept::default()
    });
    assert_eq!(store.ids(&["desk@v1", "v1"]), ["f", "f"], "of the experiment that is told");
    assert_eq!(store.ids(&["v1", "latest"]), ["1", "1"], "of the one that ran last");
    store.git(&["commit", "--quiet", "--allow-empty", "--message", "second"]);
    store.compare(&["v1", "HEAD"], 4).tells("of which there is no run");
    store.git(&["branch", "intent"]);
    store.compare(&["v1", "intent"], 4).tells("`intent@latest` is the newest run of the experiment");
}

#[test]
fn a_commit_that_git_does_not_have_is_known_by_its_runs() {
    let store = Store::with_a_drop();
    let commit = "0123456789abcdef0123456789abcdef01234567";
    store.keep(&Kept { id: "eeeeeeeeeeee", day: 4, commit: Some(commit), ..Kept::default() });
    assert_eq!(store.ids(&[commit, "0123456", "desk@0123456789"]), ["e", "e", "e"], "there is no git here");
    let other = "0123456fffffffffffffffffffffffffffffffff";
    store.keep(&Kept { id: "ffffffffffff", day: 5, commit: Some(other), ..Kept::default() });
    store.compare(&["aaaa", "0123456"], 4).tells("no run is named `0123456`");
    assert_eq!(store.ids(&["01234567", "0123456f"]), ["e", "f"]);
}

#[test]
fn a_revision_that_is_not_there_is_said_with_how_it_is_fetched() {
    let (there, here) = (Store::new(), Store::with_a_drop());
    there.git(&["init", "--quiet", "--initial-branch", "trunk"]);
    for message in ["first", "second"] {
        there.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    }
    there.git(&["branch", "feature"]);
    here.git(&["init", "--quiet"]);
    assert!(
        !here.compare(&["aaaa", "feature"], 4).stderr.contains("git fetch"),
        "there is nowhere to fetch from"
    );
    let url = format!("file://{}", there.0.path().display());
    here.git(&["remote", "add", "-t", "trunk", "origin", &url]);
    here.git(&["fetch", "--quiet", "--depth", "1", "origin"]);
    let said = here.compare(&["aaaa", "origin/feature"], 4);
    let fetch = "git fetch --unshallow --tags origin '+refs/heads/*:refs/remotes/origin/*'";
    said.tells(&format!("a revision that is not here yet comes with `{fetch}`"));
    here.git(&["fetch", "--quiet", "--unshallow", "--tags", "origin", "+refs/heads/*:refs/remotes/origin/*"]);
    here.compare(&["aaaa", "origin/feature~1"], 4).tells("of which there is no run");
    here.compare(&["aaaa", "feature"], 4).tells("there is `origin/feature`");
    here.compare(&["aaaa", "zzzz"], 4).tells("`git fetch --tags origin ");
}

#[test]
fn a_name_that_no_run_has_is_said_with_what_may_have_been_meant() {
    let store = Store::with_a_drop();
    store.compare(&["aaaa", "zzzzzz"], 4).tells("`zzzzzz`").tells("bbbbbbbbbbbb (`desk`, 2026-02-03 14:30)");
    store.compare(&["aaaa", "desc@latest"], 4).tells("did you mean `desk`?");
    store.compare(&["aaaa", "desk"], 4).tells("did you mean `desk@latest`?");
    store.compare(&["desk@latest~7", "aaaa"], 4).tells("`desk` has only 2 whole runs");
    store.compare(&["aaaa", "latest~x"], 2).tells("expected a whole number");
    store.compare(&["aaaa"], 2).tells("2 values required").tells("RUN");
    store.keep(&Kept { id: "aaaa00000000", day: 7, ..Kept::default() });
    store.compare(&["aaaa", "bbbb"], 4).tells("may mean several runs").tells("aaaa00000000 (`desk`");
    Store::new().compare(&["latest", "latest~1"], 4).tells("there is no whole run in `.cobalt/results` yet");
}

#[test]
fn a_file_that_is_no_run_is_named() {
    let store = Store::with_a_drop();
    fs::write(store.0.path().join("x.json"), "{}").unwrap();
    store
        .compare(&["aaaa", "./x.json"], 3)
        .tells("`./x.json`")
        .tells("neither a result file nor a baseline file");
}

#[test]
fn runs_without_a_common_item_are_not_compared() {
    let store = Store::with_a_drop();
    let path = store.0.path().join(store.keep(&Kept { id: "dddddddddddd", day: 4, ..Kept::default() }));
    let text = fs::read_to_string(&path).unwrap().replace("item-", "other-");
    fs::write(&path, text).unwrap();
    store.compare(&["aaaa", "dddd"], 4).tells("no item in common").tells("`item-0`").tells("`other-0`");
}

#[test]
fn json_has_all_figures_and_the_outputs() {
    let store = Store::with_a_drop();
    let said = store.compare(&["aaaa", "bbbb", "--json", "--items", "2"], 0);
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    let comparison = &json["comparisons"][0];
    assert_eq!(comparison["items"]["matched"], ITEMS);
    let right = &comparison["evaluators"][0];
    assert_eq!(
        (&right["difference"], &right["verdict"], &right["test"]),
        (&json!(-0.75), &json!("worse"), &json!("mcnemar"))
    );
    let changed = comparison["mostChanged"].as_array().unwrap();
    assert_eq!(
        (changed.len(), &changed[0]["key"], &changed[0]["change"]),
        (2, &json!("item-10"), &json!(-1.0))
    );
    assert_eq!(changed[0]["other"]["output"]["output"], "that | `or` <not>");
    assert_eq!(changed[0]["base"]["evaluations"]["right"]["reason"], "it is worth 1");
}

#[test]
fn markdown_keeps_foreign_texts_in_code() {
    let store = Store::with_a_drop();
    let said = store.compare(&["aaaa", "bbbb", "--markdown", "--items", "1"], 0);
    said.says("### `desk`: worse in `right`\n")
        .says("| `right` | 1.000 | 0.250 | -0.750 |")
        .says("| **worse** |\n")
        .says("```text\nthat | `or` <not>\n```\n");
    store.compare(&["aaaa", "bbbb", "--markdown", "--json"], 2);
}

#[test]
fn a_baseline_file_is_compared_by_its_numbers() {
    let store = Store::with_a_drop();
    let mut set = program(COBALT, store.0.path());
    Said::by(set.args(["cobalt", "baseline", "set", "aaaa"]), 0);
    assert!(Path::new(&store.0.path().join(".cobalt/baselines/desk.json")).exists());
    let said = store.compare(&[".cobalt/baselines/desk.json", "latest"], 0);
    said.says("worse in right").says("a baseline file has no outputs");
}
