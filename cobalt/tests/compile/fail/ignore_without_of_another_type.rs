use cobalt::Item;

const KEYS: usize = 2;

#[cobalt::evaluator]
fn concise(output: &str) -> bool {
    output.len() < 80
}

#[cobalt::experiment(dataset = "questions.jsonl", evaluators = [concise], ignore_without = ["OPENAI_API_KEY", KEYS])]
async fn agent(item: Item) -> String {
    item["input"].to_string()
}

fn main() {}
