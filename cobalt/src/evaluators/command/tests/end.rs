//! That no process is left behind.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{COUNTS, PLENTY, ask, assert_says, loop_of, pid, refused, shell};
use crate::dataset::Dataset;
use crate::evaluators::Evaluator;
use crate::experiment::Experiment;

fn is_alive(pid: u64) -> bool {
    let mut kill = Command::new("sh");
    kill.args(["-c", &format!("kill -0 {pid}")]).stderr(Stdio::null()).status().unwrap().success()
}

async fn until_written(file: &Path) {
    while !std::fs::read_to_string(file).is_ok_and(|text| text.ends_with('\n')) {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[track_caller]
fn assert_ends(pid: u64) {
    let deadline = Instant::now() + PLENTY;
    while is_alive(pid) {
        assert!(Instant::now() < deadline, "{pid} is left");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[tokio::test]
async fn a_program_that_takes_too_long_is_ended_with_what_it_has_started() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    // The second one holds no pipe of ours, and ignores requests to end.
    let script = format!(
        "(trap '' TERM HUP INT; echo $$ > {0}; sleep 60 & echo $! >> {0}; wait) < /dev/null > /dev/null 2>&1 & cat > /dev/null",
        file.display()
    );
    for (keep_alive, hint) in [(true, "must flush its stdout"), (false, "more time by `timeout`")] {
        let evaluator = shell(&script).timeout(Duration::from_millis(400)).keep_alive(keep_alive);
        // The second kind would end with its stdin.
        let evaluator = if keep_alive {
            evaluator
        } else {
            shell(&format!("{script}; sleep 60")).timeout(Duration::from_millis(400)).keep_alive(false)
        };
        let error = refused(&evaluator).await;
        assert_says(&error, &["within 400ms", hint]);
        let pids = std::fs::read_to_string(&file).unwrap();
        pids.lines().for_each(|pid| assert_ends(pid.parse().unwrap()));
    }
}

#[tokio::test]
async fn given_up_or_dropped_a_process_is_gone() {
    let evaluator = loop_of(COUNTS);
    let waiting = pid(&ask(&evaluator).await.unwrap());
    drop(evaluator);
    assert!(!is_alive(waiting), "it is gone with the evaluator");

    let hanging = loop_of(&format!("[ $n = 2 ] && sleep 60; {COUNTS}"));
    let asked = pid(&ask(&hanging).await.unwrap());
    let _ = tokio::time::timeout(Duration::from_millis(50), ask(&hanging)).await.unwrap_err();
    assert!(!is_alive(asked), "it is gone with the future that waited for it");
}

#[tokio::test]
async fn a_program_is_let_end_by_itself_when_the_run_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ended");
    let script =
        format!("while read -r line; do echo 1; done; sleep 0.1; echo by itself > {}", file.display());
    let items = Dataset::from_items([crate::item! { "input": "1" }, crate::item! { "input": "2" }]);
    let experiment = Experiment::new("over", items).evaluator(shell(&script)).save(false);
    let report = experiment.run(|_: crate::Item| "x").await.unwrap();
    assert_eq!(report.summary.scores["shell"].avg, 1.0);
    assert_eq!(std::fs::read_to_string(file).unwrap(), "by itself\n");
}

#[tokio::test]
async fn one_that_does_not_end_by_itself_is_ended_when_the_run_is_over() {
    let items = Dataset::from_items([crate::item! { "input": "1" }]);
    let evaluator = shell(&format!("n=1; read -r line; {COUNTS}; trap '' HUP TERM; sleep 60; sleep 60"));
    let experiment = Experiment::new("over", items).evaluator(evaluator).save(false);
    let report = experiment.run(|_: crate::Item| "x").await.unwrap();
    let evaluation = &report.items[0].runs[0].evaluations.get("shell").unwrap();
    assert!(!is_alive(evaluation.metadata["pid"].as_u64().unwrap()));
}

#[test]
fn one_is_gone_as_well_where_whoever_runs_the_experiment_panics() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    // It waits for an output that never comes, and would not end by itself.
    let evaluator = shell(&format!("read -r line; echo $$ > {}; echo 1; sleep 60; sleep 60", file.display()));
    let items = Dataset::from_items([crate::item! { "input": "first" }, crate::item! { "input": "second" }]);
    let experiment =
        Experiment::new("panics", items).evaluator(evaluator).concurrency(1).timeout(PLENTY).save(false);
    let agent = async |item: crate::Item| {
        if item["input"] == "second" {
            std::future::pending::<()>().await;
        }
        "x"
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let run = runtime.spawn(async move {
        tokio::select! {
            _ = experiment.run(agent) => {}
            () = until_written(&file) => panic!("as a test wants it"),
        }
    });
    assert!(runtime.block_on(run).unwrap_err().is_panic());
    // As at the end of a program that unwinds.
    drop(runtime);
    assert_ends(std::fs::read_to_string(folder.path().join("pid")).unwrap().trim().parse().unwrap());
}

#[tokio::test]
async fn what_a_program_leaves_behind_that_ends_by_itself_is_ended() {
    let leaves = r#"sleep 60 < /dev/null > /dev/null 2>&1 & left=$!"#;
    let answer = r#"echo "{\"score\": 1, \"metadata\": {\"pid\": $left}}""#;
    let once = shell(&format!("{leaves}; {answer}")).keep_alive(false);
    assert_ends(pid(&ask(&once).await.unwrap()));
    let kept = shell(&format!("{leaves}; while read -r line; do {answer}; done"));
    let left = pid(&ask(&kept).await.unwrap());
    kept.finish();
    assert_ends(left);
}
