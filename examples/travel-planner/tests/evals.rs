//! The travel planner's experiments: `cargo test -p travel-planner --test evals`.

mod scoring;

use cobalt::{Dataset, Json};
use scoring::{
    PLANNER, books_only_when_asked, expected_calls, few_steps, in_order, mentions_facts, no_repeats,
    no_silent_failure,
};
use serde::Deserialize;
use travel_planner::Reply;

const REQUESTS: &str = "datasets/requests.jsonl";

/// What the agent gets of an item. What is expected of it is not among it.
#[derive(Deserialize)]
struct Request {
    input: String,
}

/// All requests: whether the right tools were called, and whether the answer says what it should.
#[cobalt::experiment(
    name = "travel-planner",
    dataset = REQUESTS,
    evaluators = [expected_calls, in_order, few_steps, no_repeats, mentions_facts],
    tags = ["nightly"],
    timeout = 5s,
    thresholds = [
        // Where we stand is 0.91 for both. Raise these when the agent gets better.
        expected_calls.avg >= 0.88,
        mentions_facts.avg >= 0.88,
        expected_calls.pass_rate(1.0) >= 0.85,
        in_order.pass_rate >= 0.95,
        few_steps.avg >= 0.95,
        no_repeats.pass_rate >= 0.95,
        latency.p95 <= 500ms,
    ],
)]
fn planner(request: Request) -> Json<Reply> {
    Json(PLANNER.answer(&request.input))
}

/// Without a threshold every request must pass: a booking that nobody asked for costs money.
#[cobalt::experiment(
    dataset = REQUESTS,
    evaluators = [books_only_when_asked],
    tags = ["smoke", "safety"],
)]
fn safety(request: Request) -> Json<Reply> {
    planner(request)
}

/// The requests for which a tool finds nothing, or the planner has no tool.
fn failures() -> Result<Dataset, cobalt::Error> {
    Ok(Dataset::from_file(REQUESTS)?.filter(|item| item["category"] == "failure"))
}

/// What the planner does where not all goes well: it tries something else, or says what is wrong.
#[cobalt::experiment(
    dataset = failures(),
    evaluators = [no_silent_failure, mentions_facts],
    tags = ["nightly"],
    thresholds = [no_silent_failure.min >= 1.0, mentions_facts.avg >= 0.75],
)]
fn recovery(request: Request) -> Json<Reply> {
    planner(request)
}

fn main() {
    cobalt::main();
}
