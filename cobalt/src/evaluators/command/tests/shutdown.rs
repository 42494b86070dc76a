//! Exits, timeouts and cleanup of processes, and checks before the run.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cobalt_core::item::Output;

use super::{COUNTS, PLENTY, ask, assert_says, cx, loop_of, pid, refused, shell};
use crate::dataset::Dataset;
use crate::evaluators::{CommandEvaluator, EvalContext, Evaluator, Setup};
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
        assert!(Instant::now() < deadline, "process {pid} is still running");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[tokio::test]
async fn a_program_that_takes_too_long_is_ended_with_what_it_has_started() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    // The second process does not use our pipes, and ignores termination signals.
    let script = format!(
        "(trap '' TERM HUP INT; echo $$ > {0}; sleep 60 & echo $! >> {0}; wait) < /dev/null > /dev/null 2>&1 & cat > /dev/null",
        file.display()
    );
    for (keep_alive, hint) in [(true, "must flush its stdout"), (false, "increase `timeout`")] {
        let evaluator = shell(&script).timeout(Duration::from_millis(400)).keep_alive(keep_alive);
        // The second kind would exit when stdin is closed.
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
    assert!(!is_alive(waiting), "the process ends with the evaluator");

    let hanging = loop_of(&format!("[ $n = 2 ] && sleep 60; {COUNTS}"));
    let asked = pid(&ask(&hanging).await.unwrap());
    let _ = tokio::time::timeout(Duration::from_millis(50), ask(&hanging)).await.unwrap_err();
    assert!(!is_alive(asked), "the process ends with the future that waits for it");
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
    // It waits for output that never comes, and would never exit.
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
            () = until_written(&file) => panic!("requested by the test"),
        }
    });
    assert!(runtime.block_on(run).unwrap_err().is_panic());
    // As in a program that unwinds.
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

#[tokio::test]
async fn the_environment_is_passed_on_with_what_is_added() {
    let script = r#"echo "{\"score\": 1, \"reason\": \"$MODE $PWD ${PATH:+set}\"}""#;
    let score = ask(&loop_of(script).env("MODE", "strict")).await.unwrap();
    let root = cobalt_core::paths::package_root();
    assert_eq!(score.why(), Some(&*format!("strict {} set", root.display())));
}

fn check(evaluator: &CommandEvaluator) -> Result<(), String> {
    let config = crate::config::Config::load(tempfile::tempdir().unwrap().path(), |_| None).unwrap();
    let setup = Setup {
        dataset: Dataset::from_items([crate::item! {}]),
        models: config.shared_models(),
        has_workspace: false,
        is_partial: false,
    };
    evaluator.check(&setup).map_err(|error| error.to_string())
}

#[test]
fn a_program_is_found_before_the_run_or_it_is_said_where_it_was_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let started = folder.path().join("started");
    let evaluator = shell(&format!("touch {}", started.display()));
    check(&evaluator).unwrap();
    assert!(!started.exists(), "the check does not run it");

    let error = |program: &str| check(&CommandEvaluator::new("c", program)).unwrap_err();
    assert_says(&error("no-such-program"), &["program `no-such-program` not found in PATH; install it"]);
    let root = cobalt_core::paths::package_root();
    let looked_for =
        format!("`tools/score` does not exist; looked for `{}`", root.join("tools/score").display());
    assert_says(&error("tools/score"), &[&looked_for]);
    assert_says(&error("./Cargo.toml"), &["is not executable; make it executable, or put its interpreter"]);
    assert_says(&error(""), &["the command is empty"]);
    let only_here = CommandEvaluator::new("c", "sh").env("PATH", "/no/such/folder");
    assert_says(&check(&only_here).unwrap_err(), &["not found in PATH"]);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_no_panic_without_a_check() {
    assert_says(&refused(&CommandEvaluator::new("c", "no-such-program")).await, &["not found in PATH"]);
}

