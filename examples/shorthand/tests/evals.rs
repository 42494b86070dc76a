//! The experiment, whose evaluator is a Python program: `cargo cobalt run -p shorthand --features python`.

use serde::Deserialize;

/// The fields of an item that the agent sees, without the expected sentence.
#[derive(Deserialize)]
struct Note {
    input: String,
}

/// Uses the evaluators in `cobalt.toml`.
#[cobalt::experiment(
    dataset = "datasets/notes.jsonl",
    thresholds = [ratio.avg >= 0.85, ratio.pass_rate >= 0.8],
)]
fn notes(note: Note) -> String {
    shorthand::expand(&note.input)
}

fn main() {
    cobalt::main();
}
