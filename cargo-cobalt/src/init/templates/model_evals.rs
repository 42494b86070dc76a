//! The experiments of this package: `cargo cobalt run`, or `cargo test --test @TARGET@`.
//!
//! The first run needs the model's key: it asks the model and records its answers in `cassettes/`;
//! later runs replay them. Results are saved in `.cobalt/results/` at the workspace root.

@IMPORTS@

/// An evaluator scores one output. It returns a `bool`, a number from 0 to 1, or a `cobalt::Score`
/// with a reason, and can be async.
#[cobalt::evaluator]
fn right_team(item: &Item, output: &str) -> bool {
    item["expectedOutput"] == output
}

/// The agent under test, called for each item. Read only what the agent is allowed to know: here
/// `input`, never `expectedOutput`. To test your own agent, call it here instead of `route`.
#[cobalt::experiment(
    // The name in results and in the history.
    name = "@NAME@",
    dataset = "@DATASET@",
    evaluators = [right_team],
    // The folder of recordings; commit it.
    record = "cassettes",
    // 80% of the messages must reach the right team. Without a threshold, all of them must.
    thresholds = [right_team.pass_rate >= 0.8],
)]
async fn support_desk(item: Item) -> Result<String, cobalt::BoxError> {
    route(item["input"].as_str().unwrap_or_default()).await
}
@AGENT@
fn main() {
    cobalt::main();
}
