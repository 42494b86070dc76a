use cobalt::{Context, Item};

#[cobalt::evaluator]
fn concise(output: &str) -> bool {
    output.len() < 80
}

#[cobalt::experiment(dataset = "questions.jsonl", evaluators = [concise])]
async fn agent(item: Item, context: Context, rest: u8) -> String {
    format!("{item:?} {context:?} {rest}")
}

fn main() {}
