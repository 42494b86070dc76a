//! Kept processes: requests, and the consequences of invalid responses.

use std::time::Duration;

use serde_json::json;

use super::{COUNTS, ask, assert_says, cx, loop_of, pid, refused, shell};
use crate::dataset::Dataset;
use crate::evaluators::{CommandEvaluator, Evaluator, Score};
use crate::experiment::Experiment;

#[tokio::test]
async fn one_process_is_kept_for_many_outputs() {
    let evaluator = loop_of(COUNTS);
    let scores = [ask(&evaluator).await.unwrap(), ask(&evaluator).await.unwrap()];
    assert_eq!(scores.each_ref().map(|score| &score.all_metadata()["n"]), [&json!(1), &json!(2)]);
    assert_eq!(pid(&scores[0]), pid(&scores[1]));
    let other = ask(&evaluator.clone()).await.unwrap();
    assert_ne!(pid(&other), pid(&scores[0]), "a clone has its own processes");
}

#[tokio::test]
async fn blank_lines_are_no_answers() {
    let evaluator = loop_of("echo; echo \"{\\\"score\\\": 1, \\\"metadata\\\": {\\\"pid\\\": $$}}\"; echo");
    let scores = [ask(&evaluator).await.unwrap(), ask(&evaluator).await.unwrap()];
    assert_eq!(pid(&scores[0]), pid(&scores[1]));
}

#[tokio::test]
async fn megabytes_go_both_ways_at_once() {
    let large = "words ".repeat(1 << 20);
    // Writes back while it reads: the request as a reason, and as much again to stderr.
    let script = r#"printf '{"score": 1, "metadata": {"asked": '; printf '%s' "$line"; echo '}}'; printf '%s' "$line" >&2"#;
    let kept = loop_of(script);
    let once = shell(r#"printf '{"score": 1, "metadata": {"asked": '; tee /dev/stderr; echo '}}'"#)
        .keep_alive(false);
    for evaluator in [kept, once] {
        let score = evaluator.evaluate(&cx(&large)).await.unwrap();
        assert_eq!(score.all_metadata()["asked"]["output"].as_str().map(str::len), Some(large.len()));
    }
}

#[tokio::test]
async fn only_so_many_processes_are_at_work_side_by_side() {
    let evaluator = loop_of(COUNTS).processes(2);
    let asked: Vec<_> = (0..20).map(|_| ask(&evaluator)).collect();
    let asked =
        asked.into_iter().map(|asked| Box::pin(asked) as std::pin::Pin<Box<dyn Future<Output = _> + Send>>);
    let scores = crate::thread_pool::join_all(asked.collect()).await;
    let mut pids: Vec<_> =
        scores.into_iter().map(|score: Result<Score, String>| pid(&score.unwrap())).collect();
    pids.sort_unstable();
    pids.dedup();
    assert_eq!(pids.len(), 2);
}

#[tokio::test]
async fn the_time_that_an_output_waits_for_its_turn_does_not_count() {
    let evaluator = loop_of("sleep 0.2; echo 1").timeout(Duration::from_millis(700));
    let asked =
        (0..5).map(|_| Box::pin(ask(&evaluator)) as std::pin::Pin<Box<dyn Future<Output = _> + Send>>);
    let scores = crate::thread_pool::join_all(asked.collect()).await;
    assert!(scores.iter().all(Result::is_ok), "{scores:?}");
}

#[tokio::test]
async fn a_program_that_ends_is_started_again_for_the_next_output() {
    let evaluator = loop_of(&format!("[ $n = 3 ] && {{ echo broken >&2; exit 7; }}; {COUNTS}"));
    let first = ask(&evaluator).await.unwrap();
    ask(&evaluator).await.unwrap();
    let error = refused(&evaluator).await;
    assert_says(&error, &["exited with code 7 after 2 answers and before this one", "on stderr:\nbroken"]);
    assert_ne!(pid(&ask(&evaluator).await.unwrap()), pid(&first));
}

#[tokio::test]
async fn a_signal_is_told_as_one() {
    let error = refused(&shell("read -r line; kill -SEGV $$")).await;
    assert_says(&error, &["was killed by signal 11 before its first answer; it wrote nothing to stderr"]);
}

#[tokio::test]
async fn a_program_that_always_fails_is_started_five_times_only() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("starts");
    let evaluator = shell(&format!("echo start >> {}; echo 'no module' >&2; exit 1", log.display()));
    let mut last = String::new();
    for _ in 0..20 {
        last = refused(&evaluator).await;
    }
    assert_says(&last, &["skipped: the program failed 5 times in a row", "exited with code 1", "no module"]);
    assert_eq!(std::fs::read_to_string(log).unwrap().lines().count(), 5);
}

