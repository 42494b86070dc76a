//! The experiments of this package: `cargo cobalt run`, or `cargo test --test @TARGET@`.
//!
//! An experiment calls an agent for each item of a data set and has evaluators score the outputs.
//! Its results are kept under `.cobalt/results/` at the root of the workspace.

@IMPORTS@

/// An evaluator scores one output. It gives a `bool`, a number from 0 to 1, or a `cobalt::Score`
/// with a reason, and may be async.
#[cobalt::evaluator]
fn right_team(item: &Item, output: &str) -> bool {
    item["expectedOutput"] == output
}

/// The agent under test, called for each item. What it reads of the item is all that it may know:
/// here `input`, and never `expectedOutput`.
///
@ADVICE@
#[cobalt::experiment(
    // What results and the history call it.
    name = "@NAME@",
    dataset = "@DATASET@",
    evaluators = [right_team],
    // Eight of ten messages must reach the right team. Without a threshold, each of them must.
    thresholds = [right_team.pass_rate >= 0.8],
)]
async fn support_desk(item: Item) -> String {
    let message = item["input"].as_str().unwrap_or_default();
    route(message).to_owned()
}
@AGENT@
fn main() {
    cobalt::main();
}
