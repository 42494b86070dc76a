use cobalt::Item;

#[cobalt::experiment(dataset = "questions.jsonl", evaluators = [])]
async fn agent(item: Item) -> String {
    item["input"].to_string()
}

fn main() {}
