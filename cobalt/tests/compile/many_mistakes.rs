use cobalt::Item;

#[cobalt::evaluator]
fn concise(output: &str) -> bool {
    output.len() < 80
}

#[cobalt::experiment(
    datset = "questions.jsonl", // mistake
    evaluators = [concise],
    runs = 0, // mistake
    timeout = 30, // mistake
    thresholds = [
        score.avg <= 0.8, // mistake
        concise.total >= 1, // mistake
        latency.p95 <= 5s,
    ],
)]
async fn agent(item: &Item) -> String { // mistake
    item["input"].to_string()
}

fn main() {}
