use cobalt::Item;

#[cobalt::experiment(dataset = "questions.jsonl", evaluators = [Item::new()])]
async fn agent(item: Item) -> String {
    item["input"].to_string()
}

fn main() {}
