//! The experiment, whose evaluator is a Python program: `cargo cobalt run -p shorthand --features python`.

use serde::Deserialize;

/// What the agent gets of an item. The right sentence is not among it.
#[derive(Deserialize)]
struct Note {
    input: String,
}

/// The evaluators are those of `cobalt.toml`.
#[cobalt::experiment(
    dataset = "datasets/notes.jsonl",
    thresholds = [ratio.avg >= 0.85, ratio.pass_rate >= 0.8],
)]
fn notes(note: Note) -> String {
    shorthand::write_out(&note.input)
}

fn main() {
    cobalt::main();
}