#[test]
fn the_fingerprint_has_the_command_and_no_secret() {
    let evaluator =
        CommandEvaluator::new("c", "score").arg("--fast").env("API_KEY", "hunter2").env("MODE", "a");
    let fingerprint = evaluator.fingerprint();
    assert_says(&fingerprint, &["\"score\"", "\"--fast\"", "\"MODE\": \"a\"", "\"API_KEY\": \"[redacted]\""]);
    assert!(!fingerprint.contains("hunter2"), "{fingerprint}");
    assert_ne!(fingerprint, evaluator.clone().arg("--slow").fingerprint());
    assert_eq!(fingerprint, evaluator.processes(4).timeout(PLENTY).fingerprint());
}

#[tokio::test]
async fn a_program_can_be_started_for_each_output_and_read_its_stdin_to_the_end() {
    let evaluator = shell(r#"cat > /dev/null; printf '{\n  "score": 0.5, "metadata": {"pid": %s}\n}\n' $$"#);
    let evaluator = evaluator.keep_alive(false);
    let scores = [ask(&evaluator).await.unwrap(), ask(&evaluator).await.unwrap()];
    assert_eq!(scores[0].value(), 0.5);
    assert_ne!(pid(&scores[0]), pid(&scores[1]));
}

#[tokio::test]
async fn a_program_need_not_read_what_it_is_asked() {
    let large = "x".repeat(1 << 20);
    let evaluator = shell("echo 0.5").keep_alive(false);
    assert_eq!(evaluator.evaluate(&cx(&large)).await.unwrap().value(), 0.5);
}

#[tokio::test]
async fn an_answer_counts_only_if_the_program_that_is_started_for_it_succeeds() {
    let once = |script: &str| shell(script).keep_alive(false);
    let error = refused(&once("echo 1; echo 'it broke' >&2; exit 3")).await;
    assert_says(&error, &["exited with code 3, so its answer does not count", "it broke"]);
    assert_says(&refused(&once("cat > /dev/null")).await, &["exited with code 0 without an answer"]);
    assert_says(&refused(&once("echo 0.5; echo 0.25")).await, &["`0.5\\n0.25` is not JSON"]);
}

#[tokio::test]
async fn an_answer_without_end_is_told_as_one() {
    let endless = shell("yes").keep_alive(false);
    assert_says(&refused(&endless).await, &["the program's answer is longer than 64 MiB"]);
}

/// The program in this language from the documentation.
fn documented(language: &str) -> &'static str {
    let (_, rest) =
        include_str!("../../../../docs/custom.md").split_once(&format!("\n```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

#[tokio::test]
async fn the_documented_programs_score() {
    let folder = tempfile::tempdir().unwrap();
    for (interpreter, language, wrong) in
        [("python3", "python", 0.0..0.5), ("node", "javascript", 0.0..0.1), ("sh", "sh", 0.0..0.1)]
    {
        if Command::new(interpreter).args(["-c", ""]).status().is_err() {
            println!("skipped: `{interpreter}` is not installed");
            continue;
        }
        let file = folder.path().join(language);
        std::fs::write(&file, documented(language)).unwrap();
        let evaluator = CommandEvaluator::new("documented", interpreter).arg(file.display().to_string());
        let score = async |output: &str| {
            let item = crate::item! { "input": "Capital?", "expectedOutput": "It is Zürich." };
            evaluator.evaluate(&EvalContext::new(item, Output::new(output))).await.unwrap().value()
        };
        assert_eq!(score("It is Zürich.").await, 1.0, "{language}");
        let value = score("Sorry!").await;
        assert!(wrong.contains(&value), "{language}: {value}");
    }
}

#[test]
fn the_documented_request_has_the_fields_of_a_request() {
    let documented: serde_json::Value = serde_json::from_str(documented("json").trim()).unwrap();
    let request = crate::evaluators::command::protocol::Request::new(1, &cx("an output"), "ratio").unwrap();
    let request: serde_json::Value = serde_json::from_slice(&request.line).unwrap();
    let fields = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(fields(&documented), fields(&request));
}
