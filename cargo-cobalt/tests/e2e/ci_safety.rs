//! Failures never pass in CI, with the command called as in a CI job.
//!
//! | failure | tests here | other tests |
//! |---|---|---|
//! | every item fails | [`where_every_item_fails_the_job_fails`] | `tests/e2e/verdicts.rs` |
//! | a binary crashes | [`an_experiment_that_crashes_fails_the_job_however_it_ends`], [`what_crashes_passes_in_no_report`] | `run.rs` |
//! | a score is NaN, a judge fails | [`a_judge_that_gives_no_score_fails_the_job_and_is_no_zero`] | `tests/e2e/failures.rs` |
//! | an evaluator is missing | [`a_threshold_on_what_is_not_there_fails_the_job`] | `tests/e2e/config.rs` |
//! | nothing matches | [`where_nothing_matches_the_job_fails`] | `selection.rs` |
//! | settings or data cannot be read | [`what_cannot_be_read_fails_the_job`] | `tests/e2e/{config,data}.rs` |
//! | the run hangs at the end | [`a_run_that_is_over_ends`] | `tests/e2e/failures.rs` |
//! | gates compare in the wrong direction | [`gates_compare_the_right_way_round`] | `cobalt-core/src/report/threshold/tests.rs` |
//! | tokens are dropped if one side is 0 | [`tokens_count_where_one_side_is_none`] | |
//! | filters by tag, files, unknown flags are ignored | [`what_is_typed_counts_or_is_refused`] | `selection.rs` |
//! | a long name or an unusual output loses a run | [`a_long_name_and_an_odd_output_lose_nothing`] | `tests/e2e/files.rs` |
//! | JSON with a byte order mark is refused | [`json_with_a_byte_order_mark_is_read`] | `cobalt/src/dataset/json.rs` |
//! | exit codes | [`every_command_ends_with_the_code_that_is_documented`] | `run.rs` |
//!
//! A killed run loses nothing: `tests/e2e/kill_and_resume.rs`. Items are compared by identity: `gates.rs`.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::project::{ProgramOutput, Project};

/// A package whose agent and judge fail if an item says so.
fn project(items: &[Value]) -> Project {
    let project = Project::empty();
    project.target("safety");
    project.write("tests/safety.rs", include_str!("fixture/safety.rs"));
    data(&project, items);
    project
}

fn data(project: &Project, items: &[Value]) {
    project.write("data/items.jsonl", &items.iter().map(|item| format!("{item}\n")).collect::<String>());
}

fn good() -> Value {
    json!({ "id": "good", "answer": "a", "act": "" })
}

fn acting(act: &str) -> Value {
    json!({ "id": act, "answer": "a", "act": act })
}

/// A CI job: one experiment with its gates.
fn job(project: &Project, name: &str, code: i32) -> ProgramOutput {
    project.cobalt(&["run", "--ci", "--filter", name], code)
}

#[test]
fn where_every_item_fails_the_job_fails() {
    let project = project(&[acting("error"), acting("panic")]);
    job(&project, "strict", 1).stdout_has("2 items in error");
    job(&project, "gated", 1).stdout_has("every item failed");
    assert!(project.newest_result()["summary"]["scores"].as_object().unwrap().is_empty());
    data(&project, &[good(), acting("error")]);
    job(&project, "gated", 1).stdout_has("1 item in error");
    data(&project, &[good(), acting("panic")]);
    job(&project, "gated", 1).stderr_has("the agent panicked");
}

#[test]
fn an_experiment_that_crashes_fails_the_job_however_it_ends() {
    for (act, how) in [("exit", "exit status: 3"), ("abort", "signal: 6"), ("kill", "signal: 9")] {
        let project = project(&[acting(act)]);
        job(&project, "strict", 3).stderr_has("before experiment `strict` finished").stderr_has(how);
        assert!(project.results().is_empty(), "a crashed run leaves no result file");
    }
    // A crash of one target is not hidden by the success of another.
    let project = project(&[acting("exit")]);
    project.target("early");
    project.write("tests/judge/mod.rs", include_str!("fixture/judge.rs"));
    project.write("tests/early.rs", include_str!("fixture/early.rs"));
    project
        .cobalt(&["run", "--ci", "--filter", "strict", "--filter", "thrifty"], 3)
        .stdout_has("thrifty: passed");
}

#[test]
fn what_crashes_passes_in_no_report() {
    let project = project(&[acting("exit")]);
    let reporters = ["junit=out.xml", "markdown=out.md", "pr-comment=comment.md", "html=out.html"];
    let arguments = ["run", "--ci", "--filter", "strict"].into_iter();
    let arguments: Vec<_> = arguments.chain(reporters.iter().flat_map(|it| ["--reporter", it])).collect();
    project.cobalt(&arguments, 3);
    assert!(project.read("out.xml").contains("errors=\"2\""), "{}", project.read("out.xml"));
    for page in ["out.md", "comment.md"] {
        let text = project.read(page);
        assert!(text.contains("strict") && text.contains("interrupted"), "{page}: {text}");
        assert!(!text.contains("passed"), "{page}: {text}");
    }
    assert!(project.read("out.html").contains("<title>strict failed</title>"));
}

