//! `cargo cobalt run --rerun-failed` and `--changed`: which items are rerun, and the output.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::git::git;
use crate::project::{ProgramOutput, Project};

/// The items of the latest run, and whether it was partial.
fn newest(project: &Project) -> (Vec<String>, bool) {
    let files = fs::read_dir(project.path(".cobalt/results")).unwrap().flatten();
    let report =
        |file: fs::DirEntry| serde_json::from_slice::<Value>(&fs::read(file.path()).unwrap()).unwrap();
    let newest = files.map(report).max_by_key(|report| report["timestamp"].to_string()).unwrap();
    let items = newest["items"].as_array().unwrap().iter();
    let keys = items.map(|item| item["key"].as_str().unwrap().to_owned()).collect();
    (keys, newest["partial"] == true)
}

/// Runs the experiment `strict` with these flags; returns the items that were run, if any.
fn runs(project: &Project, flags: &[&str]) -> (Option<Vec<String>>, ProgramOutput) {
    let before = project.results().len();
    let said = project.cobalt(&[&["run", "--filter", "strict"], flags].concat(), 0);
    ((project.results().len() > before).then(|| newest(project).0), said)
}

fn some(keys: &[&str]) -> Option<Vec<String>> {
    Some(keys.iter().map(|&key| key.to_owned()).collect())
}

#[test]
fn what_failed_last_time_is_run_again_until_it_passes() {
    let project = Project::steered();
    project.answers(&[("paris", "Paris"), ("rome", "Paris"), ("oslo", "error")]);
    let (items, said) = runs(&project, &["--rerun-failed"]);
    assert_eq!(items, some(&["paris", "rome", "oslo"]), "no earlier run");
    said.stderr_has("(all, because there is no earlier run)");

    project.answers(&[("paris", "Paris"), ("rome", "Rome"), ("oslo", "error")]);
    let (items, said) = runs(&project, &["--rerun-failed"]);
    assert_eq!(items, some(&["rome", "oslo"]));
    assert!(newest(&project).1, "a run of selected items is partial");
    said.stderr_has("partial run (2 failed last time)").stdout_has("strict: FAILED, 1 item in error");

    let (items, _) = runs(&project, &["--rerun-failed", "--", "strict::rome"]);
    assert_eq!(items, None, "`rome` has passed since");
    project.answers(&[("paris", "Paris"), ("rome", "Rome"), ("oslo", "Oslo")]);
    assert_eq!(runs(&project, &["--rerun-failed"]).0, some(&["oslo"]));
    let (items, said) = runs(&project, &["--rerun-failed", "--ci"]);
    assert_eq!(items, None);
    said.stderr_has("strict: nothing to run: no item failed last time (run `")
        .stdout_has("Nothing to run: 1 experiment skipped.");
    project.cobalt(&["run", "--rerun-failed", "--changed"], 2).stderr_has("cannot be used with");
}

#[test]
fn what_has_changed_is_run_again_and_everything_where_a_source_has() {
    let project = Project::steered();
    let (items, _) = runs(&project, &["--changed"]);
    assert_eq!(items, some(&["paris", "rome"]));
    let (items, said) = runs(&project, &["--changed"]);
    assert_eq!(items, None);
    said.stderr_has("strict: nothing to run: nothing has changed since run `");

    project.answers(&[("paris", "Paris"), ("rome", "Paris"), ("oslo", "Oslo")]);
    let (items, said) = runs(&project, &["--changed"]);
    assert_eq!(items, some(&["rome", "oslo"]));
    said.stderr_has("partial run (1 without a result, 1 changed)");

    project.write("src/prompt.txt", "Be brief.");
    let (items, said) = runs(&project, &["--changed", "--", "strict::oslo"]);
    assert_eq!(items, some(&["oslo"]));
    said.stderr_has("(1 last run before the sources changed)");
    assert_eq!(
        runs(&project, &["--changed"]).0,
        some(&["paris", "rome"]),
        "`oslo` already has a result with the new sources"
    );
    assert_eq!(runs(&project, &["--changed"]).0, None);
    project.write("notes.md", "No source.");
    assert_eq!(runs(&project, &["--changed"]).0, None);
    let declared = project.read("tests/evals.rs");
    project.write("tests/evals.rs", &format!("{declared}// The end.\n"));
    assert_eq!(runs(&project, &["--changed"]).0, some(&["paris", "rome", "oslo"]));
    assert!(!newest(&project).1, "a run of all items is complete");
}

