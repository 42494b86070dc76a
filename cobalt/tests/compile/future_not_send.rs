use std::future::ready;
use std::rc::Rc;

use cobalt::Item;

#[cobalt::evaluator]
fn concise(output: &str) -> bool {
    output.len() < 80
}

#[cobalt::experiment(dataset = "questions.jsonl", evaluators = [concise])]
async fn agent(item: Item) -> String {
    let shared = Rc::new(item);
    ready(()).await;
    shared["input"].to_string()
}

fn main() {}
