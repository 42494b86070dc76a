use std::time::Duration;

use cobalt::Item;

#[cobalt::evaluator]
fn concise(output: &str) -> bool {
    output.len() < 80
}

const MUCH: Duration = Duration::from_secs(1);

#[cobalt::experiment(dataset = "questions.jsonl", evaluators = [concise], thresholds = [vs_baseline.latency.ratio <= MUCH])]
async fn agent(item: Item) -> String {
    item["input"].to_string()
}

fn main() {}