#[test]
fn changed_sees_files_and_variables() {
    let project = Project::steered();
    let all = some(&["paris", "rome"]);
    let runs_all = |what: &str, reason: &str| {
        let (items, said) = runs(&project, &["--changed"]);
        assert_eq!(items, all, "{what}");
        said.stderr_has(reason);
        assert_eq!(runs(&project, &["--changed"]).0, None, "{what}, again");
    };
    project.write("prompts/system.txt", "Be brief.");
    assert_eq!(runs(&project, &["--changed"]).0, all);
    assert_eq!(runs(&project, &["--changed"]).0, None);
    let files = "last run before files of the package changed";
    project.write("prompts/system.txt", "Be long.");
    runs_all("a prompt", files);
    fs::rename(project.path("prompts/system.txt"), project.path("prompts/desk.txt")).unwrap();
    runs_all("a renamed prompt", files);
    fs::remove_file(project.path("prompts/desk.txt")).unwrap();
    runs_all("a deleted prompt", files);
    #[cfg(unix)]
    {
        let outside = Project::empty();
        outside.write("shared.txt", "one");
        std::os::unix::fs::symlink(outside.path("shared.txt"), project.path("linked.txt")).unwrap();
        runs_all("a link", files);
        outside.write("shared.txt", "two");
        runs_all("a linked file", files);
        fs::remove_file(project.path("linked.txt")).unwrap();
        runs_all("an unlinked file", files);
    }
    for file in ["agent.log", "cassettes/notes.txt", ".cobalt/notes.txt", ".hidden"] {
        project.write(file, "Not read by the agent.");
        assert_eq!(runs(&project, &["--changed"]).0, None, "{file}");
    }

    project.write("more/tone.yaml", "kind");
    project.write(
        "cobalt.toml",
        "[changed]\nalso = [\"more\"]\nignore = [\"docs\"]\nvariables = [\"agent_tone\"]\n",
    );
    runs_all("settings that name a file", files);
    project.write("docs/page.txt", "for people");
    assert_eq!(runs(&project, &["--changed"]).0, None);
    let with = |name: &str, value: &str| {
        let before = project.results().len();
        let mut command = project.command(&["run", "--filter", "strict", "--changed"]);
        ProgramOutput::by(command.env(name, value), 0);
        project.results().len() > before
    };
    assert!(with("agent_tone", "kind") && !with("agent_tone", "kind") && with("agent_tone", "harsh"));
    assert!(with("OPENAI_BASE_URL", "http://127.0.0.1:9/v1"));
    runs_all("a variable that is unset", "last run before environment variables changed");
    project.write(".env", "TONE=kind\nAGENT_TOKEN=one\n");
    runs_all("a variable in `.env`", "last run before environment variables changed");
    project.write(".env", "TONE=kind\nAGENT_TOKEN=two\n");
    assert_eq!(runs(&project, &["--changed"]).0, None, "another key");
}

#[test]
fn changed_follows_git() {
    let project = Project::steered();
    git(&project, &["init", "--quiet"]);
    project.write(".gitignore", "/out\n.cobalt\nCargo.lock\n");
    project.write("README.md", "An agent.");
    git(&project, &["add", "--all"]);
    assert_eq!(runs(&project, &["--changed"]).0, some(&["paris", "rome"]));
    project.write("out/answers.txt", "An ignored file.");
    assert_eq!(runs(&project, &["--changed"]).0, None);
    for (file, what) in [
        ("README.md", "a tracked file"),
        ("prompts/new.txt", "an untracked one"),
        (".prompts/a.txt", "a hidden one"),
    ] {
        project.write(file, "changed");
        assert_eq!(runs(&project, &["--changed"]).0, some(&["paris", "rome"]), "{what}");
        assert_eq!(runs(&project, &["--changed"]).0, None, "{what}, again");
    }
}

