use cobalt::Item;

mod evals {
    #[cobalt::evaluator]
    pub(crate) fn concise(output: &str) -> bool {
        output.len() < 80
    }
}

#[cobalt::experiment(
    dataset = "questions.jsonl",
    evaluators = [eval::concise],
    thresholds = [concise.avg >= 0.5, score.avg >= 0.5, evaluators["other"].avg >= 0.5],
)]
async fn agent(item: Item) -> String {
    item["input"].to_string()
}

fn main() {}
