use cobalt::Item;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(5);

#[cobalt::evaluator]
fn concise(output: &str) -> bool {
    output.len() < 80
}

#[cobalt::experiment(dataset = "questions.jsonl", evaluators = [concise], thresholds = [score.avg >= LIMIT])]
async fn agent(item: Item) -> String {
    item["input"].to_string()
}

fn main() {}