/// Runs the experiment `gated`, in which half of the scores must pass.
fn gated(project: &Project, flags: &[&str], code: i32) -> ProgramOutput {
    project.cobalt(&[&["run", "--filter", "gated"], flags].concat(), code)
}

#[test]
fn a_strict_experiment_that_failed_stays_failed_where_nothing_is_run_again() {
    let project = Project::steered();
    project.answers(&[("paris", "Paris"), ("rome", "Paris"), ("oslo", "error")]);
    project.cobalt(&["run", "--filter", "strict", "--ci"], 1);
    let said = project.cobalt(&["run", "--filter", "strict", "--changed", "--ci"], 1);
    said.stderr_has("strict: nothing to run: nothing has changed since run `")
        .stdout_has("strict: still FAILED because of earlier results: 1 item below a pass mark in run `")
        .stdout_has("` (rome); 1 item in error in run `")
        .stdout_has("` (oslo)");
    runs(&project, &["--changed"]).1.stderr_has("use --ci to fail here");
    let flags = ["run", "--filter", "strict", "--changed", "--ci", "--", "--format", "pretty"];
    project
        .cobalt(&flags, 1)
        .stderr_has("error: strict: still failing because of earlier results: 1 item below a pass mark");
    let said = project.cobalt(&["run", "--changed", "--ci", "--", "strict::paris"], 0);
    assert!(!said.stdout.contains("still FAILED"), "the selected item did not fail: {said:?}");

    project.answers(&[("paris", "Paris"), ("rome", "Rome"), ("oslo", "error")]);
    let said = project.cobalt(&["run", "--filter", "strict", "--changed", "--ci"], 1);
    said.stdout_has("strict: passed, 1 of 1 item passed, partial run")
        .stdout_has("strict: still FAILED because of earlier results: 1 item in error in run `");
    project.answers(&[("paris", "Paris"), ("rome", "Rome"), ("oslo", "Oslo")]);
    project.cobalt(&["run", "--filter", "strict", "--changed", "--ci"], 0);
    project.cobalt(&["run", "--filter", "strict", "--changed", "--ci"], 0).stderr_has("nothing to run");
}

#[test]
fn a_threshold_that_did_not_pass_stays_so_until_all_items_are_run() {
    let project = Project::steered();
    project.answers(&[("paris", "Paris"), ("rome", "Paris"), ("oslo", "Paris")]);
    gated(&project, &["--ci"], 1)
        .stdout_has("gated: FAILED")
        .stdout_has("3, 2 trials each, 1 at pass marks, 2 below");
    gated(&project, &["--rerun-failed", "--ci"], 1)
        .stdout_has("gated: not evaluated, partial run")
        .stdout_has("2, 2 trials each, 0 at pass marks, 2 below")
        .stdout_has(
            "gated: still FAILED because of earlier results: `right.pass_rate>=0.5` did not pass in run `",
        );
    let partial = project.newest_result();
    assert_eq!((&partial["passed"], &partial["verdict"]), (&false.into(), &"notEvaluated".into()));
    assert_eq!((&partial["summary"]["passedItems"], &partial["summary"]["lowItems"]), (&0.into(), &2.into()));
    gated(&project, &["--changed", "--ci"], 1).stderr_has("nothing has changed").stdout_has("still FAILED");

    project.answers(&[("paris", "Paris"), ("rome", "Rome"), ("oslo", "Paris")]);
    gated(&project, &["--rerun-failed", "--ci"], 1)
        .stdout_has("1 at pass marks, 1 below")
        .stdout_has("still FAILED");
    gated(&project, &["--ci"], 0).stdout_has("gated: passed, 1 threshold met");
    gated(&project, &["--changed", "--ci"], 0);
    let said =
        gated(&project, &["--rerun-failed", "--ci"], 0).stdout_has("gated: not evaluated, partial run");
    assert!(!said.stdout.contains("still FAILED"), "{said:?}");
}

