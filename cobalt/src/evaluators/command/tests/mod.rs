//! Tests with shell programs, called as in an experiment.

mod keep_alive;
mod shutdown;

use std::time::Duration;

use cobalt_core::item::Output;

use super::CommandEvaluator;
use crate::evaluators::{EvalContext, Evaluator, Score};

/// Longer than any program here needs.
const PLENTY: Duration = Duration::from_secs(30);

/// Runs a shell script.
fn shell(script: &str) -> CommandEvaluator {
    CommandEvaluator::new("shell", "sh").args(["-c", script]).timeout(PLENTY)
}

/// Runs some shell lines for each line of input.
fn loop_of(lines: &str) -> CommandEvaluator {
    shell(&format!("n=0; while read -r line; do n=$((n+1)); {lines}; done"))
}

fn cx(output: &str) -> EvalContext {
    EvalContext::new(crate::item! { "input": "question" }, Output::new(output))
}

async fn ask(evaluator: &CommandEvaluator) -> Result<Score, String> {
    evaluator.evaluate(&cx("an output")).await.map_err(|error| error.to_string())
}

async fn refused(evaluator: &CommandEvaluator) -> String {
    ask(evaluator).await.expect_err("no score")
}

#[track_caller]
fn assert_says(error: &str, parts: &[&str]) {
    for part in parts {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}

/// Responds with the process ID and the line number.
const COUNTS: &str = r#"echo "{\"score\": 1, \"metadata\": {\"pid\": $$, \"n\": $n}}""#;

fn pid(score: &Score) -> u64 {
    score.all_metadata()["pid"].as_u64().unwrap()
}
