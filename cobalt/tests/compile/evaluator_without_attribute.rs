use cobalt::Item;

fn plain(output: &str) -> bool {
    output.len() < 80
}

#[cobalt::experiment(dataset = "questions.jsonl", evaluators = [plain])]
async fn agent(item: Item) -> String {
    item["input"].to_string()
}

fn user() {
    plain("");
}

fn main() {}
