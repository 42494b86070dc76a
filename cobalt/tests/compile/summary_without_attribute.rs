use cobalt::{Item, SummaryItem};

#[cobalt::evaluator]
fn concise(output: &str) -> bool {
    output.len() < 80
}

fn outputs(items: &[SummaryItem<'_>]) -> usize {
    items.len()
}

#[cobalt::experiment(dataset = "questions.jsonl", evaluators = [concise], summaries = [outputs])]
async fn agent(item: Item) -> String {
    item["input"].to_string()
}

fn main() {
    outputs(&[]);
}
