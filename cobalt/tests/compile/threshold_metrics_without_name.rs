use cobalt::Item;

#[cobalt::evaluator]
fn concise(output: &str) -> bool {
    output.len() < 80
}

#[cobalt::experiment(dataset = "questions.jsonl", evaluators = [concise], thresholds = [metrics.retrieved >= 5])]
async fn agent(item: Item) -> String {
    item["input"].to_string()
}

fn main() {}