#[tokio::test]
async fn a_program_that_answers_once_and_ends_is_told_how_it_would_be_asked_once() {
    let evaluator = shell("read -r line; echo 1");
    ask(&evaluator).await.unwrap();
    assert_says(&refused(&evaluator).await, &["after one answer", "`keep-alive = false`"]);
}

#[tokio::test]
async fn what_is_printed_beside_the_answer_is_told_and_the_next_output_gets_its_own_answer() {
    let noisy = loop_of(r#"[ $n = 1 ] && echo "Loading model"; echo 0.5"#);
    let error = refused(&noisy).await;
    assert_says(&error, &["Loading model"]);
    let two = loop_of(r#"printf '0.5\n0.25\n'"#);
    assert_says(&refused(&two).await, &["wrote more than one line for an output, such as `0.5`"]);
    let late = loop_of("echo 0.5; sleep 0.05; echo 0.25");
    assert_eq!(ask(&late).await.unwrap().value(), 0.5);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_says(&refused(&late).await, &["more than one line for an output, such as `0.25`"]);
    assert_eq!(ask(&late).await.unwrap().value(), 0.5, "the next process is in sync");
}

#[tokio::test]
async fn the_programs_own_error_and_a_score_out_of_range_keep_the_process() {
    let script = format!(r#"case $n in 1) echo '{{"error": "no key"}}';; 2) echo 7;; *) {COUNTS};; esac"#);
    let evaluator = loop_of(&script);
    assert_eq!(refused(&evaluator).await, "the program reported an error: no key");
    assert_says(&refused(&evaluator).await, &["the program's score is 7"]);
    assert_eq!(ask(&evaluator).await.unwrap().all_metadata()["n"], 3);
}

#[tokio::test]
async fn the_experiments_timeout_counts_where_the_evaluator_has_none() {
    let items = Dataset::from_items([crate::item! { "input": "1" }]);
    let evaluator = CommandEvaluator::new("slow", "sh").args(["-c", "sleep 60"]);
    let experiment = Experiment::new("slow", items).evaluator(evaluator).timeout(Duration::from_millis(100));
    let report = experiment.save(false).run(|_: crate::Item| "x").await.unwrap();
    let error = report.items[0].runs[0].evaluations.get("slow").unwrap().error.clone().unwrap();
    assert_says(&error, &["no answer within 100ms (including its start)"]);
}

#[tokio::test]
async fn a_program_that_never_answers_is_waited_for_five_times_only() {
    let evaluator = shell("cat > /dev/null").timeout(Duration::from_millis(5));
    for _ in 0..5 {
        assert_says(&refused(&evaluator).await, &["no answer within 5ms"]);
    }
    assert_says(
        &refused(&evaluator).await,
        &["skipped: the program failed 5 times in a row", "no answer within 5ms"],
    );
}

/// Extracts the ID from a request line.
const ID: &str = r#"id=${line#*'"id":'}; id=${id%%,*}"#;

#[tokio::test]
async fn an_answer_that_says_which_request_it_is_for_is_taken_for_no_other() {
    // The response to the second line looks like a late one to the first.
    let script = r#"echo "{\"id\": $((n == 2 ? id - 1 : id)), \"score\": 0.$id}""#;
    let evaluator = loop_of(&format!("{ID}; {script}"));
    assert_eq!(ask(&evaluator).await.unwrap().value(), 0.1);
    let error = refused(&evaluator).await;
    assert_says(&error, &[r#"\"id\": 1, \"score\": 0.2}`, not for the request with `id` 2"#]);
    assert_eq!(ask(&evaluator).await.unwrap().value(), 0.3, "the next process is in sync");
}

#[tokio::test]
async fn secrets_among_the_variables_are_not_told_with_what_the_program_wrote() {
    let evaluator = shell("echo \"no user $DB_PASSWORD in $MODE\" >&2; exit 1");
    let evaluator = evaluator.env("DB_PASSWORD", "hunter2").env("MODE", "strict").env("A_KEY", "");
    assert_says(&refused(&evaluator).await, &["on stderr:\nno user [redacted] in strict"]);
}