#[test]
fn a_judge_that_gives_no_score_fails_the_job_and_is_no_zero() {
    for (grade, why) in [("nan", "the score is NaN"), ("down", "the judge cannot be reached")] {
        let project = project(&[good(), json!({ "id": "odd", "answer": "a", "act": "", "grade": grade })]);
        for name in ["strict", "gated"] {
            job(&project, name, 1).stderr_has(why);
            let report = project.newest_result();
            assert_eq!(report["summary"]["scores"]["graded"]["avg"], 1.0, "{grade}");
            assert_eq!(report["items"][1]["evaluations"]["graded"]["score"], Value::Null);
        }
    }
}

#[test]
fn a_threshold_on_what_is_not_there_fails_the_job() {
    let project = project(&[good()]);
    let with = |threshold: &str, code| {
        project.write("cobalt.toml", &format!("[ci]\nthresholds = [\"{threshold}\"]\n"));
        job(&project, "gated", code)
    };
    // Before an agent is called.
    for threshold in ["absent.avg >= 0.1", "absent.max <= 0.9"] {
        with(threshold, 3).stderr_has("is for an evaluator `absent`");
    }
    with("judge_cost.total <= 100", 1).stdout_has("nothing to measure");
}

#[test]
fn where_nothing_matches_the_job_fails() {
    let project = project(&[good()]);
    for arguments in [&["--filter", "nothing-of-this"][..], &["--", "no-such-case"], &["nowhere"]] {
        let said = project.cobalt(&[&["run", "--ci"], arguments].concat(), 4);
        assert!(said.stderr.contains("error: "), "{said:?}");
    }
    project.write("cobalt.toml", "targets = [\"evals\"]\n");
    project.cobalt(&["run", "--ci"], 4);
    assert!(project.results().is_empty());
}

#[test]
fn what_cannot_be_read_fails_the_job() {
    let project = project(&[good()]);
    let settings = [
        ("concurrency = \n", "cobalt.toml:1:"),
        ("concurency = 3\n", "did you mean `concurrency`"),
        ("[ci]\nthresholds = [\"latency.p95 >= 5s\"]\n", "cobalt.toml:2:"),
        ("[ci]\nthresholds = [\"score.mean >= 0.5\"]\n", "cobalt.toml:2:"),
    ];
    for (text, why) in settings {
        project.write("cobalt.toml", text);
        job(&project, "strict", 3).stderr_has(why);
    }
    fs::remove_file(project.path("cobalt.toml")).unwrap();
    fs::create_dir(project.path("cobalt.toml")).unwrap();
    job(&project, "strict", 3).stderr_has("cobalt.toml");
    fs::remove_dir(project.path("cobalt.toml")).unwrap();
    ProgramOutput::by(project.command(&["run", "--ci"]).env("COBALT_TIMEOUT", "soon"), 3)
        .stderr_has("COBALT_TIMEOUT");

    for text in ["{\"id\": \"torn\"\n", "[1]\n", ""] {
        project.write("data/items.jsonl", text);
        job(&project, "strict", 3).stderr_has("items.jsonl");
    }
    fs::remove_file(project.path("data/items.jsonl")).unwrap();
    job(&project, "gated", 3).stderr_has("items.jsonl");
    assert!(project.results().is_empty());
}

