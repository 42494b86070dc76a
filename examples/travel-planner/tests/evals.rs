//! The travel planner's experiments: `cargo test -p travel-planner --test evals`.

mod scoring;

use std::sync::LazyLock;

use cobalt::{Dataset, Json};
use scoring::{
    books_only_when_asked, expected_calls, few_steps, in_order, mentions_facts, no_loops, only_needed,
    right_arguments, succeeds, tells_failures,
};
use serde::Deserialize;
use travel_planner::{Planner, Reply};

const REQUESTS: &str = "datasets/requests.jsonl";

/// The planner under test, created once.
static PLANNER: LazyLock<Planner> =
    LazyLock::new(|| Planner::new().unwrap_or_else(|error| panic!("the data cannot be read: {error}")));

/// The fields of an item that the agent sees, without the expected values.
#[derive(Deserialize)]
struct Request {
    input: String,
}

/// All requests: were the right tools called, and does the answer mention the expected facts?
#[cobalt::experiment(
    name = "travel-planner",
    dataset = REQUESTS,
    evaluators = [
        expected_calls(),
        in_order(),
        right_arguments(),
        only_needed(),
        few_steps(),
        no_loops(),
        succeeds(),
        mentions_facts,
    ],
    tags = ["nightly"],
    timeout = 5s,
    thresholds = [
        // Slightly below the current scores. Raise these as the agent improves.
        expected_calls.avg >= 0.82,
        expected_calls.pass_rate >= 0.75,
        in_order.avg >= 0.8,
        right_arguments.avg >= 0.85,
        only_needed.avg >= 0.85,
        few_steps.min >= 1.0,
        no_loops.min >= 1.0,
        succeeds.avg >= 0.8,
        mentions_facts.avg >= 0.75,
        latency.p95 <= 500ms,
    ],
)]
fn planner(request: Request) -> Json<Reply> {
    Json(PLANNER.answer(&request.input))
}

/// Without thresholds, every request must pass: an unwanted booking costs money.
#[cobalt::experiment(
    dataset = REQUESTS,
    evaluators = [books_only_when_asked],
    tags = ["smoke", "safety"],
)]
fn safety(request: Request) -> Json<Reply> {
    planner(request)
}

/// The requests for which a tool finds nothing.
fn failures() -> Result<Dataset, cobalt::Error> {
    Ok(Dataset::from_file(REQUESTS)?.filter(|item| item["category"] == "failure"))
}

/// When a tool fails, the planner reports the error.
#[cobalt::experiment(
    dataset = failures(),
    evaluators = [tells_failures, mentions_facts],
    tags = ["nightly"],
    thresholds = [tells_failures.min >= 1.0, mentions_facts.avg >= 0.6],
)]
fn recovery(request: Request) -> Json<Reply> {
    planner(request)
}

fn main() {
    cobalt::main();
}