#[test]
fn another_bound_makes_no_threshold_pass_until_all_items_are_run() {
    let project = Project::steered();
    project.answers(&[("paris", "Paris"), ("rome", "Paris"), ("oslo", "Paris")]);
    project.write("cobalt.toml", "thresholds = [\"right.pass_rate >= 0.5\"]\n");
    project.cobalt(&["run", "--filter", "strict", "--ci"], 1);
    project.write("cobalt.toml", "thresholds = [\"right.pass_rate >= 0.2\"]\n");
    for only in ["--changed", "--rerun-failed"] {
        let said = project.cobalt(&["run", "--filter", "strict", only, "--ci"], 1);
        said.stdout_has(
            "strict: still FAILED because of earlier results: `right.pass_rate>=0.5` did not pass in run `",
        );
    }
    project.cobalt(&["run", "--filter", "strict", "--ci"], 0);
    project.cobalt(&["run", "--filter", "strict", "--changed", "--ci"], 0);
}

/// Runs an experiment whose item `oslo` hangs, and kills it when the other two are in its journal.
fn interrupted(project: &Project, experiment: &str) {
    let mut command = project.command(&["run", "--ci", "--filter", experiment]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let journals = || fs::read_dir(project.path(".cobalt/runs")).into_iter().flatten().flatten();
    let is_kept = |file: fs::DirEntry| {
        let text = fs::read_to_string(file.path()).unwrap_or_default();
        text.lines().next().is_some_and(|header| header.contains(&format!("\"name\":\"{experiment}\"")))
            && text.matches('\n').count() == 3
    };
    let deadline = Instant::now() + Duration::from_secs(300);
    while !journals().any(is_kept) {
        assert!(
            Instant::now() < deadline && child.try_wait().unwrap().is_none(),
            "timed out, or the command exited too early"
        );
        thread::sleep(Duration::from_millis(50));
    }
    let kill = format!("kill -KILL $(ps -o pid= --ppid {})", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn what_failed_in_an_interrupted_run_fails_until_it_is_run_again() {
    let project = Project::steered();
    project.answers(&[("paris", "Paris"), ("rome", "Rome"), ("oslo", "Oslo")]);
    project.cobalt(&["run", "--ci"], 0);
    project.answers(&[("paris", "error"), ("rome", "Rome"), ("oslo", "wait")]);
    interrupted(&project, "strict");
    project.answers(&[("paris", "error"), ("rome", "Rome"), ("oslo", "Oslo")]);
    let (items, said) = runs(&project, &["--rerun-failed"]);
    assert_eq!(items, some(&["paris"]), "the failure is recorded only in the journal");
    said.stderr_has("partial run (1 failed last time)").stdout_has("strict: FAILED, 1 item in error");
    project.cobalt(&["run", "--filter", "strict", "--rerun-failed", "--ci"], 1);

    project.answers(&[("paris", "Rome"), ("rome", "Rome"), ("oslo", "wait")]);
    interrupted(&project, "gated");
    project.answers(&[("paris", "Rome"), ("rome", "Rome"), ("oslo", "Oslo")]);
    gated(&project, &["--rerun-failed", "--ci"], 1)
        .stdout_has("gated: not evaluated, partial run")
        .stdout_has("` was interrupted with")
        .stdout_has("cargo cobalt run --resume ");
    gated(&project, &["--rerun-failed", "--ci"], 1).stdout_has("` was interrupted with");
    gated(&project, &["--ci"], 0);
    gated(&project, &["--changed", "--ci"], 0);
}