#[test]
fn a_run_that_is_over_ends() {
    let project = project(&[acting("linger")]);
    job(&project, "strict", 0);
    let began = Instant::now();
    job(&project, "strict", 0);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn gates_compare_the_right_way_round() {
    let mut items = vec![acting("slow")];
    items.extend((0..20).map(|number| json!({ "id": format!("fast-{number}"), "answer": "a", "act": "" })));
    let project = project(&items);
    let judged = |threshold: &str, code| {
        let prices = "[prices.priced]\ninput = 1000.0\noutput = 1000.0\n";
        project.write("cobalt.toml", &format!("{prices}[ci]\nthresholds = [\"{threshold}\"]\n"));
        let said = job(&project, "gated", code);
        assert_eq!(said.stdout.contains("MISSED"), code == 1, "{threshold}: {said:?}");
    };
    judged("latency.p99 <= 20s", 0);
    judged("latency.p99 <= 100ms", 1);
    judged("latency.max <= 100ms", 1);
    judged("latency.min >= 20s", 1);
    // 21 items of 40 tokens at 1000 USD per million.
    judged("cost.total <= 0.85", 0);
    judged("cost.total <= 0.83", 1);
    judged("tokens.total <= 840", 0);
    judged("tokens.total <= 839", 1);
    judged("right.min >= 1", 0);
    judged("right.max <= 0.5", 1);
}

#[test]
fn tokens_count_where_one_side_is_none() {
    let project = project(&[good()]);
    job(&project, "gated", 0);
    let tokens = |input: u64, output: u64| {
        let report = project.newest_result();
        assert_eq!(report["summary"]["totalTokens"], 40);
        let expected = json!({ "input": input, "output": output });
        assert_eq!(report["items"][0]["output"]["metadata"]["tokens"], expected);
    };
    tokens(40, 0);
    data(&project, &[acting("silent")]);
    job(&project, "gated", 0);
    tokens(0, 40);
}

#[test]
fn what_is_typed_counts_or_is_refused() {
    let project = project(&[good(), json!({ "id": "wrong", "answer": "a", "says": "b", "act": "" })]);
    project.cobalt(&["run", "--ci", "--filter", "exact"], 1);
    assert_eq!(project.results(), ["strict"], "`exact` is a tag");
    project.cobalt(&["run", "--ci", "--filter", "gated", "tests/safety.rs"], 0);
    project.cobalt(&["run", "--ci", "tests/other.rs"], 4);
    let commands =
        "run list history compare merge watch export import clean init update config completions man";
    for command in commands.split(' ').chain(["baseline set", "baseline show"]) {
        let words: Vec<_> = command.split(' ').chain(["--no-such-flag"]).collect();
        project.cobalt(&words, 2).stderr_has("--no-such-flag");
    }
    project.cobalt(&["run", "--ci", "--concurrency", "0"], 2);
    project.cobalt(&["run", "--ci", "--on-inconclusive", "perhaps"], 2);
    project.cobalt(&["no-such-command"], 2);
    assert_eq!(project.results().len(), 2, "rejected arguments run nothing");
}

#[test]
fn a_long_name_and_an_odd_output_lose_nothing() {
    let project = project(&[good()]);
    job(&project, "odd", 0).stdout_has("1 of 1 item passed");
    let report = project.newest_result();
    assert!(report["name"].as_str().unwrap().len() > 500);
    assert!(report["items"][0]["output"]["output"].as_str().unwrap().len() > 1_000_000);
    project.cobalt(&["history", "--tag", "odd"], 0).stdout_has("very long");
}

#[test]
fn json_with_a_byte_order_mark_is_read() {
    let project = project(&[]);
    project.write("data/items.jsonl", &format!("\u{feff}{}\n", good()));
    job(&project, "strict", 0).stdout_has("1 of 1 item passed");
}

#[test]
fn every_command_ends_with_the_code_that_is_documented() {
    let project = project(&[good()]);
    project.rename("documented");
    let ends = |code: i32, calls: &[&[&str]]| {
        for call in calls {
            project.cobalt(call, code);
        }
    };
    ends(1, &[&["update", "--check"]]);
    ends(0, &[&["update"], &["update", "--check"], &["man"], &["completions", "bash"], &["clean"]]);
    ends(
        4,
        &[
            &["merge", ".cobalt"],
            &["export", "latest", "--format", "csv"],
            &["watch", "--filter", "none-of-it"],
        ],
    );
    ends(
        0,
        &[&["history"], &["baseline", "show"], &["config"], &["list"], &["--help"], &["run", "--", "--list"]],
    );
    ends(4, &[&["compare", "latest", "latest"], &["baseline", "set"], &["list", "--filter", "none-of-it"]]);
    ends(0, &[&["run", "--filter", "strict"], &["run", "--rerun-failed", "--ci", "--filter", "strict"]]);
    ends(0, &[&["run", "--changed", "--ci", "--filter", "strict"], &["compare", "latest", "latest"]]);
    ends(0, &[&["compare", "--fail-on-regression", "latest", "latest"], &["baseline", "set"]]);
    ends(
        0,
        &[&["export", "latest", "--format", "csv"], &["import", ".cobalt"], &["clean", "--yes", "--cache"]],
    );
    ends(3, &[&["import", "data/items.jsonl"]]);
    data(&project, &[json!({ "id": "good", "answer": "a", "says": "b", "act": "" })]);
    ends(0, &[&["run", "--filter", "strict"]]);
    ends(
        1,
        &[&["run", "--ci", "--filter", "strict"], &["run", "--ci", "--rerun-failed", "--filter", "strict"]],
    );
    ends(2, &[&["compare", "latest"], &["run", "--resume", "a", "--changed"], &["history", "--limit", "0"]]);
    ends(2, &[&["run", "--shard", "3/2"], &["export", "latest", "--format", "odd"], &["merge"]]);
    ends(
        2,
        &[&["export", "latest"], &["clean", "--days", "0"], &["clean", "--yes"], &["completions", "odd"]],
    );
    ends(4, &[&["compare", "latest", "no-such-run"], &["run", "--ci", "--baseline", "no-such-run"]]);
    ends(3, &[&["run", "--ci", "--resume", "0123456789ab"], &["compare", "data/items.jsonl", "latest"]]);
    project.write("tests/safety.rs", "this is no Rust\n");
    ends(3, &[&["run", "--ci"], &["list"]]);
    project.write("cobalt.toml", "concurrency = 0\n");
    ends(
        3,
        &[
            &["run"],
            &["list"],
            &["history"],
            &["compare", "latest", "latest"],
            &["baseline", "show"],
            &["config"],
            &["merge", ".cobalt"],
            &["export", "latest", "--format", "csv"],
            &["import", ".cobalt"],
            &["clean"],
        ],
    );
}
