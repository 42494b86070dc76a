//! The agent's experiment: `cargo test -p code-repair --test evals`.
//!
//! Each exercise is a crate with a fault and a test that the agent sees. The hidden tests in `hidden/` decide.

mod agent;

use agent::hidden_tests;
use cobalt::{BoxError, Context, Output, PatchSize, TouchedOnly};

/// Twelve exercises in the manner of SWE-bench. A model would get the `task`; this agent needs only the tests.
#[cobalt::experiment(
    name = "code-repair",
    dataset = "datasets/exercises.jsonl",
    evaluators = [hidden_tests(), TouchedOnly::new("scope", ["src/**"]), PatchSize::new("small", 10)],
    workspace = "fixtures/{{id}}",
    timeout = 2m,
    concurrency = 4,
    thresholds = [tests.pass_rate >= 0.55, scope.pass_rate >= 1.0, small.pass_rate >= 1.0],
)]
fn code_repair_agent(context: Context) -> Result<Output, BoxError> {
    agent::run(&context)
}

fn main() {
    cobalt::main();
}
