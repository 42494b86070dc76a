//! A process for each output.

use super::{ask, assert_says, cx, pid, refused, shell};
use crate::evaluators::Evaluator;

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
    assert_says(&error, &["ended with exit code 3, so that its answer does not count", "it broke"]);
    assert_says(&refused(&once("cat > /dev/null")).await, &["ended with exit code 0 without an answer"]);
    assert_says(&refused(&once("echo 0.5; echo 0.25")).await, &["`0.5\\n0.25` is no JSON"]);
}

#[tokio::test]
async fn an_answer_without_end_is_told_as_one() {
    let endless = shell("yes").keep_alive(false);
    assert_says(&refused(&endless).await, &["the program's answer is longer than 64 MiB"]);
}
