//! Programs of the shell, asked as an experiment would ask them.

mod end;
mod kept;

use std::time::Duration;

use cobalt_core::item::Output;

use super::CommandEvaluator;
use crate::evaluators::{EvalContext, Evaluator, Score};

/// More than any program here needs.
const PLENTY: Duration = Duration::from_secs(30);

/// A program of the shell.
fn shell(script: &str) -> CommandEvaluator {
    CommandEvaluator::new("shell", "sh").args(["-c", script]).timeout(PLENTY)
}

/// One that runs some lines for each line that it reads.
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

/// Answers with the process id, and which line of it this is.
const COUNTS: &str = r#"echo "{\"score\": 1, \"metadata\": {\"pid\": $$, \"n\": $n}}""#;

fn pid(score: &Score) -> u64 {
    score.all_metadata()["pid"].as_u64().unwrap()
}
